"""The comparison of a suite with its baseline, an earlier result: case by case, and for all cases together."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from gofer.evals.outcomes import passes, says_something_about_the_prompt
from gofer.evals.paired_tests import (
    TOLERATED_DROP,
    Counts,
    chance_of_drop,
    detectable_drop,
    holm,
    is_significant,
    largest_drop,
    more_runs,
    pooled,
)
from gofer.evals.results import CaseResult, Comparison, SuiteResult, Verdict


@dataclass(frozen=True, slots=True)
class _Pair:
    """A case now and in the baseline."""

    counts: Counts
    by_chance: bool
    """Whether a model answered live before or now; recorded answers to the same requests are always the same."""

    @property
    def has_dropped(self) -> bool:
        """Whether the pass rate is lower than before."""
        return self.counts.passed / self.counts.runs < self.counts.passed_before / self.counts.runs_before


def compared(result: SuiteResult, baseline: SuiteResult, *, is_whole: bool = False) -> SuiteResult:
    """Return the result with the comparisons of its cases and of the suite.

    Cases in quarantine, cases that the baseline does not have, and cases without evidence are left as they are.
    Probabilities of cases are corrected for their number, so that a large suite raises no more false alarms than a
    small one. `is_whole`: the result has all cases, so that a baseline must have some of them, and no others.
    """
    before = {case.case: case for case in baseline.cases}
    free = [case for case in result.cases if case.quarantined_until is None]
    pairs = {case.case: _pair(before[case.case], case) for case in free if case.case in before}
    known = {name: pair for name, pair in pairs.items() if pair is not None}
    drawn = [name for name, pair in known.items() if pair.by_chance]
    chances = holm([chance_of_drop([known[name].counts]) for name in drawn])
    corrected = dict(zip(drawn, chances, strict=True))
    cases = [_with_comparison(case, known.get(case.case), corrected.get(case.case)) for case in result.cases]
    comparison = _suite_comparison(list(known.values()))
    if not is_whole:
        return replace(result, cases=cases, comparison=comparison)
    names = {case.case for case in result.cases}
    if names.isdisjoint(before):
        comparison = Comparison("not_enough_evidence", 0, 0, None)
    missing = [name for name in before if name not in names]
    return replace(result, cases=cases, comparison=comparison, missing=missing)


def _pair(before: CaseResult, now: CaseResult) -> _Pair | None:
    runs_before = [run for run in before.runs if says_something_about_the_prompt(run)]
    runs = [run for run in now.runs if says_something_about_the_prompt(run)]
    if not runs_before or not runs:
        return None
    counts = Counts(
        passed_before=passes(runs_before), runs_before=len(runs_before), passed=passes(runs), runs=len(runs)
    )
    return _Pair(counts, any(run.evidence == "live" for run in (*runs_before, *runs)))


def _with_comparison(case: CaseResult, pair: _Pair | None, chance: float | None) -> CaseResult:
    if pair is None:
        return case
    return replace(case, comparison=_comparison([pair], chance))


def _suite_comparison(pairs: Sequence[_Pair]) -> Comparison | None:
    if not pairs:
        return None
    drawn = [pair.counts for pair in pairs if pair.by_chance]
    chance = None
    if drawn:
        chance = chance_of_drop(drawn)
    return _comparison(pairs, chance)


def _comparison(pairs: Sequence[_Pair], chance: float | None) -> Comparison:
    """Return the comparison of cases; `chance` is the probability of the drop of those with live answers."""
    verdict = _verdict(pairs, chance)
    drawn = [pair.counts for pair in pairs if pair.by_chance]
    detectable = None
    more = None
    if drawn:
        detectable = detectable_drop(pooled(drawn))
    if drawn and verdict == "not_enough_evidence":
        more = more_runs(pooled(drawn))
    return Comparison(
        verdict,
        sum(round(pair.counts.passed_before) for pair in pairs),
        sum(round(pair.counts.runs_before) for pair in pairs),
        chance,
        detectable,
        more,
    )


def _verdict(pairs: Sequence[_Pair], chance: float | None) -> Verdict:
    if any(pair.has_dropped and not pair.by_chance for pair in pairs):
        return "regressed"
    if chance is None:
        return "not_regressed"
    if is_significant(chance):
        return "regressed"
    if largest_drop(pooled([pair.counts for pair in pairs if pair.by_chance])) <= TOLERATED_DROP:
        return "not_regressed"
    return "not_enough_evidence"
