"""Ingress on SQLite: time from a signed mention to its 2xx, and mentions per second.

The time of one small durable write is printed beside them: an event makes three of them, and
concurrent events share theirs. No test asserts a time; each asserts that every event is accepted.
"""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from urllib.parse import urlsplit

import pytest
from traffic import Transactions, front_of, front_without_match, mentions, percentile

from gofer.app.embedded.state import open_state
from gofer.runtime.receive import Ingress
from gofer.sources.receiver import RawRequest, Reply
from gofer.sources.receivers import known
from gofer.stores.sqlite import journal as journal
from gofer.stores.sqlite import queue as queue
from gofer.stores.sqlite.database import Database
from gofer.stores.sqlite.journal import SqliteStore
from gofer.stores.sqlite.key_file import KeyFile
from gofer.stores.sqlite.queue import SqliteQueue
from gofer.values.events import Event
from gofer.values.outside import SystemClock

ROUNDS = 5
EVENTS = 320
"""Per round."""
WORKFLOWS = (10, 1_000, 10_000)
AT_ONCE = (1, 64)
ACCEPTED = Reply(200, b"Accepted.")

Conditions = Callable[[int], Mapping[str, Sequence[str]]]
Send = Callable[[RawRequest], Awaitable[None]]

NOTHING: Mapping[str, Conditions] = {
    "a channel of its own each": lambda i: {"channel_id": [f"C{i:08}"]},
    "ten in its channel": lambda i: {"bot": ["true"], "channel_id": [f"C{i:08}" if i >= 10 else "C0GENERA0"]},
}
"""Conditions of the workflow with a number; a mention in #general matches none of them."""


@dataclass
class Measured:
    """Seconds of each event, and of wall clock and CPU for all events of each round."""

    each: list[float] = field(default_factory=list)
    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    def line(self) -> str:
        cpu = f"{median(self.cpu) * 1000 / EVENTS:6.2f} ms CPU an event" if self.cpu else ""
        return (
            f"p50 {percentile(self.each, 50) * 1000:7.2f} ms  p99 {percentile(self.each, 99) * 1000:7.2f} ms"
            f"  {EVENTS / median(self.wall):6.0f} events/s  {cpu}"
        )


async def flow(requests: Sequence[RawRequest], senders: Sequence[Send], measured: Measured) -> None:
    """Send all requests; each sender sends one after the other."""
    left = iter(requests)

    async def work(send: Send) -> None:
        for request in left:
            began = time.perf_counter()
            await send(request)
            measured.each.append(time.perf_counter() - began)

    began, cpu = time.perf_counter(), time.process_time()
    await asyncio.gather(*map(work, senders))
    measured.wall.append(time.perf_counter() - began)
    measured.cpu.append(time.process_time() - cpu)


def into(ingress: Ingress) -> Send:
    async def send(request: RawRequest) -> None:
        assert await ingress.receive(request) == ACCEPTED

    return send


def test_time_of_a_raw_request_to_the_2xx(tmp_path: Path) -> None:
    measured = {(workflows, at_once): Measured() for workflows in WORKFLOWS for at_once in AT_ONCE}

    async def play() -> None:
        with open_state(tmp_path, SystemClock()) as state:
            fronts = {workflows: into(front_of(state.store, state.queue, workflows)) for workflows in WORKFLOWS}
            await flow(mentions(0, EVENTS), [fronts[10]] * 8, Measured())
            # Measured in turns, so that a busy machine slows all of them.
            for turn, (workflows, at_once) in enumerate(list(measured) * ROUNDS, start=1):
                requests = mentions(turn * EVENTS, EVENTS)
                await flow(requests, [fronts[workflows]] * at_once, measured[workflows, at_once])

    asyncio.run(play())
    print(f"\nraw request to 2xx on SQLite, {EVENTS} events a round, {ROUNDS} rounds, {disk(tmp_path)}")
    for (workflows, at_once), found in measured.items():
        print(f"  {workflows:6} workflows, {at_once:2} at once: {found.line()}")
    for at_once in AT_ONCE:
        grown = median(measured[10_000, at_once].cpu) / median(measured[10, at_once].cpu)
        print(f"  CPU of an event with 10,000 workflows to one with 10, {at_once:2} at once: {grown:.2f}")


def test_cpu_of_an_event_without_a_match_by_number_of_workflows() -> None:
    asyncio.run(refuse_in_turns())


