"""Causes of a server that cannot be reached, found at real sockets."""

import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from gofer.models.language_model import Unavailable
from gofer.models.remote import remote_endpoint
from gofer.models.unreached import cause_of
from support.http import loopback
from support.http.threaded_server import Requests, serving

pytestmark = pytest.mark.anyio


@contextmanager
def closed_port() -> Iterator[int]:
    """Hold a port at which nothing listens."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]


async def said(base_url: str) -> str:
    async with loopback.client() as http:
        with pytest.raises(Unavailable) as raised:
            await remote_endpoint(http, base_url).ask(b'{"messages":[]}', 10)
    return str(raised.value)


async def test_port_without_a_server_is_named() -> None:
    with closed_port() as port:
        text = await said(f"http://127.0.0.1:{port}/v1")
    assert text == f"The model could not be reached: 127.0.0.1 at port {port} refuses connections."


async def test_name_without_an_address_is_named() -> None:
    text = await said("https://no-such-host.invalid/v1")
    assert text == "The model could not be reached: the name no-such-host.invalid has no address."


async def test_scheme_that_the_server_does_not_speak_is_named() -> None:
    with serving(Requests) as url:
        text = await said(url.replace("http:", "https:"))
    assert text.endswith(" does not speak TLS, which https:// asks for.")


def test_certificate_is_named_with_the_reason() -> None:
    refused = ssl.SSLCertVerificationError(1, "certificate verify failed")
    refused.verify_message = "self-signed certificate"
    error = OSError("no connection")
    error.__cause__ = ExceptionGroup("several", [refused])
    words = "the certificate of models.example at port 443 is not accepted (self-signed certificate)"
    assert cause_of(error, "https://models.example/v1") == words


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("http://10.0.0.1:8080/v1", "10.0.0.1 at port 8080 gives no whole answer in HTTP; it may ask for https://"),
        ("https://models.example/v1", "models.example at port 443 gives no whole answer"),
    ],
)
def test_connection_that_breaks_off_is_named_by_host_and_port(url: str, words: str) -> None:
    assert cause_of(ConnectionResetError(), url) == words
