"""A `gofer` command in a process of its own, forked from the fork server: with its folder, environment and streams."""

import asyncio
import gc
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import TextIO

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


async def start_command(words: Sequence[str], folder: Path, environment: Mapping[str, str]) -> ForkedCommand:
    """Start `gofer` with these words in a folder, with this environment and no other."""
    out, stdout = FORKS.Pipe(duplex=False)
    err, stderr = FORKS.Pipe(duplex=False)
    process = start(_live, list(words), folder, dict(environment), stdout, stderr)
    stdout.close()
    stderr.close()
    return ForkedCommand(process, await _reader(out), await _reader(err))


def _live(
    words: Sequence[str], folder: Path, environment: Mapping[str, str], stdout: Connection, stderr: Connection
) -> None:
    # The inherited memory has no garbage, and a collection would copy all of it.
    gc.freeze()
    sys.stdout, sys.stderr = _opened(stdout, 1), _opened(stderr, 2)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    raise SystemExit(main(words))


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
