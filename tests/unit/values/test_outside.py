"""What a server asks for beside its answer."""

import pytest

from gofer.values.outside import HttpResponse


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("30", 30.0),
        ("0.5", 0.5),
        ("-1", 0.0),
        ("nan", 0.0),
        ("inf", 86_400.0),
        ("Wed, 21 Oct 2026 07:28:00 GMT", 0.0),
        ("", 0.0),
    ],
)
def test_the_time_that_a_server_asks_to_wait_is_a_number_of_seconds_within_a_day(header: str, seconds: float) -> None:
    assert HttpResponse(503, {"retry-after": header}, b"").retry_after == seconds


def test_a_server_that_asks_for_nothing_asks_for_no_time() -> None:
    assert HttpResponse(503, {}, b"").retry_after == 0.0
