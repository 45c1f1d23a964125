"""The grades of a rubric: each criterion passes at its limit and fails beyond it, with a reason."""

from collections.abc import Mapping, Sequence

import pytest

from gofer.evals.eval_file import Rubric
from gofer.evals.grading.grading import graded
from gofer.evals.plays import Play
from gofer.evals.results import Grade
from gofer.journal import entries as e
from gofer.journal.approval_entries import ApprovalRequested
from gofer.journal.entries import Entry
from gofer.journal.workspace_entries import FileAdded, FileRead, SkillLoaded
from support.evals.played import (
    asks,
    bundle,
    ended,
    failures,
    made,
    play_of,
    played,
    played_turn,
    recorded,
    refused,
    seen,
)


def rubric(play: Play, **criteria: object) -> Sequence[Grade]:
    return graded([], Rubric.model_validate(criteria), play)


def failed(play: Play, **criteria: object) -> list[tuple[str, str, str]]:
    """Return the failures of the one criterion that is written."""
    (name,) = criteria
    return failures(rubric(play, **criteria), f"rubric.{name}")


def answered(text: str = "Done.", fields: Mapping[str, object] | None = None, *frames: Sequence[Entry]) -> Play:
    return played(*frames, [asks(text=text)], ended(text, output=fields))


def test_unwritten_criterion_is_not_graded() -> None:
    assert rubric(answered()) == []


def test_status_is_one_of_the_expected() -> None:
    assert failed(answered(), expected_status=["done", "limited"]) == []
    play = played([asks(text="Hm.")], ended("Sorry.", "failed", "3 answers were useless"))
    assert failed(play, expected_status=["done", "limited"]) == [
        ("the run ends as done or ends as limited", "the run ended as failed: 3 answers were useless", "entry 4.0")
    ]


def test_grade_of_a_parked_run_names_the_approval_and_the_waiting_call() -> None:
    asked = ApprovalRequested("1.0", "jira_create_issue", "hash", by=("@leads",), until=9)
    play = played([asks(("jira_create_issue", {}))], [asked, e.RunParked("approval", 9)])
    assert failed(play, expected_status="done") == [
        ("the run ends as done", "the run is parked: waits for approval of jira_create_issue by @leads", "1.0")
    ]
    assert failed(play, expected_status="parked") == []


def test_run_without_an_end_is_told() -> None:
    unfinished = [asks(text="Hm.")], [e.RunConcluded("done", "", "Hm.")]
    assert failed(played(*unfinished), expected_status="done") == [
        ("the run ends as done", "the run is running: its answer was not delivered", "entry 4.0")
    ]
    ((expected, happened, _),) = failed(play_of(played_turn([e.RunHandedOver()])), expected_status="parked")
    assert (expected, happened) == ("the run is parked", "the run is queued")


OUTPUT = {
    "type": "object",
    "properties": {
        "status": {"enum": ["resolved", "open"]},
        "verdict": {"type": "object", "properties": {"ready": {"type": "boolean"}}},
    },
}


def resolved(status: str = "resolved") -> Play:
    """Return a play whose workflow has an `output` with a status of its own."""
    fields = {"status": status, "verdict": {"ready": True}}
    return play_of(played_turn([asks(text="x")], ended("x", output=fields), bundle=bundle(output=OUTPUT)))


def test_expected_status_is_that_of_the_answer_if_output_has_one() -> None:
    assert failed(resolved(), expected_status="resolved") == []
    assert failed(resolved("open"), expected_status=["resolved", "done"]) == [
        ("resolved or done in the field status of the answer", "the field status is “open”", "entry 4.0")
    ]


def test_status_of_the_run_counts_if_output_does_not_name_the_expected_ones() -> None:
    assert failed(resolved("open"), expected_status="done") == []
    without_answer = play_of(played_turn(ended("Sorry.", "failed", "boom"), bundle=bundle(output=OUTPUT)))
    assert failed(without_answer, expected_status="resolved")[0][1] == "the run ended as failed: boom"


def test_status_of_the_answer_is_in_the_named_field() -> None:
    def graded_field(field: str) -> list[tuple[str, str, str]]:
        return failures(rubric(resolved(), expected_status="true", status_field=field), "rubric.expected_status")

    assert graded_field("verdict.ready") == []
    assert graded_field("verdict.done")[0][1] == "the answer has no field verdict.done; the answer is “x”"


@pytest.mark.parametrize(
    ("fields", "happened"),
    [
        ({"confidence": 0.7}, ""),
        ({"confidence": 1}, ""),
        ({"confidence": 0.69}, "the confidence is 0.69"),
        ({"confidence": 0}, "the confidence is 0"),
        (
            {"confidence": True, "text": ""},
            "the answer has no number in `confidence`; its fields are confidence and text",
        ),
        ({"confidence": "high"}, "the answer has no number in `confidence`; its fields are confidence"),
        ({}, "the answer has no number in `confidence`; its fields are none"),
        (None, "the answer has no confidence, because it has no fields; the answer is “Done.”"),
    ],
)
def test_confidence_is_a_number_of_at_least_the_limit(fields: Mapping[str, object] | None, happened: str) -> None:
    expected = []
    if happened:
        expected = [("a confidence of 0.7 or more", happened, "entry 4.0")]
    assert failed(answered(fields=fields), min_confidence=0.7) == expected


