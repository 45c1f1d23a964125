"""The embedded HTTP server: serving on the running loop and stopping in bounded time."""

import asyncio
import gc
import signal
import socket
from contextlib import suppress

import httpx2
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from gofer.app.embedded.server import serve
from gofer.values.errors import MachineError
from support.http import loopback


async def hello(_: Request) -> Response:
    return PlainTextResponse("hello")


APP = Starlette(routes=[Route("/", hello)])


def test_server_listens_on_loopback_until_the_end_of_the_block() -> None:
    async def story() -> None:
        before = signal.getsignal(signal.SIGINT)
        async with loopback.client() as http:
            async with serve(APP) as url:
                assert url.startswith("http://127.0.0.1:")
                assert (await http.get(url)).text == "hello"
                assert signal.getsignal(signal.SIGINT) is before
            with pytest.raises(httpx2.ConnectError):
                await http.get(url)

    asyncio.run(story())


def test_port_in_use_is_reported_and_can_be_reused_afterwards() -> None:
    async def story() -> None:
        async with loopback.client() as http, serve(APP) as url:
            # The server will end this connection, which keeps the port in TIME_WAIT.
            await http.get(url)
            port = int(url.rpartition(":")[2])
            with pytest.raises(MachineError, match=f"Port {port} on 127.0.0.1 is already in use"):
                async with serve(APP, port):
                    pass
        async with serve(APP, port) as again:
            assert again == url

    asyncio.run(story())


async def connects_each_turn(url: str, sockets: list[socket.socket]) -> None:
    """Open one connection in each turn of the loop until the port is closed."""
    port = int(url.rpartition(":")[2])
    with suppress(ConnectionRefusedError):
        while True:
            sockets.append(socket.create_connection(("127.0.0.1", port)))
            await asyncio.sleep(0)


@pytest.mark.filterwarnings("error")
def test_connection_opened_during_shutdown_is_closed() -> None:
    async def story() -> None:
        opened: list[socket.socket] = []
        async with serve(APP) as url:
            connecting = asyncio.create_task(connects_each_turn(url, opened))
            for _ in range(8):
                await asyncio.sleep(0)
        await connecting
        assert len(opened) >= 8
        for connection in opened:
            with connection, suppress(ConnectionResetError):
                connection.settimeout(5)
                assert connection.recv(1) == b""

    asyncio.run(story())
    gc.collect()


def test_endless_request_does_not_block_the_shutdown(caplog: pytest.LogCaptureFixture) -> None:
    entered = asyncio.Event()

    async def forever(_: Request) -> Response:
        entered.set()
        await asyncio.sleep(3600)
        return PlainTextResponse("too late")

    async def story() -> None:
        async with loopback.client() as http:
            async with serve(Starlette(routes=[Route("/", forever)]), grace_seconds=1) as url:
                hanging = asyncio.create_task(http.get(url))
                await entered.wait()
            with pytest.raises(httpx2.HTTPError):
                (await hanging).raise_for_status()

    asyncio.run(story())
    assert "1 requests took longer than 1 s and are cancelled" in caplog.text


def test_request_in_progress_is_answered_before_the_shutdown() -> None:
    entered = asyncio.Event()

    async def slow(_: Request) -> Response:
        entered.set()
        # The server is asked to stop with one of the next turns of the loop.
        for _ in range(100):
            await asyncio.sleep(0)
        return PlainTextResponse("done")

    async def story() -> str:
        async with loopback.client() as http:
            async with serve(Starlette(routes=[Route("/", slow)])) as url:
                asked = asyncio.create_task(http.get(url))
                await entered.wait()
            return (await asked).text

    assert asyncio.run(story()) == "done"


def test_server_with_idle_connections_only_stops_at_once() -> None:
    async def story() -> None:
        async with loopback.client() as http, serve(APP, grace_seconds=3_600) as url:
            # The connection stays open for a next request.
            await http.get(url)

    asyncio.run(story())


def test_server_stops_when_the_surrounding_task_is_cancelled() -> None:
    async def story() -> None:
        listening: asyncio.Queue[str] = asyncio.Queue()

        async def host() -> None:
            async with serve(APP) as url:
                listening.put_nowait(url)
                await asyncio.sleep(3600)

        hosting = asyncio.create_task(host())
        url = await listening.get()
        hosting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await hosting
        async with loopback.client() as http:
            with pytest.raises(httpx2.ConnectError):
                await http.get(url)

    asyncio.run(story())


def test_two_servers_share_a_loop_and_an_error_in_the_block_propagates() -> None:
    async def story() -> None:
        async with serve(APP) as one, serve(APP) as other, loopback.client() as http:
            assert one != other
            assert (await http.get(one)).text == (await http.get(other)).text == "hello"
            raise LookupError("from the block")

    with pytest.raises(LookupError, match="from the block"):
        asyncio.run(story())
