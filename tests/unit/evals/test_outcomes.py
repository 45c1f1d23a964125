"""Quarantines, scripts and requirements decide the outcome of a case."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from gofer.evals.eval_file import Quarantine, Runs
from gofer.evals.results import CaseResult, Repeated, RunOutcome, SuiteResult
from support.evals.stand_in_plays import TODAY, StandInPlays, planned_cases, results_of

DAY = 86_400
QUARANTINE = Quarantine(until=date(2026, 3, 2), reason="The order of search results changes.", runs=20, passed=11)


def played(*outcomes: RunOutcome, now: float = TODAY) -> CaseResult:
    """Return the result of a case in quarantine with one run for each outcome."""
    planned = planned_cases("a", runs=Runs(n=len(outcomes)), quarantine=QUARANTINE)
    (result,) = results_of(planned, StandInPlays({"tickets/a": outcomes}), now=now)
    return result


def exit_code(*results: CaseResult) -> int:
    return SuiteResult(cases=results, at=0, seconds=0).exit_code


def test_failed_case_in_quarantine_does_not_block_until_its_last_day() -> None:
    result = played("failed", "passed", "failed")
    assert (result.outcome, exit_code(result)) == ("quarantined", 0)
    assert result.quarantined_until == date(2026, 3, 2)
    assert len(result.runs) == 3


def test_quarantine_past_its_last_day_fails_the_suite_with_a_sentence() -> None:
    for outcomes in (("failed", "failed"), ("passed", "passed")):
        result = played(*outcomes, now=TODAY + DAY)
        assert (result.outcome, exit_code(result)) == ("failed", 1)
        assert result.notes[0] == (
            "The quarantine ended on 2026-03-02: mend the case, or measure it again and set a later `until`."
        )


def test_case_in_quarantine_that_passes_always_is_suggested_for_release() -> None:
    passes: Sequence[RunOutcome] = ["passed"] * 20
    result = played(*passes)
    assert result.outcome == "passed"
    assert result.notes == ["All 20 runs passed, after 11 of 20 in the measurement: remove the quarantine."]


def test_fewer_passes_than_were_measured_name_the_runs_that_end_a_quarantine() -> None:
    assert played("passed", "passed").notes == [
        "All 2 runs passed, after 11 of 20 in the measurement: `--live --repeat 20` can end it."
    ]


def test_case_without_evidence_in_quarantine_stays_without_evidence() -> None:
    assert played("no_evidence").outcome == "no_evidence"


def test_pass_at_k_is_estimated_from_runs_that_a_model_answered() -> None:
    for evidence, expected in (
        ("live", Repeated(2, 1.0, 0.0)),
        ("recorded", Repeated(2, 1.0, 0.0)),
        ("scripted", None),
    ):
        plays = replace(StandInPlays({"tickets/a": ["failed", "passed"]}), evidence=evidence)
        (result,) = results_of(planned_cases("a", runs=Runs(n=2, require="any")), plays)
        assert result.repeated == expected


def test_interval_and_consistency_describe_the_graded_runs() -> None:
    plays = StandInPlays({"tickets/a": ["passed", "infrastructure", "failed"]}, {"tickets/a": ["done", "", "failed"]})
    (result,) = results_of(planned_cases("a", runs=Runs(n=3, require="2/3"), retries=0), plays)
    assert result.consistency == 0.5
    assert result.interval is not None
    assert 0.09 < result.interval.low < 0.1
    assert result.outcome == "infrastructure"


def test_repeated_plays_of_a_script_are_no_independent_samples() -> None:
    planned = planned_cases("a", runs=Runs(n=10), quarantine=QUARANTINE)
    (result,) = results_of(planned, StandInPlays(evidence="scripted"))
    assert (result.outcome, result.passed) == ("passed", 10)
    assert (result.interval, result.notes) == (None, [])
