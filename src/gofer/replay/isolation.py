"""The outside world of a replay: no network, no model, no store, and the clock of the recording."""

import random
from collections.abc import Callable
from dataclasses import replace
from typing import NoReturn

from typing_extensions import override

from gofer.engine.drift import Drift
from gofer.engine.services import Services, refuse_all
from gofer.models.language_model import Answer, Model
from gofer.replay.divergence import ReplayEnded
from gofer.replay.recorded_rows import RecordedRows
from gofer.replay.signatures import NOT_RECORDED
from gofer.stores.memory.blobs import MemoryBlobs
from gofer.stores.memory.journal import MemoryStore
from gofer.stores.memory.queue import MemoryQueue
from gofer.stores.one_place import Stores
from gofer.tools.definition import AnyTool, Arguments, Call
from gofer.values.errors import ToolError
from gofer.values.outside import Clock, Http, HttpRequest, HttpResponse, Outside, random_id


class RecordedClock(Clock):
    """The clock of a replay: the time of the recorded frame that comes next."""

    def __init__(self, now_ms: Callable[[], int]) -> None:
        self._now_ms = now_ms

    @override
    def now(self) -> float:
        return self._now_ms() / 1000

    @override
    def monotonic(self) -> float:
        return self._now_ms() / 1000


class NoNetwork(Http):
    """The network of a replay: a request is a fault of the replay, which ends."""

    @override
    async def send(self, request: HttpRequest) -> HttpResponse:
        raise ReplayEnded("A replay sends no requests.")


class NoModel(Model):
    """The models of a replay with recorded answers: a question is a fault of the replay, which ends."""

    @override
    async def ask(self, body: bytes, timeout: float) -> Answer:
        raise ReplayEnded("A replay asks no model.")


def isolated(services: Services, rows: RecordedRows, now_ms: Callable[[], int], *, live: bool) -> Services:
    """Return services that reach nothing outside but, if `live`, the models; tools, prices and links stay."""
    clock = RecordedClock(now_ms)
    # Only the ids of drafts come from here; the recording has every value that counts.
    outside = Outside(NoNetwork(), clock, random_id, random.Random(0), _no_key)  # noqa: S311
    stores = Stores(rows, MemoryBlobs(), MemoryQueue(clock))
    if not live:
        services = replace(services, model=NoModel(), reach=refuse_all)
    return replace(
        services,
        tools={name: _unreachable(tool) for name, tool in services.tools.items()},
        stores=stores,
        outside=outside,
        exports_spans=False,
        report_drift=_ignore_drift,
    )


def _unreachable(tool: AnyTool) -> AnyTool:
    """Return a tool that refuses each call; the tools of every run reach only the run itself and stay."""
    if tool.base:
        return tool

    async def refuse(call: Call, arguments: Arguments) -> NoReturn:
        raise ToolError(f"not_recorded: a replay does not call {tool.name}.", code=NOT_RECORDED)

    if tool.in_doubt.look is None:
        return replace(tool, act=refuse)
    return replace(tool, act=refuse, in_doubt=replace(tool.in_doubt, look=refuse))


def no_stores(clock: Clock) -> Stores:
    """Return stores that nothing outlives, for services that only replay."""
    return Stores(MemoryStore(), MemoryBlobs(), MemoryQueue(clock))


def _ignore_drift(drift: Drift) -> None:
    """Do nothing: the drift was reported when it happened."""


def _no_key() -> NoReturn:
    raise ReplayEnded("A replay claims no runs.")
