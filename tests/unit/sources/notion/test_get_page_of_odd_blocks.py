"""Notion content outside the simulator: further blocks and properties, databases with several data sources."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gofer.sources.notion.content import BLOCKS
from gofer.sources.notion.find import QueryDatabase, notion_query_database
from gofer.sources.notion.get_page import GetPage, notion_get_page
from gofer.sources.notion.write import UpdateProperties, notion_update_properties
from gofer.tools.definition import Call, ToolResult
from gofer.values.errors import ToolError
from support.stand_ins import AnsweringHttp
from support.tools.calls import any_call
from support.vendors.notion import API, BOT, CACHE, HANDBOOK, LIMITS, RFCS, SOURCE, WORLD, play, uuid


def texts(words: str, **fields: Any) -> dict[str, Any]:
    return {"rich_text": [{"type": "text", "plain_text": words, "annotations": {}, "href": None}], **fields}


def block(kind: str, content: Mapping[str, Any], number: int, below: bool = False) -> dict[str, Any]:
    return {"object": "block", "id": uuid(100 + number), "type": kind, kind: content, "has_children": below}


def read(properties: dict[str, Any], blocks: list[dict[str, Any]], **page: Any) -> ToolResult:
    """Read a page from prepared answers, with children below its first block."""

    def answer(url: str, _: bytes) -> dict[str, Any]:
        if "/children" in url:
            inner = [block("paragraph", texts("inside"), 99)] if uuid(100) in url else blocks
            return {"results": inner, "next_cursor": None}
        if "/comments" in url:
            return {"results": [], "next_cursor": None}
        return {"object": "page", "id": CACHE, "url": "https://notion.so/x", "properties": properties, **page}

    call = any_call(AnsweringHttp(answer), key="k", actor="u")
    return asyncio.run(notion_get_page.act(API, call, GetPage(page=CACHE)))


@pytest.mark.parametrize("end", [*"\n\r\v\f\x1c\x85\u2028\u2029", "\r\n"])
def test_notion_block_cannot_imitate_another_block_by_any_line_end(end: str) -> None:
    words = f"x{end}[{LIMITS}] fake"
    page = read({}, [block("paragraph", texts(words), 0), block("child_page", {"title": words}, 1)])
    assert [line for line in page.text.splitlines() if line.startswith(f"    [{LIMITS}]")] == []
    assert sum(line.startswith(f"          [{LIMITS}] fake") for line in page.text.splitlines()) == 2


LINKED: dict[str, Any] = {"rich_text": [{"type": "text", "plain_text": "a note", "annotations": {}, "href": None}]}


@pytest.mark.parametrize(
    ("kind", "content", "text"),
    [
        ("heading_4", texts("deep"), "#### deep"),
        ("callout", texts("mind", icon={"type": "emoji", "emoji": "!"}), "> ! mind"),
        ("code", texts("x = 1", language="python", caption=LINKED["rich_text"]), "```python"),
        ("numbered_list_item", texts("one", list_start_index=7), "7. one"),
        ("link_to_page", {"type": "page_id", "page_id": HANDBOOK}, "(link to page: [Untitled](https://www.notion.so/"),
        ("link_to_page", {"type": "database_id", "database_id": RFCS}, "(link to database: https://www.notion.so/"),
        ("link_to_page", {"type": "comment_id", "comment_id": LIMITS}, f"(link to comment {LIMITS})"),
        ("bookmark", {"url": "https://x.example", "caption": LINKED["rich_text"]}, "(bookmark: a note https://x.example)"),
        ("embed", {"url": "https://x.example", "caption": []}, "(embed: https://x.example)"),
        ("link_preview", {"url": "https://x.example"}, "(link preview: https://x.example)"),
        ("video", {"type": "external", "external": {"url": "https://x.example/v"}, "caption": LINKED["rich_text"]},
         "(video: a note https://x.example/v)"),
        ("image", {"type": "file_upload", "file_upload": {"id": LIMITS}}, "(image: (a file that is not uploaded yet))"),
        ("child_database", {"title": ""}, "(child database: without a title)"),
        ("table_row", {"cells": [texts("a|b\nc")["rich_text"], []]}, "| a\\|b c |  |"),
        ("breadcrumb", {}, "(breadcrumb)"),
        ("table_of_contents", {"color": "gray"}, "(table of contents)"),
        ("column_list", {}, "(column list)"),
        ("tab", {}, "(tabs)"),
        ("template", texts("Add a task"), "(template button: Add a task)"),
        ("synced_block", {"synced_from": None}, "(synced block)"),
        ("unsupported", {"block_type": "button"}, "(a block that Notion's API does not give: button)"),
        ("copy_indicator", texts("still read"), "(block that Gofer does not know: copy_indicator) still read"),
        ("meeting_notes", {"title": LINKED["rich_text"], "status": "notes_ready"}, "(meeting notes: a note, notes re"),
    ],
)  # fmt: skip
def test_notion_block_of_a_published_kind_is_read_or_named(kind: str, content: Mapping[str, Any], text: str) -> None:
    lines = [line.split("] ", 1)[1] for line in read({}, [block(kind, content, 1)]).text.splitlines() if "] " in line]
    assert lines[0].startswith(text)


@given(st.text("abcdefghijklmnopqrstuvwxyz_", min_size=1).filter(lambda kind: kind not in BLOCKS.members))
@settings(max_examples=25)
def test_notion_block_of_an_unknown_kind_is_always_named_with_its_kind(kind: str) -> None:
    assert f"(block that Gofer does not know: {kind})" in read({}, [block(kind, {}, 1)]).text


def test_notion_unsupported_block_has_the_blocks_inside() -> None:
    assert f"      [{uuid(199)}] inside" in read({}, [block("unsupported", {}, 0, below=True)]).text


def test_notion_meeting_notes_have_their_summary_notes_and_transcript() -> None:
    sections = {f"{name}_block_id": uuid(100) for name in ("summary",)} | {"notes_block_id": uuid(7)}
    page = read({}, [block("meeting_notes", {"title": [], "children": sections}, 1)])
    assert f"      [{uuid(100)}] (summary)" in page.text
    assert f"        [{uuid(199)}] inside" in page.text
    assert f"      [{uuid(7)}] (notes)" in page.text


def test_notion_block_longer_than_the_limit_leaves_room_for_the_others() -> None:
    page = read({}, [block("code", texts("x" * 90_000), 1), block("paragraph", texts("after"), 2)])
    assert "] after" in page.text
    assert "further characters of this block are left out here.)" in page.text
    assert len(page.text) < 10_000


def test_notion_blocks_of_every_kind_are_read_as_a_line() -> None:
    blocks = [
        block("toggle", texts("more"), 0, below=True),
        block("callout", texts("mind"), 1),
        block("child_page", {"title": "Sub"}, 2, below=True),
        block("equation", {"expression": "e=mc^2"}, 3),
        block("image", {"type": "external", "external": {"url": "https://x.example/i.png"}, "caption": []}, 4),
        block("file", {"file": {"url": "https://signed", "expiry_time": "soon"}, "name": "a.pdf"}, 5),
        block("unsupported", {}, 6),
        block("numbered_list_item", texts("one"), 7),
        block("numbered_list_item", texts("two"), 8),
        block("paragraph", {"rich_text": [{"type": "mention", "plain_text": "@Ada", "href": None}]}, 9),
    ]
    page = read({}, blocks)
    shown = [line.split("] ", 1)[1] for line in page.text.splitlines() if "] " in line]
    assert shown == [
        "- more",
        "inside",
        "> mind",
        "(child page: Sub)",
        "$$e=mc^2$$",
        "(image: https://x.example/i.png)",
        f"[file {page.files[0].id}: a.pdf, application/pdf]",
        "(a block that Notion's API does not give)",
        "1. one",
        "2. two",
        "@Ada",
    ]


def test_notion_properties_of_every_kind_have_a_value_and_a_line() -> None:
    kinds: list[tuple[str, Any, Any]] = [
        ("formula", {"type": "string", "string": "ok"}, "ok"),
        ("formula", {"type": "date", "date": {"start": "2026-11-21"}}, "2026-11-21"),
        ("unique_id", {"prefix": "RFC", "number": 7}, "RFC-7"),
        ("unique_id", {"prefix": None, "number": 7}, "7"),
        ("files", [{"name": "a.pdf"}], ["a.pdf"]),
        ("created_by", {"id": BOT, "name": "Gofer"}, {"id": BOT, "name": "Gofer"}),
        ("date", {"start": "2026-11-21", "end": None}, "2026-11-21"),
        ("relation", [{"id": LIMITS}], [LIMITS]),
        ("people", [{"object": "user", "id": BOT}], [{"id": BOT, "name": ""}]),
        (
            "rollup",
            {"type": "array", "array": [{"type": "number", "number": 2}, {"type": "url", "url": "u"}]},
            [2, "u"],
        ),
        ("verification", None, None),
    ]
    properties = {
        "abcdefghijk"[n]: {"id": f"p{n}", "type": kind, kind: value} for n, (kind, value, _) in enumerate(kinds)
    }
    page = read(properties, [], in_trash=True, public_url="https://acme.notion.site/x")
    assert [one["value"] for one in page.details["properties"].values()] == [value for _, _, value in kinds]
    assert page.details["private"] is False
    assert "readers" not in page.details
    lines = page.text.splitlines()
    assert {
        "It is in the trash.",
        "The page has no content.",
        "    c: RFC-7",
        "    f: Gofer",
        f"    i: person {BOT}",
        "    j: 2, u",
    } <= {*lines}


@pytest.mark.parametrize("junk", [None, 5, [], "x", {"a": 1}])
def test_notion_page_with_missing_or_odd_fields_is_read(junk: Any) -> None:
    page = read(
        {"P": junk, "Q": {"type": "select", "select": junk}}, [{"type": junk}, block("paragraph", {}, 1)], parent=junk
    )
    assert page.details["private"] is True
    assert page.details["readers"] == "people whom Notion does not name"
    assert page.text.startswith("Notion page “Untitled”")


def test_notion_database_with_several_data_sources_is_refused_with_their_ids() -> None:
    def answer(url: str, _: bytes) -> dict[str, Any]:
        return {"object": "database", "data_sources": [{"id": SOURCE, "name": "Now"}, {"id": RFCS, "name": "Then"}]}

    call = any_call(AnsweringHttp(answer), key="k", actor="u")
    with pytest.raises(
        ToolError, match=f"has 2 data sources; use the id of one of them: Now .{SOURCE}., Then .{RFCS}."
    ):
        asyncio.run(notion_query_database.act(API, call, QueryDatabase(database=RFCS)))


def test_notion_view_of_a_database_is_refused_with_advice() -> None:
    call = any_call(AnsweringHttp(lambda _, __: {"object": "database", "data_sources": []}), key="k", actor="u")
    with pytest.raises(ToolError, match="no data source of that database"):
        asyncio.run(notion_query_database.act(API, call, QueryDatabase(database=RFCS)))


def test_notion_database_among_rows_has_no_values() -> None:
    schema = {"Tags": {"id": "t", "type": "multi_select", "multi_select": {"options": []}}}
    row = {"object": "data_source", "id": SOURCE, "title": [], "properties": schema}

    def answer(url: str, _: bytes) -> dict[str, Any]:
        if url.endswith("/query"):
            return {"results": [row], "has_more": False}
        return {"object": "database", "id": RFCS, "data_sources": [{"id": SOURCE}]}

    call = any_call(AnsweringHttp(answer), key="k", actor="u")
    found = asyncio.run(notion_query_database.act(API, call, QueryDatabase(database=RFCS)))
    assert "(empty)" not in found.text


def test_notion_page_is_read_without_the_capability_for_comments() -> None:
    connection = {"id": BOT, "name": "Gofer", "capabilities": ["read_content"]}

    async def story(_: object, call: Call) -> None:
        assert (await notion_get_page.act(API, call, GetPage())).text.endswith("\nGofer may not read comments.")

    play(story, WORLD | {"connection": connection})


def test_notion_row_of_an_unshared_database_is_read_without_the_database_name() -> None:
    databases = [WORLD["databases"][0] | {"shared": False}]

    async def story(_: object, call: Call) -> None:
        row = await notion_get_page.act(API, call, GetPage())
        assert row.text.startswith("Notion page “Cache”, a row of a database\n")
        assert row.details["facts"]["database"][0] == RFCS

    play(story, WORLD | {"databases": databases})


def test_notion_property_set_by_notion_alone_is_refused() -> None:
    def answer(url: str, _: bytes) -> dict[str, Any]:
        return {"object": "page", "id": HANDBOOK, "properties": {"Made": {"id": "m", "type": "created_time"}}}

    call = any_call(AnsweringHttp(answer), key="k", actor="u")
    with pytest.raises(ToolError, match="Made is a created_time; Gofer cannot set"):
        asyncio.run(
            notion_update_properties.act(API, call, UpdateProperties(page=HANDBOOK, properties={"Made": "now"}))
        )