def test_confidence_of_a_run_without_an_answer_fails() -> None:
    play = played([asks(text="Hm.")], [e.RunParked("model", 9)])
    ((_, happened, _),) = failed(play, min_confidence=0)
    assert happened == "the answer has no confidence, because it has no fields; there is no answer; the run is parked"


def test_required_action_needs_a_call_with_success() -> None:
    search = [asks(("jira_search", {}))]
    assert failed(answered("Done.", None, search, made("1.0", "jira_search")), require_actions="jira_search") == []
    assert failed(answered("Done.", None, search, refused("1.0", "repeated")), require_actions="jira_search") == [
        ("a call of jira_search with success", "call 1.0 asked for it; the gate refused it (repeated)", "1.0")
    ]
    assert failed(
        answered("Done.", None, search, made("1.0", "jira_search")), require_actions="slack_post_message"
    ) == [("a call of slack_post_message with success", "the run called jira_search", "entry 6.0")]
    ((_, happened, _),) = failed(answered(), require_actions=["jira_make_issue"])
    assert happened.startswith("the workflow has no tool jira_make_issue any more")


def test_any_call_that_writes_is_an_action() -> None:
    wrote = [asks(("jira_create_issue", {}))], made("1.0", "jira_create_issue"), ended()
    read = [asks(("jira_search", {}))], made("1.0", "jira_search"), ended()
    failing = [asks(("jira_create_issue", {}))], made("1.0", "jira_create_issue", "error"), ended()
    assert failed(played(*wrote), require_actions=True) == []
    expected = "a call that writes, with success"
    assert failed(played(*read), require_actions=True) == [(expected, "the run called jira_search", "entry 4.0")]
    assert failed(played(*failing), require_actions=True)[0][0] == expected
    assert rubric(played(*read), require_actions=False) == []


def test_action_of_an_earlier_turn_counts() -> None:
    turns = played_turn([asks(("jira_search", {}))], made("1.0", "jira_search"), ended()), played_turn(ended())
    assert failed(play_of(*turns), require_actions=["jira_search"]) == []
    failing = played_turn([asks(("jira_search", {}))], refused("1.0"), ended()), played_turn(ended())
    (grade,) = rubric(play_of(*failing), require_actions=["jira_search"])
    assert (grade.turn, grade.step) == (1, "1.0")


FILE: Sequence[Entry] = [
    FileAdded("file_1", "runbook.md", "text/plain", 10, "Slack"),
    FileRead("file_1", "lines", 1, 2),
]


@pytest.mark.parametrize(
    ("text", "entries", "happened"),
    [
        ("As citing-sources says, yes.", [SkillLoaded("citing-sources")], ""),
        ("As Citing Sources says, yes.", [SkillLoaded("citing-sources")], ""),
        ("As citing-sources-2 says.", [SkillLoaded("citing-source")], "the answer is “As citing-sources-2 says.”"),
        ("By the `runbook.md`, yes.", FILE, ""),
        ("By the runbook, yes.", FILE, "the answer is “By the runbook, yes.”"),
        ("By runbook.md, yes.", FILE[:1], "the run read no skill and no file"),
        ("By other.md, yes.", [FileAdded("f", "other.md", "text/plain", 10, "Slack", preloaded=True)], ""),
        ("By file_9, yes.", [FileRead("file_9", "lines", 1, 2)], ""),
        ("Yes.", [], "the run read no skill and no file"),
    ],
)
def test_evidence_is_the_name_of_read_material(text: str, entries: Sequence[Entry], happened: str) -> None:
    found = failed(answered(text, None, list(entries)), require_runbook_evidence=True)
    assert [one[1] for one in found] == [happened] * bool(happened)


def test_missing_evidence_lists_the_read_material() -> None:
    ((expected, _, _),) = failed(answered("Yes.", None, [SkillLoaded("a-skill")], FILE), require_runbook_evidence=True)
    assert expected == "the name of a skill or file that the run has read in the answer: a-skill or runbook.md"


def test_evidence_may_stand_in_a_field_and_come_from_the_prompt_or_a_subagent() -> None:
    fields = {"evidence": ["citing-sources"]}
    assert failed(answered("Yes.", fields, [SkillLoaded("citing-sources")]), require_runbook_evidence=True) == []
    setup = bundle(skills={"required": ["house-rules"]})
    in_prompt = play_of(played_turn(ended("By the house rules."), bundle=setup))
    assert failed(in_prompt, require_runbook_evidence=True) == []
    below = {"run1.sub": recorded([SkillLoaded("house-rules")])}
    assert failed(play_of(played_turn(ended("By house-rules."), subagents=below)), require_runbook_evidence=True) == []


