import logging

import pytest

from gofer.runtime.outages import LONGEST, SHORTEST, WINDOW, Outages
from gofer.values.errors import ConfigError, TemporaryError

AWAY = TemporaryError("S3 did not answer.")
REFUSED = ConfigError("AWS does not allow put_object here; add it to the policy.")


def test_messages_wait_as_long_as_their_outage_has_lasted_within_limits() -> None:
    outages, now, waits = Outages(), 1_000.0, list[float]()
    for _ in range(10):
        waits.append(outages.note("run1", AWAY, now))
        now += waits[-1]
    assert waits == [SHORTEST, SHORTEST, 4.0, 8.0, 16.0, 32.0, 64.0, LONGEST, LONGEST, LONGEST]


def test_causes_are_waited_for_and_logged_apart(caplog: pytest.LogCaptureFixture) -> None:
    outages = Outages()
    outages.note("run1", AWAY, 0.0)
    assert outages.note("run2", REFUSED, 60.0) == SHORTEST
    assert outages.note("run3", AWAY, 60.0) == 60.0
    assert [(one.levelno, one.getMessage()) for one in caplog.records] == [
        (logging.WARNING, f"run run1 was not continued, and is tried again: {AWAY}"),
        (logging.ERROR, f"run run2 was not continued, and is tried again: {REFUSED}"),
    ]


def test_outage_that_goes_on_has_one_line_in_each_window(caplog: pytest.LogCaptureFixture) -> None:
    outages = Outages()
    for second in range(int(WINDOW) + 1):
        outages.note("run1", REFUSED, float(second))
    assert [one.getMessage() for one in caplog.records][1:] == [f"300 more attempts failed in 300 s: {REFUSED}"]


@pytest.mark.parametrize("later", [3 * LONGEST, -1.0])
def test_cause_that_ended_or_lies_in_the_future_counts_as_new(caplog: pytest.LogCaptureFixture, later: float) -> None:
    outages = Outages()
    outages.note("run1", AWAY, 1_000.0)
    assert outages.note("run2", AWAY, 1_000.0 + later) == SHORTEST
    assert len(caplog.records) == 2
