"""Threaded servers of the tests: no request or output outlives its test."""

import socket
import threading

import pytest

from support.http.threaded_server import Requests, serving

LINE = b"POST / HTTP/1.1\r\nContent-Length: 0\r\n\r\n"


def test_threaded_server_finishes_requests_of_departed_clients_silently(
    capfd: pytest.CaptureFixture[str],
) -> None:
    asked, left = threading.Event(), threading.Event()

    class Slow(Requests):
        def take(self) -> None:
            asked.set()
            left.wait()
            for _ in range(2):  # the first is taken by a connection that is half closed
                self.reply(200, b"x" * 1_000_000)

    with serving(Slow) as url:
        with socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2]))) as client:
            client.sendall(LINE)
            asked.wait()
        left.set()
    assert [thread.name for thread in threading.enumerate() if "process_request" in thread.name] == []
    assert capfd.readouterr().err == ""


def test_threaded_server_stops_despite_an_idle_connection() -> None:
    class Prompt(Requests):
        def take(self) -> None:
            self.reply(200, b"here")

    with serving(Prompt) as url:
        client = socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2])))
        client.sendall(LINE)
        assert client.recv(12) == b"HTTP/1.1 200"
    with client:
        assert b"".join(iter(lambda: client.recv(4096), b"")).endswith(b"here")
