"""Texts without invisible characters: what goes, and what emoji and scripts need."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.values.visible_text import visible

HIDDEN = "".join(chr(0xE0000 + ord(char)) for char in "secret")


@pytest.mark.parametrize(
    "hidden",
    [HIDDEN, "\ufe0f\ufe00", "\u200b", "\u2060", "\u202e", "\u00ad", "\x00", "\x1b", "\U000e0101", "\ufeff", "\u3164"],
)
def test_invisible_characters_go(hidden: str) -> None:
    assert visible(f"a{hidden}b \u00fc{hidden}") == "ab \u00fc"


@pytest.mark.parametrize(
    "text",
    [
        "\u2764\ufe0f 1\ufe0f\u20e3",
        "\U0001f469\u200d\U0001f4bb \U0001f44d\U0001f3fd",
        "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
        "\U0001f3f3\ufe0f\u200d\U0001f308",
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
        "tab\tand\nline",
    ],
)
def test_emoji_and_joined_letters_stay(text: str) -> None:
    assert visible(text) == text


def test_words_after_an_emoji_in_tags_go() -> None:
    assert visible(f"\U0001f3f4{HIDDEN} \u2764\ufe0f\ufe0e\ufe0f") == "\U0001f3f4 \u2764\ufe0f"


@given(st.text())
def test_visible_text_stays_the_same(text: str) -> None:
    assert visible(visible(text)) == visible(text)
