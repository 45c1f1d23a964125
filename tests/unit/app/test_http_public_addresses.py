"""HTTP requests to the public internet: address checks and pinned connections."""

import asyncio
import ssl
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx2
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gofer.app.embedded.server import serve
from gofer.app.http import PublicOnly, SharedHttp, http_client, is_public_address
from gofer.values.errors import TemporaryError
from gofer.values.outside import HttpRequest, NotPublic
from gofer.values.proxies import DIRECT

pytestmark = pytest.mark.anyio


async def hello(_: Request) -> Response:
    return Response(b"hello")


APP = Starlette(routes=[Route("/", hello)])
PUBLIC = "93.184.215.14"
PUBLIC_V6 = "2606:2800:21f:cb07:6820:80da:af6b:8b2c"


@pytest.mark.parametrize(
    "address", [PUBLIC, PUBLIC_V6, "8.8.8.8", "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::1"]
)
def test_addresses_of_the_public_internet_are_public(address: str) -> None:
    assert is_public_address(address)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "127.255.255.254",
        "0.0.0.0",
        "10.0.0.1",
        "172.16.0.1",
        "192.168.1.1",
        "100.64.0.1",
        "100.100.100.200",
        "169.254.169.254",
        "168.63.129.16",
        "192.0.0.192",
        "198.18.0.1",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::127.0.0.1",
        "::ffff:7f00:1",
        "::ffff:169.254.169.254",
        "64:ff9b::7f00:1",
        "64:ff9b::a9fe:a9fe",
        "64:ff9b:1::1",
        "2002:7f00:1::1",
        "2002:a00:1::1",
        "2001::1",
        "fd00:ec2::254",
        "fe80::1",
        "fe80::1%eth0",
        "fec0::1",
        "ff02::1",
        "2001:db8::1",
        "",
        "localhost",
        "0177.1",
        "2130706433",
    ],
)
def test_private_special_or_malformed_address_is_not_public(address: str) -> None:
    assert not is_public_address(address)


@dataclass
class Names:
    """A resolver with prepared answers, one for each question."""

    answers: dict[str, list[Sequence[str]]]
    asked: list[str] = field(default_factory=list)

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        if not (left := self.answers.get(host)):
            raise OSError("no such name")
        return left.pop(0)


@dataclass
class Sent(httpx2.AsyncBaseTransport):
    """A transport that records its requests. Connections to `down` addresses fail."""

    down: frozenset[str] = frozenset()
    requests: list[httpx2.Request] = field(default_factory=list)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(request)
        if request.url.host in self.down:
            raise httpx2.ConnectError("down")
        return httpx2.Response(200, content=b"here")


async def get(url: str, names: Names, sender: Sent) -> httpx2.Response:
    async with httpx2.AsyncClient(transport=PublicOnly(sender, names), trust_env=False) as client:
        return await client.get(url)


async def test_public_request_connects_to_the_checked_address_and_keeps_the_host_name() -> None:
    names, sender = Names({"files.example": [[PUBLIC], ["127.0.0.1"]]}), Sent()
    assert (await get("https://files.example/a?b=c", names, sender)).content == b"here"
    (sent,) = sender.requests
    assert str(sent.url) == f"https://{PUBLIC}/a?b=c"
    assert sent.headers["host"] == "files.example"
    assert sent.extensions["sni_hostname"] == "files.example"
    assert names.asked == ["files.example"]


async def test_host_name_that_later_resolves_to_a_private_address_is_refused() -> None:
    names, sender = Names({"files.example": [[PUBLIC], ["127.0.0.1"]]}), Sent()
    await get("https://files.example/a", names, sender)
    with pytest.raises(NotPublic):
        await get("https://files.example/a", names, sender)
    assert len(sender.requests) == 1


@pytest.mark.parametrize(
    ("host", "addresses"),
    [
        ("127.0.0.1.nip.io", ["127.0.0.1"]),
        ("kubernetes.default.svc", ["10.96.0.1"]),
        ("0177.1", ["127.0.0.1"]),
        ("2130706433", ["127.0.0.1"]),
        ("[::ffff:7f00:1]", ["::ffff:7f00:1"]),
        ("both.example", [PUBLIC, "10.0.0.1"]),
        ("both.example", [PUBLIC_V6, "::1", PUBLIC]),
        ("empty.example", []),
    ],
)
async def test_host_name_with_any_private_address_is_refused(host: str, addresses: list[str]) -> None:
    names, sender = Names({host.strip("[]"): [addresses]}), Sent()
    with pytest.raises(NotPublic) as refused:
        await get(f"https://{host}/", names, sender)
    assert refused.value.code == "elsewhere"
    assert sender.requests == []


