"""A golden in a simulated world: its deliveries and the outcomes of its calls, with the ids of that world."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import cast

import httpx2

from gofer.app.embedded.simulated import Simulated
from gofer.app.evals.case_world import CaseWorld, Tools
from gofer.app.evals.one_play import Delivered, Delivery, OnePlay
from gofer.app.evals.repeatable import VirtualClock
from gofer.app.evals.trigger_input import event_input_of
from gofer.app.event_input import EventInput
from gofer.evals.case_begin import Trigger
from gofer.evals.eval_file import Case
from gofer.evals.goldens.recorded_world import RecordedOutcome, RecordedWorld
from gofer.evals.goldens.run_file import GoldenRun, Lines
from gofer.evals.goldens.world_ids import WorldIds, is_post
from gofer.evals.plays import PlayedTurn
from gofer.journal.entries import Recorded
from gofer.journal.entries import ToolResult as RecordedResult
from gofer.projections.progress import project
from gofer.tools.definition import AnyTool, Arguments, Call, ToolResult
from gofer.values.canonical_json import as_list, as_object, as_text, decode, encode
from gofer.values.errors import BadRequest, ConfigError
from gofer.values.events import Event

Translate = Callable[[EventInput], Event]
Clocked = Callable[[], float]


@dataclass(frozen=True, slots=True)
class GoldenInWorld:
    """A golden and the world in which it is played. What the play creates teaches the ids of that world."""

    turns: Sequence[GoldenRun]
    world: CaseWorld
    recorded: RecordedWorld
    """The recorded outcomes, with the ids of the world. The tools of the play do not answer with them."""

    @property
    def ids(self) -> WorldIds:
        """The recorded ids and those of the world."""
        return self.recorded.ids

    @property
    def contents(self) -> Mapping[str, object] | None:
        """The initial contents of the world."""
        return self.world.contents

    def open(self, clock: VirtualClock, http: httpx2.AsyncClient) -> Simulated:
        """Return new systems with the initial contents. Raises ConfigError for a mistake in them."""
        return self.world.open(clock, http)

    def equip(self, tools: Tools) -> Tools:
        """Return the tools of a run, which act in the world and teach the ids of what they find and create."""
        return {name: self._teaching(tool) for name, tool in self.world.equip(tools).items()}

    def first(self, given: EventInput, translate: Translate) -> Delivered:
        """Return the delivery of the first turn in the world. It teaches the ids of the place and of the person."""
        event = translate(given)
        recorded = event_of(self.turns[0])
        self.ids.learn(recorded=_ids_in(recorded), world=_ids_in(event))
        return Delivered(event, given.body or b"")

    def later(self, given: EventInput, translate: Translate, played: Sequence[PlayedTurn]) -> Delivered:
        """Return a later delivery of the case, in which recorded ids become those of the world. Raises ConfigError."""
        self._next_turn(played)
        changed = replace(given, body=self._payload(given))
        return Delivered(translate(changed), changed.body or b"")

    def recorded_later(self, number: int, now: Clocked, played: Sequence[PlayedTurn]) -> Delivered:
        """Return the recorded delivery of turn `number`, counted from 1, with the ids of the world.

        A message that the world does not have yet is sent `now`, in unix seconds.
        """
        self._next_turn(played)
        event = event_of(self.turns[number - 1])
        for name in filter(is_post, event.place.values()):
            self.ids.pair(recorded=name, world=f"{now():.6f}")
        return Delivered(_in_world(event, self.ids), b"")

    def compared(self) -> Sequence[Sequence[Recorded]]:
        """Return the recorded journals of the turns with the ids of the world."""
        return [self._journal(turn) for turn in self.turns]

    def _journal(self, turn: GoldenRun) -> Sequence[Recorded]:
        lines = cast(Lines, self.ids.to_world(turn.journals[turn.run]))
        return replace(turn, journals={turn.run: lines}).entries(turn.run)

    def _next_turn(self, played: Sequence[PlayedTurn]) -> None:
        self.recorded.next_turn()
        for recorded, turn in zip(self.turns, played, strict=False):
            self.ids.pair(recorded=recorded.run, world=turn.run)

    def _payload(self, given: EventInput) -> bytes:
        try:
            return encode(self.ids.to_world(decode(given.body or b"")))
        except BadRequest as error:
            raise ConfigError(f"{given.file} is not JSON, so no id in it can be replaced; write JSON.") from error

    def _teaching(self, tool: AnyTool) -> AnyTool:
        if tool.base:
            return tool

        async def act(call: Call, arguments: Arguments) -> ToolResult:
            result = await tool.act(call, arguments)
            self._learn(self.recorded.take(tool, arguments), result)
            return result

        return replace(tool, act=act)

    def _learn(self, found: RecordedOutcome | None, result: ToolResult) -> None:
        if found is None or not isinstance(found.outcome, RecordedResult):
            return
        before = found.outcome
        recorded = {"text": before.text, "details": before.details, "value": before.value}
        self.ids.learn(recorded=recorded, world={"text": result.text, "details": result.details, "value": result.value})


def golden_deliveries(world: GoldenInWorld, one: OnePlay, case: Case, folder: Path) -> Sequence[Delivery]:
    """Return the deliveries of a golden in a world: those of its case, or else the recorded ones. Raises ConfigError.

    A case has the first delivery, and may have the later ones.
    """
    if case.trigger is None:
        raise ConfigError(f"The case {case.name} has no trigger, which a golden needs in a world; add it.")
    first = event_input_of(case.trigger, folder, one.speaker)
    later = [_later(world, one, case, number, folder) for number in range(2, len(world.turns) + 1)]
    return [lambda _: world.first(first, one.event_of), *later]


def _later(world: GoldenInWorld, one: OnePlay, case: Case, number: int, folder: Path) -> Delivery:
    turn = case.then[number - 2]
    if turn.trigger == Trigger():
        return partial(world.recorded_later, number, one.runner.now)

    def later(played: Sequence[PlayedTurn]) -> Delivered:
        return world.later(event_input_of(turn.trigger, folder, one.speaker), one.event_of, played)

    return later


def event_of(turn: GoldenRun) -> Event:
    """Return the event of a recorded run. Raises ConfigError for a recording without one."""
    event = project(turn.entries(turn.run)).event
    if event is None:
        raise ConfigError(f"The recorded run {turn.run} has no event; write the golden again with gofer golden.")
    return event


def _ids_in(event: Event) -> object:
    """Return the parts of an event that name something, as JSON."""
    parts = [event.actor.id, event.text, dict(event.place), dict(event.facts), [*event.identity], event.conversation]
    return json.loads(encode(parts))


def _in_world(event: Event, ids: WorldIds) -> Event:
    actor, text, place, facts, identity, conversation = as_list(ids.to_world(_ids_in(event)))
    return replace(
        event,
        actor=replace(event.actor, id=as_text(actor)),
        text=as_text(text),
        place=cast(dict[str, str], as_object(place)),
        facts=as_object(facts),
        identity=tuple(map(as_text, as_list(identity))),
        conversation=as_text(conversation),
        digest="",
    )
