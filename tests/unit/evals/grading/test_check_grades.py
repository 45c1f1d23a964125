"""The grades of a run's own checks."""

from collections.abc import Sequence

from gofer.evals.eval_file import Expectations, Rubric
from gofer.evals.grading.grading import graded
from gofer.evals.plays import Play
from gofer.evals.results import Grade
from gofer.journal.check_entries import Verdict
from gofer.projections.checks.check_settings import CHECKS
from support.evals.played import asks, bundle, ended, failures, made, play_of, played, played_turn

LOOPS = Verdict(
    "no-tool-loops",
    passed=False,
    summary="Tools were called with the same arguments: jira_search.",
    detail="The arguments of jira_search are “{}”.",
    entries=("5.0", "6.0"),
)
PLAN = Verdict("plan-call-budget", passed=False, severity="warning", summary="Calls about the plan: 12.")
HEADROOM = Verdict("context-window-headroom", passed=True)


def checks(play: Play, expected: object = "all") -> Sequence[Grade]:
    grades = graded([Expectations.model_validate({"checks": expected})], Rubric(), play)
    return [grade for grade in grades if grade.dimension.startswith("check.")]


def test_recorded_verdicts_are_the_grades() -> None:
    grades = checks(played(ended(verdicts=[LOOPS, PLAN, HEADROOM])))
    assert [(grade.dimension, grade.passed, grade.blocks) for grade in grades] == [
        ("check.no-tool-loops", False, True),
        ("check.plan-call-budget", False, False),
        ("check.context-window-headroom", True, True),
    ]
    assert failures(grades, "check.no-tool-loops") == [
        (
            "the check no-tool-loops passes",
            "Tools were called with the same arguments: jira_search",
            "entry 5.0",
        )
    ]
    assert grades[0].explanation == LOOPS.detail
    assert failures(grades, "check.plan-call-budget")[0][2] == "entry 4.2"


def test_named_warning_blocks_and_other_checks_are_not_graded() -> None:
    (grade,) = checks(played(ended(verdicts=[LOOPS, PLAN])), ["plan-call-budget"])
    assert (grade.dimension, grade.passed, grade.blocks) == ("check.plan-call-budget", False, True)


def test_no_check_is_graded_if_none_is_expected() -> None:
    assert checks(played(ended(verdicts=[LOOPS])), "none") == []


def test_missing_verdicts_are_made_from_the_journal() -> None:
    search = ("jira_search", {"text": "same"})
    asked = [frame for turn in range(1, 5) for frame in ([asks(search)], made(f"{turn}.0", "jira_search"))]
    grades = checks(played(*asked, [asks(text="Hm.")], ended()))
    assert {grade.dimension for grade in grades} == {f"check.{name}" for name in CHECKS}
    ((_, happened, step),) = failures(grades, "check.no-tool-loops")
    assert happened == "Tools were called with the same arguments: jira_search 4 times"
    assert step == "entry 4.0"


def test_workflow_sets_limits_and_switches_checks_off() -> None:
    search = ("jira_search", {"text": "same"})
    asked = [frame for turn in range(1, 5) for frame in ([asks(search)], made(f"{turn}.0", "jira_search"))]
    setup = bundle(checks={"no-tool-loops": {"off": True}, "llm-call-budget": {"limit": 2}})
    play = play_of(played_turn(*asked, [asks(text="Hm.")], ended(), bundle=setup))
    grades = checks(play)
    assert "check.no-tool-loops" not in {grade.dimension for grade in grades}
    assert failures(grades, "check.llm-call-budget") != []
    assert failures(checks(play, ["no-tool-loops"]), "check.no-tool-loops") == [
        ("the check no-tool-loops passes", "the workflow switches the check no-tool-loops off", "")
    ]


def test_run_that_has_not_ended_is_not_graded_for_its_open_calls() -> None:
    waiting = play_of(played_turn([asks(("jira_create_issue", {}))], made("1.0", "jira_create_issue")[:1]))
    assert "check.no-orphaned-tools" not in {grade.dimension for grade in checks(waiting)}
    assert failures(checks(waiting, ["no-orphaned-tools"]), "check.no-orphaned-tools") == [
        ("the check no-orphaned-tools passes", "the run has no verdict of the check no-orphaned-tools", "")
    ]


def test_unknown_check_is_named() -> None:
    assert failures(checks(played(ended()), ["no-luck"]), "check.no-luck") == [
        ("the check no-luck passes", "there is no check no-luck", "")
    ]


def test_run_without_a_bundle_has_the_default_limits() -> None:
    play = play_of(played_turn([asks(text="Hm.")], bundle=None))
    assert failures(checks(play), "check.llm-call-budget") == []