async def test_public_request_tries_the_next_address_after_a_failed_connection() -> None:
    names, sender = Names({"files.example": [[PUBLIC_V6, PUBLIC]]}), Sent(frozenset({PUBLIC_V6}))
    assert (await get("https://files.example/", names, sender)).status_code == 200
    assert [sent.url.host for sent in sender.requests] == [PUBLIC_V6, PUBLIC]
    assert sender.requests[0].extensions["timeout"]["connect"] == 2.5


async def test_unresolvable_host_name_is_a_temporary_error() -> None:
    async with http_client(DIRECT, Names({})) as client:
        with pytest.raises(TemporaryError, match="ConnectError"):
            await SharedHttp(client).send(HttpRequest("GET", "https://gone.example/", public_only=True))


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "0177.1", "2130706433", "[::1]", "[::ffff:7f00:1]"])
async def test_public_request_never_reaches_this_machine_through_the_system_resolver(host: str) -> None:
    async with serve(APP) as url, http_client(DIRECT) as client:
        port = url.rpartition(":")[2]
        with pytest.raises(NotPublic):
            await SharedHttp(client).send(HttpRequest("GET", f"http://{host}:{port}/", public_only=True))
        # A URL that the operator configured may be private.
        assert (await SharedHttp(client).send(HttpRequest("GET", url))).status == 200


async def test_public_request_keeps_the_host_header_and_opens_a_connection_per_request() -> None:
    asked: list[tuple[str, int]] = []

    async def note(request: Request) -> Response:
        assert request.client is not None
        asked.append((request.headers["host"], request.client.port))
        return Response(b"noted")

    names = Names({"one.example": [["127.0.0.1"]] * 2, "two.example": [["127.0.0.1"]]})
    async with (
        serve(Starlette(routes=[Route("/", note)])) as url,
        http_client(DIRECT, names, is_public=lambda address: address == "127.0.0.1") as client,
    ):
        port = url.rpartition(":")[2]
        for name in ("one", "two", "one"):
            request = HttpRequest("GET", f"http://{name}.example:{port}/", public_only=True)
            assert (await SharedHttp(client).send(request)).body == b"noted"
    assert [host for host, _ in asked] == [f"{name}.example:{port}" for name in ("one", "two", "one")]
    assert len({from_port for _, from_port in asked}) == 3
    assert names.asked == ["one.example", "two.example", "one.example"]


@asynccontextmanager
async def tls_server(folder: Path, name: str) -> AsyncGenerator[tuple[int, ssl.SSLContext, list[str | None]]]:
    """Serve TLS with a certificate for a name; yield the port, a trusting context and the requested names."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(subject, subject, key.public_key(), 1, now - timedelta(1), now + timedelta(1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    public = certificate.public_bytes(serialization.Encoding.PEM)
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (folder / "server.pem").write_bytes(public + private)
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(folder / "server.pem")
    asked: list[str | None] = []
    serving.sni_callback = lambda _, sni, __: asked.append(sni)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append((await reader.readuntil(b"\r\n\r\n")).decode().partition("Host: ")[2].partition("\r\n")[0])
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0, ssl=serving) as server:
        trusting = ssl.create_default_context(cadata=public.decode())
        yield server.sockets[0].getsockname()[1], trusting, asked


async def test_tls_certificate_is_verified_for_the_host_name_not_the_address(tmp_path: Path) -> None:
    async with tls_server(tmp_path, "files.example") as (port, trusting, asked):
        sender = httpx2.AsyncHTTPTransport(
            verify=trusting, limits=httpx2.Limits(max_keepalive_connections=0), trust_env=False
        )
        names = Names({"files.example": [["127.0.0.1"]], "other.example": [["127.0.0.1"]]})
        public = PublicOnly(sender, names, is_public=lambda _: True)
        async with httpx2.AsyncClient(transport=public, trust_env=False) as client:
            assert (await client.get(f"https://files.example:{port}/")).content == b"ok"
            assert asked == ["files.example", f"files.example:{port}"]
            with pytest.raises(httpx2.ConnectError, match="not valid for"):
                await client.get(f"https://other.example:{port}/")
