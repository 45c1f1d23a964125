"""Traffic of the benchmarks: signed mentions, percentiles and counted transactions."""

import json
import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gofer.app.ingress import build_ingress
from gofer.app.settings import read_settings
from gofer.journal.store import Store
from gofer.runtime.receive import Ingress
from gofer.sources.receiver import RawRequest
from gofer.sources.slack.receiver import sign
from gofer.stores.memory.blobs import MemoryBlobs
from gofer.stores.memory.journal import MemoryStore
from gofer.stores.memory.queue import MemoryQueue
from gofer.stores.one_place import Stores
from gofer.stores.queue import Queue
from gofer.values.installation_key import InstallationKey
from gofer.values.outside import Outside, SystemClock, random_id, random_key
from gofer.values.secret import Secret
from support.stand_ins import AnsweringHttp, make_outside, unreachable

Routes = Sequence[tuple[str, Mapping[str, Sequence[str]]]]

ROOT = Path(__file__).parents[2]
SECRET = "a signing secret"
MENTION = json.loads((ROOT / "tests" / "events" / "slack_app_mention.json").read_text())


def mentions(first: int, count: int) -> list[RawRequest]:
    """Return signed deliveries of numbered mentions, each in its own thread."""
    return [_mention(first + i) for i in range(count)]


def _mention(n: int) -> RawRequest:
    ts = f"1795240812.{n:06}"
    event = {**MENTION["event"], "ts": ts, "event_ts": ts, "channel_type": "channel"}
    body = json.dumps({**MENTION, "event": event, "event_id": f"Ev{n:010}"}).encode()
    at = str(int(time.time()))
    headers = [
        ("host", "gofer.example.com"),
        ("content-type", "application/json"),
        ("content-length", str(len(body))),
        ("x-slack-request-timestamp", at),
        ("x-slack-signature", sign(Secret(SECRET), at, body)),
    ]
    return RawRequest("POST", "/slack/events", headers, body)


def system() -> Outside:
    """Return the clocks and randomness of the machine, without a network."""
    return Outside(AnsweringHttp(unreachable), SystemClock(), random_id, make_outside().random, random_key)


def front_of(store: Store, queue: Queue, workflows: int = 1) -> Ingress:
    """Return ingress over given stores, with one workflow for the mentions and the others each for another channel."""
    others: Routes = [(f"workflow-{i}", {"channel_id": [f"C{i:08}"]}) for i in range(workflows - 1)]
    return _front([*others, ("answer-here", {})], store, queue)


def front_without_match(workflows: int, where: Callable[[int], Mapping[str, Sequence[str]]]) -> Ingress:
    """Return ingress with this many workflows for mentions, with the conditions that `where` gives each number."""
    routes = [(f"workflow-{i}", where(i)) for i in range(workflows)]
    return _front(routes, MemoryStore(), MemoryQueue(SystemClock()))


def _front(routes: Routes, store: Store, queue: Queue) -> Ingress:
    compiled: object = json.loads(json.dumps({"slack.mention": routes}))
    settings = read_settings({"SLACK_SIGNING_SECRET": SECRET})
    return build_ingress(
        settings, compiled, Stores(store, MemoryBlobs(), queue), InstallationKey(Secret("k" * 64)), system()
    )


@dataclass
class Transactions:
    """Counts the transactions of a connection that wrote something: each waits for the disk once."""

    written: int = 0
    _writes: bool = field(default=False)

    def watch(self, connection: sqlite3.Connection) -> None:
        """Start counting; counting takes time, so do not measure time meanwhile."""
        connection.set_trace_callback(self._see)

    def _see(self, statement: str) -> None:
        if statement.startswith(("INSERT", "UPDATE", "DELETE")):
            self._writes = True
        elif statement == "COMMIT":
            self.written += self._writes
            self._writes = False


def percentile(times: Sequence[float], percent: int) -> float:
    """Return the time below which this percentage of all times lies."""
    return sorted(times)[min(len(times) - 1, len(times) * percent // 100)]
