"""Failures that are certain although a play has no evidence."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from gofer.evals.eval_file import Case
from gofer.evals.grading.certain_failures import certain_failures
from gofer.evals.results import Grade
from gofer.journal import entries as e
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


CREATE = ("jira_create_issue", {"summary": "Refund", "description": "Mail ann@acme.com"})
TWO_ISSUES = {"added": {"/jira/PAY-1": {"summary": "Refund"}, "/jira/PAY-2": {"summary": "Refund"}}}


def certain(world: Mapping[str, Any] = TWO_ISSUES, **fields: Any) -> Sequence[Grade]:
    """Return the certain failures of a play that made two issues before its evidence ended."""
    status = [e.ToolCall("status/1", "slack_post_message", "lookup"), e.ToolResult("status/1", "ok", "")]
    frames = [asks(CREATE)], made("1.0", CREATE[0]), [asks(CREATE)], made("2.0", CREATE[0]), ended(status="failed")
    play = played(status, *frames, no_evidence="Request 3 has no answer.", world=world)
    return certain_failures(Case.model_validate({"name": "one", **fields}), play)


@pytest.mark.parametrize(
    ("dimension", "fields"),
    [
        ("tools.required", {"expect": {"tools": {"required": {"jira_create_issue": {"times": 1}}}}}),
        ("tools.only", {"expect": {"tools": {"only": "jira_search"}}}),
        ("world.counts", {"expect": {"world": {"counts": {"/jira/*": 1}}}}),
        ("output.not_contains", {"expect": {"output": {"not_contains": "ann@acme.com"}}}),
        ("rubric.forbidden_phrases", {"rubric": {"forbidden_phrases": "ann@acme.com"}}),
        ("rubric.max_llm_calls", {"rubric": {"max_llm_calls": 1}}),
        ("rubric.max_tool_calls", {"rubric": {"max_tool_calls": 1}}),
        ("rubric.max_cost_usd", {"rubric": {"max_cost_usd": 0.01}}),
    ],
)
def test_exceeded_limit_fails_although_evidence_ended(dimension: str, fields: Mapping[str, Any]) -> None:
    assert [grade.dimension for grade in certain(**fields)] == [dimension]


def test_loop_of_calls_fails_although_evidence_ended() -> None:
    calls = [frame for n in "123" for frame in ([asks(CREATE)], made(f"{n}.0", CREATE[0]))]
    found = certain_failures(case(), played(*calls, ended(status="failed"), no_evidence="Request 4."))
    assert [grade.dimension for grade in found] == ["check.no-tool-loops"]


@pytest.mark.parametrize(
    "fields",
    [
        {"expect": {"tools": {"required": {"jira_create_issue": {"times": 2}}, "in_order": ["jira_search"]}}},
        {"expect": {"tools": {"required": {"jira_create_issue": {"times": 3}}}}},
        {"expect": {"world": {"counts": {"/jira/*": 2, "/jira/PAY-1": 3}}}},
        {"expect": {"output": {"contains_all": "PAY-2"}, "status": "done"}},
        {"rubric": {"max_llm_calls": 2, "max_tool_calls": 2, "max_cost_usd": 1, "min_confidence": 1}},
    ],
)
def test_expectation_that_can_still_be_met_is_no_failure(fields: Mapping[str, Any]) -> None:
    assert certain(**fields) == []


def test_own_messages_exceed_no_count_while_evidence_is_missing() -> None:
    world = {"added": {"/slack/channels/x/messages/1": {"text": "Working"}}}
    counts = {"/slack/channels/*/messages/*": 0}
    assert certain(world, expect={"world": {"counts": counts}}) == []
    two = {"added": {**world["added"], "/slack/channels/x/messages/2": {"text": "Hi"}}}
    (grade,) = certain(two, expect={"world": {"counts": counts}})
    assert grade.dimension == "world.counts"
