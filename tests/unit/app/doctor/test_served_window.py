"""The requests that ask a server for the window of a model: to whom, and with which key."""

import json
from dataclasses import dataclass, field

import pytest

from gofer.app.doctor.served_window import ServedWindows
from gofer.models.served_model import Endpoint, ServedModel
from gofer.values.errors import TemporaryError
from gofer.values.outside import HttpRequest, HttpResponse
from gofer.values.secret import Secret

pytestmark = pytest.mark.anyio


@dataclass
class Server:
    """A server with bodies by URL; any other URL has no answer."""

    bodies: dict[str, bytes]
    asked: list[HttpRequest] = field(default_factory=list)

    async def send(self, request: HttpRequest) -> HttpResponse:
        self.asked.append(request)
        if request.url not in self.bodies:
            raise TemporaryError("no answer")
        return HttpResponse(200, {}, self.bodies[request.url])


def model(url: str, key: str = "") -> ServedModel:
    return ServedModel("m", endpoint=Endpoint(name="ours", base_url=url, key=key))


def served(server: Server) -> ServedWindows:
    return ServedWindows(server, lambda variable: Secret(f"key of {variable}"))


async def test_key_of_the_endpoint_goes_with_both_requests() -> None:
    loaded = {"models": [{"name": "other", "context_length": 1}, {"name": "m", "context_length": 32_768}]}
    server = Server({"http://own:11434/api/ps": json.dumps(loaded).encode()})
    url = "http://own:11434/v1/"
    assert await served(server).of(model(url, "MODEL_KEY_OURS"), url) == 32_768
    assert [one.url for one in server.asked] == ["http://own:11434/v1/models", "http://own:11434/api/ps"]
    assert [one.headers for one in server.asked] == [{"Authorization": "Bearer key of MODEL_KEY_OURS"}] * 2


@pytest.mark.parametrize("url", ["https://api.openai.com/v1", "https://api.anthropic.com/v1"])
async def test_vendors_are_not_asked(url: str) -> None:
    server = Server({})
    assert await served(server).of(model(url), url) == 0
    assert server.asked == []


@pytest.mark.parametrize("body", [b"<html>", b"[]", b'{"data": [1, {"id": "m", "max_model_len": true}]}', b"\xff"])
async def test_body_without_a_window_is_none(body: bytes) -> None:
    server = Server({"http://own/v1/models": body})
    assert await served(server).of(model("http://own/v1"), "http://own/v1") == 0
    assert [one.headers for one in server.asked] == [{}, {}]
