"""`gofer serve` in this process, until a signal: what the processes of test_serve.py do, seen from inside."""

import asyncio
import logging
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from gofer.cli.main import main
from serving import Desk, desk


@pytest.fixture(autouse=True)
def loggers() -> Iterator[None]:
    """The process's loggers are left as they were."""
    root, own = logging.getLogger(), logging.getLogger("gofer")
    before = (root.handlers[:], root.level, own.level)
    yield
    root.handlers[:], root.level, own.level = before


@pytest.mark.parametrize(("how", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_it_serves_until_a_signal_and_says_what(
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

    async def mention(made: Desk) -> None:
        made.write_env(SLACK_BOT_TOKEN="xoxb-simulated", SLACK_APP_TOKEN="xapp-simulated", SLACK_SIGNING_SECRET="s")
        ready.set()
        async with asyncio.timeout(30):
            while not made.slack.sockets.connections:
                await asyncio.sleep(0.01)
        answers.append((await made.answer(await made.ask("@Gofer hello"))).text)

    async def outside() -> None:
        async with desk(tmp_path) as made:
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
    assert "Stopping; runs under way" in err
