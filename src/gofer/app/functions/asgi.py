"""The answer of an ASGI application to a request that came as an event."""

from collections.abc import Sequence

from starlette.types import ASGIApp, Message

from gofer.app.functions.payload import Response, query, read_request, respond, response
from gofer.sources.receiver import RawRequest, Reply


async def call(app: ASGIApp, event: object) -> Response:
    """Return the answer of the application; an event that is no request is one with status 400."""
    request = read_request(event)
    if request is None:
        return response(Reply(400, b"This is no HTTP request."))
    answer = _Answer(request)
    await app(_scope(request, query(event)), answer.receive, answer.send)
    return respond(answer.status, answer.headers, bytes(answer.body))


def _scope(request: RawRequest, query_string: str) -> dict[str, object]:
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": "https",
        "path": request.path,
        "raw_path": request.path.encode(),
        "root_path": "",
        "query_string": query_string.encode(),
        "headers": [(_bytes(name), _bytes(value)) for name, value in request.headers],
        "client": None,
        "server": None,
    }


def _bytes(text: str) -> bytes:
    return text.encode("latin-1", "replace")


class _Answer:
    """One exchange: a body that is there at once, and an answer that is kept until it is whole."""

    def __init__(self, request: RawRequest) -> None:
        self._request = request
        self.status = 500
        self.headers: Sequence[tuple[str, str]] = ()
        self.body = bytearray()

    async def receive(self) -> Message:
        return {"type": "http.request", "body": self._request.body, "more_body": False}

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in message["headers"]]
        elif message["type"] == "http.response.body":
            self.body += message.get("body", b"")
