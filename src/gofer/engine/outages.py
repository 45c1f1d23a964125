"""Outages and rate limits: how long a call waits for an external system, and the journal entries of that wait."""

import logging
import math
from collections.abc import Sequence

from gofer.engine.effects import Done, Later, NoAnswer, Patience, Refused, Unknown
from gofer.engine.model_order import LONGEST_PARKED
from gofer.engine.permitted_call import DELIVERY, Permitted
from gofer.engine.results import cut, unknown
from gofer.engine.services import Services
from gofer.journal.entries import CallDeferred, RunParked, ToolUnknown

OUTAGE_CODE = "outage"
"""Code of a call that failed because its system did not answer."""
LONGEST_LIMIT = 3_900.0
"""Total seconds that a call waits for a rate limit; the longest limits of vendors are counted by the hour."""
DEFAULT_WAIT = 60.0
"""Seconds that a call waits if the system named no time."""

_log = logging.getLogger(__name__)


def settle(
    item: Permitted,
    outcome: Done | Refused | Later | NoAnswer | Unknown,
    patience: Patience,
    *,
    waited_ms: int,
    now_ms: int,
) -> CallDeferred | ToolUnknown | Done | Refused | Later | NoAnswer:
    """Return the deferral of a call that waits, or else its final outcome.

    `waited_ms` is the time that the call has waited so far, in milliseconds.
    """
    deferred = _deferral(item, outcome, patience, waited_ms=waited_ms, now_ms=now_ms)
    if deferred is not None:
        cause = f"{item.tool.name}: {deferred.reason}"
        _log.warning("a call of %s waits: %s", item.tool.name, deferred.reason, extra={"cause": cause})
        return deferred
    tried = _tried_clause(waited_ms)
    match outcome:
        case Unknown(reason=reason):
            return unknown(item.call, item.tool.name, reason, item.destination)
        case Later(in_doubt=True, text=reason):
            return unknown(item.call, item.tool.name, reason.rstrip(".") + tried, item.destination)
        case NoAnswer(is_outage=True, reason=reason) if item.outage_wait:
            return Refused(f"{reason.rstrip('.')}{tried}.", OUTAGE_CODE)
        case NoAnswer(is_outage=False, reason=reason, code=code):
            return Refused(f"{item.tool.name} got no answer: {reason}", code)
        case _:
            return outcome


def note_reach(services: Services, system: str, outcome: Done | Refused | Later | NoAnswer | Unknown) -> None:
    """Note whether a system answered a call. A refusal or a rate limit says neither."""
    match outcome:
        case Done() if system:
            services.note_answer(system)
        case NoAnswer(is_outage=True) | Later(cause="outage") if system:
            services.note_away(system)
        case _:
            pass


def _deferral(
    item: Permitted,
    outcome: Done | Refused | Later | NoAnswer | Unknown,
    patience: Patience,
    *,
    waited_ms: int,
    now_ms: int,
) -> CallDeferred | None:
    """Return the entry that makes a call wait, or None for a call that has its outcome or waits no longer."""
    if not item.waits:
        return None
    match outcome:
        case Later(cause="rate_limit") as later:
            longest = max(LONGEST_LIMIT, item.longest_wait)
            wait = later.seconds
            if math.isinf(wait):
                wait = DEFAULT_WAIT
            over = wait > longest - waited_ms / 1000
        case Later() as later:
            longest = item.outage_wait
            wait = _pause(later, patience, longest=longest, waited=waited_ms / 1000)
            over = wait <= 0
        case NoAnswer(is_outage=True, reason=reason, retry_after=seconds):
            return _deferral(
                item, Later(reason, "", seconds, cause="outage"), patience, waited_ms=waited_ms, now_ms=now_ms
            )
        case Refused(access="credential", text=reason, code=code) if item.longest_wait == DELIVERY:
            # The answer of the run is already paid for, so its delivery waits until an operator renews the credential.
            renewed = Later(reason, code, 0.0, cause="outage")
            return _deferral(item, renewed, patience, waited_ms=waited_ms, now_ms=now_ms)
        case _:
            return None
    if over:
        return None
    last = now_ms + max(int(longest * 1000) - waited_ms, 0)
    until = now_ms + max(int(wait * 1000), 1)
    return CallDeferred(item.call, cut(later.text), until, later.in_doubt, later.cause, last, item.tool.target.system)


def _tried_clause(waited_ms: int) -> str:
    """Return a clause that says how long a call was tried; empty for a call that never waited."""
    minutes = round(waited_ms / 60_000)
    if not minutes:
        return ""
    if minutes <= 120:
        return f"; it was tried for {minutes} minutes"
    return f"; it was tried for {minutes // 60} hours"


def parked(deferred: Sequence[CallDeferred]) -> RunParked:
    """Return the entry that parks a run until the last of its deferred calls is due."""
    until = max(one.until for one in deferred)
    if any(one.cause == "outage" for one in deferred):
        return RunParked("outage", until)
    return RunParked("rate_limit", until)


def _pause(later: Later, patience: Patience, *, longest: float, waited: float) -> float:
    """Return the seconds until the next attempt: as long as the call has waited so far; 0 or less if time is up."""
    pause = max(patience.pause, waited, later.seconds)
    return min(pause, max(LONGEST_PARKED, later.seconds), longest - waited)
