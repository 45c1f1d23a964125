"""The drift of a run's context, said when a request shows it: once for each run and cause."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass

from gofer.projections.requests.context import DriftCause

_SENTENCES: Mapping[DriftCause, str] = {
    "full": "a request nearly fills the context window of its run",
    "stayed_high": "a compaction did not make enough room in the context window of its run",
    "lost": "text that must stay left the context of a run",
}

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Drift:
    """One cause of drift of a run that is not private, without contents."""

    run: str
    workflow: str
    cause: DriftCause
    share: float
    """The share of the window that the last request fills."""
    window: int
    """The window in force, in tokens."""
    lost: int
    """The number of pinned texts that left the view."""


def log_drift(drift: Drift) -> None:
    """Log one line with the run, its workflow and numbers."""
    fields = {
        "run": drift.run,
        "workflow": drift.workflow,
        "cause": drift.cause,
        "utilisation": round(drift.share, 3),
        "window": drift.window,
        "lost": drift.lost,
    }
    _log.warning("%s", _SENTENCES[drift.cause], extra={"fields": fields})
