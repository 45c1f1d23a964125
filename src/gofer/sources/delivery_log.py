"""The log of deliveries that start nothing.

The first delivery of a kind gets a line at once; further ones are counted into one line a minute. A kind is the
receiver's path, a code of a closed set and a reason. At most KINDS kinds are counted at a time, which bounds memory.
"""

import asyncio
import logging
import math
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial

from gofer.values.errors import RefusalCode
from gofer.values.outside import Clock
from gofer.values.supervisor import Supervisor

WINDOW = 60.0
"""Seconds between two lines of the same kind."""
KINDS = 256
"""Kinds that are counted separately. Further kinds are counted by path and code only."""
OTHERS = "other reasons; `gofer explain` gives the reason for each payload"
"""The reason in the lines of deliveries that are counted by path and code only."""

_Kind = tuple[str, str, str]
"""Path, code and reason."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The description of a delivery that starts nothing, for the log."""

    verb: str
    """What Gofer did with the delivery: `refused`, `ignored` or `turned away`."""
    code: str
    """A code of a closed set."""
    reason: str
    """What happened and what to do, as a clause. It never contains text of the delivery."""
    level: int = logging.INFO


@dataclass(slots=True)
class _Tally:
    """The count of deliveries of one kind since the last line about them."""

    since: float
    last: float
    outcome: Outcome
    count: int = 0


def ignore_count(count: int) -> None:
    """Do nothing: refused deliveries are not measured in this process."""


@dataclass(frozen=True, slots=True)
class DeliveryLog:
    """A counter of deliveries by kind. All times are seconds of one monotonic clock."""

    measure: Callable[[int], None] = ignore_count
    """Called with the number of refused and not stored deliveries of each line, without ignored ones and probes."""
    _tallies: dict[_Kind, _Tally] = field(default_factory=dict[_Kind, _Tally])

    def note(self, path: str, outcome: Outcome, now: float) -> None:
        """Log the first delivery of a kind at once; count a further one for the next line, which is due in a minute."""
        self.write_due(now)
        kind = (path, outcome.code, outcome.reason)
        if kind not in self._tallies and len(self._tallies) >= KINDS:
            outcome = replace(outcome, reason=OTHERS)
            kind = (path, outcome.code, OTHERS)
        known = self._tallies.get(kind)
        if known is None:
            self._tallies[kind] = _Tally(now, now, outcome)
            self._write(path, outcome, 1, 0.0)
            return
        known.count += 1
        known.last = now

    def write_due(self, now: float) -> None:
        """Write the lines that are due, and forget the kinds that no longer arrive."""
        for kind, tally in list(self._tallies.items()):
            if now - tally.since < WINDOW:
                continue
            if tally.count:
                self._write(kind[0], tally.outcome, tally.count, tally.last - tally.since)
            if now - tally.last >= WINDOW:
                del self._tallies[kind]
            else:
                self._tallies[kind] = _Tally(now, now, tally.outcome)

    def flush(self) -> None:
        """Write a line for each kind that has counted deliveries, and forget all kinds."""
        for (path, _, _), tally in self._tallies.items():
            if tally.count:
                self._write(path, tally.outcome, tally.count, tally.last - tally.since)
        self._tallies.clear()

    @asynccontextmanager
    async def written(self, clock: Clock, supervisor: Supervisor) -> AsyncGenerator[None]:
        """Write due lines while the block runs, and all remaining lines at its end."""
        try:
            async with supervisor.serving({"log of deliveries": partial(self._write_each_window, clock)}):
                yield
        finally:
            self.flush()

    async def _write_each_window(self, clock: Clock) -> None:
        while True:
            await asyncio.sleep(WINDOW / 4)
            self.write_due(clock.monotonic())

    def _write(self, path: str, outcome: Outcome, count: int, seconds: float) -> None:
        _write(path, outcome, count, seconds)
        # A probe of a public address is logged as information.
        if outcome.verb != "ignored" and outcome.level >= logging.WARNING:
            self.measure(count)


