"""The readiness of one process: whether it takes deliveries and works on runs now, with a reason for each part.

`/healthz` says that the process answers, and `/readyz` that it does its work. A process that starts or stops is not
ready, although it already stores, or still stores, deliveries. The answer has no names of files and no settings.
"""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from gofer.journal.store import Store
from gofer.runtime.backlog import BacklogWatch, backlog_lines
from gofer.values.errors import Corrupt, TemporaryError
from gofer.values.outside import Clock
from gofer.values.supervisor import Supervisor
from gofer.workflows.load import Catalog

PATH = "/readyz"
PATIENCE = 3.0
"""Seconds that the store has for one write. Probes wait longer."""
TRUSTED = 5.0
"""Seconds during which the result of a write counts, so that strangers cannot make the store busy."""
Phase: TypeAlias = Literal["starting", "serving", "stopping"]
_MEMO = "readiness"
_PHASES = {
    "starting": "Gofer is starting, and does not work on runs yet.",
    "stopping": "Gofer is stopping, and hands running runs over to its next start.",
}
_WRITTEN = "The store can be written."
_UNWRITTEN = "The store cannot be written. The reason is in Gofer's log."
_SLOW = "The store did not finish a write within {:g} seconds."
_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Readiness:
    """The readiness of one process with its store."""

    store: Store
    clock: Clock
    supervisor: Supervisor
    """Keeps the long-lived parts of the process, and knows which failed lately."""
    backlog: BacklogWatch
    """Knows how many runs wait, and for what."""
    phase: Phase = "starting"
    patience: float = PATIENCE
    unusable_tools: int = 0
    """How many tools of the company cannot be used. The process works, and runs that need them do not begin."""
    _problem: str = ""
    """The problem of the store at its last write; empty without one."""
    _written: float | None = None
    """When the store was last written, by the monotonic clock."""
    _writing: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def serve(self) -> None:
        """Count as serving until cancelled, and as stopping from then on."""
        self.phase = "serving"
        try:
            await asyncio.Event().wait()
        finally:
            self.phase = "stopping"

    def route(self, catalog: Catalog, notice: str) -> Route:
        """Return the route of the probe, for the active workflows and the problem of newer ones."""

        async def answer(request: Request) -> Response:
            return await self._answer(catalog, notice)

        return Route(PATH, answer, methods=["GET"])

    async def _answer(self, catalog: Catalog, notice: str) -> Response:
        store_problem = await self._store_problem()
        problems = [problem for problem in (_PHASES.get(self.phase, ""), store_problem) if problem]
        if not catalog.workflows:
            problems.append("No workflow is loaded.")
        said = {
            "ready": not problems,
            "problems": problems,
            "settings": "The settings were read.",
            "store": store_problem or _WRITTEN,
            "parts": _parts(self.supervisor.failed_lately()),
            "backlog": await self._waiting(),
            "tools": _tools(self.unusable_tools),
            "workflows": _workflows(len(catalog.workflows), notice),
        }
        return JSONResponse(said, 503 if problems else 200, {"cache-control": "no-store"})

    async def _store_problem(self) -> str:
        async with self._writing:
            now = self.clock.monotonic()
            if self._written is None or now - self._written >= TRUSTED:
                self._problem = await self._write()
                self._written = self.clock.monotonic()
        return self._problem

    async def _waiting(self) -> str:
        try:
            async with asyncio.timeout(self.patience):
                return " ".join(backlog_lines(await self.backlog.current(), self.clock)) or "No run waits."
        except (TimeoutError, TemporaryError, Corrupt):
            return "The waiting runs could not be counted."

    async def _write(self) -> str:
        """Write one memo; return the problem, or an empty text."""
        try:
            async with asyncio.timeout(self.patience):
                await self.store.put_memo(_MEMO, "written", int(self.clock.now() * 1000))
        except TimeoutError:
            return _SLOW.format(self.patience)
        except (TemporaryError, Corrupt) as error:
            _log.error("not ready: %s", error)
            return _UNWRITTEN
        return ""


def _parts(failed: Sequence[str]) -> str:
    if failed:
        return f"Failed within the last minutes and begun again: {', '.join(failed)}. The reason is in Gofer's log."
    return "Every part works."


def _tools(unusable: int) -> str:
    if unusable:
        return f"{unusable} tools cannot be used, and no run that needs them begins. The reason is in Gofer's log."
    return "The tools can be used."


def _workflows(count: int, notice: str) -> str:
    if notice:
        return f"{count} workflows are loaded. The files were edited and have mistakes; runs use the previous ones."
    return f"{count} workflows are loaded."
