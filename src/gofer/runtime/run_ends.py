"""What a worker reports of a run that ended: counts, a log line, and spans for a collector."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from gofer.journal.coordination import Head, HeadStatus
from gofer.journal.entries import RunFinished, ToolResult
from gofer.journal.store import Store
from gofer.journal.unlisted_ends import Ends, Stage, count
from gofer.projections.progress import Progress
from gofer.runtime.telemetry.exporter import Exporter
from gofer.stores.one_place import Stores
from gofer.values.canonical_json import as_object, as_text
from gofer.values.errors import Cause
from gofer.values.outside import Clock

Trouble = Literal["", "poison", "corrupt"]
"""That a run's owners crashed again and again, or that its journal or a body is not what was written."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Ended:
    """A run that just ended, or that cannot go on by itself, in numbers and without a name."""

    status: HeadStatus
    seconds: float
    """Since it was accepted."""
    progress: Progress | None = None
    """None when its journal was not read to the end."""
    trouble: Trouble = ""
    unlisted: Ends | None = None
    """The count of its hour, for one that ended without an answer and that no list shows."""
    windows: Mapping[str, int] = field(default_factory=dict[str, int])
    """Tokens that models take at most, by name, where that is known."""


def ignore_end(ended: Ended) -> None:
    """Do nothing: the end of a run is not measured in this process."""


@dataclass(frozen=True, slots=True)
class Observers:
    """The observers of runs that ended."""

    notify: Callable[[Ended], None] = ignore_end
    """Notified of each end, that of private runs too."""
    exporter: Exporter | None = None
    """Sends the spans of runs that are not private; None where no collector is set up."""

    async def export(self, run: str, progress: Progress, stores: Stores, patience: float) -> None:
        """Send the spans of a run that ended, within so many seconds. Raises nothing."""
        if self.exporter is None or progress.finished is None or progress.private:
            return
        # A run that did not match has nothing that an operator looks for.
        if progress.finished.status != "ignored":
            await self.exporter.at_the_end(run, stores, patience)


async def count_private_end(finished: RunFinished, progress: Progress, store: Store, clock: Clock) -> Ends | None:
    """Count a private run that ended without an answer: no list shows it. Raises TemporaryError."""
    if not progress.private or not finished.cause:
        return None
    stage: Stage = "begin"
    if progress.started:
        stage = "answer"
    return await count_end(stage, finished.cause, store, clock, system=finished.system, code=_failed_code(progress))


async def count_end(
    stage: Stage, cause: Cause, store: Store, clock: Clock, *, system: str = "", code: str = ""
) -> Ends:
    """Count an end that no list shows. Raises TemporaryError; the end is then met again."""
    ends = await count(store, stage, cause, system, int(clock.now() * 1000))
    _log.warning("%s", ends.sentence(), extra={"fields": {"cause": cause, "system": system, "code": code}})
    return ends


def log_end(head: Head, finished: RunFinished, seconds: float) -> None:
    """Write the log line of a run that ended and is not private."""
    level = logging.INFO
    if finished.status in ("failed", "limited", "needs_attention"):
        level = logging.WARNING
    fields: dict[str, object] = {
        "run": head.run,
        "status": finished.status,
        "seconds": seconds,
        "workflow": head.workflow,
    }
    if finished.cause:
        fields["cause"] = finished.cause
    if finished.system:
        fields["system"] = finished.system
    _log.log(level, "a run ended", extra={"fields": fields})


def _failed_code(progress: Progress) -> str:
    """Return the vendor's code of the first call that failed; empty where there is none."""
    for outcome in progress.outcomes.values():
        if isinstance(outcome, ToolResult) and outcome.status == "error":
            return as_text(as_object(outcome.details).get("code"))[:64]
    return ""
