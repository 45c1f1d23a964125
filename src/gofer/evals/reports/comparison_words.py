"""The words of all reports about a comparison with the baseline."""

from collections.abc import Iterator

from gofer.evals.results import NO_EVIDENCE, CaseResult, Comparison, SuiteResult
from gofer.values.amounts import counted


def tally_before(comparison: Comparison | None) -> str:
    """Return how many runs passed in the baseline, as `k/n`; a dash without a baseline."""
    if comparison is None:
        return "–"
    return f"{comparison.passed_before}/{comparison.runs_before}"


def comparison_text(comparison: Comparison) -> str:
    """Return what the comparison with the baseline says, in a few words."""
    words = f"{comparison.verdict.replace('_', ' ')}: {tally_before(comparison)} before"
    if comparison.p_value is None:
        return words
    return f"{words}, p = {comparison.p_value:.2g}"


def suite_comparison(result: SuiteResult) -> str:
    """Return what the comparison of a suite says, in a sentence or two; empty without a baseline."""
    comparison = result.comparison
    if comparison is None:
        return ""
    said = comparison_sentences(comparison)
    if comparison.verdict == "not_enough_evidence" and result.exit_code == NO_EVIDENCE:
        said = f"{said} The exit code is {NO_EVIDENCE}; --inconclusive changes it."
    return f"Compared with the baseline, all cases: {said}"


def case_comparison(case: CaseResult) -> str:
    """Return what the comparison of a case says, in a sentence or two; empty without a baseline."""
    if case.comparison is None:
        return ""
    return f"Compared with the baseline: {comparison_sentences(case.comparison)}"


def open_comparisons(result: SuiteResult) -> Iterator[tuple[str, str]]:
    """Yield each case with too few runs for its comparison, and what its comparison says."""
    for case in result.cases:
        if case.comparison is not None and case.comparison.verdict == "not_enough_evidence":
            yield case.case, comparison_sentences(case.comparison)


def comparison_sentences(comparison: Comparison) -> str:
    """Return the verdict, the smallest drop that the test finds, and how many more runs tell."""
    said = f"{comparison_text(comparison)}."
    if comparison.p_value is None:
        return f"{said} Recorded answers leave nothing to chance."
    if comparison.verdict == "not_enough_evidence":
        return f"{said} {_detectable(comparison.detectable)} {_more(comparison.more_runs)}"
    return said


def _detectable(drop: float | None) -> str:
    if drop is None:
        return "So few runs find no drop at all."
    return f"The smallest drop that these runs find is {counted(round(100 * drop), 'percentage point')}."


def _more(runs: int | None) -> str:
    if runs is None:
        return "No number of runs tells as long as the pass rates stay."
    return f"About {counted(runs, 'more run')}, here and in the baseline, tell."
