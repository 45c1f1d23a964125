import asyncio
import hashlib
import json
import subprocess
import sys

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.app.http import http_client
from gofer.models.language_model import Access, Refused, Unavailable, Unusable
from gofer.models.remote import ANSWER_BYTES, remote_endpoint
from gofer.models.transport import ERROR_BYTES, Packaged, Plain, Transport
from gofer.values.proxies import DIRECT
from gofer.values.secret import Secret
from support.http import loopback
from support.http.model_requests import ANSWER, model_server, response

pytestmark = pytest.mark.anyio

HEADERS = {"Content-Type": "application/json", "User-Agent": "gofer", "Authorization": "Bearer k"}
SENT = [("authorization", "Bearer k"), ("content-type", "application/json"), ("user-agent", "gofer")]
TRANSPORTS = ("plain", "packaged")


def transport(kind: str, http: httpx2.AsyncClient) -> Transport:
    plain = Plain(http)
    return Packaged(plain) if kind == "packaged" else plain


@pytest.mark.parametrize("kind", TRANSPORTS)
@pytest.mark.parametrize("body", [b"", b"{}", b'{"a": "\xc3\xa9",\n "a":1}', b"\xff\x00no JSON", b"x" * 3_000_000])
async def test_given_headers_and_bytes_arrive_unchanged(kind: str, body: bytes) -> None:
    async with model_server() as server, loopback.client() as http:
        found = await transport(kind, http).post(f"{server.url}/v1/responses?a=b&c=%20", HEADERS, body)
        assert (found.status_code, await found.aread()) == (200, ANSWER)
    (arrived,) = server.arrived
    assert (arrived.line, arrived.body) == ("POST /v1/responses?a=b&c=%20 HTTP/1.1", body)
    needed = [("content-length", str(len(body))), ("host", server.url.removeprefix("http://"))]
    assert list(arrived.headers) == sorted([*SENT, *needed])


@pytest.mark.parametrize("kind", TRANSPORTS)
async def test_request_without_a_key_has_no_authorization(kind: str) -> None:
    async with model_server() as server, loopback.client() as http:
        await transport(kind, http).post(f"{server.url}/v1/responses", {"Accept": "*/*"}, b"{}")
    assert "authorization" not in dict(server.arrived[0].headers)


@pytest.mark.parametrize("kind", TRANSPORTS)
@pytest.mark.parametrize("status", ["500 Oops", "429 Busy", "408 Slow", "409 Conflict", "401 No", "302 Found"])
async def test_request_is_sent_once_with_any_status(kind: str, status: str) -> None:
    refusal = response(status, b"{}", "retry-after: 0.01", "x-should-retry: true", "location: /elsewhere")
    async with model_server(refusal) as server, loopback.client() as http:
        found = await transport(kind, http).post(f"{server.url}/v1/responses", HEADERS, b"{}")
    assert (found.status_code, found.content, found.headers["retry-after"]) == (int(status[:3]), b"{}", "0.01")
    assert len(server.arrived) == 1


@pytest.mark.parametrize("kind", TRANSPORTS)
async def test_cookie_of_a_server_is_not_sent_back(kind: str) -> None:
    async with model_server(response("200 OK", ANSWER, "set-cookie: a=b; path=/")) as server, loopback.client() as http:
        sending = transport(kind, http)
        for _ in range(2):
            await (await sending.post(f"{server.url}/v1/responses", HEADERS, b"{}")).aread()
    assert [dict(one.headers).get("cookie") for one in server.arrived] == [None, None]


@pytest.mark.parametrize("kind", TRANSPORTS)
async def test_error_is_read_up_to_its_limit(kind: str) -> None:
    async with model_server(response("503 No", b"x" * 5_000_000)) as server, http_client(DIRECT) as http:
        found = await transport(kind, http).post(f"{server.url}/v1/responses", HEADERS, b"{}")
    assert found.content == b"x" * ERROR_BYTES


@pytest.mark.parametrize("kind", TRANSPORTS)
async def test_cut_answer_raises_an_error_of_the_http_client(kind: str) -> None:
    async with model_server(response("200 OK", ANSWER)[:-5]) as server, loopback.client() as http:
        found = await transport(kind, http).post(f"{server.url}/v1/responses", HEADERS, b"{}")
        with pytest.raises(httpx2.HTTPError):
            await found.aread()


@pytest.mark.parametrize("kind", TRANSPORTS)
@pytest.mark.parametrize("answer", [b"", b"no HTTP\r\n\r\n"])
async def test_connection_that_fails_raises_an_error_of_the_http_client_once(kind: str, answer: bytes) -> None:
    async with model_server(answer) as server, loopback.client() as http:
        with pytest.raises(httpx2.HTTPError):
            await transport(kind, http).post(f"{server.url}/v1/responses", HEADERS, b"{}")
    assert len(server.arrived) == 1


REQUEST = {"model": "m", "messages": [{"role": "user", "content": "é\u2028\ud83d\ude00"}]}
EVENT = b'data: {"choices": [{"delta": {"content": "hi"}, "finish_reason": "stop"}]}\n\n'


