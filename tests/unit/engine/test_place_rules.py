"""Rules of places: where a run may write and read, the lookups, and the id to which a call is sent."""

from dataclasses import replace
from typing import Any

import pytest

from gofer.app.catalog import build_tools
from gofer.app.settings import read_settings
from gofer.engine.permitted_call import Permitted
from gofer.engine.place_rules import Verdict, may_read, may_write, refusal
from gofer.journal import entries as e
from gofer.sources.jira import issues as jira
from gofer.sources.jira.api import JiraApi
from gofer.sources.notion import ids as notion
from gofer.sources.notion.api import NotionApi
from gofer.sources.part_values import Known, Person
from gofer.sources.slack import places as slack
from gofer.sources.slack.places import FindPlace, slack_find_place
from gofer.sources.workflow_files import DestinationsForm as Destinations
from gofer.tools.definition import Arguments, Call, Tool, ToolResult
from gofer.tools.places import Origin, Place
from gofer.values.canonical_json import decode
from gofer.values.errors import ConfigError, ToolError
from gofer.values.outside import HttpRequest, HttpResponse
from gofer.values.secret import Secret
from gofer_simulators.slack.simulator import SlackSimulator
from gofer_simulators.slack.workspace import Channel
from support.engine.approvals import ApprovalWorker, approval_worker
from support.engine.memory_run import says
from support.stand_ins import AnsweringHttp
from support.tools.calls import any_call
from support.vendors.slack import API, play

TOOLS = build_tools(read_settings({}))
MEMBER, GUEST, STRANGER = (Person("U1", kind) for kind in ("member", "guest", "external"))
ELSEWHERE = Known("C1")
ADA, BOT = "U0000001", "UBOT0000"
POST = ("slack_post_message", {"text": "there", "channel": "#random"})


@pytest.mark.parametrize(
    ("known", "asker", "verdict"),
    [
        (Known(home=True), None, "yes"),
        (Known(listed=True), None, "yes"),
        (Known(listed=True), STRANGER, "yes"),
        (Known(own=True), GUEST, "yes"),
        (Known("C1", public=True, named=True), MEMBER, "yes"),
        (Known("C1", named=True), GUEST, "ask"),
        (Known("C1", named=True), None, "no"),
        (Known("C1", public=True, member=True), MEMBER, "ask"),
        (Known("C1", public=True), MEMBER, "ask"),
        (Known("C1", member=True), GUEST, "ask"),
        (Known("C1", member=True), STRANGER, "ask"),
        (ELSEWHERE, MEMBER, "ask"),
        (Known("C1", public=True), None, "no"),
        (ELSEWHERE, None, "no"),
        (Known(), None, "no"),
    ],
)
def test_run_may_write_at_home_at_listed_places_and_at_places_that_its_asker_names(
    known: Known, asker: Person | None, verdict: Verdict
) -> None:
    assert may_write(known, asker) == verdict


@pytest.mark.parametrize(
    ("known", "asker", "alone", "allowed"),
    [
        (Known(home=True), STRANGER, False, True),
        (Known(public=True), None, False, True),
        (Known(listed=True), None, False, True),
        (Known(), None, False, False),
        (Known(public=True), MEMBER, False, True),
        (Known(public=True), GUEST, False, False),
        (Known(public=True, member=True), GUEST, False, True),
        (Known(public=True), STRANGER, False, False),
        (Known(member=True), MEMBER, False, False),
        (Known(member=True), MEMBER, True, True),
        (Known(listed=True), MEMBER, True, False),
        (Known(), MEMBER, True, False),
    ],
)
def test_run_may_read_only_places_that_the_requester_can_read(
    known: Known, asker: Person | None, alone: bool, allowed: bool
) -> None:
    assert may_read(known, asker, alone=alone) is allowed


@pytest.mark.parametrize("tool", [tool for tool in TOOLS.values() if tool.target.system], ids=lambda tool: tool.name)
def test_every_writing_tool_declares_a_place(tool: Tool[Any]) -> None:
    writes = tool.effect != "read" and not tool.internal
    reads_slack = tool.name in ("slack_read_thread", "slack_read_channel", "slack_get_permalink")
    assert (tool.target.where is not None) is (writes or reads_slack)
    if writes:
        with pytest.raises(ConfigError, match="does not declare its place"):
            replace(tool, target=replace(tool.target, where=None))


class Counting:
    """The HTTP of a call, which records its requests."""

    def __init__(self, call: Call) -> None:
        self._http = call.http
        self.asked: list[tuple[str, bytes]] = []

    async def send(self, request: HttpRequest) -> HttpResponse:
        self.asked.append((request.url, request.content))
        return await self._http.send(request)


