"""Plays and grades of a suite without a player: each run ends as a pattern says."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from typing_extensions import override

from gofer.evals.eval_file import Case, Eval, Quarantine, Runs
from gofer.evals.kept_runs import NoKeeper, RunKeeper
from gofer.evals.load import LoadedEval
from gofer.evals.plan import Coordinator, PlannedCase, plan
from gofer.evals.plays import Evidence, Play
from gofer.evals.results import CaseResult, CaseRun, Grade, RunOutcome
from gofer.evals.suite import Grades, Parts, Plays, Suite
from gofer.workflows.yaml_source import Source
from support.stand_ins import SetClock

TODAY = 1_772_442_000.0
"""2026-03-02, 09:00 UTC."""


@dataclass
class StandInPlays(Plays, Grades):
    """Plays whose outcomes are listed by case and number; a case without a list passes always.

    `attempts` are the outcomes of further plays of a run after a failure of infrastructure.
    """

    outcomes: Mapping[str, Sequence[RunOutcome]] = field(default_factory=dict[str, Sequence[RunOutcome]])
    statuses: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    evidence: Evidence = "live"
    cost_usd: float | None = 0.01
    recovers_after: int | None = None
    """The failures of infrastructure before each run can be played; None if there are none to recover from."""
    played: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])
    stop_after: int | None = None
    """The number of plays after which every further play waits for ever."""

    @override
    async def play(self, planned: PlannedCase, number: int) -> Play:
        if self.stop_after is not None and len(self.played) >= self.stop_after:
            await asyncio.Event().wait()
        self.played.append((planned.name, number))
        await asyncio.sleep(0)
        outcome = self._outcome(planned, number)
        failed = self.recovers_after is not None and self.played.count((planned.name, number)) <= self.recovers_after
        problem = {"no_evidence": "No recorded answer.", "infrastructure": "The model did not answer."}
        return Play(
            turns=(),
            world={},
            evidence=self.evidence,
            latency_ms=100 * number,
            no_evidence=problem["no_evidence"] * (outcome == "no_evidence"),
            infrastructure=problem["infrastructure"] * (outcome == "infrastructure" or failed),
        )

    @override
    async def graded(self, planned: PlannedCase, number: int, play: Play) -> CaseRun:
        outcome = self._outcome(planned, number)
        grades: Sequence[Grade] = ()
        if outcome == "failed":
            grades = [Grade("output.contains_any", passed=False, expected="contains “ticket”", happened="“No.”")]
        return CaseRun(
            number=number,
            outcome=outcome,
            runs=[f"{planned.name}-{number}"],
            grades=grades,
            evidence=play.evidence,
            status=_at(self.statuses.get(planned.name, ()), number, "done"),
            cost_usd=self.cost_usd,
            llm_calls=1,
            latency_ms=play.latency_ms,
        )

    def _outcome(self, planned: PlannedCase, number: int) -> RunOutcome:
        outcomes = self.outcomes.get(planned.name, ())
        if number <= len(outcomes):
            return outcomes[number - 1]
        return "passed"


def eval_of(*cases: Case, runs: Runs | None = None, retries: int = 2, budget_usd: float | None = None) -> Eval:
    """Return an eval file of the workflow `answer-here`."""
    return Eval(workflow="answer-here", cases=cases, runs=runs or Runs(), retries=retries, budget_usd=budget_usd)


def planned_cases(
    *names: str,
    runs: Runs | None = None,
    coordinator: Coordinator = "llm",
    quarantine: Quarantine | None = None,
    retries: int = 2,
    budget_usd: float | None = None,
    repeat: int | None = None,
) -> Sequence[PlannedCase]:
    """Return the plan of one eval file `tickets.yaml` with these cases."""
    cases = [Case(name=name, quarantine=quarantine) for name in names]
    one = eval_of(*cases, runs=runs, retries=retries, budget_usd=budget_usd)
    coordinators = {"answer-here": coordinator}
    loaded = LoadedEval(Source(Path("evals/tickets.yaml")), one)
    return plan([loaded], coordinators, repeat=repeat)


def parts_of(plays: StandInPlays, keeper: RunKeeper | None = None, *, now: float = TODAY, at_once: int = 4) -> Parts:
    """Return the parts of a suite that plays and grades with a stand-in, and never waits."""
    return Parts(
        plays=plays,
        grades=plays,
        clock=SetClock(now),
        keeper=keeper or NoKeeper(),
        sleep=_no_wait,
        at_once=at_once,
    )


def results_of(planned: Sequence[PlannedCase], plays: StandInPlays, *, now: float = TODAY) -> Sequence[CaseResult]:
    """Play a plan to its end and return the results."""
    suite = Suite(planned, parts_of(plays, now=now))
    asyncio.run(suite.play())
    return suite.results()


async def _no_wait(seconds: float) -> None:
    await asyncio.sleep(0)


def _at(values: Sequence[str], number: int, otherwise: str) -> str:
    if number <= len(values):
        return values[number - 1]
    return otherwise
