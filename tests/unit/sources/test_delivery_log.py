"""The log of deliveries that start nothing: the first at once, then one line a minute, whatever a sender sends."""

import asyncio
import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.sources.delivery_log import WINDOW, DeliveryLog, Outcome
from support.stand_ins import SetClock

REFUSED = Outcome("refused", "signature_mismatch", "the signature does not match; check SLACK_SIGNING_SECRET")
PATH = "/slack/events"


class Lines(logging.Handler):
    """Keeps what is logged."""

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


def test_four_thousand_refused_deliveries_are_a_line_at_once_and_one_with_their_number() -> None:
    log = DeliveryLog()
    with Lines() as lines:
        for number in range(4_000):
            log.note(PATH, REFUSED, number * 0.01)
        assert lines.texts() == [f"1 delivery to {PATH} refused: {REFUSED.reason}"]
        log.note(PATH, REFUSED, 60.0)
    assert lines.texts()[1:] == [f"3999 deliveries to {PATH} refused in 40 s: {REFUSED.reason}"]
    fields = lines.records[1].__dict__["fields"]
    assert fields == {"path": PATH, "code": "signature_mismatch", "count": 3_999, "seconds": 40}


def test_while_it_goes_on_there_is_one_line_a_minute() -> None:
    log = DeliveryLog()
    with Lines() as lines:
        for second in range(601):
            log.note(PATH, REFUSED, float(second))
    assert len(lines.texts()) == 1 + 10


def test_after_a_quiet_minute_the_first_is_a_line_of_its_own_again() -> None:
    log = DeliveryLog()
    with Lines() as lines:
        for second in (0.0, 1.0, 2.0, 500.0):
            log.note(PATH, REFUSED, second)
    once = f"1 delivery to {PATH} refused: {REFUSED.reason}"
    assert lines.texts() == [once, f"2 deliveries to {PATH} refused in 2 s: {REFUSED.reason}", once]


def test_any_other_delivery_brings_the_line_that_is_due() -> None:
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


@pytest.mark.anyio
async def test_what_was_counted_is_written_at_the_end() -> None:
    log = DeliveryLog()
    with Lines() as lines:
        async with log.written(SetClock(0.0)):
            for second in (0.0, 1.0, 2.0):
                log.note(PATH, REFUSED, second)
            await asyncio.sleep(0)
        assert lines.texts()[1:] == [f"2 deliveries to {PATH} refused in 2 s: {REFUSED.reason}"]
        log.flush()
    assert len(lines.texts()) == 2


@given(st.lists(st.tuples(st.sampled_from(["a", "b"]), st.sampled_from(["x", "y"]), st.floats(0, 100)), max_size=60))
def test_every_delivery_is_counted_once(deliveries: list[tuple[str, str, float]]) -> None:
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