async def _asked(call: Call, **said: Any) -> tuple[ToolResult, list[str], list[bytes]]:
    http = Counting(call)
    found = await slack_find_place.act(API, replace(call, http=http), FindPlace(**said))
    return found, [url for url, _ in http.asked], [content for _, content in http.asked]


def test_lookup_of_a_hidden_channel_is_indistinguishable_from_an_unknown_channel() -> None:
    async def story(simulator: SlackSimulator, call: Call) -> None:
        simulator.workspace.put_channel(Channel("C0000009", "secret", "group", (BOT,)))
        simulator.workspace.put_channel(Channel("C0000008", "others", "group", ("U0000002",)))
        hidden = await _asked(call, channel="C0000009", asker=ADA)
        for other in ("C0000008", "C0000077"):
            found, urls, contents = await _asked(call, channel=other, asker=ADA)
            assert (found, urls) == hidden[:2]
            assert [content.replace(other.encode(), b"C0000009") for content in contents] == hidden[2]
        assert hidden[0] == slack.UNSEEN

    play(story)


def test_channel_lookup_reveals_only_facts_open_to_requester_or_workflow() -> None:
    async def story(simulator: SlackSimulator, call: Call) -> None:
        workspace = simulator.workspace
        workspace.put_channel(Channel("C0000009", "secret", "group", (BOT, ADA)))

        async def known(channel: str, asker: str = ADA, *listed: str) -> dict[str, object]:
            found, _, _ = await _asked(call, channel=channel, asker=asker, listed=listed)
            return {name: value for name, value in found.details.items() if value}

        deploys = {"id": "C0000001", "name": "deploys", "public": True}
        assert await known("deploys") == {**deploys, "member": True}
        assert await known("C0000001", "U0000002") == deploys
        assert await known("C0000001", "", "#deploys") == {**deploys, "listed": True}
        assert await known("C0000009") == {"id": "C0000009", "name": "secret", "member": True}
        assert await known("C0000009", "U0000002") == await known("Deploys") == {}
        assert await known("C0000009", "", "C0000009") == {"id": "C0000009", "name": "secret", "listed": True}
        direct = workspace.direct(ADA).id
        assert await known(direct) == {"id": direct, "own": True}
        assert await known(direct, "U0000002") == {}

    play(story)


@pytest.mark.anyio
async def test_unverifiable_channel_membership_counts_as_none_or_is_refused() -> None:
    def answer(url: str, content: bytes) -> dict[str, object]:
        if url.endswith("users.conversations"):
            more = {"response_metadata": {"next_cursor": "next"}}
            return {"ok": True, "channels": [{"id": "C0000001"}], **more}
        return {"ok": True, "channel": {"id": "C0000001", "name": "deploys", "is_channel": True}}

    call = any_call(AnsweringHttp(answer), key="k")
    found = await slack_find_place.act(API, call, FindPlace(channel="C0000001", asker=ADA))
    assert (found.details["public"], found.details["member"]) == (True, False)
    refused = AnsweringHttp(lambda url, content: {"ok": False, "error": "user_not_found"})
    with pytest.raises(ToolError, match="user_not_found"):
        await slack_find_place.act(API, replace(call, http=refused), FindPlace(channel="C0000001", asker=ADA))


@pytest.mark.anyio
async def test_moved_jira_issue_is_located_at_the_current_key() -> None:
    http = AnsweringHttp(lambda url, content: {"key": "PAY-9", "fields": {"project": {"key": "PAY"}}})
    call = any_call(http, key="k")
    found = await jira.jira_find_place.act(
        JiraApi("http://jira", "a@b", Secret("t")), call, jira.FindPlace(issue="OPS-7")
    )
    assert found.details == {"id": "PAY-9", "within": ["PAY"]}


@pytest.mark.anyio
async def test_notion_page_is_located_within_page_database_and_data_source() -> None:
    page, database, source = (f"5f1c7d2e-0a3b-4c4d-8e9f-00000000000{n}" for n in (1, 2, 3))
    parent = {"type": "data_source_id", "data_source_id": source, "database_id": database}
    http = AnsweringHttp(lambda url, content: {"object": "page", "id": page, "parent": parent})
    call = any_call(http, key="k")
    found = await notion.notion_find_place.act(
        NotionApi("http://notion", Secret("t")), call, notion.FindPlace(page=page)
    )
    assert found.details == {"id": page, "within": [page, database, source]}


def test_writes_key_accepts_ids_in_every_common_spelling() -> None:
    page = "5f1c7d2e-0a3b-4c4d-8e9f-00000000f0c5"
    said = {"slack": "public", "notion": [f"https://www.notion.so/acme/{page.replace('-', '')}?v=1"], "jira": "PAY"}
    read = Destinations.model_validate(said)
    assert (read.lists_all_public("slack"), read.one_by_one("slack")) == (True, ())
    assert (read.entries("notion"), read.entries("jira")) == ((page,), ("PAY",))


