"""A suite beside its baseline: passes, cost and latency then and now, which decide nothing."""

from collections.abc import Mapping
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from gofer.evals.baseline import compared
from gofer.evals.plays import Evidence
from gofer.evals.results import CaseOutcome, CaseResult, CaseRun, Comparison, Figures, RunOutcome, SuiteResult


def suite(
    counts: Mapping[str, tuple[int, int]],
    evidence: Evidence = "live",
    *,
    cost_usd: float | None = 0.01,
    latency_ms: int = 1_000,
    outcome: CaseOutcome = "passed",
) -> SuiteResult:
    """Return a suite with the passed runs and all runs of each case."""
    cases = [
        CaseResult(
            case=name,
            workflow="file-ticket",
            outcome=outcome,
            runs=[
                replace(run(number, passed, evidence), cost_usd=cost_usd, latency_ms=latency_ms)
                for number in range(1, runs + 1)
            ],
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


def test_passes_cost_and_latency_of_a_run_are_compared() -> None:
    before = suite({"tickets/a": (10, 10)}, cost_usd=0.01, latency_ms=200)
    result = compared(suite({"tickets/a": (2, 3)}, cost_usd=0.02, latency_ms=2_000), before)
    comparison = Comparison(Figures(10, 10, 0.01, 200), Figures(2, 3, 0.02, 2_000))
    assert (result.comparison, result.cases[0].comparison) == (comparison, comparison)
    assert result.exit_code == 0


COUNTS = st.dictionaries(
    st.sampled_from(["tickets/a", "tickets/b", "tickets/c"]), st.sampled_from([(0, 1), (1, 1), (2, 5), (5, 5)])
)
SUITES = st.builds(
    suite,
    COUNTS,
    st.sampled_from(["live", "recorded", "scripted"]),
    cost_usd=st.sampled_from([None, 0.0, 0.01, 5.0]),
    latency_ms=st.sampled_from([0, 10, 60_000]),
    outcome=st.sampled_from(["passed", "failed", "no_evidence", "infrastructure", "over_budget", "quarantined"]),
)


@given(SUITES, SUITES, st.booleans())
def test_baseline_never_changes_the_exit_code_or_an_outcome(
    now: SuiteResult, before: SuiteResult, is_whole: bool
) -> None:
    result = compared(now, before, is_whole=is_whole)
    assert result.exit_code == now.exit_code
    assert [case.outcome for case in result.cases] == [case.outcome for case in now.cases]


def test_often_played_case_weighs_no_more_in_the_cost_of_a_run() -> None:
    cheap = suite({"tickets/a": (9, 9)}, cost_usd=0.01).cases
    dear = suite({"tickets/b": (1, 1)}, cost_usd=0.03).cases
    both = replace(suite({}), cases=[*cheap, *dear])
    result = compared(both, both)
    assert result.comparison is not None
    assert result.comparison.now == Figures(10, 10, 0.02, 1_000)


def test_cost_with_an_unknown_price_and_latency_of_recorded_answers_are_not_compared() -> None:
    before = suite({"tickets/a": (1, 1)})
    unknown = compared(suite({"tickets/a": (1, 1)}, cost_usd=None), before)
    recorded = compared(suite({"tickets/a": (1, 1)}, "recorded"), before)
    assert unknown.comparison is not None
    assert unknown.comparison.now.cost_usd is None
    assert recorded.comparison is not None
    assert recorded.comparison.now.latency_ms is None


def test_scripted_answers_and_new_cases_are_not_compared() -> None:
    scripted = compared(suite({"tickets/a": (0, 1)}, "scripted"), suite({"tickets/a": (1, 1)}, "scripted"))
    new = compared(suite({"tickets/new": (5, 5)}), suite({"tickets/a": (5, 5)}))
    for result in (scripted, new):
        assert (result.comparison, result.cases[0].comparison) == (None, None)


def test_cases_of_the_baseline_that_are_missing_now_are_named_for_a_whole_suite() -> None:
    before = suite({"tickets/a": (5, 5), "tickets/gone": (5, 5)})
    assert compared(suite({"tickets/a": (5, 5)}), before, is_whole=True).missing == ["tickets/gone"]
    assert compared(suite({"tickets/a": (5, 5)}), before).missing == ()
