"""The health of a run: its checks, states, context, waste and what is unusual. It has names and counts, no contents."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from gofer.journal.check_entries import Verdict
from gofer.projections import calls, progress, states
from gofer.projections.checks import run_checks
from gofer.projections.checks.check_settings import Settings
from gofer.projections.comparison.run_diff import Summary, summary
from gofer.projections.examination.anomalies import Anomalies, Traits, cache_misses
from gofer.projections.examination.waste import Waste, waste
from gofer.projections.open_work import State
from gofer.projections.progress import Progress
from gofer.projections.prompted_run import PromptedRun
from gofer.projections.requests.context import Snapshot, snapshots
from gofer.projections.states import States, Transition
from gofer.projections.tool_names import known_tools, shown_part
from gofer.values.canonical_json import as_object, encode_text
from gofer.values.messages import Usage

ONLY_AT_THE_END = frozenset({"no-orphaned-tools"})
"""The checks that say nothing before the end of a run, because its calls are still being made."""

Made = Literal[
    "recorded at the end",
    "made now, because none were recorded",
    "so far, because the run has not ended",
    "of the part before the damage",
]
"""When the verdicts of a run were made."""


@dataclass(frozen=True, slots=True)
class RunHealth:
    """The health of one run without its subagent runs."""

    run: str
    verdicts: Sequence[Verdict]
    made: Made
    """When the verdicts were made."""
    durations: Mapping[State, int]
    """How long the run was in each state, in milliseconds, in the order in which it had them."""
    entered: Mapping[State, int]
    """How often the run entered each state."""
    violations: Sequence[Transition]
    usage: Usage
    misses: Mapping[str, int]
    """As in `cache_misses`."""
    context: Sequence[Snapshot]
    damage: str
    """Why the rest of the journal cannot be read; empty for a complete journal."""

    @property
    def errors(self) -> Sequence[Verdict]:
        """The failed checks that alert."""
        return [one for one in self.verdicts if not one.passed and one.severity == "error"]

    @property
    def warnings(self) -> Sequence[Verdict]:
        """The failed checks that are only shown."""
        return [one for one in self.verdicts if not one.passed and one.severity == "warning"]


@dataclass(frozen=True, slots=True)
class Health:
    """The health of a run and its subagent runs."""

    summary: Summary
    runs: Sequence[RunHealth]
    """The run itself, and then its subagent runs at any depth."""
    waste: Waste
    anomalies: Anomalies
    of_workflow: Sequence[Traits] = ()
    """The run itself and the earlier runs of its workflow."""

    @property
    def is_healthy(self) -> bool:
        """Whether no check failed as an error, no state was violated and nothing is damaged, also in subagent runs."""
        return not any(one.errors or one.violations or one.damage for one in self.runs)


def health(run: PromptedRun, unusual: Anomalies, of_workflow: Sequence[Traits] = ()) -> Health:
    """Return the health of a run, with what is unusual of it and the traits of all runs of its workflow."""
    runs = [_run_health(one) for one in run.with_subagents()]
    return Health(summary(run), runs, waste(run), unusual, of_workflow)


def _run_health(run: PromptedRun) -> RunHealth:
    state = progress.project(run.entries)
    transitions = states.project(run.entries)
    made, verdicts = _verdicts(run, state)
    return RunHealth(
        run=run.run,
        verdicts=verdicts,
        made=made,
        durations=_durations(transitions, state),
        entered=Counter(one.after for one in transitions.transitions),
        violations=transitions.violations,
        usage=state.usage,
        misses=cache_misses(run.entries),
        context=_context(run),
        damage=run.damage,
    )


def _context(run: PromptedRun) -> Sequence[Snapshot]:
    """Return the context of each request, without names that a model wrote for unknown tools."""
    known = known_tools(calls.project(run.entries).calls.values(), run.tools)
    return [
        replace(
            one,
            entered=[shown_part(name, known) for name in one.entered],
            left=[shown_part(name, known) for name in one.left],
        )
        for one in snapshots(run.entries, run.system, run.tools)
    ]


def _verdicts(run: PromptedRun, state: Progress) -> tuple[Made, Sequence[Verdict]]:
    """Return the recorded verdicts of a run, or else those of its journal by the limits in its bundle."""
    if state.checked is not None:
        return "recorded at the end", state.checked.verdicts
    verdicts = run_checks.verdicts(run_checks.project(run.entries), _settings(run))
    if state.finished is not None:
        return "made now, because none were recorded", verdicts
    so_far = [verdict for verdict in verdicts if verdict.check not in ONLY_AT_THE_END]
    if run.damage:
        return "of the part before the damage", so_far
    return "so far, because the run has not ended", so_far


def _settings(run: PromptedRun) -> Settings:
    """Return the settings of the checks in the bundle of a run. The bundle does not say which tools may be polled."""
    checks = as_object(as_object(run.bundle.get("workflow")).get("checks"))
    limits: dict[str, float] = {}
    off: set[str] = set()
    for check, value in checks.items():
        keys = as_object(value)
        limit = keys.get("limit")
        if isinstance(limit, int | float):
            limits[check] = limit
        if keys.get("off") is True:
            off.add(check)
    return Settings(limits=limits, off=frozenset(off), texts=(encode_text(run.bundle),))


def _durations(transitions: States, state: Progress) -> Mapping[State, int]:
    found: dict[State, int] = {}
    before: State = ""
    since = state.accepted_at
    for one in transitions.transitions:
        if before:
            found[before] = found.get(before, 0) + one.at - since
        before = one.after
        since = one.at
    if before and before != "done":
        found[before] = found.get(before, 0) + state.last_at - since
    return found
