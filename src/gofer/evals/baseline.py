"""A suite beside its baseline, an earlier result: how often its runs passed, what one costs, and how long it takes."""

from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean

from gofer.evals.outcomes import passes, says_something_about_the_prompt
from gofer.evals.results import CaseResult, CaseRun, Comparison, Figures, SuiteResult


def compared(result: SuiteResult, baseline: SuiteResult, *, is_whole: bool = False) -> SuiteResult:
    """Return the result with its cases and the suite beside those of the baseline.

    Only runs that a model answered are compared, and only cases that have such runs in both. `is_whole`: the result
    has all cases, so that other cases of the baseline do not exist any more.
    """
    before = {case.case: case for case in baseline.cases}
    cases = [_beside(case, before.get(case.case)) for case in result.cases]
    known = [case.comparison for case in cases if case.comparison is not None]
    comparison = None
    if known:
        comparison = Comparison(_together([one.before for one in known]), _together([one.now for one in known]))
    missing: Sequence[str] = ()
    if is_whole:
        names = {case.case for case in cases}
        missing = [name for name in before if name not in names]
    return replace(result, cases=cases, comparison=comparison, missing=missing)


def _beside(now: CaseResult, before: CaseResult | None) -> CaseResult:
    if before is None:
        return now
    runs = [run for run in now.runs if says_something_about_the_prompt(run)]
    runs_before = [run for run in before.runs if says_something_about_the_prompt(run)]
    if not runs or not runs_before:
        return now
    return replace(now, comparison=Comparison(_figures(runs_before), _figures(runs)))


def _figures(runs: Sequence[CaseRun]) -> Figures:
    """Return the runs of one case in numbers."""
    latencies = [run.measured_ms for run in runs if run.measured_ms is not None]
    return Figures(passes(runs), len(runs), _mean([run.cost_usd for run in runs]), _mean(latencies))


def _together(cases: Sequence[Figures]) -> Figures:
    """Return cases as one. Each case counts alike in cost and latency, however often it was played."""
    return Figures(
        sum(case.passed for case in cases),
        sum(case.runs for case in cases),
        _mean([case.cost_usd for case in cases]),
        _mean([case.latency_ms for case in cases]),
    )


def _mean(values: Sequence[float | None]) -> float | None:
    """Return the mean; None without values, and if one of them is unknown."""
    known = [value for value in values if value is not None]
    if not known or len(known) < len(values):
        return None
    return fmean(known)
