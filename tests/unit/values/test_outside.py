"""HTTP responses of vendors: the retry-after header."""

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
def test_retry_after_is_read_as_seconds_of_at_most_a_day(header: str, seconds: float) -> None:
    assert HttpResponse(503, {"retry-after": header}, b"").retry_after == seconds


def test_missing_retry_after_is_zero_seconds() -> None:
    assert HttpResponse(503, {}, b"").retry_after == 0.0
