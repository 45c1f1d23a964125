"""Many runs at once in one worker process on SQLite, with a model on loopback and instant tools.

Prints one JSON object: seconds of wall clock and CPU, the peak of memory in MB before and after, and transactions
that wrote something, which are counted only when asked for because counting costs time.
"""

import asyncio
import contextlib
import json
import sys
import time
from dataclasses import replace
from pathlib import Path

from process_use import peak_mb
from traffic import Transactions, front_of, mentions, system

from gofer.app.http import http_client
from gofer.app.model_endpoints import build_model
from gofer.app.settings import read_settings
from gofer.runtime.worker import Worker, WorkerLimits
from gofer.stores.queue import QueueMessage
from gofer.stores.sqlite import journal as journal
from gofer.stores.sqlite import queue as queue
from gofer.stores.sqlite.blobs import DirectoryBlobs
from gofer.stores.sqlite.database import Database
from gofer.stores.sqlite.journal import SqliteStore
from gofer.stores.sqlite.key_file import KeyFile
from gofer.stores.sqlite.queue import SqliteQueue
from gofer.tools.definition import Call, Tool, ToolResult
from gofer.values.outside import SystemClock
from gofer.values.proxies import DIRECT
from support.engine.memory_run import Said
from support.runtime.memory_worker import MemoryWorker, memory_worker
from support.runtime.worker_parts import over


class Counting(SqliteQueue):
    """A queue that signals when the expected number of messages was acknowledged."""

    def expect(self, queue_messages: int) -> None:
        self.left, self.silent = queue_messages, asyncio.Event()

    async def acknowledge(self, queue_message: QueueMessage) -> None:
        await super().acknowledge(queue_message)
        self.left -= 1
        if not self.left:
            self.silent.set()


async def look(call: Call, said: Said) -> ToolResult:
    return ToolResult(f"{said.text}: {'x' * 200}", "looked")


def staffed(
    made: MemoryWorker, store: SqliteStore, queue_messages: SqliteQueue, blobs: DirectoryBlobs, runs: int
) -> Worker:
    """Return the worker of an office on real stores, with the tool that the model calls."""
    made.grant("look")
    worker = made.worker
    tools = {**worker.services.tools, "look": Tool("look", "looks", "read", Said, look)}
    services = over(worker.services, store=store, blobs=blobs, queue=queue_messages)
    services = replace(services, tools=tools, outside=system())
    return replace(worker, services=services, limits=WorkerLimits(concurrency=runs))


async def play(runs: int, base_url: str, folder: Path, counted: Transactions | None) -> dict[str, float]:
    database = Database(folder / "gofer.db", journal.SCHEMA + queue.SCHEMA)
    store, queue_messages = SqliteStore(database, KeyFile(folder / "keys")), Counting(database, SystemClock())
    front = front_of(store, queue_messages)
    for reply in await asyncio.gather(*map(front.receive, mentions(0, runs))):
        assert reply.body == b"Accepted."
    async with http_client(DIRECT) as http:
        made = memory_worker()
        made.model = build_model(read_settings({"OPENAI_BASE_URL": base_url}), http)  # type: ignore[assignment]
        made.__post_init__()
        worker = staffed(made, store, queue_messages, DirectoryBlobs(folder / "blobs"), runs)
        queue_messages.expect(runs)
        if counted:
            await database.run(counted.watch)
        peak, wall, cpu = peak_mb(), time.perf_counter(), time.process_time()
        serving = asyncio.create_task(worker.serve())
        await queue_messages.silent.wait()
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)
    heads = await store.heads(runs)
    assert [head.status for head in heads] == ["done"] * runs, {(head.status, head.reason) for head in heads}
    database.close()
    return {"wall": wall, "cpu": cpu, "before": peak, "peak": peak_mb(), "written": counted.written if counted else 0}


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        counting = Transactions() if sys.argv[4] == "count" else None
        print(json.dumps(asyncio.run(play(int(sys.argv[1]), sys.argv[2], Path(sys.argv[3]), counting))))