def test_phrase_is_forbidden_in_each_answer_and_in_all_that_people_saw() -> None:
    first = played_turn(ended("As an AI, I cannot."))
    second = played_turn([asks(text="x")], ended("Fine."), seen=[seen("Posted @here again", "comment")])
    play = play_of(first, second)
    grades = rubric(play, forbidden_phrases=["as an AI", "@here", "never said"])
    assert failures(grades, "rubric.forbidden_phrases") == [
        ("no “as an AI”", "the answer contains “as an ai, i cannot.”", "entry 4.1"),
        ("no “@here”", "the comment at /slack/C1/1 contains “posted @here again”", "entry 4.0"),
    ]
    assert [grade.turn for grade in grades] == [1, 2]
    assert failed(play, forbidden_phrases=["never said"]) == []


SCHEMA = {"type": "object", "properties": {"n": {"type": "integer", "minimum": 3}}, "required": ["n"]}


def test_answer_is_valid_under_the_schema() -> None:
    assert failed(answered(fields={"n": 3}), schema=SCHEMA) == []
    assert failed(answered(fields={"n": 2}), schema=SCHEMA) == [
        ("an answer that is valid under the schema of the rubric", "n: 2 is less than the minimum of 3", "entry 4.0")
    ]
    assert failed(answered(), schema=SCHEMA)[0][1] == "the answer has no fields; the answer is “Done.”"
    assert failed(answered(fields={"n": 3}), schema={"type": "list"})[0][1].startswith("the schema cannot be used: ")


def test_latency_beyond_the_limit_names_the_longest_step() -> None:
    frames = (
        [asks(("jira_search", {}), ms=300)],
        made("1.0", "jira_search", ms=900),
        [asks(text="Done.", ms=100)],
        ended(),
    )
    assert failed(played(*frames, latency_ms=1_000, evidence="live"), max_latency_ms=1_000) == []
    assert failed(played(*frames, latency_ms=1_001, evidence="live"), max_latency_ms=1_000) == [
        ("at most 1,000 ms", "the play took 1,001 ms; the longest step was call 1.0 with 900 ms", "1.0")
    ]
    slow = [asks(text="Done.", ms=950)], ended()
    assert failed(played(*slow, latency_ms=2_000, evidence="live"), max_latency_ms=1_000)[0][1:] == (
        "the play took 2,000 ms; the longest step was the answer of the model at 4.0 with 950 ms",
        "entry 4.0",
    )
    assert failed(played(latency_ms=2_000, evidence="live"), max_latency_ms=1_000)[0][1:] == (
        "the play took 2,000 ms",
        "",
    )


def test_latency_of_recorded_answers_is_not_graded() -> None:
    (grade,) = rubric(played(latency_ms=2_000), max_latency_ms=1_000)
    assert (grade.passed, grade.blocks, grade.missing) == (False, False, "no_evidence")
    assert grade.explanation.endswith("only a play with a live model has a latency")


def test_cost_of_all_turns_is_limited_and_an_unknown_cost_fails() -> None:
    turn = played_turn([asks(text="Done.", usd=0.25)], ended())
    assert failed(play_of(turn, turn), max_cost_usd=0.5) == []
    assert failed(play_of(turn, turn), max_cost_usd=0.49) == [
        ("at most 0.4900 USD", "the play cost 0.5000 USD", "entry 4.0")
    ]
    unknown = played_turn([asks(text="Done.", usd=None)], ended())
    assert failed(play_of(unknown, turn), max_cost_usd=9)[0][1] == ("the cost is unknown, because model-1 has no price")


def test_answers_of_models_are_limited_and_the_first_one_too_many_is_named() -> None:
    frames = (
        [asks(("jira_search", {}))],
        made("1.0", "jira_search"),
        [asks(("jira_search", {"text": "b"}))],
        made("2.0", "jira_search"),
        [asks(text="Done.")],
        ended(),
    )
    assert failed(played(*frames), max_llm_calls=3) == []
    assert failed(played(*frames), max_llm_calls=1) == [
        ("at most 1 answer of models", "models answered 3 times", "entry 6.0")
    ]
    assert failed(played(*frames), max_tool_calls=2) == []
    assert failed(played(*frames), max_tool_calls=1) == [("at most 1 tool call", "the run made 2 tool calls", "2.0")]
    assert failed(play_of(played_turn(*frames), played_turn(*frames)), max_tool_calls=3) != []


def test_plan_and_refused_calls_are_no_tool_calls() -> None:
    play = played(
        [asks(("todo_write", {}), ("jira_search", {}), ("gone", {}))],
        made("1.0", "todo_write"),
        made("1.1", "jira_search"),
        refused("1.2"),
        ended(),
    )
    assert failed(play, max_tool_calls=1) == []
    assert failed(play, max_tool_calls=0) == [("at most 0 tool calls", "the run made 1 tool call", "1.1")]


def test_given_history_of_a_decision_point_counts_toward_no_limit() -> None:
    turn = played_turn(
        [asks(("jira_search", {}), ("todo_write", {}))],
        made("1.0", "jira_search"),
        made("1.1", "todo_write"),
        [asks(text="Hm.")],
        given_answers=1,
    )
    grades = rubric(play_of(turn), max_tool_calls=0, max_llm_calls=1)
    assert all(grade.passed for grade in grades)
    assert failed(play_of(turn), max_llm_calls=0)[0][1] == "models answered 1 time"
