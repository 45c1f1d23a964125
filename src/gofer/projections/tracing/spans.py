"""The spans of a run and the state from which they are projected."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Literal

from gofer.journal.entries import Recorded
from gofer.projections.rules_in_words import Rules

SpanKind = Literal["run", "llm", "tool", "agent", "approval", "file", "wait", "compaction", "error"]
"""The kinds of spans: the run, an attempt of a model, a tool call, a subagent, an approval, a file that the run got or
read, the time in which the run was parked, a compaction, and an error that is no other span."""

RUN = "run"
"""The id of the span of the run."""


@dataclass(frozen=True, slots=True)
class SpanEvent:
    """Something that belongs to a span and has no duration. `at` is in unix milliseconds."""

    name: str
    at: int
    attributes: Mapping[str, object]

    def to_json(self) -> dict[str, object]:
        """Return `{name, at, attributes}` with the time as RFC 3339 in UTC."""
        return {"name": self.name, "at": timestamp(self.at), "attributes": dict(self.attributes)}


@dataclass(frozen=True, slots=True)
class Span:
    """One step of a run. `start` and `end` are unix milliseconds; `end` is None while the step is open or in doubt."""

    id: str
    parent: str | None
    kind: SpanKind
    name: str
    status: str
    start: int
    end: int | None = None
    attributes: Mapping[str, object] = field(default_factory=dict[str, object])
    began_in: str = ""
    """The address of the entry with its start."""
    ended_in: str = ""
    """The address of the entry with its end; empty before that."""
    events: tuple[SpanEvent, ...] = ()

    def to_json(self) -> dict[str, object]:
        """Return `{id, parent, kind, name, status, start, end, attributes}` with times as RFC 3339 in UTC.

        A span with events also has `events`.
        """
        shown = self._to_json()
        if self.events:
            shown["events"] = [event.to_json() for event in self.events]
        return shown

    def _to_json(self) -> dict[str, object]:
        return {
            "id": self.id,
            "parent": self.parent,
            "kind": self.kind,
            "name": self.name,
            "status": self.status,
            "start": timestamp(self.start),
            "end": None if self.end is None else timestamp(self.end),
            "attributes": dict(self.attributes),
        }


@dataclass(slots=True)
class Trace:
    """The spans of one run so far by id, in the order of their starts."""

    spans: dict[str, Span] = field(default_factory=dict[str, Span])
    numbers: dict[str, int] = field(default_factory=dict[str, int])
    """The number of spans with numbered ids so far, by the beginning of their ids."""
    attempts: dict[str, str] = field(default_factory=dict[str, str])
    """The id of the running or last attempt of a model, by the call that asks it: `model`, or a one-shot subagent."""
    turn: int = 0
    """The number of answers of the model so far."""
    model: str = ""
    """The model that was asked last, as in `messages.asked_at`."""
    thinkers: list[str] = field(default_factory=list[str])
    """The model of each answer in the history whose thoughts go back to it, and to no other model."""
    asked: dict[str, str] = field(default_factory=dict[str, str])
    """The tools that the last answer asked for, by the ids of the calls."""
    files: list[Recorded] = field(default_factory=list[Recorded])
    """Entries about the files of a call without a result yet; the result follows right after them."""
    waiting: dict[str, int] = field(default_factory=dict[str, int])
    """The time of the first wait of each call without an outcome, by the id of its span."""
    system: str = ""
    """The display name of the outside system that a call waits for."""
    wait: str = ""
    """The id of the span of a parked run's wait; empty otherwise."""
    rules: Rules = field(default_factory=Rules)
    owned: bool = False
    """Whether an owner has the run, and has not left it in good order."""
    exchanged: int = 0
    """The tokens of the last request and its answer, as the provider counted them."""
    compacted: str = ""
    """The id of a compaction after which no request was made yet; empty otherwise."""

    @property
    def llm(self) -> str:
        """The id of the model call that decides the next steps; the run's own id before the first one."""
        return self.attempts.get("model", RUN)

    def number(self, prefix: str) -> str:
        """Return the next numbered id with this beginning: `prefix/1`, then `prefix/2`."""
        self.numbers[prefix] = self.numbers.get(prefix, 0) + 1
        return f"{prefix}/{self.numbers[prefix]}"

    def open(
        self,
        recorded: Recorded,
        *,
        id: str,  # noqa: A002 - as the field of a span
        kind: SpanKind,
        name: str,
        parent: str | None = RUN,
        status: str = "open",
        start: int | None = None,
        attributes: Mapping[str, object] | None = None,
    ) -> None:
        """Add a span that an entry starts, at `start` or else at the time of the entry."""
        self.spans[id] = Span(
            id=id,
            parent=parent,
            kind=kind,
            name=name,
            status=status,
            start=start or recorded.at,
            attributes=attributes or {},
            began_in=recorded.address,
        )

    def update(
        self,
        id: str,  # noqa: A002 - as the field of a span
        attributes: Mapping[str, object] | None = None,
        *,
        status: str = "",
        ended: Recorded | None = None,
    ) -> None:
        """Change a span if there is one with this id; `ended` is the entry that ends it."""
        span = self.spans.get(id)
        if span is None:
            return
        span = replace(span, status=status or span.status, attributes={**span.attributes, **(attributes or {})})
        if ended is not None:
            span = replace(span, end=ended.at, ended_in=ended.address)
        self.spans[id] = span

    def add_events(self, id: str, events: Iterable[SpanEvent]) -> None:  # noqa: A002 - as the field of a span
        """Add events to a span if there is one with this id."""
        span = self.spans.get(id)
        if span is not None:
            self.spans[id] = replace(span, events=(*span.events, *events))

    def add_error(self, recorded: Recorded, name: str, attributes: Mapping[str, object]) -> None:
        """Add an error that is no other span, at the time of its entry."""
        span_id = self.number("error")
        self.open(recorded, id=span_id, kind="error", name=name, status="error", attributes=attributes)
        self.update(span_id, ended=recorded)

    def met(self, recorded: Recorded) -> dict[str, object]:
        """Return the rule that an entry met and its readers, as attributes."""
        return {f"gofer.{name}": words for name, words in self.rules.of(recorded.entry).items()}

    def waited(self, call: str, until: int) -> dict[str, object]:
        """Return how long a call waited before the attempt with its outcome; empty if the call never waited."""
        since = self.waiting.pop(call, None)
        if since is None:
            return {}
        return {"gofer.waited_ms": max(0, until - since)}


def timestamp(at: int) -> str:
    """Return unix milliseconds as RFC 3339 in UTC."""
    return datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def without_empty(attributes: Mapping[str, object]) -> dict[str, object]:
    """Return the attributes that have a value."""
    return {name: value for name, value in attributes.items() if value}
