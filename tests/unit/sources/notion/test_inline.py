"""Notion's rich text as Markdown: no link, mention or mark is lost."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.sources.notion.ids import find_id
from gofer.sources.notion.inline import MENTIONS, inline
from support.vendors.notion import ADA, HANDBOOK


def mention(kind: str, inner: Any, words: str = "", href: str | None = None, **marks: bool) -> dict[str, Any]:
    part = {"type": "mention", "mention": {"type": kind, kind: inner}}
    return {**part, "plain_text": words, "href": href, "annotations": marks}


PLAIN = HANDBOOK.replace("-", "")


@pytest.mark.parametrize(
    ("part", "text"),
    [
        (mention("user", {"object": "user", "id": ADA, "name": "Ada Byron"}, "@Ada"), f"@Ada Byron (person {ADA})"),
        (mention("user", {"object": "user", "id": ADA}, "@Anonymous"), f"@Anonymous (person {ADA})"),
        (mention("page", {"id": HANDBOOK}, "Handbook"), f"[Handbook](https://www.notion.so/{PLAIN})"),
        (mention("page", {"id": HANDBOOK}), f"https://www.notion.so/{PLAIN}"),
        (mention("database", {"id": HANDBOOK}, "RFCs"), f"[RFCs](https://www.notion.so/{PLAIN})"),
        (mention("date", {"start": "2026-11-21", "end": "2026-11-24", "time_zone": "Asia/Tokyo"}, "@Saturday"),
         "2026-11-21/2026-11-24 (Asia/Tokyo)"),
        (mention("date", {"start": "2026-11-21"}, "x", strikethrough=True), "~~2026-11-21~~"),
        (mention("link_preview", {"url": "https://x.example/7"}, "PR 7"), "[PR 7](https://x.example/7)"),
        (mention("link_mention", {"href": "https://x.example/7", "title": "PR 7"}, "7"), "[PR 7](https://x.example/7)"),
        (mention("template_mention", {"type": "template_mention_date", "template_mention_date": "today"}, "@Today"),
         "(template: today)"),
        (mention("custom_emoji", {"id": "e", "name": "party", "url": "https://x.example/p.png"}, ":party:"), ":party:"),
        (mention("agent", {"id": "a"}, "@Robot"), "@Robot (mention that Gofer does not know: agent)"),
        ({"type": "equation", "equation": {"expression": "e=mc^2"}, "plain_text": "e"}, "$e=mc^2$"),
        ({"type": "poem", "plain_text": "Roses"}, "Roses (part of a text that Gofer does not know: poem)"),
        ({"type": "text", "plain_text": " old ", "annotations": {"strikethrough": True}}, " ~~old~~ "),
        ({"type": "text", "plain_text": "red", "annotations": {"color": "red", "underline": True}}, "red"),
        ({"type": "text", "plain_text": "here", "href": f"/{PLAIN}#b1"}, f"[here](https://www.notion.so/{PLAIN}#b1)"),
        ({"plain_text": "x"}, "x"),
    ],
)  # fmt: skip
def test_part_of_a_text_keeps_its_meaning_and_its_address(part: dict[str, Any], text: str) -> None:
    assert inline([part]) == text


def test_links_of_mentions_are_taken_by_the_tools() -> None:
    for kind in ("page", "database"):
        shown = inline([mention(kind, {"id": HANDBOOK}, "It")])
        assert find_id(shown.partition("(")[2].rstrip(")")) == HANDBOOK


@given(st.text("abcdefghijklmnopqrstuvwxyz_", min_size=1), st.text(max_size=20))
def test_mention_of_an_unknown_kind_is_always_named_with_its_kind(kind: str, words: str) -> None:
    if kind not in MENTIONS.members:
        assert inline([mention(kind, {}, words)]).rstrip("*~` ").endswith(f"(mention that Gofer does not know: {kind})")
