"""The API of the simulated Notion: answers, refusals, faults and worlds."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import httpx2
import pytest

from gofer.values.errors import ConfigError
from gofer_simulators.faults import Fault
from gofer_simulators.notion.simulator import NotionSimulator
from support.http import loopback
from support.simulation.virtual_time import VirtualLoop
from support.simulation.virtual_time import play as in_virtual_time
from support.stand_ins import NOON
from support.vendors.notion import (
    ADA,
    BOT,
    CACHE,
    HANDBOOK,
    HIDDEN,
    INTRO,
    LIMITS,
    RFCS,
    RISK,
    SECRET_DB,
    SOURCE,
    WORLD,
    uuid,
)

HEADERS = {"Authorization": "Bearer ntn_simulated", "Notion-Version": "2026-03-11"}
Send = Callable[..., Awaitable[tuple[int, Any]]]


def play(story: Callable[[NotionSimulator, Send], Awaitable[None]], world: dict[str, Any] = WORLD) -> None:
    async def run() -> None:
        async with loopback.client() as nowhere:
            simulator = NotionSimulator(world, clock=lambda: NOON, http=nowhere)
            transport = httpx2.ASGITransport(app=simulator.app)
            async with httpx2.AsyncClient(transport=transport, base_url="http://notion/v1/") as http:

                async def send(method: str, path: str, body: object = None, **headers: str) -> tuple[int, Any]:
                    given = {"json": body} if method != "GET" else {}
                    async with asyncio.timeout(0.5):
                        answer = await http.request(method, path, headers=HEADERS | headers, **given)
                    return answer.status_code, answer.json()

                await story(simulator, send)

    in_virtual_time(VirtualLoop(), run())


@pytest.mark.parametrize(
    ("method", "path", "body", "headers", "status", "code"),
    [
        ("GET", f"pages/{CACHE}", None, {"Notion-Version": ""}, 400, "missing_version"),
        ("GET", f"pages/{CACHE}", None, {"Notion-Version": "2022-06-28"}, 400, "validation_error"),
        ("GET", f"pages/{CACHE}", None, {"Authorization": "Bearer x"}, 401, "unauthorized"),
        ("GET", f"pages/{HIDDEN}", None, {}, 404, "object_not_found"),
        ("GET", f"pages/{uuid(99)}", None, {}, 404, "object_not_found"),
        ("GET", "pages/nothing", None, {}, 400, "validation_error"),
        ("GET", f"databases/{SECRET_DB}", None, {}, 404, "object_not_found"),
        ("GET", f"blocks/{uuid(99)}/children", None, {}, 404, "object_not_found"),
        ("GET", f"blocks/{CACHE}/children?page_size=101", None, {}, 400, "validation_error"),
        ("GET", f"blocks/{CACHE}/children?limit=1", None, {}, 400, "validation_error"),
        ("GET", "nonsense", None, {}, 400, "invalid_request_url"),
        ("DELETE", f"pages/{CACHE}", {}, {}, 400, "invalid_request_url"),
        ("PATCH", f"pages/{CACHE}", {"archived": True}, {}, 400, "validation_error"),
        ("PATCH", f"pages/{CACHE}", {"properties": {"Nope": {}}}, {}, 400, "validation_error"),
        ("PATCH", f"pages/{CACHE}", {"properties": {"Status": {"select": None}}}, {}, 400, "validation_error"),
        ("PATCH", f"pages/{CACHE}", {"properties": {"Status": {"status": {"name": "x"}}}}, {}, 400, "validation_error"),
        ("PATCH", f"pages/{CACHE}", {"properties": {"Effort": {"number": "3"}}}, {}, 400, "validation_error"),
        ("PATCH", f"pages/{CACHE}", [], {}, 400, "validation_error"),
        ("POST", "comments", {"rich_text": []}, {}, 400, "validation_error"),
        ("POST", "comments", {"parent": {"page_id": CACHE}, "markdown": " "}, {}, 400, "validation_error"),
        ("POST", "comments", {"discussion_id": uuid(99), "markdown": "x"}, {}, 404, "object_not_found"),
        ("POST", "search", {"filter": {"property": "object", "value": "database"}}, {}, 400, "validation_error"),
        ("POST", f"data_sources/{SOURCE}/query", {"filter": {"property": "?"}}, {}, 400, "validation_error"),
    ],
)
def test_simulated_notion_refuses_invalid_requests_with_the_codes_of_the_vendor(
    method, path, body, headers, status, code
) -> None:
    async def story(_: NotionSimulator, send: Send) -> None:
        answered, error = await send(method, path, body, **headers)
        assert (answered, error["object"], error["code"], error["status"]) == (status, "error", code, status)

    play(story)


def test_simulated_notion_limits_texts_arrays_and_nesting() -> None:
    async def story(_: NotionSimulator, send: Send) -> None:
        def paragraph(texts: list[dict[str, Any]]) -> dict[str, Any]:
            return {"type": "paragraph", "paragraph": {"rich_text": texts}}

        long = [paragraph([{"text": {"content": "x" * 2001}}])]
        wide = [paragraph([{"text": {"content": "x"}}] * 101)]
        many = [paragraph([])] * 101
        deep: dict[str, Any] = paragraph([])
        for _level in range(2):
            deep = {"type": "toggle", "toggle": {"rich_text": [], "children": [deep]}}
        for children in (long, wide, many, [deep]):
            status, error = await send("PATCH", f"blocks/{CACHE}/children", {"children": children})
            assert (status, error["code"]) == (400, "validation_error")

    play(story)


def test_simulated_notion_reads_changes_and_creates_pages() -> None:
    async def story(notion: NotionSimulator, send: Send) -> None:
        _, page = await send("GET", f"pages/{CACHE.replace('-', '')}")
        assert page["parent"] == {"type": "data_source_id", "data_source_id": SOURCE, "database_id": RFCS}
        assert page["properties"]["Status"]["status"]["name"] == "Draft"
        assert page["properties"]["Reviewers"]["people"][0]["name"] == "Ada Byron"
        _, part = await send("GET", f"pages/{CACHE}?filter_properties=St%253D1")
        assert list(part["properties"]) == ["Status"]
        wanted = {"Status": {"status": {"name": "Done"}}, "Reviewers": {"people": [{"object": "user", "id": BOT}]}}
        _, changed = await send("PATCH", f"pages/{CACHE}", {"properties": wanted})
        assert changed["properties"]["Reviewers"]["people"][0]["type"] == "bot"
        made = {
            "parent": {"data_source_id": SOURCE},
            "properties": {"Name": {"title": [{"text": {"content": "New"}}]}},
            "markdown": "# Why\n- because\n- [x] done",
        }
        _, new = await send("POST", "pages", made)
        assert notion.state()[new["id"]] == {
            "title": "New",
            "database": "RFCs",
            "trashed": False,
            "properties": notion.state()[new["id"]]["properties"],
            "markdown": "# Why\n- because\n- [x] done",
            "comments": [],
        }
        assert (await send("PATCH", f"pages/{new['id']}", {"in_trash": True}))[1]["in_trash"] is True
        assert (await send("PATCH", f"pages/{new['id']}", {"properties": {}}))[0] == 400

    play(story)


def test_simulated_notion_markdown_edit_leaves_other_blocks_and_comments() -> None:
    async def story(notion: NotionSimulator, send: Send) -> None:
        path = f"pages/{CACHE}/markdown"
        update = {"content_updates": [{"old_str": "stale", "new_str": "old"}]}
        await send("PATCH", path, {"type": "update_content", "update_content": update})
        _, page = await send("GET", path)
        assert page["markdown"] == "We cache **everything**.\n## Risks\n- old data"
        _, comments = await send("GET", f"comments?block_id={INTRO}")
        assert len(comments["results"]) == 1
        inserted = {"content": "First.", "position": {"type": "start"}}
        await send("PATCH", path, {"type": "insert_content", "insert_content": inserted})
        missing = {"content_updates": [{"old_str": "not there", "new_str": ""}]}
        assert (await send("PATCH", path, {"type": "update_content", "update_content": missing}))[0] == 400
        assert (await send("PATCH", path, {"type": "erase"}))[0] == 400
        _, page = await send("GET", path)
        assert page["markdown"].startswith("First.\nWe cache")
        await send("PATCH", path, {"type": "replace_content", "replace_content": {"new_str": "Gone."}})
        assert [block.type for block in notion.workspace.page(CACHE).blocks] == ["paragraph"]

    play(story)


def test_simulated_notion_appends_blocks_at_a_position_and_lists_pages() -> None:
    async def story(_: NotionSimulator, send: Send) -> None:
        def paragraph(words: str) -> dict[str, Any]:
            return {"type": "paragraph", "paragraph": {"rich_text": [{"text": {"content": words}}]}}

        position = {"type": "after_block", "after_block": {"id": INTRO}}
        path = f"blocks/{CACHE}/children"
        assert (await send("PATCH", path, {"children": [paragraph("second")], "position": position}))[0] == 200
        assert (await send("PATCH", path, {"children": [paragraph("last")]}))[0] == 200
        seen, cursor = [], ""
        while True:
            _, page = await send("GET", f"{path}?page_size=2{cursor and f'&start_cursor={cursor}'}")
            seen += [block[block["type"]]["rich_text"][0]["plain_text"] for block in page["results"]]
            cursor = page["next_cursor"]
            if not page["has_more"]:
                break
        assert seen == ["We cache ", "second", "Risks", "stale data", "last"]
        _, block = await send("GET", f"blocks/{RISK}")
        assert (block["type"], block["parent"]) == ("heading_2", {"type": "page_id", "page_id": CACHE})

    play(story)


def test_simulated_notion_lists_comments_of_a_page_or_block_until_resolved() -> None:
    async def story(notion: NotionSimulator, send: Send) -> None:
        _, listed = await send("GET", f"comments?block_id={CACHE}")
        words = [one["rich_text"][0]["plain_text"] for one in listed["results"]]
        assert words == ["Who owns this?", "I do."]
        discussion = listed["results"][0]["discussion_id"]
        _, reply = await send("POST", "comments", {"discussion_id": discussion, "markdown": "**We** do."})
        assert (reply["discussion_id"], reply["created_by"]["id"]) == (discussion, BOT)
        texts = [{"mention": {"type": "user", "user": {"id": ADA}}}]
        _, inline = await send("POST", "comments", {"parent": {"block_id": RISK}, "rich_text": texts})
        assert inline["rich_text"][0]["plain_text"] == "@Ada Byron"
        notion.people.resolve(discussion)
        assert (await send("GET", f"comments?block_id={CACHE}"))[1]["results"] == []

    play(story)


def test_simulated_notion_queries_rows_by_filter_sort_and_page() -> None:
    async def story(_: NotionSimulator, send: Send) -> None:
        async def titles(**body: object) -> list[str]:
            _, found = await send("POST", f"data_sources/{SOURCE}/query", body)
            return [row["properties"]["Name"]["title"][0]["plain_text"] for row in found["results"]]

        assert await titles() == ["Cache", "Limits"]
        assert await titles(filter={"property": "Status", "status": {"equals": "Done"}}) == ["Limits"]
        assert await titles(filter={"property": "Reviewers", "people": {"contains": ADA}}) == ["Cache"]
        both = {
            "or": [
                {"property": "Tags", "multi_select": {"contains": "api"}},
                {"property": "Effort", "number": {"equals": 3}},
            ]
        }
        assert await titles(filter=both) == ["Cache", "Limits"]
        assert await titles(filter={"and": [both, {"property": "Link", "url": {"is_not_empty": True}}]}) == []
        assert await titles(sorts=[{"property": "Name", "direction": "descending"}]) == ["Limits", "Cache"]
        _, page = await send("POST", f"data_sources/{SOURCE}/query", {"page_size": 1})
        assert (page["has_more"], page["request_status"]) == (True, {"type": "complete"})
        assert await titles(start_cursor=page["next_cursor"]) == ["Limits"]
        _, database = await send("GET", f"databases/{RFCS}")
        assert database["data_sources"] == [{"id": SOURCE, "name": "RFCs"}]
        _, source = await send("GET", f"data_sources/{SOURCE}")
        assert [one["name"] for one in source["properties"]["Area"]["select"]["options"]] == ["Core", "Web"]
        _, found = await send("POST", "search", {"query": "ca", "filter": {"property": "object", "value": "page"}})
        assert [one["id"] for one in found["results"]] == [CACHE]
        _, everything = await send("POST", "search", {})
        assert {one["id"] for one in everything["results"]} == {SOURCE, CACHE, LIMITS, HANDBOOK}
        assert (await send("GET", "users/me"))[1]["id"] == BOT
        _, people = await send("GET", "users")
        assert [one["type"] for one in people["results"]] == ["bot", "person", "person", "person"]

    play(story)


def test_simulated_notion_restricts_a_connection_without_the_capability() -> None:
    connection = {"id": BOT, "name": "Gofer", "capabilities": ["read_content"]}

    async def story(_: NotionSimulator, send: Send) -> None:
        status, error = await send("GET", f"comments?block_id={CACHE}")
        assert (status, error["code"]) == (403, "restricted_resource")
        assert (await send("GET", f"pages/{CACHE}"))[0] == 200

    play(story, WORLD | {"connection": connection})


def test_simulated_notion_faults_hit_the_matching_requests() -> None:
    async def story(notion: NotionSimulator, send: Send) -> None:
        notion.faults.add("GET", "/v1/pages/*", Fault("status", 429, {"Retry-After": "7"}))
        status, error = await send("GET", f"pages/{CACHE}")
        assert (status, error["code"], error["additional_data"]["rate_limit_reason"]) == (
            429,
            "rate_limited",
            "connection",
        )
        notion.faults.add("*", "/v1/*", Fault("expired_token"))
        assert (await send("GET", "users/me"))[0] == 401
        notion.faults.add("POST", "/v1/comments", Fault("timeout_after_success"))
        with pytest.raises(TimeoutError):
            await send("POST", "comments", {"parent": {"page_id": LIMITS}, "markdown": "kept"})
        notion.faults.add("POST", "/v1/comments", Fault("timeout"))
        with pytest.raises(TimeoutError):
            await send("POST", "comments", {"parent": {"page_id": LIMITS}, "markdown": "lost"})
        assert [one["text"] for one in notion.state()[LIMITS]["comments"]] == ["kept"]
        notion.faults.add("GET", "/v1/users/me", Fault("slow", seconds=0.01))
        assert (await send("GET", "users/me"))[0] == 200

    play(story)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"users": [{"id": "u1", "name": "x"}]}, r"notion\.users\[0\]\.id: it must be a UUID"),
        ({"colour": 1}, "unknown key 'colour'"),
        ({"connection": {"id": BOT, "name": "Gofer", "capabilities": ["fly"]}}, "unknown capability 'fly'"),
        ({"databases": [{"id": RFCS, "name": "R", "properties": {}}]}, "exactly one property of the kind title"),
        ({"databases": [{"id": RFCS, "name": "R", "properties": {"N": "colour"}}]}, "has the unknown kind 'colour'"),
        ({"pages": [{"id": CACHE, "title": "x", "comments": [{"user": "Bo", "text": "x"}]}]}, "names 'Bo'"),
        ({"pages": [{"id": CACHE, "title": "x", "properties": {"Status": "x"}}]}, "not a property of this database"),
    ],
)
def test_simulated_notion_world_with_a_mistake_is_refused_at_the_place(change: dict[str, Any], words: str) -> None:
    async def story(_: NotionSimulator, send: Send) -> None:
        raise AssertionError

    with pytest.raises(ConfigError, match=words):
        play(
            story, {"databases": [], "pages": []} | {k: WORLD[k] for k in ("workspace", "connection", "users")} | change
        )
