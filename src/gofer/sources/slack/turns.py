"""The turns of calls that a rate limit of Slack makes wait. The runs of one process share them.

Slack names a time with each refusal. If every run that waits called again at that time, Slack would accept one call and
refuse all others. So calls of one kind wait in the order in which they came, and then go one after another. If the turn
of a call comes later than a request waits, its caller gets the time of the turn, and no request is sent. The call keeps
its ticket until it comes back at that time.

A turn is a time, so no call waits for the answer to another one.
"""

import math
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from gofer.sources.limited_requests import LONGEST_WAIT, Pause, asked_wait
from gofer.tools.definition import Call
from gofer.values.outside import Clock, HttpRequest, HttpResponse

LONGEST_LIMIT = 3_600.0
"""Seconds after which a call is tried again, even if Slack named a later time."""
KEPT = 1_000
"""The most calls of one kind that keep their tickets while their runs are parked."""


@dataclass(frozen=True, slots=True)
class Kind:
    """The calls that share one rate limit."""

    method: str
    channel: str = ""
    """The channel, for a method that Slack limits for each channel."""
    pace: float = 0.1
    """Seconds between two turns."""


@dataclass(frozen=True, slots=True)
class Limited:
    """A call that was not accepted within the time that a request waits. Its turn comes after `seconds`."""

    seconds: float


@dataclass(slots=True)
class Line:
    """The turns of one kind. All times are seconds of one monotonic clock."""

    pace: float
    calls: int = 0
    """The calls that wait, or wait for an answer."""
    _next: int = 0
    """The next new ticket."""
    _first: int = 0
    """The ticket of the next turn."""
    _refused_until: float = -math.inf
    """The time before which Slack accepts no call."""
    _paced_until: float = -math.inf
    """A pace after the last turn."""
    _gone: int = -1
    """The ticket of the last turn."""
    _kept: dict[str, int] = field(default_factory=dict[str, int])
    """The tickets of calls that left before their turns, by the key of the call."""

    def limits(self, now: float) -> bool:
        """Return whether calls need tickets: from a refusal until all turns have passed."""
        return now < self.turn(self._next)

    def take(self, key: str) -> int:
        """Return the ticket that the call kept, or else a new one."""
        kept = self._kept.pop(key, None)
        if kept is not None:
            return kept
        self._next += 1
        return self._next - 1

    def turn(self, ticket: int) -> float:
        """Return the time of a turn, or the next possible time for a turn that was missed."""
        begin = max(self._refused_until, self._paced_until)
        return begin + max(0, ticket - self._first) * self.pace

    def go(self, ticket: int, now: float) -> None:
        """Let the call with a ticket go. The following turn comes after a pace."""
        self._first = max(self._first, ticket + 1)
        self._paced_until = now + self.pace
        self._gone = ticket

    def refuse(self, ticket: int, until: float, now: float) -> None:
        """Let no call go before a time, because Slack refused the call with a ticket, which goes first again."""
        self._first = min(self._first, ticket) if self.limits(now) else ticket
        self._refused_until = max(self._refused_until, until)
        if ticket == self._gone:
            # Slack counts accepted calls only.
            self._paced_until = -math.inf

    def leave(self, ticket: int, key: str) -> None:
        """Keep the ticket of a call that leaves before its turn. A call with several requests keeps one ticket."""
        if key in self._kept and ticket == self._next - 1:
            self._next = ticket
            return
        self._kept.setdefault(key, ticket)
        if len(self._kept) > KEPT:
            del self._kept[next(iter(self._kept))]


@dataclass(frozen=True, slots=True)
class Lines:
    """The lines of a process. A line exists while it has calls or turns."""

    _by_clock: WeakKeyDictionary[Clock, dict[Kind, Line]] = field(default_factory=WeakKeyDictionary)
    """The lines of each clock by their kind. A process has one clock, and each play of an eval has its own."""

    async def send(self, call: Call, request: HttpRequest, kind: Kind, pause: Pause) -> HttpResponse | Limited:
        """Send a request at its turn, and again at its turn after each refusal, for LONGEST_WAIT seconds in all.

        Return the answer, also if it is a refusal that names no time. Raises TemporaryError.
        """
        with self._joined(kind, call.clock) as line:
            return await _Caller(call, request, line, call.clock.monotonic()).send(pause)

    @contextmanager
    def _joined(self, kind: Kind, clock: Clock) -> Generator[Line]:
        lines = self._by_clock.setdefault(clock, {})
        line = lines.setdefault(kind, Line(kind.pace))
        line.calls += 1
        try:
            yield line
        finally:
            line.calls -= 1
            now = clock.monotonic()
            for unused in [kind for kind, line in lines.items() if not line.calls and not line.limits(now)]:
                del lines[unused]


@dataclass(slots=True)
class _Caller:
    """One request on its way through a line."""

    call: Call
    request: HttpRequest
    line: Line
    now: float
    """The time, which also moves while the caller waits beside a clock that stands still."""
    left: float = LONGEST_WAIT
    """Seconds that the caller may still wait."""
    ticket: int | None = None

    async def send(self, pause: Pause) -> HttpResponse | Limited:
        if self.line.limits(self.now):
            self.ticket = self.line.take(self.call.key)
        limited = await self._wait(pause)
        while limited is None:
            response = await self.call.http.send(self.request)
            seconds = asked_wait(response)
            if seconds is None or math.isinf(seconds):
                return response
            # Slack did not execute a refused request, so sending it again is always safe.
            limited = self._refused(seconds) or await self._wait(pause)
        return limited

    async def _wait(self, pause: Pause) -> Limited | None:
        """Return None at the turn of this caller, or Limited if the turn comes too late for it."""
        if self.ticket is None:
            return None
        # Refusals of other calls move the turn.
        while (seconds := round(self.line.turn(self.ticket) - self.now, 3)) > 0:
            if seconds > self.left:
                self.line.leave(self.ticket, self.call.key)
                return Limited(seconds)
            await pause(seconds)
            self.left -= seconds
            self.now = max(self.call.clock.monotonic(), self.now + seconds)
        self.line.go(self.ticket, self.now)
        return None

    def _refused(self, seconds: float) -> Limited | None:
        """Move the turns behind the time that Slack named; return Limited if this caller does not wait so long."""
        self.now = max(self.call.clock.monotonic(), self.now)
        if self.ticket is None:
            self.ticket = self.line.take(self.call.key)
        self.line.refuse(self.ticket, self.now + min(seconds, LONGEST_LIMIT), self.now)
        if seconds <= self.left:
            return None
        self.line.leave(self.ticket, self.call.key)
        return Limited(seconds)
