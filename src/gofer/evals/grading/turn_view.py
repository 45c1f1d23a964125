"""One turn of a play, with the views of its journals that the grades read."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import get_args

from gofer.evals.matching import MISSING, field_at
from gofer.evals.plays import Play, PlayedTurn
from gofer.journal.entries import LlmResponse, Recorded, Status, SubagentStarted
from gofer.projections import calls as calls_projection
from gofer.projections.calls import Call
from gofer.projections.progress import Progress
from gofer.values.canonical_json import as_list, as_object, as_text, encode_text
from gofer.workflows.allowed_skills import tools_are_searched

STATUSES: Sequence[str] = (*get_args(Status), "parked")
"""The statuses with which a run of a case may end."""
_STATUS_FIELD = "status"


@dataclass(frozen=True, slots=True)
class PlayedCall:
    """A call of the model or script, or of a subagent run."""

    call: Call
    step: str
    """The id of the call; for a call of a subagent run, the call of the run that asked for the subagent."""
    name: str
    """The call for people, such as `call 2.0`."""


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """One answer of the run's own model."""

    address: str
    entry: LlmResponse

    @property
    def step(self) -> str:
        """The answer as the step of a grade."""
        return entry_step(self.address)


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnView:
    """One turn of a play as its grades read it."""

    number: int
    """The turn of the play, counted from 1."""
    played: PlayedTurn
    calls: Sequence[PlayedCall]
    """The calls in the order in which they were asked for, without those of the run itself and those that the history
    of a decision point gave."""
    by_tool: Mapping[str, Sequence[PlayedCall]]
    answers: Sequence[ModelAnswer]
    """The answers of the model, without those that the history of a decision point gave."""
    world: Mapping[str, object]
    """The changes to the world in the turn; for the first turn those of the whole play, as its case expects them."""
    live_tools: bool
    systems: Collection[str] | None
    """The systems of the simulated world; None for all."""

    @property
    def progress(self) -> Progress:
        """The progress of the run."""
        return self.played.progress

    @property
    def answer(self) -> str:
        """The answer for people; for a play that ends within a run, the text of the next answer. Empty without one."""
        if self.progress.concluded is not None:
            return self.progress.concluded.text
        if self.answers and self.status in ("running", "queued"):
            return self.answers[0].entry.text
        return ""

    @property
    def last_step(self) -> str:
        """The last answer of the model as a step, else the last entry; empty for an empty journal."""
        if self.answers:
            return self.answers[-1].step
        if self.played.entries:
            return entry_step(self.played.entries[-1].address)
        return ""

    @property
    def status(self) -> str:
        """The status of the run."""
        return run_status(self.progress)

    @property
    def base_tools(self) -> frozenset[str]:
        """The names of the tools that every run has; empty for a run that did not start."""
        if self.played.bundle is None:
            return frozenset()
        return _prompted(self.played) - frozenset(self.played.bundle.loaded.workflow.tool_names)

    @property
    def tools(self) -> frozenset[str]:
        """The names of all tools of the run; empty for a run that did not start."""
        if self.played.bundle is None:
            return frozenset()
        workflow = self.played.bundle.loaded.workflow
        if tools_are_searched(workflow):
            return _prompted(self.played) | frozenset(workflow.tool_names)
        return _prompted(self.played)


def entry_step(address: str) -> str:
    """Return an entry as the step of a grade. Its address alone could be the id of a call."""
    return f"entry {address}"


def run_status(progress: Progress) -> str:
    """Return the status of a run: that of its end, or `parked`, `running` or `queued`."""
    if progress.finished is not None:
        return progress.finished.status
    if progress.parked is not None:
        return "parked"
    if progress.owned_at:
        return "running"
    return "queued"


def answer_status(turn: PlayedTurn, field: str = "", expected: Sequence[str] = ()) -> str | None:
    """Return the status in the field of an answer, by default `status`; None if the status is that of the run.

    Without a named field, the statuses of a run that `output` does not name mean the run.
    """
    concluded = turn.progress.concluded
    if turn.bundle is None or concluded is None or concluded.output is None:
        return None
    if not field and is_status_of_run(turn.bundle.loaded.workflow.output, expected):
        return None
    value = field_at(concluded.output, field or _STATUS_FIELD)
    if isinstance(value, str):
        return value
    if value is MISSING:
        return ""
    return encode_text(value)


