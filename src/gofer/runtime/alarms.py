"""The alarms of a process: the operator hears once that a system is away, and once that it is back.

Calls of runs say which systems answered, and each round looks at the disk. The store remembers of which absence the
operator heard, so a restart repeats nothing. A message names systems and times, never contents. It is not sent again if
it may have arrived: of two messages the second would call a system away that may be back.
"""

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from gofer.journal.store import Store
from gofer.values.errors import Corrupt, TemporaryError, Unsent
from gofer.values.outside import BadUrl, Clock

DISK = "the disk"
"""The disk among the systems."""
EVERY = 15.0
"""Seconds between two rounds."""
PATIENCE = 120.0
"""Seconds for which a system is away before the operator hears of it."""
MOST_NOTICES = 50
"""The most notices that wait to be sent. Later ones are left to the log."""
_MEMO = "alarm:"
_AWAY = {
    DISK: "The disk of Gofer's state is nearly full, or takes no write. Make room and check the disk: Gofer may accept "
    "no work."
}
_BACK = {DISK: "The disk of Gofer's state has room and takes writes again."}

_log = logging.getLogger(__name__)

Send = Callable[[str], Awaitable[None]]
"""Sends one text to the operator. Raises Unsent if it did not arrive, TemporaryError if that is not known."""


@dataclass(slots=True)
class Alarms:
    """The alarms of one process."""

    store: Store
    clock: Clock
    send: Send
    has_room: Callable[[], bool]
    """Returns whether the disk of the state has room."""
    patience: float = PATIENCE
    every: float = EVERY
    _away: dict[str, float] = field(default_factory=dict[str, float])
    """Since when each system is away, by the monotonic clock. Systems that answered last are not in it."""
    _answered: set[str] = field(default_factory=set[str])
    """The systems that answered last."""
    _unstored: dict[str, str] = field(default_factory=dict[str, str])
    """Memos that the store could not take, because it is away itself."""
    _notices: deque[str] = field(default_factory=deque[str])
    _told: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a notice arrives, which need not wait for the next round."""

    def note_away(self, system: str) -> None:
        """Note that a system did not answer a call."""
        self._answered.discard(system)
        self._away.setdefault(system, self.clock.monotonic())

    def note_answer(self, system: str) -> None:
        """Note that a system answered a call."""
        self._away.pop(system, None)
        self._answered.add(system)

    def tell(self, text: str) -> None:
        """Send a notice to the operator, at most once."""
        if len(self._notices) < MOST_NOTICES:
            self._notices.append(text)
            self._told.set()

    async def serve(self) -> None:
        """Look and send until cancelled."""
        while True:
            self._told.clear()
            await self.look()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self.every):
                    await self._told.wait()

    async def look(self) -> None:
        """Look at the disk, and send what is due. Raises nothing that a store or a network raises."""
        if await self._is_written() and self.has_room():
            self.note_answer(DISK)
        else:
            self.note_away(DISK)
        now = self.clock.monotonic()
        for system in [system for system, since in self._away.items() if now - since >= self.patience]:
            await self._change(system, told=True)
        for system in [*self._answered]:
            await self._change(system, told=False)
        while self._notices and await self._sent(self._notices[0]):
            self._notices.popleft()

    async def _is_written(self) -> bool:
        try:
            await self.store.put_memo(f"{_MEMO}looked", "", self._now_ms())
            for system, memo in [*self._unstored.items()]:
                await self.store.put_memo(_MEMO + system, memo, self._now_ms())
                del self._unstored[system]
        except (TemporaryError, Corrupt):
            return False
        return True

    async def _change(self, system: str, *, told: bool) -> None:
        """Tell the operator that a system is away or back, unless the memo says that the operator knows.

        A memo is the time at which an absence began, in unix milliseconds; empty after its end.
        """
        was = await self._memo(system)
        if bool(was) == told:
            return
        memo = ""
        text = _back(system, was, self._now_ms())
        if told:
            memo = str(self._now_ms() - int((self.clock.monotonic() - self._away[system]) * 1000))
            text = _AWAY.get(system, f"{_named(system)} does not answer. Runs that need it wait.")
        # The memo first: a process that dies in between sends nothing, and never twice.
        if await self._exchange(system, was, memo) and not await self._sent(text):
            await self._exchange(system, memo, was or "")

    async def _sent(self, text: str) -> bool:
        """Return whether a text was sent, or may have been."""
        try:
            await self.send(text)
        except (Unsent, BadUrl) as error:
            _log.warning("the operator was not told, and is told later: %s (%s)", text, error)
            return False
        except TemporaryError as error:
            _log.warning("whether the operator was told is not known: %s (%s)", text, error)
        return True

    async def _memo(self, system: str) -> str | None:
        if system in self._unstored:
            return self._unstored[system]
        try:
            return await self.store.memo(_MEMO + system)
        except (TemporaryError, Corrupt):
            return None

    async def _exchange(self, system: str, was: str | None, memo: str) -> bool:
        """Replace a memo; return False if another process did. A store that is away gets it later."""
        if system in self._unstored:
            self._unstored[system] = memo
            return True
        try:
            return await self.store.exchange_memo(_MEMO + system, was, memo, self._now_ms()) == memo
        except (TemporaryError, Corrupt):
            self._unstored[system] = memo
            return True

    def _now_ms(self) -> int:
        return int(self.clock.now() * 1000)


def _back(system: str, was: str | None, now_ms: int) -> str:
    minutes = max(1, round((now_ms - int(was or now_ms)) / 60_000))
    return f"{_BACK.get(system, f'{_named(system)} answers again.')} It was away for about {minutes} min."


def _named(system: str) -> str:
    return f"{system[:1].upper()}{system[1:]}"
