"""The log of deliveries that start no run: the first at once, then one line a minute."""

import asyncio
import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.sources.delivery_log import WINDOW, DeliveryLog, Outcome
from gofer.values.supervisor import Supervisor
from support.stand_ins import SetClock

MISMATCH = "the signature does not match; check SLACK_SIGNING_SECRET"
REFUSED = Outcome("refused", "signature_mismatch", MISMATCH, logging.WARNING)
PATH = "/slack/events"


class Lines(logging.Handler):
    """A log handler that keeps the records."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[logging.LogRecord] = []
        self.logger = logging.getLogger("gofer.sources.delivery_log")
        self.logger.setLevel(logging.INFO)

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)

    def __enter__(self) -> "Lines":
        self.logger.addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        self.logger.removeHandler(self)

    def texts(self) -> list[str]:
        return [record.getMessage() for record in self.records]


def test_delivery_log_writes_4000_refusals_as_two_lines_with_the_count() -> None:
    log = DeliveryLog()
    with Lines() as lines:
        for number in range(4_000):
            log.note(PATH, REFUSED, number * 0.01)
        assert lines.texts() == [f"1 delivery to {PATH} refused: {REFUSED.reason}"]
        log.note(PATH, REFUSED, 60.0)
    assert lines.texts()[1:] == [f"3999 deliveries to {PATH} refused in 40 s: {REFUSED.reason}"]
    fields = lines.records[1].__dict__["fields"]
    assert fields == {"path": PATH, "code": "signature_mismatch", "count": 3_999, "seconds": 40}


def test_delivery_log_writes_one_line_a_minute_during_repeated_refusals() -> None:
    log = DeliveryLog()
    with Lines() as lines:
        for second in range(601):
            log.note(PATH, REFUSED, float(second))
    assert len(lines.texts()) == 1 + 10


def test_delivery_log_writes_the_first_delivery_after_a_quiet_minute_at_once() -> None:
    log = DeliveryLog()
    with Lines() as lines:
        for second in (0.0, 1.0, 2.0, 500.0):
            log.note(PATH, REFUSED, second)
    once = f"1 delivery to {PATH} refused: {REFUSED.reason}"
    assert lines.texts() == [once, f"2 deliveries to {PATH} refused in 2 s: {REFUSED.reason}", once]


def test_delivery_log_writes_a_due_line_with_the_next_other_delivery() -> None:
    log = DeliveryLog()
    other = Outcome("ignored", "own_act", "Gofer wrote it")
    with Lines() as lines:
        for second in (0.0, 1.0):
            log.note(PATH, REFUSED, second)
        log.note("/jira/webhook", other, 100.0)
    assert lines.texts()[1:] == [
        f"1 delivery to {PATH} refused in 1 s: {REFUSED.reason}",
        "1 delivery to /jira/webhook ignored: Gofer wrote it",
    ]


def test_delivery_log_measures_refused_deliveries_without_ignored_ones_and_probes() -> None:
    measured: list[int] = []
    log = DeliveryLog(measured.append)
    for number in range(40):
        log.note(PATH, REFUSED, number * 1.0)
        log.note("an unknown path", Outcome("refused", "no_receiver", "no receiver listens"), number * 1.0)
        log.note(PATH, Outcome("ignored", "uninstalled", "install it again", logging.ERROR), number * 1.0)
    log.note(PATH, Outcome("turned away", "not_stored", "it could not be stored", logging.ERROR), 70.0)
    log.flush()
    assert measured == [1, 39, 1]


@pytest.mark.anyio
async def test_delivery_log_writes_the_counted_deliveries_at_the_end() -> None:
    log = DeliveryLog()
    with Lines() as lines:
        async with log.written(SetClock(0.0), Supervisor(SetClock(0.0))):
            for second in (0.0, 1.0, 2.0):
                log.note(PATH, REFUSED, second)
            await asyncio.sleep(0)
        assert lines.texts()[1:] == [f"2 deliveries to {PATH} refused in 2 s: {REFUSED.reason}"]
        log.flush()
    assert len(lines.texts()) == 2


@given(st.lists(st.tuples(st.sampled_from(["a", "b"]), st.sampled_from(["x", "y"]), st.floats(0, 100)), max_size=60))
def test_delivery_log_counts_every_delivery_once(deliveries: list[tuple[str, str, float]]) -> None:
    log, now = DeliveryLog(), 0.0
    with Lines() as lines:
        for path, code, later in deliveries:
            now += later
            log.note(path, Outcome("ignored", code, "why"), now)
        log.flush()
    counted = sum(record.__dict__["fields"]["count"] for record in lines.records)
    assert counted == len(deliveries)
    longest = {(path, code) for path, code, _ in deliveries}
    assert len(lines.records) <= len(longest) * (2 + 2 * now / WINDOW)
