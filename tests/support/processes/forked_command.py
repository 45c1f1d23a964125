"""A `gofer` command in a process of its own, forked from the fork server: with its folder, environment and streams."""

import asyncio
import gc
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, TextIO

from gofer.cli.main import main
from support.processes.forks import FORKS, exit_code, start


class ForkedCommand:
    """A command that was started, with as much of asyncio's Process as tests use."""

    def __init__(self, process: BaseProcess, stdout: asyncio.StreamReader, stderr: asyncio.StreamReader) -> None:
        self.stdout = stdout
        self.stderr = stderr
        self.returncode: int | None = None
        self._process = process

    async def wait(self) -> int:
        """Wait for its end and return its exit code."""
        if self.returncode is None:
            self.returncode = await exit_code(self._process)
        return self.returncode

    async def communicate(self) -> tuple[bytes, bytes]:
        """Return all that it writes, once it has ended."""
        out, err = await asyncio.gather(self.stdout.read(), self.stderr.read())
        await self.wait()
        return out, err

    def send_signal(self, number: signal.Signals) -> None:
        """Send it a signal."""
        assert self._process.pid is not None
        os.kill(self._process.pid, number)

    def terminate(self) -> None:
        """Ask it to stop."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)


async def start_command(
    words: Sequence[str], folder: Path, environment: Mapping[str, str], port: int | None = None
) -> ForkedCommand:
    """Start `gofer` with these words in a folder, with this environment and no other.

    `port` is the only port that it may connect to; None allows any.
    """
    out, stdout = FORKS.Pipe(duplex=False)
    err, stderr = FORKS.Pipe(duplex=False)
    process = start(_live, list(words), folder, dict(environment), (stdout, stderr), port)
    stdout.close()
    stderr.close()
    return ForkedCommand(process, await _reader(out), await _reader(err))


def _live(
    words: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    streams: tuple[Connection, Connection],
    port: int | None,
) -> None:
    # The inherited memory has no garbage, and a collection would copy all of it.
    gc.freeze()
    sys.stdout, sys.stderr = _opened(streams[0], 1), _opened(streams[1], 2)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    if port is not None:
        sys.addaudithook(partial(_guard, port))
    raise SystemExit(main(words))


def _guard(port: int, event: str, arguments: tuple[Any, ...]) -> None:
    """Raise RuntimeError if this process connects to another port."""
    if event == "socket.connect" and arguments[1][1] != port:
        raise RuntimeError(f"the process opened a connection: {arguments[1]}")


def _opened(pipe: Connection, number: int) -> TextIO:
    """Return a stream into a pipe, which takes the place of the one with that number."""
    os.dup2(pipe.fileno(), number)
    pipe.close()
    return open(number, "w", buffering=1, encoding="utf-8", closefd=False)


async def _reader(pipe: Connection) -> asyncio.StreamReader:
    """Return a reader of the bytes written into a pipe."""
    reader = asyncio.StreamReader()
    file = os.fdopen(os.dup(pipe.fileno()), "rb", buffering=0)
    pipe.close()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), file)
    return reader
