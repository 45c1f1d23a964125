"""Requests to systems with rate limits: waiting as long as the system asks, and reading its answers."""

import math
from collections.abc import Awaitable, Callable, Collection, Mapping

from gofer.values.canonical_json import as_object, decode
from gofer.values.errors import BadRequest
from gofer.values.outside import Http, HttpRequest, HttpResponse

LONGEST_WAIT = 15.0
"""Seconds that one request waits in total for rate limits; less than the time limit of a tool."""
Pause = Callable[[float], Awaitable[None]]
"""Waits for a number of seconds."""


def retry_after(response: HttpResponse) -> float:
    """Return the seconds that an answer asks to wait, at least one; infinity when it names no time."""
    try:
        return max(1.0, float(response.headers.get("retry-after", "inf")))
    except ValueError:
        return math.inf


def asked_wait(response: HttpResponse, limited: Collection[int] = (429,)) -> float | None:
    """Return the seconds that a rate-limited answer asks to wait; None for an answer with another status."""
    if response.status in limited:
        return retry_after(response)
    return None


async def send_patiently(
    http: Http, request: HttpRequest, pause: Pause, wait: Callable[[HttpResponse], float | None] = asked_wait
) -> HttpResponse:
    """Send a request, and send it again after each wait that a rate-limited answer asks for. Return the last answer.

    `wait` returns the seconds that an answer asks to wait, or None. Raises TemporaryError.
    """
    response = await http.send(request)
    total = 0.0
    # The system did not execute a rate-limited request, so sending it again is always safe.
    while (seconds := wait(response)) is not None and seconds <= LONGEST_WAIT - total:
        await pause(seconds)
        total += seconds
        response = await http.send(request)
    return response


def wait_sentence(seconds: float) -> str:
    """Return the sentence that tells how long to wait before the next request."""
    if seconds == math.inf:
        return "Wait a few minutes before the next one."
    return f"Wait {math.ceil(seconds)} second{'s' * (seconds > 1)} before the next one."


def object_in(response: HttpResponse) -> Mapping[str, object]:
    """Return the JSON object of an answer; empty when it is something else, such as a proxy's HTML page."""
    try:
        return as_object(decode(response.body))
    except BadRequest:
        return {}
