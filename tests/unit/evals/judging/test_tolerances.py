"""Tolerances: decisions in code about two texts, and sentences for the judge."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.evals.eval_file import Tolerance
from gofer.evals.judging.tolerances import same_assignments, same_text, sentences

ROUNDED = Tolerance(numbers="rounded")
TEXTS = st.text(st.characters(codec="utf-8"), max_size=60)


@pytest.mark.parametrize(
    ("expected", "actual", "tolerance", "same"),
    [
        ("p95 is 1,5 s.", "p95 is 1500 ms.", ROUNDED, "same"),
        ("p95 is 1,5 s.", "p95 is 1500 ms.", Tolerance(), "different"),
        ("1,234 calls", "1234 calls", Tolerance(), "same"),
        ("Due 2026-03-02.", "Due 2 March 2026.", Tolerance(), "same"),
        ("12 open tickets", "13 open tickets", Tolerance(), "different"),
        ("12 open tickets", "13 open tickets", Tolerance(numbers="free"), "same"),
        ("12 open tickets", "13 open tickets", Tolerance(counts="logic"), "unclear"),
        ("The cause is the pool.", "It was the connection pool.", Tolerance(), "unclear"),
        ("The cause is the pool.", "It was the connection pool.", Tolerance(wording="exact"), "different"),
        ("The cause\n is the pool.", "The cause is the pool. ", Tolerance(wording="exact"), "same"),
        ("There are 12 of them.", "I found twelve of them.", Tolerance(), "unclear"),
        ("There are 12 of them.", "I found 14 of them.", Tolerance(), "different"),
        ("I found 14 of them, in 3 channels.", "3 channels hold 14.", Tolerance(), "unclear"),
        ("It costs 1.500.", "It costs 1500.", Tolerance(), "unclear"),
    ],
)
def test_code_decides_about_two_texts_as_far_as_the_tolerance_is_clear(
    expected: str, actual: str, tolerance: Tolerance, same: str
) -> None:
    assert same_text(expected, actual, tolerance) == same


@given(TEXTS, TEXTS)
def test_equal_texts_are_the_same_and_free_wording_never_fails_without_numbers(one: str, two: str) -> None:
    assert same_text(one, one, Tolerance(wording="exact")) == "same"
    if not any(char.isdigit() for char in one):
        assert same_text(one, two, Tolerance()) != "different"


@given(TEXTS, TEXTS)
def test_code_never_calls_texts_the_same_by_a_stricter_tolerance_alone(one: str, two: str) -> None:
    if same_text(one, two, Tolerance()) == "same":
        assert same_text(one, two, ROUNDED) == "same"
        assert same_text(one, two, Tolerance(numbers="free")) == "same"


@given(st.permutations(["ada", "bo", "cy"]))
def test_assignment_among_alike_instances_is_the_same_in_any_permutation(order: list[str]) -> None:
    expected = [{"issue": f"OPS-{n}", "assignee": name} for n, name in enumerate(["ada", "bo", "cy"])]
    actual = [{"issue": f"OPS-{n}", "assignee": name} for n, name in enumerate(order)]
    assert same_assignments(expected, actual)
    assert not same_assignments(expected, [{**one, "assignee": "ada"} for one in actual])
    assert not same_assignments(expected, actual[:2])


def test_every_tolerance_becomes_sentences_without_a_contradiction() -> None:
    fields = {
        "wording": ("free", "exact"),
        "numbers": ("exact", "rounded", "free"),
        "order": ("free", "exact"),
        "tool_only_turns": ("free", "exact"),
        "instances": ("exact", "alike"),
        "counts": ("exact", "logic"),
    }
    for values in itertools.product(*fields.values()):
        tolerance = Tolerance.model_validate(dict(zip(fields, values, strict=True)))
        said = sentences(tolerance)
        assert 5 <= len(said) <= 6
        assert len(set(said)) == len(said)
    logic = " ".join(sentences(Tolerance(counts="logic")))
    assert "Other counts are no error if the logic" in logic
    assert "Each number must be the same" not in logic
    assert "Other counts are an error" not in " ".join(sentences(Tolerance(numbers="free")))
