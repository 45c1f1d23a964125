"""The grades of a run's own checks, such as `no-tool-loops` (docs/health.md)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from gofer.evals.grading.turn_view import TurnView, entry_step
from gofer.evals.results import Grade
from gofer.journal.check_entries import Verdict
from gofer.projections.checks import run_checks
from gofer.projections.checks.check_settings import CHECKS, Settings
from gofer.projections.examination.health import ONLY_AT_THE_END
from gofer.values.canonical_json import encode_text


def check_grades(expected: Sequence[str] | Literal["all", "none"], turn: TurnView) -> Iterator[Grade]:
    """Yield a grade for each check that must pass. With `all`, a failed warning is shown and does not block."""
    if expected == "none":
        return
    made = _verdicts(turn)
    if isinstance(expected, str):
        yield from (_grade(verdict, turn, blocks=verdict.severity == "error") for verdict in made.values())
        return
    for name in expected:
        if name in made:
            yield _grade(made[name], turn, blocks=True)
        else:
            yield _not_made(name, turn)


def _verdicts(turn: TurnView) -> Mapping[str, Verdict]:
    """Return the verdicts in the journal, or else those of its entries by the limits of the workflow."""
    progress = turn.progress
    if progress.checked is not None:
        return {verdict.check: verdict for verdict in progress.checked.verdicts}
    made = run_checks.verdicts(run_checks.project(turn.played.entries), _settings(turn))
    if progress.finished is None:
        made = tuple(verdict for verdict in made if verdict.check not in ONLY_AT_THE_END)
    return {verdict.check: verdict for verdict in made}


def _settings(turn: TurnView) -> Settings:
    """Return the settings of the checks in the bundle, which does not say which tools may be polled."""
    bundle = turn.played.bundle
    if bundle is None:
        return Settings()
    loaded = bundle.loaded
    return Settings(
        limits=loaded.workflow.checks.own_limits,
        off=loaded.workflow.checks.switched_off,
        tools=turn.tools,
        texts=(loaded.system, encode_text(bundle.tools), *(skill.description for skill in loaded.skills.values())),
    )


def _grade(verdict: Verdict, turn: TurnView, *, blocks: bool) -> Grade:
    dimension = f"check.{verdict.check}"
    if verdict.passed:
        return Grade(dimension, passed=True, turn=turn.number)
    return Grade(
        dimension,
        passed=False,
        expected=f"the check {verdict.check} passes",
        happened=verdict.summary.rstrip("."),
        step=_step(verdict, turn),
        blocks=blocks,
        explanation=verdict.detail,
        turn=turn.number,
    )


def _step(verdict: Verdict, turn: TurnView) -> str:
    """Return the first entry that the check failed for; for an outcome of a call, the call."""
    if not verdict.entries:
        return turn.last_step
    address = verdict.entries[0]
    for made in turn.calls:
        if made.call.id == made.step and address in (made.call.began_in, made.call.ended_in):
            return made.step
    return entry_step(address)


def _not_made(name: str, turn: TurnView) -> Grade:
    happened = f"the run has no verdict of the check {name}"
    if name not in CHECKS:
        happened = f"there is no check {name}"
    elif turn.played.bundle is not None and name in turn.played.bundle.loaded.workflow.checks.switched_off:
        happened = f"the workflow switches the check {name} off"
    return Grade(
        f"check.{name}", passed=False, expected=f"the check {name} passes", happened=happened, turn=turn.number
    )