async def refuse_in_turns() -> None:
    shapes = [(workflows, shape) for workflows in WORKFLOWS for shape in NOTHING]
    fronts = {(workflows, shape): front_without_match(workflows, NOTHING[shape]) for workflows, shape in shapes}
    costs: dict[tuple[int, str], list[float]] = {key: [] for key in fronts}
    bare: dict[tuple[int, str], list[float]] = {key: [] for key in fronts}
    for turn in range(ROUNDS):
        for key, front in fronts.items():
            requests = mentions(turn * EVENTS, EVENTS)
            began = time.process_time()
            for request in requests:
                assert (await front.receive(request)).body.startswith(b"Ignored: ")
            costs[key].append((time.process_time() - began) / EVENTS)
            bare[key].append(without_reason(front, requests))
    print(f"\nraw request to 2xx of an event that starts nothing, {EVENTS} events a round, {ROUNDS} rounds")
    for (workflows, shape), found in costs.items():
        ratio = median(found) / median(bare[workflows, shape])
        cost = f"{median(found) * 1e6:6.1f} us CPU an event, {ratio:.2f} of verifying, translating and matching alone"
        print(f"  {workflows:6} workflows, {shape:>26}: {cost}")
    for shape in NOTHING:
        grown = median(costs[10_000, shape]) / median(costs[10, shape])
        print(f"  CPU with 10,000 workflows to that with 10, {shape}: {grown:.2f}")


def without_reason(front: Ingress, requests: Sequence[RawRequest]) -> float:
    """Return the seconds of CPU for an event without a matching workflow, an explanation and a log line."""
    began = time.process_time()
    for request in requests:
        receiver = front.receivers[request.path]
        receiver.verify(request, front.outside.clock.now())
        event = receiver.translate(request)
        assert isinstance(event, Event)
        assert not front.routes.matching(event.kind, known(event))
    return (time.process_time() - began) / EVENTS


@pytest.mark.parametrize("at_once", AT_ONCE)
def test_concurrent_events_share_transactions(tmp_path: Path, at_once: int) -> None:
    counted = Transactions()

    async def play() -> None:
        database = Database(tmp_path / "gofer.db", journal.SCHEMA + queue.SCHEMA)
        await database.run(counted.watch)
        front = front_of(SqliteStore(database, KeyFile(tmp_path / "keys")), SqliteQueue(database, SystemClock()))
        await flow(mentions(0, EVENTS), [into(front)] * at_once, Measured())
        database.close()

    asyncio.run(play())
    print(f"\ntransactions an event, {at_once} at once: {counted.written / EVENTS:.2f}")
    # The number of events per transaction varies, but some always share one.
    assert counted.written == 3 * EVENTS if at_once == 1 else counted.written < EVENTS


def test_time_of_a_request_to_the_2xx_through_the_http_server(tmp_path: Path) -> None:
    print("\nthe same through the HTTP front in a process of its own")
    for at_once in AT_ONCE:
        folder, measured = tmp_path / str(at_once), Measured()
        folder.mkdir()
        script = Path(__file__).with_name("front_server.py")
        environment = {**os.environ, "PYTHONPATH": f"{script.parent}:{script.parents[1]}"}
        with subprocess.Popen(
            [sys.executable, str(script), str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        ) as process:
            assert process.stdout is not None
            url = process.stdout.readline().strip()
            asyncio.run(visit(url, at_once, measured))
            cpu, _ = process.communicate()
        measured.cpu = [float(cpu) / ROUNDS]
        print(f"  {at_once:2} at once: {measured.line()}")


async def visit(url: str, at_once: int, measured: Measured) -> None:
    """Send all rounds over this many open connections."""
    address = urlsplit(url)
    lines = [await asyncio.open_connection(address.hostname, address.port) for _ in range(at_once)]
    for turn in range(ROUNDS):
        await flow(mentions(turn * EVENTS, EVENTS), [over(*line) for line in lines], measured)
    measured.cpu.clear()  # of this process, which only sent
    for _, writer in lines:
        writer.close()


def over(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Send:
    async def send(request: RawRequest) -> None:
        head = "".join(f"{name}: {value}\r\n" for name, value in request.headers)
        writer.write(f"{request.method} {request.path} HTTP/1.1\r\n{head}\r\n".encode() + request.body)
        answer = await reader.readuntil(b"\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 200 ")
        assert await reader.readexactly(len(ACCEPTED.body)) == ACCEPTED.body

    return send


def disk(folder: Path) -> str:
    """Describe the time of one durable page write in a folder."""
    times: list[float] = []
    with (folder / "disk").open("wb") as file:
        for _ in range(100):
            began = time.perf_counter()
            os.write(file.fileno(), b"x" * 4096)
            os.fdatasync(file.fileno())
            times.append(time.perf_counter() - began)
    return f"one synced write {median(times) * 1000:.2f} ms"
