"""Rate-limited requests: how long Gofer waits, and its sentence about a longer wait."""

import math

import pytest

from gofer.sources.limited_requests import object_in, retry_after, send_patiently, wait_sentence
from gofer.values.outside import HttpRequest, HttpResponse

pytestmark = pytest.mark.anyio
REQUEST = HttpRequest("POST", "https://example.com/things")


class Answers:
    """A network that gives prepared answers in order."""

    def __init__(self, *answers: HttpResponse) -> None:
        self.left = list(answers)
        self.waits: list[float] = []

    async def send(self, request: HttpRequest) -> HttpResponse:
        assert request == REQUEST
        return self.left.pop(0)

    async def pause(self, seconds: float) -> None:
        self.waits.append(seconds)


def limited(seconds: str) -> HttpResponse:
    return HttpResponse(429, {"retry-after": seconds}, b"")


async def test_limited_request_is_sent_again_after_waits_that_fit() -> None:
    network = Answers(limited("4"), limited("0"), HttpResponse(200, {}, b"{}"))
    assert (await send_patiently(network, REQUEST, network.pause)).status == 200
    assert network.waits == [4, 1]


async def test_limited_request_with_a_too_long_wait_returns_the_429() -> None:
    network = Answers(limited("8"), limited("8"), HttpResponse(200, {}, b"{}"))
    assert (await send_patiently(network, REQUEST, network.pause)).status == 429
    assert network.waits == [8]


@pytest.mark.parametrize("header", [{}, {"retry-after": "Sat, 21 Nov 2026 07:28:00 GMT"}])
async def test_limit_without_seconds_is_not_waited_for(header: dict[str, str]) -> None:
    network = Answers(HttpResponse(429, header, b""))
    assert retry_after(network.left[0]) == math.inf
    assert (await send_patiently(network, REQUEST, network.pause)).status == 429
    assert network.waits == []


def test_wait_sentence_counts_whole_seconds() -> None:
    assert wait_sentence(1) == "Wait 1 second before the next one."
    assert wait_sentence(1.2) == "Wait 2 seconds before the next one."
    assert wait_sentence(math.inf) == "Wait a few minutes before the next one."


def test_answer_other_than_a_json_object_is_read_as_an_empty_object() -> None:
    assert object_in(HttpResponse(200, {}, b'{"ok": true}')) == {"ok": True}
    assert object_in(HttpResponse(200, {}, b"<html>")) == {}
    assert object_in(HttpResponse(200, {}, b"[1]")) == {}
