"""Cutting a text between grapheme clusters."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.files.text_cut import characters, head, tail


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("e\u0301tude", 1, "e"),
        ("cafe\u0301", 4, "caf"),
        ("hi 👩‍👩‍👧!", 5, "hi "),
        ("🇩🇪🇫🇷", 3, "🇩🇪"),
        ("👍🏽 ok", 1, "👍"),
        ("a\r\nb", 2, "a"),
        ("日本語", 2, "日本"),
        ("x\u0301" * 2, 0, ""),
    ],
)
def test_text_head_ends_between_grapheme_clusters(text: str, limit: int, expected: str) -> None:
    assert head(text, limit) == expected


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("cafe\u0301", 1, "\u0301"),
        ("cafe\u0301s", 2, "s"),
        ("a🇩🇪🇫🇷", 3, "🇫🇷"),
        ("👩‍👩‍👧!", 3, "!"),
        ("abc", 2, "bc"),
        ("abc", 0, ""),
    ],
)
def test_text_tail_begins_between_grapheme_clusters(text: str, limit: int, expected: str) -> None:
    assert tail(text, limit) == expected


@given(st.text(), st.integers(0, 50))
def test_text_head_and_tail_stay_within_the_limit(text: str, limit: int) -> None:
    assert text.startswith(head(text, limit))
    assert text.endswith(tail(text, limit))
    assert len(head(text, limit)) <= limit or len(text) <= limit
    assert len(tail(text, limit)) <= limit or len(text) <= limit


@given(st.text(max_size=30), st.integers(-3, 130), st.integers(-3, 130))
def test_byte_range_of_a_text_holds_whole_characters(text: str, start: int, stop: int) -> None:
    raw = text.encode("utf-8", "replace")
    part = characters(raw, start, stop)
    assert part.decode() in raw.decode()
    assert len(part) <= max(stop - max(start, 0), 0)
    assert len(part) >= min(stop, len(raw)) - max(start, 0) - 6
