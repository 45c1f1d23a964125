"""Times as people write them at a terminal."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from gofer.cli.times import moment, time_of_day
from gofer.values.errors import ConfigError

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 11, 23, 15, 30, tzinfo=BERLIN).timestamp()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("14:00", "2026-11-23T14:00+01:00"),
        ("9:05", "2026-11-23T09:05+01:00"),
        # That time of today has not come yet.
        ("16:00", "2026-11-22T16:00+01:00"),
        ("yesterday 14:00", "2026-11-22T14:00+01:00"),
        ("yesterday 16:00", "2026-11-22T16:00+01:00"),
        ("2026-11-20T14:00", "2026-11-20T14:00+01:00"),
        ("2026-11-20 14:00", "2026-11-20T14:00+01:00"),
        ("2026-11-20T14:00Z", "2026-11-20T14:00+00:00"),
        ("2026-07-01T14:00", "2026-07-01T14:00+02:00"),
    ],
)
def test_remembered_time_is_a_time_of_the_zone_of_the_terminal(text: str, expected: str) -> None:
    found = datetime.fromtimestamp(time_of_day(text, NOW, BERLIN), UTC)
    assert found == datetime.fromisoformat(expected)


def test_time_of_yesterday_stays_the_same_on_the_wall_when_the_clocks_change() -> None:
    now = datetime(2026, 10, 25, 12, 0, tzinfo=BERLIN).timestamp()
    found = datetime.fromtimestamp(time_of_day("yesterday 14:00", now, BERLIN), UTC)
    assert found == datetime.fromisoformat("2026-10-24T14:00+02:00")


@pytest.mark.parametrize("text", ["", "two o'clock", "25:00", "14:60", "yesterday", "tomorrow 14:00", "14"])
def test_unreadable_time_is_refused_with_examples(text: str) -> None:
    with pytest.raises(ConfigError, match="write a time such as 14:00"):
        time_of_day(text, NOW, BERLIN)


def test_moment_is_a_duration_before_now_or_a_date_in_utc() -> None:
    assert moment("90m", NOW) == NOW - 5400
    assert moment("7d", NOW) == NOW - 7 * 86_400
    assert moment("2026-11-20", NOW) == datetime(2026, 11, 20, tzinfo=UTC).timestamp()
    with pytest.raises(ConfigError, match="--since is 'soon'"):
        moment("soon", NOW)
