"""Steps as JSON: short without `full`, complete with it."""

from hypothesis import given
from hypothesis import strategies as st

from gofer.projections.words.steps import SUMMARY, Step, summary
from gofer.values.canonical_json import encode_text

DEEP: object = {"list": ["x" * 5_000] * 5_000, "deep": {"a": {"b": {"c": {"d": {"e": "f"}}}}}}


@given(st.text(min_size=SUMMARY))
def test_summary_is_one_short_line(text: str) -> None:
    found = summary(text)
    assert len(found) <= SUMMARY + 40
    assert len(found.splitlines()) <= 1


def test_summary_of_a_long_text_names_its_length() -> None:
    assert summary("short\n text ") == "short text"
    assert summary("x" * 1_000) == "x" * SUMMARY + "… (1,000 characters in all)"
    assert summary(" " * 5_000) == "… (5,000 characters in all)"


def test_step_of_a_huge_entry_is_short() -> None:
    step = Step(1, "run1", 0, 0, "tool.result", "1.0", input="x" * 100_000, output="y" * 100_000, details={"d": DEEP})
    assert len(encode_text(step.to_json())) < 40_000


def test_full_step_holds_all_texts_and_details() -> None:
    step = Step(1, "run1", 0, 0, "tool.result", "1.0", input="x" * 9_000, output="y" * 9_000, details={"d": DEEP})
    full = step.to_json(full=True)
    assert (full["input"], full["output"], full["details"]) == (step.input, step.output, {"d": DEEP})