def _posting(*calls: tuple[str, dict[str, object]], **keys: object) -> ApprovalWorker:
    return approval_worker(says("", *calls), says("Done."), approve=None, tools=["slack_post_message"], **keys)


async def _calls(made: ApprovalWorker, prefix: str) -> list[e.ToolCall]:
    return [one for one in await made.entries() if isinstance(one, e.ToolCall) and one.call.startswith(prefix)]


@pytest.mark.anyio
async def test_write_place_is_looked_up_once_in_five_minutes_and_the_call_uses_the_id() -> None:
    again = ("slack_post_message", {"text": "more", "channel": "random"})
    made = _posting(POST, again)
    await made.memory_worker.accept("run1", private=False, text="<@U0GOFER0> tell #random")
    await made.work()
    assert {"there", "more"} <= {*made.memory_worker.posted}
    assert len(await _calls(made, "write-place/")) == 1
    sent = [(one.arguments or {})["channel"] for one in await _calls(made, "1.")]
    assert sent == ["C0RANDOM", "C0RANDOM"]


@pytest.mark.anyio
async def test_channel_name_that_changed_meaning_before_the_approval_is_refused() -> None:
    made = _posting(POST)
    made.memory_worker.member = False
    await made.memory_worker.accept("run1", private=False)
    await made.work(4)
    before = made.memory_worker.worker.services
    moved = slack.place_result("C0OTHER0", "random", public=True, member=False, own=False, listed=False)

    async def renamed(call: Call, arguments: FindPlace) -> ToolResult:
        return moved

    tools = {**before.tools, "slack_find_place": replace(before.tools["slack_find_place"], act=renamed)}
    made.memory_worker.worker = replace(made.memory_worker.worker, services=replace(before, tools=tools))
    await made.press("approved", "U0NEWCO0")
    await made.work()
    assert "there" not in made.memory_worker.posted
    assert "differ from those of the approval request" in await made.first_result()


@pytest.mark.anyio
async def test_write_is_refused_while_the_place_cannot_be_looked_up() -> None:
    made = _posting(POST)
    before = made.memory_worker.worker.services

    async def refused(call: Call, arguments: FindPlace) -> ToolResult:
        raise ToolError("Slack refused users.conversations (missing_scope).", code="missing_scope")

    tools = {**before.tools, "slack_find_place": replace(before.tools["slack_find_place"], act=refused)}
    made.memory_worker.worker = replace(made.memory_worker.worker, services=replace(before, tools=tools))
    await made.memory_worker.accept("run1", private=False)
    await made.work()
    assert (made.asked, "there" in made.memory_worker.posted) == ([], False)
    assert "missing_scope" in await made.first_result()


def test_call_in_doubt_is_repeated_with_the_recorded_id() -> None:
    tool = TOOLS["slack_post_message"]
    asked = Permitted("1.0", tool, tool.parse(POST[1]))
    judged = replace(asked, ids={"channel": "C0RANDOM0"})
    intent = judged.intent
    assert decode(tool.arguments.model_validate(intent.arguments).model_dump_json().encode()) == {
        "text": "there",
        "channel": "C0RANDOM0",
        "thread_ts": "",
    }
    assert asked.as_recorded(intent).sent_arguments == judged.sent_arguments
    assert asked.as_recorded(replace(intent, arguments=None)) == asked.as_recorded(None) == asked


def test_refusal_suggests_a_writes_entry_only_where_an_entry_is_possible() -> None:
    assert "`writes: {" not in refusal(Place("slack", "person", "schedule"))
    assert "may not write to a person" in refusal(Place("slack", "person", "schedule"))
    assert '`writes: {slack: ["#general"]}`' in refusal(Place("slack", "channel", "general"))


@pytest.mark.anyio
async def test_write_to_an_unknown_system_needs_approval() -> None:
    made = _posting(("slack_post_message", {"text": "there"}))
    before = made.memory_worker.worker.services

    def elsewhere(origin: Origin, arguments: Arguments) -> Place:
        return Place("acme", "project", "X")

    post = before.tools["slack_post_message"]
    tools = {
        **before.tools,
        "slack_post_message": replace(post, target=replace(post.target, writes=None, where=elsewhere)),
    }
    made.memory_worker.worker = replace(made.memory_worker.worker, services=replace(before, tools=tools))
    await made.memory_worker.accept("run1", private=False)
    await made.work()
    assert [one.where for one in made.asked] == ["X"]
    assert "`writes: {acme: [X]}`" in refusal(Place("acme", "project", "X"))
