"""A suite is compared with its baseline: regressed, not regressed, or not enough evidence."""

from collections.abc import Mapping

from gofer.evals.baseline import compared
from gofer.evals.plays import Evidence
from gofer.evals.results import CaseResult, CaseRun, Comparison, RunOutcome, SuiteResult


def suite(counts: Mapping[str, tuple[int, int]], evidence: Evidence = "live") -> SuiteResult:
    """Return a suite with the passed runs and all runs of each case."""
    cases = [
        CaseResult(
            case=name,
            workflow="file-ticket",
            outcome="passed",
            runs=[run(number, passed, evidence) for number in range(1, runs + 1)],
            required=1,
            planned=runs,
        )
        for name, (passed, runs) in counts.items()
    ]
    return SuiteResult(cases=cases, at=0, seconds=0)


def run(number: int, passed: int, evidence: Evidence) -> CaseRun:
    outcome: RunOutcome = "failed"
    if number <= passed:
        outcome = "passed"
    return CaseRun(number=number, outcome=outcome, runs=[], grades=[], evidence=evidence, llm_calls=1)


def whole(result: SuiteResult) -> Comparison:
    """Return the comparison of the suite."""
    assert result.comparison is not None
    return result.comparison


def test_many_unchanged_runs_have_not_regressed() -> None:
    counts = {f"tickets/{number}": (5, 5) for number in range(20)}
    result = compared(suite(counts), suite(counts))
    assert whole(result).verdict == "not_regressed"
    assert (whole(result).passed_before, whole(result).runs_before) == (100, 100)
    assert result.exit_code == 0


def test_few_unchanged_runs_are_not_enough_evidence_and_say_how_many_are() -> None:
    result = compared(suite({"tickets/a": (3, 3)}), suite({"tickets/a": (3, 3)}))
    comparison = whole(result)
    assert (comparison.verdict, result.exit_code) == ("not_enough_evidence", 3)
    assert comparison.more_runs in range(30, 36)
    assert comparison.detectable is not None
    assert comparison.detectable > 0.9


def test_drop_over_many_cases_regresses_the_suite_although_no_single_case_tells() -> None:
    before = {f"tickets/{number}": (3, 3) for number in range(10)}
    now = {f"tickets/{number}": (2, 3) for number in range(10)}
    result = compared(suite(now), suite(before))
    assert (whole(result).verdict, result.exit_code) == ("regressed", 1)
    assert {case.comparison.verdict for case in result.cases if case.comparison} == {"not_enough_evidence"}


def test_case_that_stopped_to_pass_regresses() -> None:
    now = {"tickets/a": (0, 10), "tickets/b": (10, 10)}
    result = compared(suite(now), suite({"tickets/a": (10, 10), "tickets/b": (10, 10)}))
    verdicts = [case.comparison.verdict for case in result.cases if case.comparison]
    assert verdicts == ["regressed", "not_enough_evidence"]


def test_noise_of_one_run_is_no_regression() -> None:
    result = compared(suite({"tickets/a": (9, 10)}), suite({"tickets/a": (10, 10)}))
    assert whole(result).verdict == "not_enough_evidence"


def test_recorded_answers_are_compared_without_chance() -> None:
    before = suite({"tickets/a": (1, 1)}, "recorded")
    same = compared(suite({"tickets/a": (1, 1)}, "recorded"), before)
    worse = compared(suite({"tickets/a": (0, 1)}, "recorded"), before)
    assert (whole(same).verdict, whole(same).p_value) == ("not_regressed", None)
    assert (whole(worse).verdict, whole(worse).p_value) == ("regressed", None)


def test_scripted_answers_are_not_compared() -> None:
    result = compared(suite({"tickets/a": (0, 1)}, "scripted"), suite({"tickets/a": (1, 1)}, "scripted"))
    assert result.comparison is None
    assert result.cases[0].comparison is None


def test_new_case_is_left_out_of_the_comparison() -> None:
    result = compared(suite({"tickets/new": (0, 5)}), suite({"tickets/a": (5, 5)}))
    assert (result.comparison, result.cases[0].comparison) == (None, None)


def test_baseline_without_a_common_case_is_not_enough_evidence_for_a_whole_suite() -> None:
    result = compared(suite({"tickets/new": (5, 5)}), suite({"tickets/a": (5, 5)}), is_whole=True)
    assert result.comparison == Comparison("not_enough_evidence", 0, 0, None)
    assert (result.exit_code, result.missing) == (3, ["tickets/a"])


def test_cases_of_the_baseline_that_are_missing_now_are_named_for_a_whole_suite() -> None:
    before = suite({"tickets/a": (5, 5), "tickets/gone": (5, 5)})
    assert compared(suite({"tickets/a": (5, 5)}), before, is_whole=True).missing == ["tickets/gone"]
    assert compared(suite({"tickets/a": (5, 5)}), before).missing == ()
