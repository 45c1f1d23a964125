"""Failures that are certain although a play has no evidence."""

from collections.abc import Mapping
from typing import Any

from gofer.evals.eval_file import Case
from gofer.evals.grading.certain_failures import certain_failures
from support.evals.played import asks, ended, made, played


def case(**expect: Any) -> Case:
    fields: Mapping[str, Any] = {"name": "one", "expect": expect}
    return Case.model_validate(fields)


def test_forbidden_call_of_a_play_without_evidence_fails() -> None:
    play = played([asks(("jira_delete", {}))], made("1.0", "jira_delete"), ended(), no_evidence="Request 1.2.")
    (found,) = certain_failures(case(tools={"forbidden": "jira_delete", "required": "jira_search"}), play)
    assert (found.dimension, found.passed, found.step) == ("tools.forbidden", False, "1.0")


def test_missing_call_of_a_play_without_evidence_is_no_failure() -> None:
    play = played([asks(text="x")], ended(), no_evidence="Request 1.2.")
    assert certain_failures(case(tools={"required": "jira_search"}), play) == []