@pytest.mark.parametrize("packaged", [True, False])
@pytest.mark.parametrize("api", ["chat_completions", "responses", "messages"])
async def test_answer_names_the_hash_of_the_bytes_at_the_server(api: str, packaged: bool) -> None:
    bodies = {
        "chat_completions": ANSWER,
        "responses": b'{"status": "completed", "output": [{"type": "message", "role": "assistant", "content": '
        b'[{"type": "output_text", "text": "hi"}]}]}',
        "messages": b'{"type": "message", "role": "assistant", "stop_reason": "end_turn", "content": '
        b'[{"type": "text", "text": "hi"}]}',
    }
    async with model_server(response("200 OK", bodies[api])) as server, loopback.client() as http:
        model = remote_endpoint(http, f"{server.url}/v1", api=api, packaged=packaged)
        answer = await model.ask(json.dumps(REQUEST, separators=(",", ":")).encode(), 20)
    assert (answer.text, answer.sent_sha256) == ("hi", hashlib.sha256(server.arrived[0].body).hexdigest())


@pytest.mark.parametrize("packaged", [True, False])
@pytest.mark.parametrize(
    ("pieces", "error", "words"),
    [
        (
            [response("200 OK", b" " * (ANSWER_BYTES + 1))],
            Unusable,
            "larger than 10000000 bytes; check OPENAI_BASE_URL",
        ),
        ([response("200 OK", EVENT)[:-30]], Unavailable, "gives no whole answer in HTTP"),
        ([response("200 OK", b'data: {"choices": []}\n\n')], Unavailable, r"could not be reached\.$"),
        ([response("401 No", b'{"error": {"message": "no"}}')], Refused, "check OPENAI_API_KEY"),
        ([response("500 No", b"<html>")], Unavailable, "HTTP 500"),
    ],
)
async def test_failure_has_the_same_class_and_words_over_each_transport(
    pieces: list[bytes], error: type[Exception], words: str, packaged: bool
) -> None:
    async with model_server(*pieces) as server, http_client(DIRECT) as http:
        asked = remote_endpoint(http, f"{server.url}/v1", Access(key=Secret("k")), packaged=packaged)
        with pytest.raises(error, match=words) as raised:
            await asked.ask(b'{"messages":[]}', 20)
    assert type(raised.value) is error
    assert len(server.arrived) == 1


@pytest.mark.parametrize("packaged", [True, False])
async def test_stream_is_read_to_its_end(packaged: bool) -> None:
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
    async with model_server(head, EVENT, b"data: [DONE]\n\n") as server, loopback.client() as http:
        answer = await remote_endpoint(http, f"{server.url}/v1", packaged=packaged).ask(b'{"messages":[]}', 20)
    assert answer.text == "hi"


@pytest.mark.parametrize("base_url", ["no address", "/v1", "http://exa mple/v1"])
async def test_address_that_cannot_be_asked_has_the_same_error_over_each_transport(base_url: str) -> None:
    said = set[tuple[type, str]]()
    async with loopback.client() as http:
        for packaged in (True, False):
            with pytest.raises((Unavailable, Unusable)) as raised:
                await remote_endpoint(http, base_url, packaged=packaged).ask(b'{"messages":[]}', 20)
            said.add((type(raised.value), str(raised.value)))
    assert len(said) == 1


@given(
    st.dictionaries(st.sampled_from(["Accept", "X-One", "traceparent", "OpenAI-Project"]), st.text("abc 1", max_size=9))
)
def test_any_headers_arrive_alike_over_each_transport(headers: dict[str, str]) -> None:
    sent: list[httpx2.Request] = []

    async def answer(request: httpx2.Request) -> httpx2.Response:
        sent.append(request)
        return httpx2.Response(200)

    async def send() -> None:
        async with httpx2.AsyncClient(transport=httpx2.MockTransport(answer)) as http:
            for kind in TRANSPORTS:
                await transport(kind, http).post("http://h/v1", headers, b"{}")

    asyncio.run(send())
    one, other = ({name.lower(): value for name, value in request.headers.items()} for request in sent)
    assert one == other


WHERE = """
import asyncio, sys, threading
import httpx2
from gofer.models.transport import Packaged, Plain
threads = []
class Watch:
    def find_spec(self, name, path, target=None):
        if name == "openai":
            threads.append(threading.current_thread() is threading.main_thread())
sys.meta_path.insert(0, Watch())
async def main():
    async with httpx2.AsyncClient(trust_env=False) as http:
        packaged = Packaged(Plain(http))
        print("openai" in sys.modules)
        await asyncio.gather(packaged.load(), packaged.load())
        print("openai" in sys.modules, threads)
asyncio.run(main())
"""


def test_package_is_imported_when_a_model_is_first_asked_and_in_a_thread() -> None:
    done = subprocess.run([sys.executable, "-c", WHERE], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["False", "True [False]"]
