"""What a proof says: the eval case, the replays of good and affected runs, and the suite."""

from dataclasses import replace

import pytest

from gofer.evals.results import CaseOutcome, CaseResult, CaseRun, SuiteResult
from gofer.journal.grade_entries import Grade, RunOutcome
from gofer.learning.suggestions.proof import Proof, case_problem, replay_problem, suite_problem, suite_sentence
from gofer.learning.suggestions.proposal import MustHold, MustKind
from gofer.learning.suggestions.replayed_pair import OneReplay, ReplayedPair
from gofer.replay.made_calls import MadeCall

NEW = "goldens/new"
CALL = MustHold(kind="call", run="run-0001", at="1.0", tool="create")
UNMENDED = "The edit changed no call of the affected runs, and mended none of their answers."


def case(name: str, outcome: CaseOutcome, passed: int = 0, runs: int = 3, model: str = "m") -> CaseResult:
    outcomes: list[RunOutcome] = ["failed" for _ in range(runs)]
    for number in range(passed):
        outcomes[number] = "passed"
    played = [
        CaseRun(number=number, outcome=one, runs=(), grades=(), evidence="live", models=(model,))
        for number, one in enumerate(outcomes, 1)
    ]
    return CaseResult(case=name, workflow="w", outcome=outcome, runs=played, required=runs, planned=runs)


def suite(*cases: CaseResult) -> SuiteResult:
    return SuiteResult(cases=cases, at=0.0, seconds=1.0)


def pair(before: str, after: str, *, is_good: bool = False, away: str = "") -> ReplayedPair:
    made = [[MadeCall("create", {"project": project}, is_write=True)] for project in (before, after)]
    without, with_edit = (
        OneReplay(outcome="identical", status="done", calls=calls, lacked_a_model=away) for calls in made
    )
    return ReplayedPair("run-0001", is_good, made[0], without, with_edit)


def test_case_that_fails_and_then_passes_is_a_proof() -> None:
    proof = Proof(case(NEW, "failed"), case(NEW, "passed", 3))
    assert case_problem(proof) == ""


def test_case_without_the_edit_is_judged_before_the_one_with_the_edit() -> None:
    assert case_problem(Proof(case(NEW, "failed"))) == ""
    problem = "The eval case passes too often without the edit (3 of 3 plays passed)."
    assert case_problem(Proof(case(NEW, "passed", 3))) == problem
    assert "2 of 3 plays passed" in case_problem(Proof(case(NEW, "failed", 2)))
    assert case_problem(Proof(case(NEW, "no_evidence"))) == "The eval case could not be decided without the edit."


def test_opinion_of_a_judge_is_no_proof() -> None:
    opinion = Grade("judge.regression", passed=False, blocks=False, explanation="Does not block: no labels.")
    played = case(NEW, "passed", 3)
    judged = replace(played, runs=[replace(run, grades=[opinion]) for run in played.runs])
    assert case_problem(Proof(judged)) == (
        "The eval case is a question to the judge, whose verdict proves nothing here. Does not block: no labels."
    )


def test_case_that_still_fails_is_no_proof() -> None:
    proof = Proof(case(NEW, "failed"), case(NEW, "failed", 2))
    assert case_problem(proof) == "The edit did not change that the eval case fails (2 of 3 plays passed)."


def test_replays_prove_by_changed_affected_and_kept_good_runs() -> None:
    proof = Proof(replays=[pair("PAY", "SHOP"), pair("PAY", "PAY", is_good=True)])
    assert replay_problem(proof, CALL) == ""
    assert (len(proof.affected), len(proof.good)) == (1, 1)


def test_unchanged_affected_runs_are_no_proof() -> None:
    assert replay_problem(Proof(replays=[pair("PAY", "PAY")]), CALL) == UNMENDED


@pytest.mark.parametrize(
    ("kind", "texts", "before", "after", "problem"),
    [
        ("not_contains", ["Sorry"], "I am sorry: done.", "Done.", ""),
        ("not_contains", ["Sorry"], "I am sorry: done.", "Sorry, done.", UNMENDED),
        ("not_contains", ["Sorry"], "Done.", "It is done.", UNMENDED),
        ("not_contains", ["Sorry"], "I am sorry: done.", "", UNMENDED),
        ("contains", ["PAY-1", "Ada"], "PAY-1.", "**PAY-1**, for Ada.", ""),
        ("contains", ["PAY-1"], "PAY-1.", "PAY-12.", UNMENDED),
        ("judge", [], "Done.", "PAY-1 is done.", ""),
        ("judge", [], "Done.", "Done.", UNMENDED),
    ],
)
def test_fault_of_words_is_proven_by_the_answers(
    kind: MustKind, texts: list[str], before: str, after: str, problem: str
) -> None:
    calls = pair("PAY", "PAY")
    without = replace(calls.without, answer=before)
    replayed = replace(calls, without=without, with_edit=replace(calls.with_edit, answer=after))
    must = MustHold(kind=kind, run="run-0001", texts=texts, ask="Is it plain?")
    assert replay_problem(Proof(replays=[replayed]), must) == problem
    assert replay_problem(Proof(replays=[replayed]), CALL) == UNMENDED
    if before != after:
        assert replayed.difference == f"answer: {before} → {after}"


def test_good_run_that_gets_worse_is_no_proof() -> None:
    proof = Proof(replays=[pair("PAY", "SHOP"), pair("PAY", "OPS", is_good=True)])
    assert replay_problem(proof, CALL) == (
        "The edit changes the good run run-0001 for the worse: create has another project."
    )


@pytest.mark.parametrize(
    ("outcome", "problem"),
    [
        ("passed", ""),
        ("failed", "The case w/a passes without the edit and not with it."),
        ("no_evidence", "The case w/a passes without the edit and not with it."),
    ],
)
def test_case_that_passed_must_pass(outcome: CaseOutcome, problem: str) -> None:
    before = suite(case("w/a", "passed", 1, 1), case("w/b", "failed", 0, 1), case(NEW, "failed"))
    after = suite(case("w/a", outcome), case("w/b", "failed", 0, 1), case(NEW, "passed", 3))
    proof = Proof(suite_without=before, suite_with=after)
    assert suite_problem(proof, NEW) == problem


def test_missing_suite_is_no_proof() -> None:
    assert suite_problem(Proof(), NEW) == suite_sentence(Proof()) == "The suite was not played."


def test_suite_in_one_sentence() -> None:
    proof = Proof(suite_without=suite(case("w/a", "failed")), suite_with=suite(case("w/a", "passed", 3)))
    assert suite_sentence(proof) == (
        "0 of 1 case pass without the edit, 1 with it; exit code 0 of `gofer eval` with the edit."
    )


def test_stand_in_for_a_model_is_noticed() -> None:
    assert Proof(case(NEW, "failed", model="scripted")).is_scripted
    assert not Proof(case(NEW, "failed", model="gpt-5.4")).is_scripted


def test_model_without_an_answer_is_noticed_in_replays_and_plays() -> None:
    assert Proof(replays=[pair("a", "b", away="overloaded")]).lacked_a_model == "overloaded"
    away = CaseRun(
        number=1, outcome="infrastructure", runs=(), grades=(), evidence="live", problem="The provider is busy."
    )
    broken = CaseResult(case="w/a", workflow="w", outcome="infrastructure", runs=[away], required=1, planned=1)
    assert Proof(suite_with=suite(broken)).lacked_a_model == "The provider is busy."
    assert Proof(case(NEW, "failed")).lacked_a_model == ""
