"""Properties of Notion pages: complete beyond 25 entries, and never empty for a kind that Gofer cannot read."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.sources.notion.find import QueryDatabase, notion_query_database
from gofer.sources.notion.get_file import Files
from gofer.sources.notion.get_page import GetPage, notion_get_page
from gofer.sources.notion.properties import PROPERTIES, RESULTS, plain, property_lines
from gofer.tools.definition import Call
from gofer_simulators.notion.simulator import NotionSimulator
from support.vendors.notion import ADA, API, BOT, CACHE, LIMITS, WORLD, play, uuid


def shown(kind: str, value: Any, **more: Any) -> str:
    """Return a property as text, without its name."""
    page = {"id": CACHE, "properties": {"P": {"id": "p", "type": kind, kind: value, **more}}}
    (line,) = property_lines(page, Files())
    return line.removeprefix("    P: ")


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        ("verification", {"state": "verified", "verified_by": {"name": "Ada"}, "date": {"start": "2026-01-01"}},
         "verified 2026-01-01 by Ada"),
        ("verification", {"state": "unverified", "verified_by": None, "date": None}, "unverified"),
        ("place", {"lat": 52.5, "lon": 13.4, "name": "Head office", "address": "1 Main St"},
         "Head office, 1 Main St, (52.5, 13.4)"),
        ("button", {}, "(a button)"),
        ("formula", {"type": "boolean", "boolean": False}, "no"),
        ("formula", {"type": "string", "string": None}, "(empty)"),
        ("rollup", {"type": "number", "number": 0.5, "function": "percent_checked"}, "0.5 (percent checked)"),
        ("rollup", {"type": "array", "array": [{"type": "button"}], "function": "show_original"}, "(a button)"),
        ("rollup", {"type": "unsupported", "unsupported": {}}, "(a result that Notion's API does not give)"),
        ("rollup", {"type": "incomplete", "incomplete": {}}, "(a result that Notion has not finished computing)"),
        ("date", {"start": "2026-11-21T09:00:00.000", "end": None, "time_zone": "Europe/Paris"},
         "2026-11-21T09:00:00.000 (Europe/Paris)"),
        ("people", [{"object": "group", "id": BOT, "name": "Platform"}, {"object": "user", "id": ADA}],
         f"Platform, person {ADA}"),
        ("multi_select", [], "(empty)"),
        ("unique_id", {"prefix": None, "number": None}, "(empty)"),
        ("status", None, "(empty)"),
    ],
)  # fmt: skip
def test_property_of_a_published_kind_is_text(kind: str, value: Any, text: str) -> None:
    assert shown(kind, value) == text


@given(
    st.text("abcdefghijklmnopqrstuvwxyz_", min_size=1).filter(lambda kind: kind not in {"type", *PROPERTIES.members})
)
def test_property_of_an_unknown_kind_is_always_named_with_its_kind(kind: str) -> None:
    assert shown(kind, {}) == f"(property that Gofer does not know: {kind})"
    assert plain({"type": kind, kind: None}) == f"(property that Gofer does not know: {kind})"


@given(st.text("abcdefghijklmnopqrstuvwxyz_", min_size=1).filter(lambda kind: kind not in RESULTS.members))
def test_unknown_result_of_a_rollup_or_formula_is_always_named_with_its_type(kind: str) -> None:
    for computed in ("formula", "rollup"):
        assert shown(computed, {"type": kind}) == f"(result that Gofer does not know: {kind})"


def test_struck_out_text_and_links_of_a_property_reach_the_model_and_code_gets_plain_text() -> None:
    parts = [
        {"type": "text", "plain_text": "Friday", "annotations": {"strikethrough": True}, "href": None},
        {"type": "text", "plain_text": " see ", "annotations": {}, "href": None},
        {"type": "text", "plain_text": "plan", "annotations": {}, "href": "/0b1e6c1a000040008000000000000888"},
    ]
    assert shown("rich_text", parts) == "~~Friday~~ see [plan](https://www.notion.so/0b1e6c1a000040008000000000000888)"
    assert plain({"type": "rich_text", "rich_text": parts}) == "Friday see plan"


def test_long_text_and_long_list_of_a_property_have_a_note_when_cut() -> None:
    assert shown("url", "x" * 5_000).endswith("x… (cut here)")
    assert shown("relation", [{"id": uuid(n)} for n in range(250)], has_more=False).endswith(", and 150 more")


def test_properties_beyond_the_limit_of_a_page_are_counted() -> None:
    values = {f"P{n}": {"id": f"p{n}", "type": "url", "url": "x" * 1_900} for n in range(300)}
    lines = property_lines({"id": CACHE, "properties": values}, Files())
    assert lines[-1] == f"    ({300 - len(lines) + 1} further properties are left out here.)"
    assert sum(map(len, lines)) < 31_000


TASKS = [uuid(1_000 + number) for number in range(140)]


def related(**properties: Any) -> dict[str, Any]:
    """Return the world with a relation and other properties, given as kind and value of the page CACHE."""
    (rfcs, *_) = WORLD["databases"]
    cache, *others = rfcs["pages"]
    kinds = {name: kind for name, (kind, _) in properties.items()}
    values = {name: value for name, (_, value) in properties.items()}
    pages = [cache | {"properties": cache["properties"] | values}, *others]
    return WORLD | {"databases": [rfcs | {"properties": rfcs["properties"] | kinds, "pages": pages}]}


def test_relation_of_140_pages_is_complete_for_code_and_counted_for_the_model() -> None:
    async def story(notion: NotionSimulator, call: Call) -> None:
        read = await notion_get_page.act(API, call, GetPage())
        assert read.details["properties"]["Tasks"]["value"] == TASKS
        (line,) = [line for line in read.text.splitlines() if "Tasks:" in line]
        assert TASKS[99] in line
        assert line.endswith(", and 40 more")
        assert sum("/properties/" in path for _, path in notion.requests) == 2

    play(story, related(Tasks=("relation", TASKS)))


def test_page_with_few_entries_takes_no_further_requests() -> None:
    async def story(notion: NotionSimulator, call: Call) -> None:
        read = (await notion_get_page.act(API, call, GetPage())).text
        assert TASKS[24] in read
        assert not any("/properties/" in path for _, path in notion.requests)

    play(story, related(Tasks=("relation", TASKS[:25])))


def test_rows_of_a_query_have_complete_properties_within_a_bound_of_requests() -> None:
    async def story(notion: NotionSimulator, call: Call) -> None:
        read = (await notion_query_database.act(API, call, QueryDatabase(database="RFCs"))).text
        assert TASKS[39] in read
        assert "there are more" not in read
        notion.people.set_values(CACHE, {"Tasks": [uuid(n) for n in range(3_000)]}, by=ADA)
        before = len(notion.requests)
        long = await notion_query_database.act(API, call, QueryDatabase(database="RFCs"))
        assert "(there are more, which Gofer has not read)" in long.text
        assert len(notion.requests) - before < 25

    play(story, related(Tasks=("relation", TASKS[:40])))


def test_formula_that_depends_on_a_long_relation_is_asked_for_again() -> None:
    count = {"type": "number", "number": 140}

    async def story(notion: NotionSimulator, call: Call) -> None:
        read = await notion_get_page.act(API, call, GetPage())
        assert read.details["properties"]["Count"]["value"] == 140
        assert sum("/properties/" in path for _, path in notion.requests) == 3

    play(story, related(Tasks=("relation", TASKS), Count=("formula", count)))


def test_people_without_a_name_are_looked_up_once() -> None:
    unnamed = {"object": "user", "id": ADA}

    async def story(notion: NotionSimulator, call: Call) -> None:
        read = (await notion_get_page.act(API, call, GetPage())).text
        assert "Maker: Ada Byron" in read
        assert "Editor: Ada Byron" in read
        assert notion.requests.count(("GET", f"/v1/users/{ADA}")) == 1

    play(story, related(Maker=("created_by", unnamed), Editor=("last_edited_by", unnamed)))


def test_people_that_cannot_be_looked_up_stand_with_their_ids() -> None:
    world = related(
        Maker=("created_by", {"object": "user", "id": LIMITS}), Editor=("created_by", {"object": "user", "id": CACHE})
    )
    capabilities = ["read_content", "read_comments"]
    connection = {"id": BOT, "name": "Gofer", "capabilities": capabilities}

    async def story(notion: NotionSimulator, call: Call) -> None:
        read = (await notion_get_page.act(API, call, GetPage())).text
        assert f"Maker: person {LIMITS}" in read
        assert f"Editor: person {CACHE}" in read
        assert sum(path.startswith("/v1/users/") for _, path in notion.requests) == 1

    play(story, world | {"connection": connection})
