"""The suite: plays cases several times, grades each play, and stops where the outcome of a case is clear."""

import asyncio
import math
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Protocol

from gofer.evals.kept_runs import KeptRun, NoKeeper, RunKeeper
from gofer.evals.outcomes import case_result, fewest_to_decide
from gofer.evals.plan import PlannedCase
from gofer.evals.plays import Play
from gofer.evals.results import CaseResult, CaseRun
from gofer.values.outside import Clock

AT_ONCE = 4
"""The plays that run at the same time."""
_FIRST_WAIT = 1.0
"""The seconds before the first repetition after a failure of infrastructure; each further wait is twice as long."""


class Plays(Protocol):
    """The player of cases."""

    async def play(self, planned: PlannedCase, number: int) -> Play:
        """Play a case once; `number` is 1 for its first run. Raises ConfigError for a case that cannot be played."""
        ...


class Grades(Protocol):
    """The grading of plays, by rules and by a judge."""

    async def graded(self, planned: PlannedCase, number: int, play: Play) -> CaseRun:
        """Return the graded run, with its cost. A play without evidence or with a failure gets no grades."""
        ...


def _ignored(planned: PlannedCase, run: CaseRun) -> None:
    """Do nothing with a finished run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The parts that a suite works with."""

    plays: Plays
    grades: Grades
    clock: Clock
    keeper: RunKeeper = field(default_factory=NoKeeper)
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    finished: Callable[[PlannedCase, CaseRun], None] = _ignored
    """Is called with each finished run, to show the progress."""
    at_once: int = AT_ONCE


class Suite:
    """The plays of a plan. The result can be asked for at any time, also after `play` was cancelled."""

    def __init__(
        self,
        planned: Sequence[PlannedCase],
        parts: Parts,
        *,
        fingerprints: Mapping[str, str] | None = None,
        earlier: Mapping[str, Sequence[CaseRun]] | None = None,
    ) -> None:
        """Prepare a suite. `earlier` has the runs of a broken-off suite by case, which are not played again.

        `fingerprints` says for each case what it depends on, for the runs that are kept.
        """
        self._planned = planned
        self._parts = parts
        self._fingerprints = fingerprints or {}
        self._runs: dict[str, list[CaseRun]] = {case.name: [] for case in planned}
        self._over_budget: set[str] = set()
        self._spent: dict[Path, float] = {}
        self._free = asyncio.Semaphore(parts.at_once)
        for case in planned:
            for run in (earlier or {}).get(case.name, ()):
                self._take(case, run)

    async def play(self) -> None:
        """Play all cases until the outcome of each is clear. Raises ConfigError for a case that cannot be played."""
        await _together([self._play_case(case) for case in self._planned])

    def results(self) -> Sequence[CaseResult]:
        """Return the results of all cases; a case without an outcome has not been played to its end."""
        today = datetime.fromtimestamp(self._parts.clock.now(), UTC).date()
        return [self._result(case, today) for case in self._planned]

    def _result(self, case: PlannedCase, today: date) -> CaseResult:
        runs = sorted(self._runs[case.name], key=lambda run: run.number)
        if case.name in self._over_budget:
            result = case_result(case, runs, today, "over_budget")
            return replace(result, notes=[*result.notes, self._budget_note(case)])
        if fewest_to_decide(case, runs):
            return case_result(case, runs, today, "not_played")
        return case_result(case, runs, today)

    async def _play_case(self, case: PlannedCase) -> None:
        while fewest := fewest_to_decide(case, self._runs[case.name]):
            played = {run.number for run in self._runs[case.name]}
            missing = [number for number in range(1, case.planned + 1) if number not in played]
            await _together([self._play_run(case, number) for number in missing[:fewest]])
            if case.name in self._over_budget:
                return

    async def _play_run(self, case: PlannedCase, number: int) -> None:
        async with self._free:
            if self._left(case) <= 0:
                self._over_budget.add(case.name)
                return
            run = await self._graded_run(case, number)
        self._take(case, run)
        self._parts.keeper.keep(KeptRun(case.name, self._fingerprints.get(case.name, ""), run))
        self._parts.finished(case, run)

    async def _graded_run(self, case: PlannedCase, number: int) -> CaseRun:
        """Play and grade one run, again after a failure of infrastructure."""
        run = await self._attempt(case, number)
        cost_usd = run.cost_usd
        wait = _FIRST_WAIT
        attempts = 1
        while run.outcome == "infrastructure" and attempts <= case.eval.retries:
            await self._parts.sleep(wait)
            wait *= 2
            run = await self._attempt(case, number)
            cost_usd = _sum(cost_usd, run.cost_usd)
            attempts += 1
        return replace(run, attempts=attempts, cost_usd=cost_usd)

    async def _attempt(self, case: PlannedCase, number: int) -> CaseRun:
        play = await self._parts.plays.play(case, number)
        run = await self._parts.grades.graded(case, number, play)
        if play.infrastructure:
            return replace(run, outcome="infrastructure", problem=play.infrastructure)
        if play.no_evidence and not run.failures:
            return replace(run, outcome="no_evidence", problem=play.no_evidence)
        return run

    def _take(self, case: PlannedCase, run: CaseRun) -> None:
        """Add a finished run to its case, and its cost to the budget of its file."""
        self._runs[case.name].append(run)
        if run.evidence == "live" and run.llm_calls:
            cost = run.cost_usd
            if cost is None:
                # A model without a price may cost anything.
                cost = math.inf
            self._spent[case.path] = self._spent.get(case.path, 0.0) + cost
        if self._left(case) < 0:
            self._over_budget.add(case.name)

    def _left(self, case: PlannedCase) -> float:
        """Return the US dollars that the cases of a file may still cost."""
        if case.eval.budget_usd is None:
            return math.inf
        return case.eval.budget_usd - self._spent.get(case.path, 0.0)

    def _budget_note(self, case: PlannedCase) -> str:
        spent = self._spent.get(case.path, 0.0)
        budget = case.eval.budget_usd
        if math.isinf(spent):
            return f"The budget of {budget} USD needs the price of the model: set `price` in agents/defaults.yaml."
        return f"The cases of the file cost {spent:.4f} USD of their budget_usd {budget}: raise it, or play fewer runs."


async def _together(works: Sequence[Coroutine[object, object, None]]) -> None:
    """Await all works at once. After an error, or if this is cancelled, the others are cancelled and awaited."""
    tasks = [asyncio.create_task(work) for work in works]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _sum(one: float | None, other: float | None) -> float | None:
    if one is None or other is None:
        return None
    return one + other
