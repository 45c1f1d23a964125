"""The protocol of queues. A queue message carries the id of a run and its line, and nothing else.

Every message comes back until the worker that holds it acknowledges it. Content stays in the journal, so a lost,
doubled or late message changes which worker continues a run and when, but never the result. One message is enough:
`enqueue` does nothing while a message of that run is due no later, waits in as good a line, and no worker holds it.

Messages wait in *lines*: runs that a person started wait beside those that machines started, in a line for each
workflow. `Turns` decides which line is next.
"""

import asyncio
from collections import deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from gofer.journal.coordination import Head

T = TypeVar("T")

SHARE = 8
"""One of so many messages in a row is a machine's, if machines wait beside people."""


@dataclass(frozen=True, slots=True, order=True)
class QueueLine:
    """The line in which a message waits. One without a workflow is a person's, because its start is unknown."""

    people: bool = True
    workflow: str = ""


UNKNOWN = QueueLine()


def line_of(head: Head, *, people: bool = False) -> QueueLine:
    """Return the line of a run; with `people`, the line for a person who acts on a run that a machine started."""
    return QueueLine(head.by_person or people, head.workflow)


@dataclass(slots=True)
class Turns:
    """The order in which lines are served: people first, machines at least once in SHARE, workflows by turns."""

    _served: dict[QueueLine, int] = field(default_factory=dict[QueueLine, int])
    """The number of the last turn of each line."""
    _count: int = 0
    _since_machine: int = 0
    """How many messages of people were served since the last one of a machine, while machines waited."""

    def take(self, due: Mapping[QueueLine, Sequence[T]], limit: int, machines: int | None = None) -> Sequence[T]:
        """Return up to `limit` of the due messages of each line, oldest first, in the order in which they are served.

        At most `machines` of them are machines'.
        """
        left = {line: deque(messages) for line, messages in sorted(due.items())}
        allowed = limit if machines is None else machines
        taken: list[T] = []
        while len(taken) < limit:
            line = self._next([line for line, messages in left.items() if messages and (line.people or allowed > 0)])
            if line is None:
                break
            taken.append(left[line].popleft())
            allowed -= not line.people
        return taken

    def _next(self, due: Sequence[QueueLine]) -> QueueLine | None:
        people = [line for line in due if line.people]
        machines = [line for line in due if not line.people]
        first = people or machines
        if machines and self._since_machine >= SHARE - 1:
            first = machines
        if not first:
            return None
        chosen = min(first, key=lambda line: self._served.get(line, 0))
        self._count += 1
        self._served[chosen] = self._count
        self._since_machine += 1
        if not chosen.people or not machines:
            self._since_machine = 0
        return chosen


@dataclass(frozen=True, slots=True)
class QueueMessage:
    """One delivery of a message to a worker, hidden from other workers for a while."""

    run: str
    receipt: str
    receives: int
    """How often the message was delivered, this time included."""
    line: QueueLine = UNKNOWN


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A message that was delivered too often and is kept for the operator."""

    run: str
    at: float
    """The time at which the message became a dead letter, unix seconds."""
    reason: str
    """The kind of error, for people; without contents of the run."""


class Queue(Protocol):
    """Messages that name runs to look at."""

    async def enqueue(self, run: str, delay: float = 0.0, *, line: QueueLine = UNKNOWN) -> None:
        """Add a message for a run, due after `delay` seconds, unless an unheld message of that run is due by then.

        A message in a machine's line does not stand for one in a person's.
        """
        ...

    async def receive(
        self, limit: int, visibility: float, wait: float, *, machines: int | None = None
    ) -> Sequence[QueueMessage]:
        """Return up to `limit` due messages and hide them from other workers for `visibility` seconds.

        At most `machines` of them are machines', if the queue can choose. Wait up to `wait` seconds for the first one.
        """
        ...

    async def extend(self, queue_message: QueueMessage, visibility: float) -> None:
        """Hide a message for `visibility` seconds from now; do nothing if the caller no longer holds it."""
        ...

    async def acknowledge(self, queue_message: QueueMessage) -> None:
        """Remove a message; do nothing if the caller no longer holds it."""
        ...

    async def move_to_dead_letters(self, queue_message: QueueMessage, reason: str) -> None:
        """Keep a message that was delivered too often as a dead letter, which no worker receives again.

        Do nothing if the caller no longer holds the message.
        """
        ...

    async def dead_letters(self, limit: int) -> Sequence[DeadLetter]:
        """Return up to `limit` dead letters, the newest first."""
        ...

    async def purge_dead_letters(self, before: float, runs: Collection[str] = ()) -> None:
        """Remove the dead letters that are older than `before` (unix seconds), and those of some runs."""
        ...


async def wait_for_message(arrived: asyncio.Event, seconds: float) -> None:
    """Wait until this process enqueues a message, for at most `seconds`."""
    try:
        async with asyncio.timeout(seconds):
            await arrived.wait()
    except TimeoutError:
        return
