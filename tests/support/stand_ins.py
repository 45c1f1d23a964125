"""Replacements of the outside world for tests: a clock that is set, scripted HTTP, counting ids."""

import itertools
import random
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from gofer.journal.entries import RunAccepted
from gofer.journal.log import Pen, claim
from gofer.journal.seal import KEY_BYTES
from gofer.journal.store import Store
from gofer.stores.memory.blobs import MemoryBlobs
from gofer.stores.memory.journal import MemoryStore
from gofer.stores.memory.queue import MemoryQueue
from gofer.stores.queue import Queue
from gofer.stores.sqlite import journal as journal_sqlite
from gofer.stores.sqlite import queue as queue_sqlite
from gofer.stores.sqlite.database import Database
from gofer.stores.sqlite.journal import SqliteStore
from gofer.stores.sqlite.key_file import KeyFile
from gofer.stores.sqlite.queue import SqliteQueue
from gofer.values.canonical_json import encode
from gofer.values.errors import TemporaryError
from gofer.values.events import Actor, Event
from gofer.values.installation_key import InstallationKey
from gofer.values.outside import Http, HttpRequest, HttpResponse, Outside
from gofer.values.row_tokens import Tokens
from gofer.values.secret import Secret

NOON = 1_795_262_400.0
"""2026-11-21 12:00 UTC."""
KEY = InstallationKey(Secret("0" * 64))
"""The key of the installation."""
TOKENS = Tokens(KEY)


class SetClock:
    """A clock that stands still until it is moved."""

    def __init__(self, now: float = NOON) -> None:
        self._now = now

    def now(self) -> float:
        return self._now

    def monotonic(self) -> float:
        return self._now

    def advance(self, seconds: float) -> None:
        self._now += seconds


@dataclass
class AnsweringHttp:
    """HTTP answered by a function; `requests` has the sent requests."""

    answer: Callable[[str, bytes], Mapping[str, object] | HttpResponse | Awaitable[HttpResponse]]
    requests: list[tuple[str, bytes]] = field(default_factory=list)

    async def send(self, request: HttpRequest) -> HttpResponse:
        self.requests.append((request.url, request.content))
        reply = self.answer(request.url, request.content)
        if isinstance(reply, HttpResponse):
            return reply
        if isinstance(reply, Mapping):
            return HttpResponse(200, {}, encode(reply))
        return await reply


def unreachable(url: str, content: bytes) -> HttpResponse:
    raise TemporaryError("nobody is there")


def make_outside(clock: SetClock | None = None, http: Http | None = None) -> Outside:
    ids, chance = itertools.count(1), random.Random(7)
    return Outside(
        http or AnsweringHttp(unreachable),
        clock or SetClock(),
        lambda: f"id{next(ids):06}",
        chance,
        lambda: chance.randbytes(KEY_BYTES),
    )


def mention(
    text: str = "<@U0GOFER0> hello", ts: str = "1795262400.000100", channel: str = "C0DEPLOY0", hops: int = 0
) -> Event:
    """Return a mention as the Slack receiver translates it."""
    return Event(
        source="slack",
        kind="slack.mention",
        identity=(channel, ts),
        conversation=f"slack:{channel}:{ts}",
        actor=Actor("U0NEWCO0"),
        text=text,
        place={"team": "T0ACME00", "channel": channel, "ts": ts, "thread_ts": ts},
        hops=hops,
    )


async def claimed(
    store: Store,
    run: str = "run1",
    outside: Outside | None = None,
    owner: str = "ingress",
    *,
    event: Event | None = None,
) -> Pen:
    """Claim a run by writing its frame 1; return a pen for it."""
    pen = Pen(owner, outside or make_outside())
    await claim(run, RunAccepted(event or mention(), "answer-here"), pen, store, MemoryBlobs())
    return pen


@contextmanager
def any_store(kind: str, folder: Path) -> Iterator[Store]:
    """Yield a store of one kind: `memory` or `sqlite`."""
    with any_stores(kind, folder, SetClock()) as (store, _):
        yield store


@contextmanager
def any_stores(kind: str, folder: Path, clock: SetClock) -> Iterator[tuple[Store, Queue]]:
    """Yield a store and a queue of one kind."""
    if kind == "memory":
        yield MemoryStore(), MemoryQueue(clock)
        return
    database = Database(folder / "gofer.db", journal_sqlite.SCHEMA + queue_sqlite.SCHEMA)
    keys = KeyFile(folder / "keys")
    try:
        yield SqliteStore(database, keys), SqliteQueue(database, clock)
    finally:
        database.close()
        keys.close()


def memory_stores() -> tuple[MemoryStore, MemoryBlobs]:
    return MemoryStore(), MemoryBlobs()
