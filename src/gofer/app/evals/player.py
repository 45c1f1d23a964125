"""The player: plays one case of an eval file once, with the worker, the engine and the journal of every run."""

import contextlib
import random
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import httpx2
from typing_extensions import override

from gofer.app.catalog import checked_catalog
from gofer.app.embedded.runner import Runner, RunStores, build_runner, memory_stores
from gofer.app.embedded.simulated import Simulated, reaching
from gofer.app.evals.answer_book import AnswerBook
from gofer.app.evals.answering import Asked, PlayedScript, RecordedModel, deciding, live
from gofer.app.evals.case_world import CaseFiles, CaseWorld, Tools, network
from gofer.app.evals.decision_point import history_of, with_history
from gofer.app.evals.one_play import OnePlay
from gofer.app.evals.repeatable import RealClock, Seed, VirtualClock
from gofer.app.evals.trigger_input import event_input_of
from gofer.app.http import SharedHttp, http_client
from gofer.app.model_endpoints import ModelAccess, NoDefault, models_of, only
from gofer.app.own_accounts import with_own_accounts
from gofer.app.settings import Settings
from gofer.app.worker import ChildProcesses
from gofer.engine.effects import Patience
from gofer.engine.owned_run import Deadline
from gofer.evals.eval_file import Case, EarlierTurn
from gofer.evals.load import LoadedEval
from gofer.evals.plays import Evidence, Play
from gofer.files.child import Children
from gofer.files.sandbox.python import sandbox
from gofer.journal.coordination import Retention
from gofer.models.scripted import ScriptedModel
from gofer.stores.memory.blobs import MemoryBlobs
from gofer.stores.memory.journal import MemoryStore
from gofer.stores.memory.queue import MemoryQueue
from gofer.stores.one_place import Stores
from gofer.tools.company import CompanyTool, load_company
from gofer.values.errors import ConfigError
from gofer.values.outside import Http, Outside, SystemClock, random_id, random_key
from gofer.workflows.load import Catalog

Answers = Literal["recorded", "live", "scripted"]
"""Where the answers of the model come from: `evals/answers/`, a model, or `evals/scripts/`."""


@dataclass(frozen=True, slots=True)
class Playing:
    """The choices for the plays of one suite."""

    answers: Answers = "recorded"
    record: bool = False
    """Whether the answers of a live model or of scripts become the recorded ones."""
    live_tools: bool = False
    """Whether tools reach the real systems. It needs a live model, and cannot record."""

    def __post_init__(self) -> None:
        if self.live_tools and self.answers != "live":
            raise ConfigError("--live-tools needs --live: only answers of a model go into real systems.")
        if self.live_tools and self.record:
            raise ConfigError(
                "Use either --live-tools or --record: recorded answers must hold nothing of real systems."
            )
        if self.record and self.answers == "recorded":
            raise ConfigError("--record needs --live for the answers of a model, or the answers of the scripts.")


class _KeptStore(MemoryStore):
    """A store that keeps the contents of private runs, because the world of an eval has no private people."""

    @override
    async def retain(self, run: str, was: Retention, becomes: Retention) -> Retention | None:
        head = await self.head(run)
        if head is None:
            return None
        return head.retention


