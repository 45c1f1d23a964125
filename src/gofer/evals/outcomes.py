"""The outcome of a case: what follows from its runs, from its quarantine, and from the reason that ended its plays."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal

from gofer.evals.eval_file import Quarantine
from gofer.evals.plan import PlannedCase
from gofer.evals.results import CaseOutcome, CaseResult, CaseRun
from gofer.evals.statistics import consistency, repeated, wilson

Broken = Literal["", "over_budget", "not_played"]
"""Why a case was not played to its end: its budget, or the end of the suite."""

_MOST_RELEASE_RUNS = 100
"""The most runs that the release of a case from quarantine needs."""


@dataclass(frozen=True, slots=True)
class _Tally:
    passed: int
    failed: int
    consistency: float | None


def is_graded(run: CaseRun) -> bool:
    """Return whether a run counts for or against the case."""
    return run.outcome in ("passed", "failed")


def says_something_about_the_prompt(run: CaseRun) -> bool:
    """Return whether a run is evidence about the prompt: a model answered it, and not a script or code alone."""
    return is_graded(run) and run.evidence != "scripted" and run.llm_calls > 0


def scripts_prove_nothing(run: CaseRun, *, prompt_changed: bool) -> bool:
    """Return whether a run passed only because a script answers as the case wants, regardless of its new prompt."""
    return prompt_changed and run.outcome == "passed" and run.evidence == "scripted" and run.llm_calls > 0


def passes(runs: Sequence[CaseRun]) -> int:
    """Return the number of runs that passed."""
    return sum(run.outcome == "passed" for run in runs)


def is_decided(planned: PlannedCase, runs: Sequence[CaseRun]) -> bool:
    """Return whether no further run can change the outcome."""
    return not fewest_to_decide(planned, runs)


def fewest_to_decide(planned: PlannedCase, runs: Sequence[CaseRun]) -> int:
    """Return the least number of further runs after which the outcome can be clear; 0 if it is.

    A suite plays as many at once, so that no run is played that one after the other would have saved.
    """
    left = planned.planned - len(runs)
    if planned.plays_all:
        return left
    tally = _tally(runs)
    if _has_failed(planned, tally):
        return 0
    if planned.coordinator == "script":
        # Each further run can fail a script by another status, so that only the last run can let the case pass.
        return min(left, 1)
    to_fail = planned.planned - planned.required + 1 - tally.failed
    return min(left, to_fail, planned.required - tally.passed)


def case_result(planned: PlannedCase, runs: Sequence[CaseRun], today: date, broken: Broken = "") -> CaseResult:
    """Return the result of a case. `today` decides about a quarantine; `broken` says why runs are missing."""
    outcome = _outcome(planned, runs, broken)
    notes = _notes(planned, runs)
    quarantine = planned.case.quarantine
    until = None
    if quarantine is not None:
        until = quarantine.until
        notes = [*notes, *_quarantine_notes(quarantine, runs, today)]
        outcome = _after_quarantine(quarantine, outcome, today)
    samples = [run for run in runs if says_something_about_the_prompt(run)]
    interval = None
    if samples:
        interval = wilson(passes(samples), len(samples))
    return CaseResult(
        case=planned.name,
        workflow=planned.eval.workflow,
        outcome=outcome,
        runs=runs,
        required=planned.required,
        planned=planned.planned,
        interval=interval,
        consistency=_tally(runs).consistency,
        repeated=repeated(passes(samples), len(samples)),
        quarantined_until=until,
        tags=planned.tags,
        coordinator=planned.coordinator,
        notes=notes,
    )


def _tally(runs: Sequence[CaseRun]) -> _Tally:
    graded = [run for run in runs if is_graded(run)]
    return _Tally(passes(graded), len(graded) - passes(graded), consistency([run.status for run in graded]))


def _has_failed(planned: PlannedCase, tally: _Tally) -> bool:
    inconsistent = planned.coordinator == "script" and tally.consistency is not None and tally.consistency < 1
    return inconsistent or tally.failed > planned.planned - planned.required


def _outcome(planned: PlannedCase, runs: Sequence[CaseRun], broken: Broken) -> CaseOutcome:
    tally = _tally(runs)
    if _has_failed(planned, tally):
        return "failed"
    if broken == "over_budget":
        return broken
    # A measurement or a script that was broken off could still have failed.
    if tally.passed >= planned.required and is_decided(planned, runs):
        return "passed"
    if broken:
        return broken
    if any(run.outcome == "over_budget" for run in runs):
        return "over_budget"
    if any(run.outcome == "infrastructure" for run in runs):
        return "infrastructure"
    return "no_evidence"


def _notes(planned: PlannedCase, runs: Sequence[CaseRun]) -> Sequence[str]:
    agreement = _tally(runs).consistency
    if planned.coordinator == "llm" or agreement is None or agreement == 1:
        return []
    statuses = ", ".join(sorted({run.status for run in runs if is_graded(run)}))
    return [f"A script must end alike each time; its runs ended as {statuses}. Remove what differs in it."]


def _after_quarantine(quarantine: Quarantine, outcome: CaseOutcome, today: date) -> CaseOutcome:
    if today > quarantine.until:
        return "failed"
    if outcome == "failed":
        return "quarantined"
    return outcome


def _quarantine_notes(quarantine: Quarantine, runs: Sequence[CaseRun], today: date) -> Sequence[str]:
    notes: list[str] = []
    if today > quarantine.until:
        notes.append(
            f"The quarantine ended on {quarantine.until}: mend the case, or measure it again and set a later `until`."
        )
    samples = [run for run in runs if says_something_about_the_prompt(run)]
    if samples and passes(samples) == len(samples):
        notes.append(_release(quarantine, len(samples)))
    return notes


def _release(quarantine: Quarantine, passed: int) -> str:
    """Return what follows for the quarantine if all runs passed: as many as were measured end it."""
    measured = f"{quarantine.passed} of {quarantine.runs}"
    enough = min(quarantine.runs, _MOST_RELEASE_RUNS)
    if passed >= enough:
        return f"All {passed} runs passed, after {measured} in the measurement: remove the quarantine."
    return f"All {passed} runs passed, after {measured} in the measurement: `--live --repeat {enough}` can end it."
