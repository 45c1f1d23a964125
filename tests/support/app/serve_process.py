"""`gofer serve` as an operator runs it: a folder with agents/ and .env, a process, and a simulated Slack."""

import asyncio
import contextlib
import io
import json
import os
import random
import shutil
import signal
import socket
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from gofer.app.embedded.server import serve
from gofer.cli.main import main
from gofer.values.outside import SystemClock
from gofer_simulators.demo import demo_scripts, demo_world
from gofer_simulators.offline_model import offline_model
from gofer_simulators.slack.delivery import Pace
from gofer_simulators.slack.simulator import SlackSimulator
from gofer_simulators.slack.workspace import Message
from support.app.company import ROOT
from support.http import loopback
from support.processes.forked_command import ForkedCommand, start_command

SECRET = "simulated-signing-secret"
PATIENCE = 120.0
"""The most seconds that a test waits for an event."""


def free_port() -> int:
    """Return a free port that no connection of another test gets from the system."""
    return first_of_free_ports(1)


def first_of_free_ports(count: int) -> int:
    """Return the first of so many free ports in a row, below those that the system gives to connections."""
    for first in random.sample(range(20_000, 30_000), 100):
        with contextlib.ExitStack() as stack, contextlib.suppress(OSError):
            for port in range(first, first + count):
                stack.enter_context(socket.socket()).bind(("0.0.0.0", port))
            return first
    raise AssertionError("no free ports in a row")


@dataclass
class Running:
    """A `gofer` process that was started."""

    process: ForkedCommand
    lines: list[str] = field(default_factory=list)

    async def says(self, words: str, after: int = 0) -> None:
        """Wait until a line of stderr behind the first `after` lines contains the words."""
        async with asyncio.timeout(PATIENCE):
            while not any(words in line for line in self.lines[after:]):
                line = await self.process.stderr.readline()
                assert line, self.lines
                self.lines.append(line.decode().rstrip())

    async def ends(self) -> int:
        async with asyncio.timeout(PATIENCE):
            rest = await self.process.stderr.read()
            self.lines += rest.decode().splitlines()
            return await self.process.wait()

    async def stop(self, how: signal.Signals = signal.SIGTERM) -> int:
        self.process.send_signal(how)
        return await self.ends()


@dataclass
class OperatorFolder:
    """An operator's folder with a simulated Slack and the offline model."""

    folder: Path
    slack: SlackSimulator
    api: str
    model: str
    started: list[ForkedCommand] = field(default_factory=list[ForkedCommand])

    def write_env(self, **values: str) -> None:
        """Write the `.env` file, with the addresses of the simulators."""
        given = {"SLACK_API_URL": self.api, "OPENAI_BASE_URL": self.model, **values}
        (self.folder / ".env").write_text("".join(f"{name}={value}\n" for name, value in given.items()))

    async def start(self, *words: str, **environment: str) -> Running:
        kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
        process = await start_command(words, self.folder, {**kept, **environment})
        self.started.append(process)
        return Running(process)

    async def end(self) -> None:
        """Kill the processes that a failed test left running."""
        for process in self.started:
            if process.returncode is None:
                process.kill()
                await process.communicate()

    async def read(self, *words: str) -> str:
        """Run a command that must succeed; return its output."""
        process = (await self.start(*words)).process
        out, err = await process.communicate()
        assert process.returncode == 0, err.decode()
        return out.decode()

    def manifest(self, *words: str) -> str:
        """Return what `gofer manifest` prints in the folder, without a process of its own."""
        with contextlib.chdir(self.folder), contextlib.redirect_stdout(io.StringIO()) as out:
            assert main(["manifest", *words]) == 0
        return out.getvalue()

    async def ask(self, text: str, channel: str = "C0GENERA0") -> Message:
        return await self.slack.say("U0CAPTN0", channel, self.slack.typed(text))

    async def answer(self, asked: Message) -> Message:
        """Return the answer to a message, once it has replaced the status message."""
        async with asyncio.timeout(PATIENCE):
            while not (answers := self.answers(asked)) or answers[0].edited_ts is None:
                await asyncio.sleep(0.02)
        return answers[0]

    def answers(self, asked: Message) -> Sequence[Message]:
        return [m for m in self.slack.workspace.replies(asked) if m.user == self.slack.workspace.bot.user]


@asynccontextmanager
async def operator_folder(folder: Path, world: Mapping[str, object] | None = None) -> AsyncIterator[OperatorFolder]:
    """Yield a copy of the shipped repository, with a simulated Slack and the offline model."""
    for name in ("agents", "coordinators", "skills", "subagents"):
        shutil.copytree(ROOT / name, folder / name)
    async with loopback.client() as http:
        slack = SlackSimulator(world or demo_world(), clock=SystemClock().now, http=http, pace=Pace(gap_factor=0.01))
        async with (
            serve(slack.app, websockets=True) as url,
            serve(offline_model(demo_scripts())) as model,
        ):
            made = OperatorFolder(folder, slack, f"{url}/api", f"{model}/v1")
            try:
                yield made
            finally:
                await made.end()
            await slack.close()


def log_lines(running: Running) -> list[dict]:
    """Return the structured lines of a process's stderr."""
    return [json.loads(line) for line in running.lines if line.startswith("{")]
