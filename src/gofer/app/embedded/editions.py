"""The active workflow files on one machine, and their replacement when people edit the files."""

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from starlette.types import ASGIApp, Receive, Scope, Send

from gofer.runtime.receive import Ingress
from gofer.sources.receiver import RawRequest, Receiver, Reply
from gofer.tools.company import FOLDER as TOOLS
from gofer.values.errors import ConfigError, TemporaryError, fault
from gofer.values.outside import Clock
from gofer.workflows.fingerprint import Fingerprint, fingerprint
from gofer.workflows.load import Catalog

LOOK_SECONDS = 0.5
"""Seconds between two looks at the files."""
STABLE_SECONDS = 1.0
"""Seconds without a change before the files are read, because an editor or git may still be writing."""

ABSENCE_SECONDS = 60.0
"""Seconds that accepted runs wait for the file of their workflow to come back."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Edition:
    """The workflows, the ingress and the application that are built from one state of the workflow files."""

    catalog: Catalog
    ingress: Ingress
    app: ASGIApp
    """The receivers and the pages."""


Make = Callable[[Catalog, str], Edition]
"""Makes an edition from a catalog and a notice for the pages, which is empty without a problem. Raises ConfigError."""


class Editions:
    """The holder of the active edition. Long-lived parts ask it for the edition at each event, run and page."""

    def __init__(self, make: Make, catalog: Catalog, clock: Clock) -> None:
        self._make = make
        self._clock = clock
        self._missed: dict[str, float] = {}
        """When a run first missed a workflow, by the monotonic clock."""
        self.now = make(catalog, "")
        self.notice = ""
        """Why a newer state of the files is not active. Empty if the active edition is the newest."""

    def adopt(self, catalog: Catalog) -> None:
        """Make the edition of a catalog the active one. If this raises ConfigError, the previous edition stays."""
        self.now = self._make(catalog, "")
        self.notice = ""
        self._missed = {name: at for name, at in self._missed.items() if name not in catalog.workflows}

    def refuse(self, notice: str) -> None:
        """Keep the active edition, and show `notice` on the pages."""
        self.now = self._make(self.now.catalog, notice)
        self.notice = notice

    async def holding(self, workflow: str) -> Catalog:
        """Return the active catalog, as `worker.LiveCatalog` requires.

        Raises TemporaryError during the first minute without the workflow: its file may be away while it is replaced.
        """
        if workflow not in self.now.catalog.workflows:
            now = self._clock.monotonic()
            if now - self._missed.setdefault(workflow, now) < ABSENCE_SECONDS:
                raise TemporaryError(f"agents/{workflow}.yaml is missing; its runs wait up to a minute for the file.")
        return self.now.catalog

    async def receive_verified(self, receiver: Receiver, request: RawRequest) -> Reply:
        """Pass a verified delivery on to the active ingress."""
        return await self.now.ingress.receive_verified(receiver, request)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on to the active edition, which answers it completely even if another one is adopted."""
        await self.now.app(scope, receive, send)


@dataclass(slots=True)
class Edits:
    """The detection of edits in some folders, once nothing has changed for STABLE_SECONDS."""

    known: Fingerprint
    """The fingerprint of the files that were read or reported last, taken before they were read."""
    _seen: Fingerprint | None = None
    _since: float = 0.0

    def are_made(self, seen: Fingerprint, now: float) -> bool:
        """Return whether the files differ from the known state and have stopped changing."""
        if seen != self._seen:
            self._seen = seen
            self._since = now
        return seen != self.known and now - self._since >= STABLE_SECONDS


@dataclass(slots=True)
class Watcher:
    """The watcher of edits: activates new workflow files, and keeps the last good edition while they have mistakes."""

    root: Path
    editions: Editions
    load: Callable[[Path], Catalog]
    """Reads and checks the folder of the workflow files. Raises ConfigError."""
    clock: Clock
    adopted: Callable[[Catalog], None]
    """Called with each catalog that becomes active."""
    files: Edits
    tools: Edits
    """Edits of `tools/`, which a process reads when it starts."""
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    _good_at: float = field(default=0.0)

    def __post_init__(self) -> None:
        self._good_at = self.clock.now()

    async def serve(self) -> None:
        """Watch for edits until cancelled."""
        while True:
            await self.sleep(LOOK_SECONDS)
            await self.look()

    async def look(self) -> None:
        """Look at the files once, and read them if they were edited and have stopped changing."""
        seen = await asyncio.to_thread(fingerprint, self.root)
        now = self.clock.monotonic()
        if self.files.are_made(seen, now):
            await self._take(seen)
        tools = await asyncio.to_thread(fingerprint, self.root, (TOOLS,))
        if self.tools.are_made(tools, now):
            self.tools.known = tools
            _log.warning("files in tools/ were edited; runs use the previous tools until you restart Gofer")

    async def _take(self, seen: Fingerprint) -> None:
        try:
            catalog = await asyncio.to_thread(self._read)
            if await asyncio.to_thread(fingerprint, self.root) != seen:
                # The files changed while they were read, so the catalog may mix two states.
                return
            self._adopt(catalog)
        except ConfigError as error:
            # People know the files by their paths in the repository.
            self._refuse(str(error).replace(f"{self.root}{os.sep}", ""))
        except (MemoryError, OSError):
            # The machine failed and not the file, so the supervisor begins again, and the files are read then.
            raise
        except Exception as error:  # noqa: BLE001
            # A file that crashes the check must not end the process, which still serves the last good edition.
            self._refuse(f"The check of the files failed ({fault(error)}).")
        self.files.known = seen

    def _read(self) -> Catalog:
        try:
            return self.load(self.root / "agents")
        except StopIteration as error:
            # No future can hold this error, so the watcher would wait for its thread for ever.
            raise RuntimeError("an iterator had no item").with_traceback(error.__traceback__) from error

    def _adopt(self, catalog: Catalog) -> None:
        before = self.editions.now.catalog
        broken = bool(self.editions.notice)
        if catalog != before or broken:
            self.editions.adopt(catalog)
            self.adopted(catalog)
        if broken:
            _log.info("the workflow files have no mistakes any more")
        if catalog != before:
            _log.info("the workflow files were read again: %s", _difference(before, catalog))
        self._good_at = self.clock.now()

    def _refuse(self, reason: str) -> None:
        good = f"{datetime.fromtimestamp(self._good_at, UTC):%Y-%m-%d %H:%M:%S} UTC"
        notice = f"The workflow files were edited and have mistakes. Runs use the files of {good}.\n{reason}"
        _log.error("the workflow files were edited and have mistakes; runs use the files of %s: %s", good, reason)
        self.editions.refuse(notice)


def _difference(before: Catalog, after: Catalog) -> str:
    """Return the names of added, changed and removed workflows, for a log line."""
    old = before.workflows
    new = after.workflows
    parts = [
        _named("added", [name for name in new if name not in old]),
        _named("changed", [name for name in new if name in old and new[name] != old[name]]),
        _named("removed", [name for name in old if name not in new]),
    ]
    return "; ".join(part for part in parts if part) or "no workflow differs"


def _named(what: str, names: Sequence[str]) -> str:
    return f"{what} {', '.join(names)}" * bool(names)
