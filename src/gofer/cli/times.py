"""Times as people write them at a terminal."""

import re
from datetime import UTC, datetime, timedelta, tzinfo

from gofer.values.errors import ConfigError

_SECONDS = {"m": 60, "h": 3_600, "d": 86_400}
_CLOCK = re.compile(r"(?:(yesterday)[ T]+)?([01]?[0-9]|2[0-3]):([0-5][0-9])")


def moment(text: str, now: float) -> float:
    """Return the unix seconds of a duration before now, such as `24h`, or of a date in UTC. Raises ConfigError."""
    if ago := re.fullmatch(r"([0-9]{1,6})([mhd])", text):
        return now - int(ago[1]) * _SECONDS[ago[2]]
    try:
        parsed = datetime.fromisoformat(text)
    except ValueError as error:
        raise ConfigError(f"--since is {text[:40]!r}; write 90m, 24h, 7d or a date such as 2026-11-20.") from error
    if not parsed.tzinfo:
        parsed = parsed.replace(tzinfo=UTC)
    return parsed.timestamp()


def time_of_day(text: str, now: float, zone: tzinfo | None = None) -> float:
    """Return the unix seconds of a time that a person remembers. Raises ConfigError.

    `14:00` is the last such time, `yesterday 14:00` that of the day before today, and `2026-11-23T14:00` the time of
    that day. A time without an offset is in `zone`, or else in the time zone of this machine.
    """
    today = datetime.fromtimestamp(now, zone)
    if written := _CLOCK.fullmatch(text.strip()):
        at = today.replace(tzinfo=zone, hour=int(written[2]), minute=int(written[3]), second=0, microsecond=0)
        if written[1] or at.timestamp() > now:
            # The date moves before the zone applies, because a day may have 23 or 25 hours.
            at -= timedelta(days=1)
        return at.timestamp()
    try:
        parsed = datetime.fromisoformat(text.strip())
    except ValueError as error:
        examples = "14:00, yesterday 14:00 or 2026-11-23T14:00"
        raise ConfigError(f"--around is {text[:40]!r}; write a time such as {examples}.") from error
    if not parsed.tzinfo:
        parsed = parsed.replace(tzinfo=zone)
    return parsed.timestamp()
