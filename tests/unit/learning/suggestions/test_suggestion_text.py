"""A suggestion at a terminal and as JSON."""

from dataclasses import replace

import pytest

from gofer.learning.suggestions.evidence import evidence_of
from gofer.learning.suggestions.suggestion import Outcome, Suggestion
from gofer.learning.suggestions.suggestion_text import suggestion_json, suggestion_lines
from support.learning.ended_run import disliked, ended_run


def made(outcome: Outcome, reason: str = "") -> Suggestion:
    records = [ended_run(f"{number}23456789", disliked(f"wrong project {number}")) for number in range(5)]
    evidence = evidence_of("w", records, current=4, days=30, reviews_do_not_count="Too few runs have feedback.")
    return Suggestion(evidence=evidence, outcome=outcome, reason=reason)


@pytest.mark.parametrize(
    ("outcome", "code", "first"),
    [
        ("no_suggestion", 0, "No suggestion: Because."),
        ("proven", 0, "Suggestion, proven: Because."),
        ("exists", 0, "Suggested before: Because."),
        ("refused", 3, "No suggestion: Because."),
        ("not_proven", 3, "Suggestion, not proven: Because."),
        ("not_asked", 3, "No suggestion yet: Because."),
        ("infrastructure", 4, "Not proven now: Because."),
        ("over_budget", 5, "Not proven: the limit is reached: Because."),
    ],
)
def test_outcome_has_a_headline_and_an_exit_code(outcome: Outcome, code: int, first: str) -> None:
    suggestion = made(outcome, "Because.")
    assert next(iter(suggestion_lines(suggestion))) == first
    assert suggestion.exit_code == code


def test_groups_are_listed_with_some_signs() -> None:
    lines = list(suggestion_lines(made("no_suggestion", "Because.")))
    assert lines[1].startswith("Looked at 5 runs of 30 days, 4 with the current prompt")
    assert lines[2] == "Reviews alone are no evidence. Too few runs have feedback."
    assert lines[4] == "people or reviews said similar things (5 runs, 5 with bad feedback)"
    assert lines[5] == "    02345678 3.0    feedback: wrong project 0"
    assert lines[-1] == "    and 2 more signs"


def test_json_has_the_outcome_and_no_proof() -> None:
    found = suggestion_json(replace(made("no_suggestion", "Because."), usd=0.5))
    assert (found["outcome"], found["reason"], found["usd"]) == ("no_suggestion", "Because.", 0.5)
    assert (found["proposal"], found["proof"], found["branch"]) == (None, None, "")
