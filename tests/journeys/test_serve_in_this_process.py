"""`gofer serve` in this process, until a signal: the startup of test_serve.py within reach of coverage."""

import asyncio
import logging
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gofer.cli.main import main
from support.app.command_line import gofer
from support.app.serve_process import OperatorFolder, operator_folder


@pytest.fixture(autouse=True)
def loggers() -> Iterator[None]:
    """Restore the process's loggers after the test."""
    root, own = logging.getLogger(), logging.getLogger("gofer")
    before = (root.handlers[:], root.level, own.level)
    yield
    root.handlers[:], root.level, own.level = before


@pytest.mark.parametrize(("how", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_serve_prints_connections_and_answers_until_a_signal(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    how: signal.Signals,
    code: int,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GOFER_DATA", str(tmp_path / "state"))
    ready = threading.Event()
    answers: list[str] = []

    async def mention(made: OperatorFolder) -> None:
        made.write_env(SLACK_BOT_TOKEN="xoxb-simulated", SLACK_APP_TOKEN="xapp-simulated", SLACK_SIGNING_SECRET="s")
        ready.set()
        async with asyncio.timeout(60):
            while not made.slack.sockets.connections:
                await asyncio.sleep(0.01)
        answers.append((await made.answer(await made.ask("@Gofer hello"))).text)

    async def outside() -> None:
        async with operator_folder(tmp_path) as made:
            try:
                await mention(made)
            finally:
                os.kill(os.getpid(), how)
                await asyncio.sleep(1)

    colleague = threading.Thread(target=asyncio.run, args=(outside(),))
    colleague.start()
    assert ready.wait(10)
    assert main(["serve", "--port", "0"]) == code
    colleague.join()
    out, err = capsys.readouterr()
    assert out == ""
    assert "Hello" in answers[0]
    assert "   Slack       Socket Mode, connected and POST http://127.0.0.1:" in err
    assert "   Model       gpt-5.4-mini, the model behind 127.0.0.1" in err
    assert "Stopping; running runs" in err


@contextmanager
def beside(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[OperatorFolder]:
    """An operator's folder in a thread of its own; it is the current folder and has no state."""
    monkeypatch.chdir(folder)
    monkeypatch.delenv("GOFER_DATA", raising=False)
    ready, over = threading.Event(), threading.Event()
    made: list[OperatorFolder] = []

    async def outside() -> None:
        async with operator_folder(folder) as one:
            made.append(one)
            ready.set()
            await asyncio.to_thread(over.wait)

    colleague = threading.Thread(target=asyncio.run, args=(outside(),))
    colleague.start()
    try:
        assert ready.wait(30)
        yield made[0]
    finally:
        over.set()
        colleague.join()


def test_serve_stops_when_slack_refuses_a_token(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with beside(tmp_path, monkeypatch) as made:
        made.write_env(SLACK_BOT_TOKEN="xoxb-stolen", SLACK_APP_TOKEN="xapp-simulated")
        bot, _, bot_said = gofer(capsys, "serve", "--port", "0")
        made.write_env(SLACK_BOT_TOKEN="xoxb-simulated", SLACK_APP_TOKEN="xapp-stolen")
        app, _, app_said = gofer(capsys, "serve", "--port", "0")
    assert (bot, app) == (2, 2)
    told = "gofer: Slack does not accept SLACK_BOT_TOKEN (in"
    assert {line.startswith(told) for line in bot_said.splitlines()} == {True}
    assert app_said.splitlines()[-1].startswith("gofer: Slack does not accept SLACK_APP_TOKEN (invalid_auth)")
    assert "stolen" not in bot_said + app_said
    assert "Traceback" not in bot_said + app_said


HOLDS = """
import sys
from pathlib import Path
from gofer.app.embedded.state import serving
with serving(Path(".gofer")):
    print("held", flush=True)
    sys.stdin.read()
"""
"""The program of another process, which holds the state of the current folder until its stdin is closed."""


def test_serve_names_a_port_in_use_and_a_second_gofer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with beside(tmp_path, monkeypatch) as made:
        made.write_env(SLACK_BOT_TOKEN="xoxb-simulated", SLACK_APP_TOKEN="xapp-simulated")
        with socket.create_server(("127.0.0.1", 0)) as taken:
            code, _, said = gofer(capsys, "serve", "--port", str(taken.getsockname()[1]))
        assert (code, "Traceback" in said) == (1, False)
        assert "is already in use; stop the other program or choose another port." in said.splitlines()[-1]
        told = [sys.executable, "-c", HOLDS]
        with subprocess.Popen(told, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
            assert other.stdout is not None
            assert other.stdout.readline() == b"held\n"
            code, _, said = gofer(capsys, "serve", "--port", "0")
            other.communicate()
        told = rf"gofer: Another Gofer serves \.gofer \(process {other.pid}, since .* UTC\); stop it, or set GOFER_DATA"
        assert (code, bool(re.match(told, said))) == (2, True)
