"""The player: plays one case of an eval file once, with the worker, the engine and the journal of every run."""

import contextlib
import random
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import httpx2
from typing_extensions import override

from gofer.app.catalog import checked_catalog, company_tools, model_roles
from gofer.app.embedded.runner import Runner, RunStores, build_runner, memory_stores
from gofer.app.embedded.simulated import Simulated
from gofer.app.embedded.simulators import reaching
from gofer.app.evals.answer_book import AnswerBook
from gofer.app.evals.answering import Asked, PlayedScript, RecordedModel, deciding, live
from gofer.app.evals.case_world import CaseFiles, CaseWorld, GoldenWorld, Tools, network
from gofer.app.evals.current_files import file_version
from gofer.app.evals.decision_point import history_of, with_history
from gofer.app.evals.golden_answers import GoldenAnswers
from gofer.app.evals.golden_replays import GoldenReplays
from gofer.app.evals.golden_world import GoldenInWorld, golden_deliveries
from gofer.app.evals.one_play import OnePlay
from gofer.app.evals.person import NO_MODEL, SCRIPTS_ARE_NO_PERSON, person_of
from gofer.app.evals.repeatable import RealClock, Seed, VirtualClock
from gofer.app.evals.trigger_input import speaker_of
from gofer.app.http import SharedHttp, http_client
from gofer.app.model_endpoints import ModelAccess, NoDefault, models_of, only
from gofer.app.own_accounts import with_own_accounts
from gofer.app.replay import replayer_of
from gofer.app.settings import Settings
from gofer.app.worker import ChildProcesses
from gofer.engine.effects import Patience
from gofer.engine.owned_run import Deadline
from gofer.evals.case_begin import EarlierTurn
from gofer.evals.eval_file import Case
from gofer.evals.goldens.playing import (
    as_accepted,
    begins_at,
    compared_journals,
    decisions_in,
    events_of,
    unasked,
)
from gofer.evals.goldens.recorded_world import recorded_world
from gofer.evals.goldens.world_ids import WorldIds
from gofer.evals.judging.judge_role import judge_of
from gofer.evals.load import LoadedEval
from gofer.evals.plan import PlannedCase
from gofer.evals.plays import Evidence, Play
from gofer.evals.references import golden_path
from gofer.files.child import Children
from gofer.files.sandbox.python import sandbox
from gofer.journal.coordination import Retention
from gofer.models.scripted import ScriptedModel
from gofer.stores.memory.blobs import MemoryBlobs
from gofer.stores.memory.journal import MemoryStore
from gofer.stores.one_place import Stores
from gofer.stores.unread_queue import UnreadQueue
from gofer.tools.company import CompanyTool
from gofer.values.errors import ConfigError
from gofer.values.outside import Http, Outside, SystemClock, random_id, random_key
from gofer.workflows.load import Catalog

Answers = Literal["recorded", "live", "scripted"]
"""Where the answers of the model come from: `evals/answers/`, a model, or `evals/scripts/`."""


AnyWorld = CaseWorld | GoldenWorld | GoldenInWorld


