"""The window around a signed time: a signature is good for some seconds before and after it."""

from gofer.values.errors import BadRequest


def check_window(timestamp: int, now: float, window: int, what: str) -> None:
    """Raise BadRequest(401) for a signed time that is too far from now; `what` begins the sentence.

    The sender is told the same either way. The log tells a late delivery from a clock that is wrong.
    """
    age = int(now) - timestamp
    said = f"{what} is good for {window} seconds around its timestamp only."
    if age > window:
        raise BadRequest(401, said, code="timestamp_old")
    if age < -window:
        raise BadRequest(401, said, code="timestamp_future")