def is_status_of_run(output: object, expected: Sequence[str]) -> bool:
    """Return whether expected statuses are those of the run, with this schema of its answer."""
    named = statuses_in(output, _STATUS_FIELD)
    if named is None:
        return True
    return bool(expected) and set(expected) <= set(STATUSES) and not set(expected) & set(named)


def statuses_in(output: object, field: str) -> Sequence[str] | None:
    """Return the values that the schema of an answer lists for a field, if any; None for a field that it lacks."""
    schema = as_object(output)
    for step in field.split("."):
        properties = as_object(schema.get("properties"))
        if step not in properties:
            return None
        schema = as_object(properties[step])
    return [as_text(value) or encode_text(value) for value in as_list(schema.get("enum"))]


def turn_view(play: Play, number: int) -> TurnView:
    """Return the turn `number` of a play, counted from 1."""
    played = play.turns[number - 1]
    calls = _calls(played)
    world = play.world
    if number > 1 and played.world is not None:
        world = played.world
    return TurnView(
        number=number,
        played=played,
        calls=calls,
        by_tool=_by_tool(calls),
        answers=list(_answers(played.entries))[played.given_answers :],
        world=world,
        live_tools=play.live_tools,
        systems=play.systems,
    )


def with_conversation(turns: Sequence[TurnView]) -> Sequence[TurnView]:
    """Return the turns of a play, the last with the calls of all and with the changes of the whole play."""
    if len(turns) < 2:
        return turns
    last = turns[-1]
    # A grade names a step of its own run only.
    earlier = [
        replace(call, step="", name=f"{call.name} of turn {turn.number}") for turn in turns[:-1] for call in turn.calls
    ]
    calls = [*earlier, *last.calls]
    return [*turns[:-1], replace(last, calls=calls, by_tool=_by_tool(calls), world=turns[0].world)]


def _by_tool(calls: Sequence[PlayedCall]) -> Mapping[str, Sequence[PlayedCall]]:
    by_tool: dict[str, list[PlayedCall]] = defaultdict(list)
    for made in calls:
        by_tool[made.call.tool].append(made)
    return by_tool


def _prompted(played: PlayedTurn) -> frozenset[str]:
    """Return the names of the tools in the prompt: those of every run, and the listed ones unless they are searched."""
    if played.bundle is None:
        return frozenset()
    functions = (as_object(schema.get("function")) for schema in played.bundle.tools)
    return frozenset(as_text(function.get("name")) for function in functions)


def _answers(entries: Sequence[Recorded]) -> Iterator[ModelAnswer]:
    for recorded in entries:
        if isinstance(recorded.entry, LlmResponse):
            yield ModelAnswer(recorded.address, recorded.entry)


def _calls(played: PlayedTurn) -> Sequence[PlayedCall]:
    made = [
        PlayedCall(call, call.id, f"call {call.id}")
        for call in calls_projection.project(played.entries).calls.values()
        if not call.is_own and not 0 < call.turn <= played.given_answers
    ]
    below = list(_calls_of_subagents(played))
    if not below:
        return made
    # Calls of several journals stand in the order of their times; those of one journal keep their order.
    return sorted([*made, *below], key=attrgetter("call.at"))


def _calls_of_subagents(played: PlayedTurn) -> Iterator[PlayedCall]:
    """Yield the calls of the subagent runs at every depth, under the call of the run that led to them."""
    ahead = list(_subagent_runs(played.entries))
    seen: set[str] = set()
    while ahead:
        run, step = ahead.pop(0)
        entries = played.subagents.get(run)
        if entries is None or run in seen:
            continue
        seen.add(run)
        for call in calls_projection.project(entries).calls.values():
            if not call.is_own:
                yield PlayedCall(call, step, f"call {call.id} of the subagent that call {step} asked")
        ahead += [(child, step) for child, _ in _subagent_runs(entries)]


def _subagent_runs(entries: Sequence[Recorded]) -> Iterator[tuple[str, str]]:
    """Yield each subagent run with the call that asked for it."""
    for recorded in entries:
        if isinstance(recorded.entry, SubagentStarted) and recorded.entry.run:
            yield recorded.entry.run, recorded.entry.call