@dataclass(frozen=True, slots=True)
class Playing:
    """The choices for the plays of one suite."""

    answers: Answers = "recorded"
    record: bool = False
    """Whether the answers of a live model or of scripts become the recorded ones."""
    fewest: int = 1
    """How often a case is played, at least, when answers of a live model are recorded."""
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
    replays: GoldenReplays
    files: CaseFiles = field(default_factory=lambda: CaseFiles({}))
    _runners: dict[int, tuple[object, Runner]] = field(default_factory=dict[int, tuple[object, Runner]])
    """The runner of each world, by the identity of its contents."""

    async def play(self, loaded: LoadedEval, case: Case, number: int) -> Play:
        """Play a case once. `number` counts its plays from 1, and changes no request.

        Raises ConfigError for a case that cannot be played, such as one with a wrong payload.
        """
        if case.golden and case.trigger is None:
            return await self._play_golden(loaded, case, number)
        if case.golden:
            return await self._play_golden_in_world(loaded, case, number)
        if case.trigger is None:
            raise ConfigError(f"{loaded.name}/{case.name} has no trigger.")
        if case.user and (reason := self._no_person()):
            return Play(turns=(), world={}, evidence="recorded", latency_ms=0, no_evidence=reason)
        folder = loaded.path.parent
        clock = self._clock(loaded.eval.clock.timestamp())
        if self.playing.live_tools:
            clock = RealClock()
        begin = clock.now()
        world = self.files.world(case, loaded.eval, folder)
        one = await self._open(loaded, case, number, world, clock, is_real=self.playing.live_tools)
        triggers = [case.trigger, *(turn.trigger for turn in case.then)]
        async with _closing(one):
            changes = await one.play([one.delivery(trigger, folder) for trigger in triggers])
        self._record(loaded, case, number, one.asked)
        return replace(self._played(one, changes, begin), systems=list(world.contents or {}))

    async def _play_golden_in_world(self, loaded: LoadedEval, case: Case, number: int) -> Play:
        """Play a golden in the simulated world of its case, with new answers or the recorded ones."""
        folder = loaded.path.parent
        read = self.files.golden(self.book.folder / golden_path(case.golden))
        recorded = recorded_world(read.turns)
        recorded.ids = WorldIds(case.ids)
        world = GoldenInWorld(read.turns, self.files.world(case, loaded.eval, folder), recorded)
        clock = self._clock(loaded.eval.clock.timestamp())
        one = await self._open(loaded, case, number, world, clock, is_real=False)
        one.approve = {**decisions_in(read), **case.approve}
        begin = clock.now()
        async with _closing(one):
            changes = await one.play(golden_deliveries(world, one, case, folder))
        self._record(loaded, case, number, one.asked)
        return replace(
            self._played(one, changes, begin),
            recorded=world.compared() if compared_journals(read) else (),
            live_tools=False,
            systems=list(world.world.contents or {}),
            ids=world.ids.pairs,
        )

    async def _play_golden(self, loaded: LoadedEval, case: Case, number: int) -> Play:
        """Play a golden: its replay, or new answers over its recorded outcomes. No system is reached."""
        read = self.files.golden(self.book.folder / golden_path(case.golden))
        if self._is_replayed(loaded, case):
            return await self.replays.play(read)
        recorded = compared_journals(read)
        if case.decision is not None:
            # The decision is in the last run; its history says what happened before.
            read = replace(read, turns=read.turns[-1:])
        begins = begins_at(read)
        clock = self._clock(begins[0])
        world = GoldenWorld(recorded_world(read.turns))
        one = await self._open(loaded, case, number, world, clock, is_real=False)
        now = self.catalog.workflows.get(one.workflow)
        if now is not None:
            one.runner = one.runner.with_workflow(as_accepted(now, read))
        one.approve = {**decisions_in(read), **case.approve}
        async with _closing(one):
            await one.play_golden(events_of(read), begins, world.recorded)
        self._record(loaded, case, number, one.asked)
        play = replace(self._played(one, {}, begins[0]), recorded=recorded, live_tools=False, systems=())
        if play.no_evidence:
            return play
        if world.recorded.unrecorded:
            return replace(play, no_evidence=_unrecorded(world.recorded.unrecorded[0]))
        return replace(play, no_evidence=unasked(read, play.turns))

    def _no_person(self) -> str:
        """Return why nothing can play the person of a case; empty if a model or its recorded answers can."""
        if self.playing.answers == "scripted":
            return SCRIPTS_ARE_NO_PERSON
        if judge_of(model_roles(self.catalog)) is None:
            return NO_MODEL
        return ""

    def _is_replayed(self, loaded: LoadedEval, case: Case) -> bool:
        """Return whether a golden has its recorded answers: no model is live, and no newer answers were recorded."""
        match self.playing.answers:
            case "live":
                return False
            case "scripted":
                return not self.book.has_script(loaded.name, case.name)
            case "recorded":
                return not self.book.plays(loaded.name, case.name)

    def _clock(self, begin: float) -> VirtualClock:
        return VirtualClock(begin, really_waits=self.playing.answers == "live")

    def planned(self, case: PlannedCase, repeat: int | None = None) -> PlannedCase:
        """Return a case with as many runs as it has recorded plays, or as many as are recorded from a live model."""
        match self.playing.answers:
            case "recorded":
                plays = self.book.plays(case.loaded.name, case.case.name)
                if any(answer.source.kind == "model" for play in plays for answer in play):
                    return case.played(len(plays))
                return case
            case "live" if self.playing.record:
                return case.played(repeat or max(case.planned, self.playing.fewest))
            case "live" | "scripted":
                return case

    def _record(self, loaded: LoadedEval, case: Case, number: int, asked: Asked) -> None:
        is_repeated = self.playing.answers == "scripted" and number > 1
        # A failure of infrastructure leaves only a part of the answers.
        if self.playing.record and not asked.failure and not is_repeated:
            self.book.keep(loaded, case.name, number, tuple(asked.answers))

    def _played(self, one: OnePlay, changes: Mapping[str, object], begin: float) -> Play:
        """Return a play that began at `begin`, in unix seconds by its clock."""
        asked = one.asked
        seconds = one.clock.now() - begin - one.paused
        if not isinstance(one.clock, RealClock):
            # This clock stands still while a model answers.
            seconds += asked.seconds
        no_evidence = ""
        if asked.missing:
            no_evidence = f"Request {asked.missing[0]} has no answer. {asked.why_missing}"
        person_usd: float | None = 0.0
        if one.person is not None:
            no_evidence = no_evidence or one.person.problem
            person_usd = one.person.cost_usd
        default: Evidence = "recorded"
        if self.playing.answers == "live":
            default = "live"
        return Play(
            turns=one.turns,
            world=changes,
            before=one.before,
            after=one.after,
            evidence=asked.evidence(default),
            latency_ms=round(seconds * 1000),
            no_evidence=no_evidence,
            mistake=one.simulated.kept.problem,
            person_usd=person_usd,
            infrastructure=asked.failure,
            live_tools=self.playing.live_tools,
        )

    def _models(
        self, loaded: LoadedEval, case: Case, number: int, world: AnyWorld, asked: Asked, clock: VirtualClock
    ) -> ModelAccess:
        if isinstance(world, GoldenInWorld) and self._is_replayed(loaded, case):
            return only(GoldenAnswers(world.turns, world.ids, asked))
        match self.playing.answers:
            case "live":
                return live(models_of(self.settings, self.http), asked, clock, SystemClock())
            case "scripted":
                script = ScriptedModel(self.book.scripts(loaded.name, case.name))
                return only(PlayedScript(script, asked, self.book.script_file(loaded.name)))
            case "recorded":
                plays = self.book.plays(loaded.name, case.name) or ((),)
                play = plays[(number - 1) % len(plays)]
                return only(RecordedModel(self.book.by_request(loaded), play, asked, clock))

    async def _open(
        self, loaded: LoadedEval, case: Case, number: int, world: AnyWorld, clock: VirtualClock, *, is_real: bool
    ) -> OnePlay:
        """Return a play that has not begun. `is_real`: its tools reach the real systems."""
        asked = Asked()
        deadline = Deadline(clock)
        history: Sequence[EarlierTurn] = ()
        models = self._models(loaded, case, number, world, asked, clock)
        if case.decision is not None:
            history = history_of(case.decision)
            models = deciding(models, history, deadline.end)
        simulated = Simulated()
        reach: Http = SharedHttp(self.http)
        if not is_real:
            simulated = world.open(clock, self.http)
            reach = network(simulated)
        common = await self._common_runner(world.contents, simulated, reach)

        def equip(tools: Tools) -> Tools:
            if not is_real:
                tools = world.equip(tools)
            return with_history(tools, history)

        seed = Seed(loaded.name, case.name)
        stores = RunStores(Stores(_KeptStore(), MemoryBlobs(), UnreadQueue()), seed.installation_key())
        outside = seed.outside(reach, clock)
        if is_real:
            # A real system would take calls with the ids of an earlier play for calls that it has seen. And the
            # contents of a real private run are deleted at its end.
            stores = memory_stores()
            outside = Outside(reach, clock, random_id, random.SystemRandom(), random_key)
        return OnePlay(
            workflow=loaded.eval.workflow,
            runner=common.over(stores, models, outside, Patience(sleep=clock.sleep), equip),
            simulated=simulated,
            speaker=speaker_of(self.catalog, loaded.eval.workflow, world.contents or {}, clock.now),
            clock=clock,
            asked=asked,
            deadline=deadline,
            approve=case.approve,
            person=person_of(case, self.catalog, models),
            given_answers=len(history),
            waits_for_model=self.playing.answers == "live",
        )

    async def _common_runner(self, contents: Mapping[str, object] | None, simulated: Simulated, reach: Http) -> Runner:
        """Return the runner that all plays in the same world share, with tools that reach its systems."""
        key = id(contents)
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
                memory_stores(),
                refusing,
                outside,
                self.processes,
                _as_they_are,
                self.company,
            )
            # The contents stay with the runner, so that no other contents get their identity.
            self._runners[key] = (contents, runner)
        return self._runners[key][1]


@contextlib.asynccontextmanager
async def open_player(settings: Settings, root: Path, playing: Playing) -> AsyncGenerator[Player]:
    """Open the player for the workflows of a folder.

    Raises ConfigError with every mistake in the folder.
    """
    catalog = checked_catalog(root / "agents")
    company = company_tools(root)
    book = AnswerBook(root / "evals")
    async with http_client(settings.proxies) as http:
        with contextlib.closing(Children()) as children, contextlib.closing(sandbox()) as python:
            processes = ChildProcesses(children, python)
            replays = GoldenReplays(replayer_of(catalog, company, http), file_version(catalog, company))
            yield Player(settings, catalog, company, http, processes, playing, book, replays)


@contextlib.asynccontextmanager
async def _closing(one: OnePlay) -> AsyncGenerator[None]:
    """Close the runner and the systems of a play at its end."""
    try:
        yield
    finally:
        await one.runner.close()
        for system in one.simulated.systems.values():
            await system.close()


def _unrecorded(tool: str) -> str:
    return f"The run called {tool} in a way that the recorded run did not, so the golden has no outcome of the call."


def _as_they_are(tools: Tools) -> Tools:
    return tools
