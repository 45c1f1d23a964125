"""Generated names and times in texts that are compared."""

import pytest

from gofer.projections.comparison.generated_names import TIME, GeneratedNames


def names(*learnt: str) -> GeneratedNames:
    made = GeneratedNames()
    made.learn(learnt)
    return made


def test_texts_that_differ_in_generated_names_are_equal() -> None:
    first = names("OPS-1", "file_1a2b").plain_text("See OPS-1, and file_1a2b.")
    assert first == names("OPS-7", "file_9c9c").plain_text("See OPS-7, and file_9c9c.")


def test_texts_that_confuse_two_generated_names_differ() -> None:
    first = names("OPS-1", "OPS-2").plain_text("OPS-1 blocks OPS-2")
    assert first != names("OPS-1", "OPS-2").plain_text("OPS-2 blocks OPS-1")


def test_name_is_replaced_as_a_whole_word_only() -> None:
    assert names("OPS-1").plain_text("OPS-12 and XOPS-1") == "OPS-12 and XOPS-1"


def test_names_in_the_values_of_json_are_replaced() -> None:
    assert names("OPS-1").plain({"key": ["OPS-1", 3]}) == {"key": ["‹id 1›", 3]}


@pytest.mark.parametrize(
    "text",
    [
        "1795262400.000100",
        "2026-11-23T10:07:00Z",
        "2026-11-23T10:07:00.123+01:00",
        "2026-11-23 10:07",
        "Monday, 23 November 2026",
    ],
)
def test_time_in_a_text_is_replaced(text: str) -> None:
    assert names().plain_text(f"at {text}, or so") == f"at {TIME}, or so"


@pytest.mark.parametrize("text", ["due 2026-11-23", "at 14:30", "1795262400", "OPS-12"])
def test_date_and_number_without_a_time_stay(text: str) -> None:
    assert names().plain_text(text) == text


@pytest.mark.parametrize("text", ["OPS-1.", "_OPS-1_", "...OPS-1--", "-OPS-1"])
def test_punctuation_around_a_name_stays(text: str) -> None:
    assert names("OPS-1").plain_text(text) == text.replace("OPS-1", "‹id 1›")


@pytest.mark.parametrize("part", ["_", ".", "-", "a_", "a.", "_.", "1", "1-", "Aa", " 1", "Monday, ", "1234-", "10:00"])
def test_name_after_a_long_repetition_is_found(part: str) -> None:
    # Time that grows with the square of the length would be hours.
    assert names("OPS-1").plain_text(f"{part * 200_000} OPS-1").endswith(" ‹id 1›")
