"""Texts are compared as people read them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.evals.grading.folded_text import compared, folded, rendered
from support.steps import steps


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("The Ticket  is\nfiled", "ticket is filed"),
        ("**PAY-12** was created", "PAY-12 was created"),
        ("`PAY-12` was created", "pay-12 was created"),
        ("see [PAY-12](https://jira.test/PAY-12) now", "see PAY-12 now"),
        ("see [PAY-12](https://jira.test/PAY-12) now", "https://jira.test/PAY-12"),
        ("see <https://jira.test/PAY-12|PAY-12> now", "see PAY-12 now"),
        ("~~never~~ always", "never always"),
        ("it’s “done” – really", 'it\'s "done" - really'),
        ('it\'s "done" - really', "it’s “done” – really"),
        ("wait…", "wait..."),
        ("caf\u00e9", "cafe\u0301"),
        ("Stra\u00dfe", "STRASSE"),
        ("\uff21\uff22\uff23", "abc"),
        ("a\u00a0b", "a b"),
        ("co\u00adoperate\u200b!", "cooperate!"),
        ("first:\n- one thing\n- another thing", "one thing another thing"),
        ("# Title\n> quoted text", "title quoted text"),
        ("the name snake_case_name stays", "snake_case_name"),
        ("3\\. point\\_name", "3. point_name"),
        ("costs 4.50 EUR", "4.50"),
    ],
)
def test_text_is_found_as_people_read_texts(text: str, wanted: str) -> None:
    assert compared(text).contains(wanted)
    assert compared(text).around(wanted)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("PAY-12 is filed", "PAY-1"), ("13 tickets", "3 tickets"), ("a b", "ab"), ("text", ""), ("text", " ")],
)
def test_part_of_a_number_and_empty_text_are_not_found(text: str, wanted: str) -> None:
    assert not compared(text).contains(wanted)


def test_number_is_found_after_a_longer_one() -> None:
    assert compared("PAY-12 and PAY-1").contains("PAY-1")
    assert compared("v3 tickets").contains("3 tickets")


def test_place_of_a_text_is_found_within_numbers() -> None:
    assert compared("the key sk-1234 leaked").around("SK-12") == "the key sk-1234 leaked"
    assert compared("nothing here").around("leak") == ""
    assert compared("nothing here").around("") == ""


@given(st.text(max_size=60), st.text(max_size=60))
def test_every_text_contains_itself_and_its_folded_forms(before: str, text: str) -> None:
    assert folded(folded(text)) == folded(text)
    if folded(text):
        whole = compared(text)
        assert whole.contains(text)
        assert whole.contains(text.upper().lower()) or text.casefold() != text.upper().lower().casefold()
        assert whole.contains(f"  {text}\n")
        assert compared(f"{before}. {text}").around(text)


@pytest.mark.parametrize(
    "text", ["[" * 300_000, "[](" * 100_000, "<a" * 150_000, "  \n" * 100_000, "#" * 300_000, "1" * 300_000]
)
def test_words_after_a_hostile_text_are_found(text: str) -> None:
    # Time that grows with the square of the length would be hours.
    whole = f"{text} see [PAY-12](https://jira.test/PAY-12)"
    assert rendered(whole).endswith("see PAY-12")
    assert compared(whole).contains("see pay-12")


def test_number_is_looked_for_in_a_longer_one_in_steps_of_its_length() -> None:
    few, many = (compared("1" * length) for length in (1_000, 10_000))
    assert not many.contains("1" * 20)
    assert steps(lambda: many.contains("1" * 20)) < 11 * steps(lambda: few.contains("1" * 20))