@dataclass(frozen=True, slots=True)
class Player:
    """The player of one suite. All plays share its workflows, tools, child processes and HTTP client."""

    settings: Settings
    catalog: Catalog
    company: Sequence[CompanyTool]
    http: httpx2.AsyncClient
    processes: ChildProcesses
    playing: Playing
    book: AnswerBook
    files: CaseFiles = field(default_factory=lambda: CaseFiles({}))
    _runners: dict[int, tuple[object, Runner]] = field(default_factory=dict[int, tuple[object, Runner]])
    """The runner of each world, by the identity of its contents."""

    async def play(self, loaded: LoadedEval, case: Case, number: int) -> Play:
        """Play a case once. `number` counts its plays from 1, and changes no request.

        Raises ConfigError for a case that cannot be played, such as one with a wrong payload.
        """
        if case.trigger is None:
            raise ConfigError(f"{loaded.name}/{case.name} has no trigger.")
        folder = loaded.path.parent
        is_live = self.playing.answers == "live"
        clock = VirtualClock(loaded.eval.clock.timestamp(), really_waits=is_live)
        if self.playing.live_tools:
            clock = RealClock()
        begin = clock.now()
        asked = Asked()
        deadline = Deadline(clock)
        seed = Seed(loaded.name, case.name)
        history: Sequence[EarlierTurn] = ()
        models = self._models(loaded, case, asked, clock)
        if case.decision is not None:
            history = history_of(case.decision)
            models = deciding(models, history, deadline.end)
        world = self.files.world(case, loaded.eval, folder)
        simulated, runner = await self._open(world, seed, clock, models, history)
        one = OnePlay(
            workflow=loaded.eval.workflow,
            runner=runner,
            simulated=simulated,
            clock=clock,
            asked=asked,
            deadline=deadline,
            approve=case.approve,
            given_answers=len(history),
            waits_for_model=is_live,
        )
        inputs = [event_input_of(trigger, folder) for trigger in (case.trigger, *(turn.trigger for turn in case.then))]
        try:
            changes = await one.play(inputs)
        finally:
            await runner.close()
            for system in simulated.systems.values():
                await system.close()
        if self.playing.record and number == 1:
            self.book.keep(loaded.name, case.name, asked.answers)
        seconds = clock.now() - begin
        if not self.playing.live_tools:
            # This clock stands still while a model answers.
            seconds += asked.seconds
        return self._played(one, changes, asked, round(seconds * 1000))

    def _played(self, one: OnePlay, changes: Mapping[str, object], asked: Asked, latency_ms: int) -> Play:
        no_evidence = ""
        if asked.missing:
            no_evidence = f"Request {asked.missing[0]} has no answer. {asked.why_missing}"
        default: Evidence = "recorded"
        if self.playing.answers == "live":
            default = "live"
        return Play(
            turns=one.turns,
            world=changes,
            evidence=asked.evidence(default),
            latency_ms=latency_ms,
            no_evidence=no_evidence,
            infrastructure=asked.failure,
            live_tools=self.playing.live_tools,
            requests_changed=tuple(asked.missing),
        )

    def _models(self, loaded: LoadedEval, case: Case, asked: Asked, clock: VirtualClock) -> ModelAccess:
        match self.playing.answers:
            case "live":
                return live(models_of(self.settings, self.http), asked, clock, SystemClock())
            case "scripted":
                script = ScriptedModel(self.book.scripts(loaded.name, case.name))
                return only(PlayedScript(script, asked))
            case "recorded":
                of_case = self.book.answers(loaded.name).cases.get(case.name, ())
                return only(RecordedModel(self.book.by_request(loaded.name), of_case, asked, clock))

    async def _open(
        self, world: CaseWorld, seed: Seed, clock: VirtualClock, models: ModelAccess, history: Sequence[EarlierTurn]
    ) -> tuple[Simulated, Runner]:
        simulated = Simulated()
        reach: Http = SharedHttp(self.http)
        if not self.playing.live_tools:
            simulated = world.open(clock, self.http)
            reach = network(simulated)
        common = await self._common_runner(world, simulated, reach)

        def equip(tools: Tools) -> Tools:
            if not self.playing.live_tools:
                tools = world.equip(tools)
            return with_history(tools, history)

        stores = RunStores(Stores(_KeptStore(), MemoryBlobs(), MemoryQueue(clock)), seed.installation_key())
        outside = seed.outside(reach, clock)
        if self.playing.live_tools:
            # A real system would take calls with the ids of an earlier play for calls that it has seen. And the
            # contents of a real private run are deleted at its end.
            stores = memory_stores(clock)
            outside = Outside(reach, clock, random_id, random.SystemRandom(), random_key)
        runner = common.over(stores, models, outside, Patience(sleep=clock.sleep), equip)
        return simulated, runner

    async def _common_runner(self, world: CaseWorld, simulated: Simulated, reach: Http) -> Runner:
        """Return the runner that all plays in the same world share, with tools that reach its systems."""
        key = id(world.contents)
        if key not in self._runners:
            settings = self.settings
            if not self.playing.live_tools:
                settings = reaching(simulated, settings, bytes(32))
            settings = await with_own_accounts(settings, reach)
            clock = SystemClock()
            outside = Seed("", "").outside(reach, clock)
            refusing = ModelAccess(NoDefault())
            runner = build_runner(
                settings,
                self.catalog,
                memory_stores(clock),
                refusing,
                outside,
                self.processes,
                _as_they_are,
                self.company,
            )
            # The contents stay with the runner, so that no other contents get their identity.
            self._runners[key] = (world.contents, runner)
        return self._runners[key][1]


@contextlib.asynccontextmanager
async def open_player(settings: Settings, root: Path, playing: Playing) -> AsyncGenerator[Player]:
    """Open the player for the workflows of a folder. At its end it writes the recorded answers, if it records.

    Raises ConfigError with every mistake in the folder.
    """
    catalog = checked_catalog(root / "agents")
    company = load_company(root)
    book = AnswerBook(root / "evals")
    async with http_client() as http:
        with contextlib.closing(Children()) as children, contextlib.closing(sandbox()) as python:
            yield Player(settings, catalog, company, http, ChildProcesses(children, python), playing, book)
    if playing.record:
        book.write()


def _as_they_are(tools: Tools) -> Tools:
    return tools
