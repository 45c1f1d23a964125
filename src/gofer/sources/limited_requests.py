"""Requests to systems that limit how many they take: waiting as long as they ask, and reading their answers."""

import math
from collections.abc import Awaitable, Callable, Collection, Mapping

from gofer.values.canonical_json import as_object, decode
from gofer.values.errors import BadRequest
from gofer.values.outside import Http, HttpRequest, HttpResponse

LONGEST_WAIT = 15.0
"""Seconds one request is held back in all while a system asks to wait; less than the time of a tool."""
Pause = Callable[[float], Awaitable[None]]
"""Returns after so many seconds."""


def retry_after(response: HttpResponse) -> float:
    """Return how long an answer asks to wait, at least a second; infinity when it does not say."""
    try:
        return max(1.0, float(response.headers.get("retry-after", "inf")))
    except ValueError:
        return math.inf


def asked_wait(response: HttpResponse, limited: Collection[int] = (429,)) -> float | None:
    """Return the seconds that a limited answer asks for; None for an answer with another status."""
    if response.status in limited:
        return retry_after(response)
    return None


async def send_patiently(
    http: Http, request: HttpRequest, pause: Pause, wait: Callable[[HttpResponse], float | None] = asked_wait
) -> HttpResponse:
    """Return the answer to a request, which is sent again after each `wait` that a limited answer asks for.

    Raises TemporaryError.
    """
    response = await http.send(request)
    waited = 0.0
    # A request that was limited did not happen, so that sending it again is safe whatever its effect.
    while (seconds := wait(response)) is not None and seconds <= LONGEST_WAIT - waited:
        await pause(seconds)
        waited += seconds
        response = await http.send(request)
    return response


def wait_sentence(seconds: float) -> str:
    """Return the sentence that says when the next request may follow."""
    if seconds == math.inf:
        return "Wait a few minutes before the next one."
    return f"Wait {math.ceil(seconds)} second{'s' * (seconds > 1)} before the next one."


def object_in(response: HttpResponse) -> Mapping[str, object]:
    """Return the JSON object of an answer; empty when it is something else, such as a proxy's HTML page."""
    try:
        return as_object(decode(response.body))
    except BadRequest:
        return {}