def _write(path: str, outcome: Outcome, count: int, seconds: float) -> None:
    many = "1 delivery"
    if count > 1:
        many = f"{count} deliveries"
    fields: dict[str, object] = {"path": path, "code": outcome.code, "count": count}
    within = ""
    if seconds:
        fields["seconds"] = math.ceil(seconds)
        within = f" in {math.ceil(seconds)} s"
    line = "%s to %s %s%s: %s"
    _log.log(outcome.level, line, many, path, outcome.verb, within, outcome.reason, extra={"fields": fields})


_CLOCK = "check the clock of this machine"
_FORM = "see docs/webhooks.md for the accepted bodies"

REFUSALS: Mapping[RefusalCode, str] = {
    "other": "the request does not have the form that its receiver expects",
    "no_receiver": "no receiver listens at the path; check the URL in the sender's settings",
    "not_set_up": "the source is not set up; set {setting}",
    "body_broke_off": "the sender closed the connection before its body was complete",
    "body_too_slow": "the body came too slowly",
    "body_too_large": "the body is too large; " + _FORM,
    "body_without_room": "more bodies arrived at the same time than fit into memory; check who sends so many",
    "signature_missing": "the signature is missing or malformed; give the sender the secret of {setting}",
    "signature_method": "the signature does not use SHA-256; check how the sender is set up",
    "signature_mismatch": "the signature does not match; check {setting}",
    "timestamp_missing": "the signed time is missing or malformed; check how the sender is set up",
    "timestamp_old": "the signed time is too long ago: the delivery is late or repeated; " + _CLOCK,
    "timestamp_future": "the signed time lies in the future; " + _CLOCK + " and that of the sender",
    "delivery_id_missing": "the header webhook-id is missing or malformed; check how the sender is set up",
    "token_missing": "the header with the token is missing or malformed; check how the sender is set up",
    "token_wrong": "the token does not match the secret; check {setting}",
    "password_wrong": "user and password are missing or wrong; check `user` of the hook and {setting}",
    "jwt_too_long": "the JWT is too long; its issuer must put fewer claims into it",
    "jwt_malformed": "the token is not a well-formed JWT; check the token that the sender sends",
    "jwt_unknown_key": "no key is known for `alg` and `kid` of the JWT; check `algorithms` and `jwks` of the hook",
    "jwt_signature": "the JWT's signature does not match; check the key of the hook, `jwks` or {setting}",
    "jwt_issuer": "the JWT comes from another issuer; check `issuer` of the hook",
    "jwt_audience": "the JWT has another audience; check `audience` of the hook",
    "jwt_without_expiry": "the JWT has no expiry (`exp`); its issuer must set one",
    "jwt_malformed_time": "a time in the JWT (`exp`, `nbf`) is not a number of seconds; its issuer must correct it",
    "jwt_expired": "the JWT has expired; the sender must fetch a new one, or " + _CLOCK,
    "jwt_not_yet": "the JWT is not valid yet (`nbf`); " + _CLOCK,
    "body_empty": "the body is empty; check what the sender sends",
    "body_compressed": "the body is compressed with gzip; the sender must send it uncompressed",
    "body_not_utf8": "the body is not text in UTF-8; " + _FORM,
    "body_not_json": "the body is not JSON; " + _FORM,
    "body_number": "the body holds NaN, an infinity or a number of thousands of digits",
    "body_too_deep": "the body is nested too deep",
    "body_not_object": "the body is JSON, but not an object",
    "body_not_form": "the body is not an HTML form; " + _FORM,
    "form_without_payload": "the form has no field `payload`, or several",
    "form_too_many_fields": "the form has too many fields",
    "key_missing": "the call does not have the key by which the hook tells calls apart; check `key` of the hook",
    "key_too_long": "the key of the call is too long; check `key` of the hook",
    "key_conflict": "Gofer accepted another body with the same key; the sender must use a new key for each call",
    "event_too_large": "the event is too large to be stored",
    "window_closed": "the source offered a verification token while no window was open; open one, or set {setting}",
}
"""The clause for each code. `{setting}` is replaced by the name of the setting with the source's secret."""


def operator_clause(code: RefusalCode, setting: str) -> str:
    """Return what was wrong and what to do, as a clause. `setting` names the setting with the source's secret."""
    return REFUSALS[code].replace("{setting}", setting or "the secret of its source")
