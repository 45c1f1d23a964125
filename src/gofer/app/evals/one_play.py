"""One play of a case: its runs, the waits between them, and the changes that they made to the world."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gofer.app.embedded.run_once import difference
from gofer.app.embedded.runner import Run, Runner
from gofer.app.embedded.simulated import Simulated
from gofer.app.embedded.simulators import whispers
from gofer.app.evals.answering import Asked
from gofer.app.evals.decisions import decision
from gofer.app.evals.person import PlayedPerson
from gofer.app.evals.repeatable import VirtualClock
from gofer.app.evals.trigger_input import event_input_of
from gofer.app.event_input import EventInput, event_input
from gofer.engine.owned_run import Deadline
from gofer.evals.case_begin import Trigger
from gofer.evals.goldens.recorded_world import RecordedWorld
from gofer.evals.goldens.seen import visible_calls
from gofer.evals.plays import PlayedTurn
from gofer.journal.child_runs import read_subagents
from gofer.journal.entries import RunParked
from gofer.projections.checks.check_settings import quoted
from gofer.replay.recorded_run import stored_files
from gofer.runtime.run_record import read_bundle
from gofer.values.canonical_json import as_object
from gofer.values.errors import ConfigError
from gofer.values.events import Event
from gofer.values.visible import Visible
from gofer_simulators.speaker import Speaker
from gofer_simulators.visible import visible_in

MOST_WAITS = 40
"""The most waits of one run; a run that waits longer stays parked."""
BETWEEN_TURNS = 60.0
"""Seconds between the end of a run and the next message of its conversation."""


@dataclass(frozen=True, slots=True)
class Delivered:
    """The event that a delivery became, and its body, which names people and places that the world may lack."""

    event: Event
    body: bytes


Delivery = Callable[[Sequence[PlayedTurn]], Delivered]
"""Makes the delivery of a turn. It gets the turns that were played before."""


@dataclass(slots=True)
class OnePlay:
    """One play, with its runner and its world."""

    workflow: str
    runner: Runner
    simulated: Simulated
    speaker: Speaker
    """Writes the words of the case."""
    clock: VirtualClock
    asked: Asked
    deadline: Deadline
    """Ended when the play of a decision point has its answer."""
    approve: Mapping[str, bool]
    """The decisions of people about calls that wait, by tool."""
    person: PlayedPerson | None = None
    """Writes the later messages, if the case describes a person."""
    given_answers: int = 0
    waits_for_model: bool = False
    """Whether a run that waits for a live model stays parked."""
    turns: list[PlayedTurn] = field(default_factory=list[PlayedTurn])
    paused: float = 0.0
    """The seconds between the turns, which are no latency."""
    before: Mapping[str, object] = field(default_factory=dict[str, object])
    """The world before the first run."""
    after: Mapping[str, object] = field(default_factory=dict[str, object])
    """The world after the last run."""

    def event_of(self, given: EventInput) -> Event:
        """Return the event of a delivery. Raises ConfigError for one that starts no run."""
        event = event_input(self.runner.catalog, self.workflow, given, self.runner.now())
        self.speaker.follow(event.source, event.place)
        return event

    def delivery(self, trigger: Trigger, folder: Path) -> Delivery:
        """Return the delivery of a turn as the case describes it. Files are below `folder`."""

        def deliver(_: Sequence[PlayedTurn]) -> Delivered:
            given = event_input_of(trigger, folder, self.speaker)
            return Delivered(self.event_of(given), given.body or b"")

        return deliver

    async def play(self, deliveries: Sequence[Delivery]) -> Mapping[str, object]:
        """Play every turn, and return the changes to the world. Raises ConfigError for a wrong payload."""
        delivered: set[str] = set()
        given: Delivered | None = deliveries[0](self.turns)
        while given is not None:
            began = self._deliver(given, delivered)
            whispered = len(whispers(self.simulated))
            if not self.turns:
                self.before = began
            run = await self._through(await self.runner.start(given.event, self.workflow))
            await self.simulated.settled()
            self.after = self.simulated.state()
            changes = difference(began, self.after)
            seen = [*visible_in(changes), *whispers(self.simulated)[whispered:]]
            if len(deliveries) == 1 and self.person is None:
                self.turns.append(await self._turn(run, None, seen))
                return changes
            self.turns.append(await self._turn(run, changes, seen))
            given = await self._next(deliveries)
        return _without(difference(self.before, self.after), delivered)

    async def _next(self, deliveries: Sequence[Delivery]) -> Delivered | None:
        """Return the next delivery of the case or of its person; None at the end of the conversation."""
        number = len(self.turns)
        if self.asked.missing or self.asked.failure or (number >= len(deliveries) and self.person is None):
            return None
        self._pause(BETWEEN_TURNS)
        self.asked.next_turn()
        if self.person is None:
            return deliveries[number](self.turns)
        return await self._by_person(self.person)

    async def _by_person(self, person: PlayedPerson) -> Delivered | None:
        """Return the next message of a person; None at the end. The time of the model that writes is no latency."""
        began = self.clock.now()
        seconds = self.asked.seconds
        message = await person.next_message(self.turns)
        self.paused += self.clock.now() - began
        self.asked.seconds = seconds
        if not message:
            return None
        try:
            return self.delivery(Trigger(text=message, user=person.user), Path())(self.turns)
        except ConfigError as error:
            person.problem = f"The `user` wrote {quoted(message)}, which cannot be delivered. {error}"
            return None

    async def play_golden(self, events: Sequence[Event], begins: Sequence[float], world: RecordedWorld) -> None:
        """Play every turn of a golden; `begins` has the recorded begin of each turn, in unix seconds."""
        for number, (event, begin) in enumerate(zip(events, begins, strict=True)):
            if number:
                self._pause(begin - self.clock.now())
                self.asked.next_turn()
                world.next_turn()
            run = await self._through(await self.runner.start(event, self.workflow))
            seen = visible_calls(run.journal, run.progress, self.runner.worker.services.tools)
            self.turns.append(await self._turn(run, None, seen))
            if self.asked.missing or self.asked.failure:
                break

    def _pause(self, seconds: float) -> None:
        before = self.clock.now()
        self.clock.advance(seconds)
        self.paused += self.clock.now() - before

    def _deliver(self, given: Delivered, delivered: set[str]) -> Mapping[str, object]:
        """Add what a delivery names to the world, note its paths, and return the world as the run finds it."""
        if not self.turns:
            self.simulated.adopt(given.event, given.body)
            return self.simulated.state()
        before = self.simulated.state()
        self.simulated.adopt(given.event, given.body)
        state = self.simulated.state()
        delivered.update(as_object(difference(before, state)["added"]))
        return state

    async def _through(self, run: str) -> Run:
        """Work on a run, through its waits, until it ends or needs a person."""
        played = await self.runner.work(run, self.deadline)
        for _ in range(MOST_WAITS):
            parked = played.progress.parked
            if parked is None or played.progress.finished is not None or not await self._goes_on(run, played, parked):
                break
            played = await self.runner.work(run, self.deadline)
        return played

    async def _goes_on(self, run: str, played: Run, parked: RunParked) -> bool:
        """Return whether a parked run continues: after its wait, or after the decision of a person."""
        if self.deadline.over or (parked.reason == "model" and self.waits_for_model):
            return False
        if parked.reason != "approval":
            self.clock.advance(parked.until / 1000 - self.clock.now())
            return True
        key = self.runner.worker.services.installation_key
        click = decision(run, played.progress, self.approve, self.simulated, key, self.clock.now())
        return click is not None and await self.runner.ingress.press(click) is None

    async def _turn(self, run: Run, world: Mapping[str, object] | None, seen: Sequence[Visible]) -> PlayedTurn:
        stores = self.runner.worker.services.stores
        subagents = await read_subagents(run.journal, stores.journals, stores.blobs)
        return PlayedTurn(
            run=run.id,
            entries=run.journal,
            progress=run.progress,
            bundle=await read_bundle(run.progress, stores.blobs),
            seen=seen,
            subagents=subagents.journals,
            files=await stored_files({run.id: run.journal, **subagents.journals}, stores),
            given_answers=self.given_answers,
            world=world,
        )


def _without(changes: Mapping[str, object], delivered: Collection[str]) -> Mapping[str, object]:
    """Return the changes without those that the deliveries of people made."""
    added = {path: value for path, value in as_object(changes["added"]).items() if path not in delivered}
    return {**changes, "added": added}
