"""The proof of a proposal in two scratch checkouts: the eval case, the replays, and the suite, each with and without.

Every question goes to the models of the workflow. No system is reached, and nothing of the user's folder changes.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from typing_extensions import override

from gofer.app.catalog import checked_catalog
from gofer.app.evals.current_files import file_version
from gofer.app.evals.player import Playing
from gofer.app.evals.suite_session import Choices, Watcher, play_suite
from gofer.app.replay import Replayer, open_replayer
from gofer.app.settings import Settings
from gofer.app.suggestions.budget import Budget
from gofer.app.suggestions.scratch import AGENTS, Scratch
from gofer.evals.goldens.golden_cases import load_cases
from gofer.evals.load import FOLDER as EVALS
from gofer.evals.plan import PlannedCase
from gofer.evals.results import CaseRun, SuiteResult
from gofer.evals.touched import Repository
from gofer.learning.suggestions.proof import PLAYS, Proof, case_problem, replay_problem, suite_problem
from gofer.learning.suggestions.proposal import Proposal
from gofer.learning.suggestions.replayed_pair import OneReplay, ReplayedPair, one_replay
from gofer.replay.changes import Changes
from gofer.replay.made_calls import made_calls
from gofer.replay.recorded_run import RecordedRun
from gofer.tools.company import load_company
from gofer.workflows.bundle import Bundle

Say = Callable[[str], None]
"""Shows the person one line about the progress."""


@dataclass(frozen=True, slots=True)
class Prover:
    """The proof of one proposal."""

    settings: Settings
    scratch: Scratch
    budget: Budget
    say: Say
    workflow: str
    case: str
    """The new eval case, as `goldens/<name>`."""
    proof: Proof = field(default_factory=Proof)

    async def prove(self, affected: Sequence[RecordedRun], good: Sequence[RecordedRun], proposal: Proposal) -> str:
        """Play everything, and return why it is no proof, in one sentence; empty for a proof.

        Stops at the first step that proves nothing. Raises OverBudget, ConfigError and TemporaryError.
        """
        for step in (self._case_without, self._case_with):
            await step()
            if problem := self._problem(case_problem(self.proof)):
                return problem
        await self._replays(affected, good)
        if problem := self._problem(replay_problem(self.proof, proposal.must)):
            return problem
        await self._suites(self._touched(proposal.edit.file))
        return self._problem(suite_problem(self.proof, self.case))

    def _problem(self, problem: str) -> str:
        if away := self.proof.lacked_a_model:
            raise ModelAway(f"A model did not answer: {away}")
        return problem

    async def _case_without(self) -> None:
        self.say(f"Playing the eval case {PLAYS} times without the edit.")
        played = await self._play(self.scratch.without, [self.case], repeat=PLAYS)
        self.proof.case_without = played.cases[0]

    async def _case_with(self) -> None:
        self.say(f"Playing the eval case {PLAYS} times with the edit.")
        played = await self._play(self.scratch.with_edit, [self.case], repeat=PLAYS, record=True)
        self.proof.case_with = played.cases[0]

    async def _replays(self, affected: Sequence[RecordedRun], good: Sequence[RecordedRun]) -> None:
        self.say(f"Replaying {len(affected)} affected and {len(good)} good runs without and with the edit.")
        before = _bundle(self.scratch.without, self.workflow)
        after = _bundle(self.scratch.with_edit, self.workflow)
        liked = {recorded.run for recorded in good}
        async with open_replayer(self.settings, self.scratch.without, live=True) as replayer:
            for recorded in [*affected, *good]:
                self.budget.check()
                without, with_edit = await asyncio.gather(
                    _replay(replayer, recorded, before), _replay(replayer, recorded, after)
                )
                pair = ReplayedPair(
                    recorded.run, recorded.run in liked, made_calls(recorded.entries), without, with_edit
                )
                self.proof.replays.append(pair)
                self.budget.spend(without.usd)
                self.budget.spend(with_edit.usd)

    async def _suites(self, cases: Sequence[str]) -> None:
        self.say(f"Playing the suite ({len(cases)} cases) without and with the edit.")
        self.proof.suite_without = await self._play(self.scratch.without, cases)
        self.proof.suite_with = await self._play(self.scratch.with_edit, cases, record=True)

    async def _play(
        self, folder: Path, cases: Sequence[str], *, repeat: int | None = None, record: bool = False
    ) -> SuiteResult:
        self.budget.check()
        settings = replace(self.settings, data=self.scratch.data)
        choices = Choices(playing=Playing("live", record=record), names=cases, repeat=repeat)
        return await play_suite(settings, folder, choices, _Spending(self.budget))

    def _touched(self, edited: str) -> Sequence[str]:
        """Return the cases that the edited file touches, with all cases of the workflow."""
        return cases_of(self.scratch.with_edit, self.workflow, edited)


class ModelAway(Exception):
    """A live model did not answer, so that there is no proof now. The message says why."""


@dataclass(frozen=True, slots=True)
class _Spending(Watcher):
    """Counts the cost of a suite, and ends it when the budget is spent."""

    budget: Budget

    @override
    def begin(self, planned: Sequence[PlannedCase], cost: str) -> None:
        return

    @override
    def finished(self, planned: PlannedCase, run: CaseRun) -> None:
        if run.evidence == "live":
            self.budget.spend(run.cost_usd)
            self.budget.check()


def cases_of(folder: Path, workflow: str, edited: str) -> Sequence[str]:
    """Return the cases of a workflow, and those that a changed file touches, as `<file>/<case>`. Raises ConfigError."""
    catalog = checked_catalog(folder / AGENTS)
    company = [tool.name for tool in load_company(folder)]
    names: dict[str, None] = {}
    for loaded in load_cases(folder / EVALS):
        touched: Mapping[str, object] = Repository({loaded.name: loaded.eval}, catalog, company).touched([edited])
        for case in loaded.eval.cases:
            name = f"{loaded.name}/{case.name}"
            if loaded.eval.workflow == workflow or name in touched:
                names[name] = None
    return list(names)


def _bundle(folder: Path, workflow: str) -> Bundle:
    return file_version(checked_catalog(folder / AGENTS), load_company(folder)).bundles[workflow]


async def _replay(replayer: Replayer, recorded: RecordedRun, bundle: Bundle) -> OneReplay:
    return one_replay(await replayer.replay(recorded, Changes(bundle=bundle, live=True)), recorded.run)
