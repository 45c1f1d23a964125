"""The workflow files in force on one machine: what was made of them, and the next edition when people edit them."""

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
from gofer.values.errors import ConfigError, fault
from gofer.values.outside import Clock
from gofer.workflows.fingerprint import Fingerprint, fingerprint
from gofer.workflows.load import Catalog

LOOK_SECONDS = 0.5
"""Seconds between two looks at the files."""
STABLE_SECONDS = 1.0
"""Seconds without a change before files are read: an editor, or git, may be in the middle of a change."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Edition:
    """What follows from one state of the workflow files."""

    catalog: Catalog
    ingress: Ingress
    app: ASGIApp
    """The receivers and the pages."""


Make = Callable[[Catalog, str], Edition]
"""Makes an edition of a catalog; the text is a notice for the pages, empty when all is well. Raises ConfigError."""


class Editions:
    """The edition in force. What lives longer than an edition asks here for each event, run and page."""

    def __init__(self, make: Make, catalog: Catalog) -> None:
        self._make = make
        self.now = make(catalog, "")
        self.notice = ""
        """Why a newer state of the files is not in force; empty when there is none."""

    def adopt(self, catalog: Catalog) -> None:
        """Put a catalog in force. Raises ConfigError, and then the edition of before stays."""
        self.now = self._make(catalog, "")
        self.notice = ""

    def refuse(self, notice: str) -> None:
        """Keep the edition in force, and say on the pages why."""
        self.now = self._make(self.now.catalog, notice)
        self.notice = notice

    async def holding(self, workflow: str) -> Catalog:
        """See worker.LiveCatalog."""
        return self.now.catalog

    async def receive_verified(self, receiver: Receiver, request: RawRequest) -> Reply:
        """See dispatch.Ingress.receive."""
        return await self.now.ingress.receive_verified(receiver, request)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on to the edition in force, which answers it to its end."""
        await self.now.app(scope, receive, send)


@dataclass(slots=True)
class Edits:
    """The edits of some folders, each noticed once, when nothing was changed for a second."""

    known: Fingerprint
    """The state of the files that was read or reported last; taken before they were read."""
    _seen: Fingerprint | None = None
    _since: float = 0.0

    def are_made(self, seen: Fingerprint, now: float) -> bool:
        """Return whether files differ from the known state and are no longer being changed."""
        if seen != self._seen:
            self._seen = seen
            self._since = now
        return seen != self.known and now - self._since >= STABLE_SECONDS


@dataclass(slots=True)
class Watcher:
    """Follower of edits: puts new workflow files in force, and keeps the last good edition while they are wrong."""

    root: Path
    editions: Editions
    load: Callable[[Path], Catalog]
    """Reads and checks the folder of the workflow files. Raises ConfigError."""
    clock: Clock
    adopted: Callable[[Catalog], None]
    """Told of each catalog that comes into force."""
    files: Edits
    tools: Edits
    """Edits of `tools/`, which a process reads when it starts."""
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    _good_at: float = field(default=0.0)

    def __post_init__(self) -> None:
        self._good_at = self.clock.now()

    async def serve(self) -> None:
        """Follow edits until cancelled."""
        while True:
            await self.sleep(LOOK_SECONDS)
            await self.look()

    async def look(self) -> None:
        """Look at the files once, and read them when they are new and no longer being changed."""
        seen = await asyncio.to_thread(fingerprint, self.root)
        now = self.clock.monotonic()
        if self.files.are_made(seen, now):
            await self._take(seen)
        tools = await asyncio.to_thread(fingerprint, self.root, (TOOLS,))
        if self.tools.are_made(tools, now):
            self.tools.known = tools
            _log.warning("files in tools/ were edited; runs go on with the tools as they were until you restart Gofer")

    async def _take(self, seen: Fingerprint) -> None:
        try:
            catalog = await asyncio.to_thread(self.load, self.root / "agents")
            if await asyncio.to_thread(fingerprint, self.root) != seen:
                # Changed while they were read: what was read may be half of one state and half of another.
                return
            self._adopt(catalog)
        except ConfigError as error:
            # People know the files by their place in the repository.
            self._refuse(str(error).replace(f"{self.root}{os.sep}", ""))
        except Exception as error:  # noqa: BLE001
            # A file that breaks the check itself must not end the process that serves the last good edition.
            self._refuse(f"They could not be checked ({fault(error)}).")
        self.files.known = seen

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

    def _refuse(self, why: str) -> None:
        good = f"{datetime.fromtimestamp(self._good_at, UTC):%Y-%m-%d %H:%M:%S} UTC"
        notice = f"The workflow files were edited and have mistakes. Runs use the files as they were at {good}.\n{why}"
        _log.error("the workflow files were edited and have mistakes; runs use those of %s: %s", good, why)
        self.editions.refuse(notice)


def _difference(before: Catalog, after: Catalog) -> str:
    """Return which workflows are new, changed or gone, in a few words."""
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
