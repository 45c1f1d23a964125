"""Notion pages of which Notion refuses one part: the part is named in place, and the rest is read."""

import pytest

from gofer.sources.notion.find import QueryDatabase, notion_query_database
from gofer.sources.notion.get_page import GetPage, notion_get_page
from gofer.tools.definition import Call
from gofer.values.errors import TemporaryError, ToolError
from gofer_simulators.faults import Fault
from gofer_simulators.notion.simulator import NotionSimulator
from support.vendors.notion import ADA, API, CACHE, INTRO, WORLD, play, uuid

TOGGLE, COPY, ORIGINAL = uuid(50), uuid(51), uuid(52)


def text(words: str) -> dict[str, object]:
    return {"rich_text": [{"type": "text", "plain_text": words, "annotations": {}, "href": None}]}


def of(*blocks: dict[str, object]) -> dict[str, object]:
    """Return a world with one page that has the given blocks."""
    page = {"id": CACHE, "title": "Plan", "blocks": [*blocks]}
    return WORLD | {"databases": [], "pages": [page]}


@pytest.mark.parametrize("status", [400, 403, 404])
def test_block_with_refused_content_is_named_in_place_and_the_rest_is_read(status: int) -> None:
    inner: dict[str, object] = {"type": "paragraph", "content": text("hidden")}
    toggle: dict[str, object] = {"id": TOGGLE, "type": "toggle", "content": text("Tools"), "blocks": [inner]}
    world = of({"markdown": "Before"}, toggle, {"markdown": "After"})

    async def story(notion: NotionSimulator, call: Call) -> None:
        notion.faults.add("GET", f"/v1/blocks/{TOGGLE}/children", Fault("status", status))
        read = (await notion_get_page.act(API, call, GetPage())).text
        (named,) = [line for line in read.splitlines() if TOGGLE in line]
        assert "Tools (Gofer may not read what is inside: Notion refused with " in named
        assert "] Before" in read
        assert "] After" in read

    play(story, world)


def test_refused_content_of_a_page_leaves_its_properties_and_comments() -> None:
    async def story(notion: NotionSimulator, call: Call) -> None:
        notion.faults.add("GET", f"/v1/blocks/{CACHE}/children", Fault("status", 404))
        read = (await notion_get_page.act(API, call, GetPage())).text
        assert "(Gofer may not read the content, or its rest: Notion refused with object_not_found)" in read
        assert "Status: Draft" in read
        assert "Who owns this?" in read

    play(story)


@pytest.mark.parametrize("status", [400, 403, 404])
def test_page_with_refused_comments_is_read(status: int) -> None:
    async def story(notion: NotionSimulator, call: Call) -> None:
        notion.faults.add("GET", "/v1/comments", Fault("status", status))
        read = (await notion_get_page.act(API, call, GetPage())).text
        assert "We cache **everything**." in read
        assert read.endswith("\nGofer may not read comments.")

    play(story)


def test_refused_comments_of_the_page_leave_the_comments_of_blocks() -> None:
    async def story(notion: NotionSimulator, call: Call) -> None:
        notion.faults.add("GET", "/v1/comments", Fault("status", 404))
        read = (await notion_get_page.act(API, call, GetPage(comments="all"))).text
        assert "For how long?" in read
        assert f"(Gofer may not read the comments on {CACHE}.)" in read

    play(story)


@pytest.mark.parametrize("path", ["/v1/blocks/*/children", "/v1/comments", "/v1/data_sources/*"])
def test_outage_in_any_part_is_waited_for_and_not_named_as_refused(path: str) -> None:
    async def story(notion: NotionSimulator, call: Call) -> None:
        notion.faults.add("GET", path, Fault("status", 503))
        with pytest.raises(TemporaryError):
            await notion_get_page.act(API, call, GetPage())
        notion.faults.add("GET", path, Fault("status", 429, {"Retry-After": "600"}))
        with pytest.raises(ToolError, match="Wait 600 seconds"):
            await notion_get_page.act(API, call, GetPage())

    play(story)


def test_refused_rest_of_a_property_costs_that_rest_only() -> None:
    async def story(notion: NotionSimulator, call: Call) -> None:
        notion.people.set_values(CACHE, {"Reviewers": [ADA] * 30}, by=ADA)
        notion.faults.add("GET", "/v1/pages/*/properties/*", Fault("status", 404), times=2)
        page = (await notion_get_page.act(API, call, GetPage())).text
        rows = (await notion_query_database.act(API, call, QueryDatabase(database="RFCs"))).text
        for read in (page, rows):
            (named,) = [line for line in read.splitlines() if "Reviewers:" in line and "Ada" in line]
            assert named.count("Ada Byron") == 25
            assert named.endswith("(there are more, which Gofer has not read)")
        assert "- row “Limits”" in rows

    play(story)


def synced(original: str) -> dict[str, object]:
    return {"synced_from": {"type": "block_id", "block_id": original}}


def test_copy_of_a_synced_block_has_the_text_of_its_original() -> None:
    shared: dict[str, object] = {"type": "paragraph", "content": text("Text inside the original")}
    original = {
        "id": uuid(60),
        "title": "Elsewhere",
        "blocks": [{"id": ORIGINAL, "type": "synced_block", "content": {"synced_from": None}, "blocks": [shared]}],
    }
    world = of({"id": COPY, "type": "synced_block", "content": synced(ORIGINAL)})
    both = world | {"pages": [*world["pages"], original]}

    async def story(_: NotionSimulator, call: Call) -> None:
        read = (await notion_get_page.act(API, call, GetPage())).text
        assert "Text inside the original" in read

    play(story, both)


def test_refused_notes_of_a_meeting_are_named_at_the_notes() -> None:
    sections = {"summary_block_id": CACHE, "notes_block_id": uuid(98)}
    world = of({"id": COPY, "type": "meeting_notes", "content": {"title": [], "children": sections}})

    async def story(_: NotionSimulator, call: Call) -> None:
        lines = (await notion_get_page.act(API, call, GetPage())).text.splitlines()
        (named,) = [line for line in lines if "may not read" in line]
        assert f"[{uuid(98)}] (notes) (Gofer may not read it: " in named

    play(story, world)


def test_copy_of_an_unshared_block_says_so_and_a_copy_of_itself_ends() -> None:
    world = of(
        {"id": COPY, "type": "synced_block", "content": synced(uuid(99))},
        {"id": ORIGINAL, "type": "synced_block", "content": synced(ORIGINAL)},
        {"id": INTRO, "markdown": "After"},
    )

    async def story(notion: NotionSimulator, call: Call) -> None:
        lines = (await notion_get_page.act(API, call, GetPage())).text.splitlines()
        (named,) = [line for line in lines if f"[{COPY}]" in line]
        assert f"a copy of block {uuid(99)})" in named
        assert "(Gofer may not read the original: Notion refused with object_not_found)" in named
        assert any(line.endswith("] After") for line in lines)
        assert len(notion.requests) < 20

    play(story, world)
