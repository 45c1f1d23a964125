"""The words of a request that say what it is about."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.learning.candidates.request_words import words_of


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<@U0GOFER0> How many vacation days does Ada have?", ["vacation", "day", "ada"]),
        ("please look at https://example.com/a and PAY-17 in #deploys", ["look"]),
        ("Wie viele Urlaubstage sind das?", ["urlaubstage"]),
        ("run `rm -rf x` 17 times", ["run", "time"]),
        ("", []),
    ],
)
def test_mentions_numbers_links_code_and_filler_words_are_left_out(text: str, words: list[str]) -> None:
    assert list(words_of(text)) == words


@given(st.text(max_size=300))
def test_words_are_always_lower_case_without_space(text: str) -> None:
    for word in words_of(text):
        assert word == word.lower()
        assert not any(character.isspace() for character in word)
