"""Limits of types and requests in the simulated Notion."""

from typing import Any

import pytest

from gofer.sources.notion.api import NotionRefusal
from gofer.tools.definition import Call
from gofer_simulators.notion.simulator import NotionSimulator
from support.vendors.notion import API, CACHE, SOURCE, play

Json = dict[str, Any]


def texts(words: str, **more: object) -> list[Json]:
    return [{"type": "text", "text": {"content": words}, **more}]


def block(kind: str, **fields: object) -> Json:
    return {"type": kind, kind: fields}


def paragraph(words: str = "x", **more: object) -> Json:
    return block("paragraph", rich_text=texts(words), **more)


def row(cells: int) -> Json:
    return block("table_row", cells=[texts("x")] * cells)


def table(rows: list[Json], width: object = 2) -> Json:
    return block("table", table_width=width, children=rows)


ITEMS = block("bulleted_list_item", rich_text=texts("x"), children=[paragraph()] * 100)
GOOD = {
    "a hundred rows": [table([row(2)] * 100)],
    "a thousand elements": [ITEMS] * 9 + [paragraph()] * 90,
    "a language of Notion": [block("code", rich_text=texts("x"), language="java/c/c++/c#")],
    "a colour": [paragraph(color="red_background"), block("to_do", rich_text=texts("x"), checked=True)],
    "looks": [block("paragraph", rich_text=texts("x", annotations={"underline": True, "color": "blue"}))],
}
BAD = {
    "101 rows": ([table([row(2)] * 101)], "length should be ≤ `100`"),
    "a narrow row": ([table([row(2), row(1)])], "must match the table width"),
    "a wide row": ([table([row(3)])], "must match the table width"),
    "no rows": ([table([])], "children.length should be ≥ `1`"),
    "no width": ([table([row(2)], None)], "table_width should be a number"),
    "1,001 elements": ([ITEMS] * 9 + [paragraph()] * 90 + [table([row(1)], 1)], "1000 block elements"),
    "an unknown language": ([block("code", rich_text=texts("x"), language="klingon")], "code.language should be"),
    "an unknown colour": ([paragraph(color="mauve")], "color should be a known color"),
    "an unknown look": ([block("paragraph", rich_text=texts("x", annotations={"blink": True}))], "annotations.blink"),
    "checked as text": ([block("to_do", rich_text=texts("x"), checked="yes")], "checked should be a boolean"),
    "blocks below code": (
        [block("code", rich_text=texts("x"), language="python", children=[paragraph()])],
        "code.children should be not present",
    ),
    "blocks below a divider": ([block("divider", children=[paragraph()])], "divider.children should be not present"),
    "a long link": (
        [block("paragraph", rich_text=[{"text": {"content": "x", "link": {"url": "https://e.com/" + "x" * 2_000}}}])],
        "link.url.length should be ≤ `2000`",
    ),
}


@pytest.mark.parametrize("name", GOOD)
def test_simulated_notion_accepts_blocks_within_the_limits(name: str) -> None:
    async def story(_: NotionSimulator, call: Call) -> None:
        assert (await API.patch(call, f"blocks/{CACHE}/children", children=GOOD[name]))["results"]

    play(story)


@pytest.mark.parametrize("name", BAD)
def test_simulated_notion_refuses_blocks_over_the_limits_and_changes_no_page(name: str) -> None:
    children, said = BAD[name]

    async def story(notion: NotionSimulator, call: Call) -> None:
        before = notion.state()
        with pytest.raises(NotionRefusal) as refused:
            await API.patch(call, f"blocks/{CACHE}/children", children=children)
        assert refused.value.code == "validation_error"
        assert said in str(refused.value)
        assert notion.state() == before

    play(story)


def test_simulated_notion_refuses_a_request_above_500_kilobytes() -> None:
    async def story(_: NotionSimulator, call: Call) -> None:
        large = [block("paragraph", rich_text=texts("x" * 2_000) * 5)] * 50
        with pytest.raises(NotionRefusal, match="500000 bytes"):
            await API.patch(call, f"blocks/{CACHE}/children", children=large)

    play(story)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("Due", {"date": {"start": "tomorrow"}}, "valid ISO 8601 date"),
        ("Due", {"date": {"start": "2026-11-21", "end": "2026-02-30"}}, "valid ISO 8601 date"),
        ("Link", {"url": "https://e.com/" + "x" * 2_000}, "Link.url.length should be ≤ `2000`"),
        ("Reviewers", {"people": [{"id": "x"}] * 101}, "Reviewers.people.length should be ≤ `100`"),
        ("Tags", {"multi_select": [{"name": "api"}] * 101}, "Tags.multi_select.length should be ≤ `100`"),
    ],
)
def test_simulated_notion_refuses_a_property_value_over_the_limits(name: str, value: Json, said: str) -> None:
    async def story(_: NotionSimulator, call: Call) -> None:
        with pytest.raises(NotionRefusal, match=said):
            await API.patch(call, f"pages/{CACHE}", properties={name: value})

    play(story)


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        ({"property": "Status", "status": {"equals": "Nope"}}, 'status option "Nope" not found'),
        ({"and": [{"property": "Tags", "multi_select": {"contains": "Nope"}}]}, "multi_select option"),
        ({"or": [{"property": "Due", "date": {"equals": "tomorrow"}}]}, "valid ISO 8601 date"),
    ],
)
def test_simulated_notion_refuses_a_filter_by_an_unknown_value(condition: Json, said: str) -> None:
    async def story(_: NotionSimulator, call: Call) -> None:
        with pytest.raises(NotionRefusal, match=said):
            await API.post(call, f"data_sources/{SOURCE}/query", filter=condition)

    play(story)


def test_simulated_notion_query_omits_an_unshared_row() -> None:
    async def story(notion: NotionSimulator, call: Call) -> None:
        before: Any = (await API.post(call, f"data_sources/{SOURCE}/query"))["results"]
        notion.workspace.pages[CACHE].shared = False
        after: Any = (await API.post(call, f"data_sources/{SOURCE}/query"))["results"]
        assert {row["id"] for row in before} - {row["id"] for row in after} == {CACHE}

    play(story)
