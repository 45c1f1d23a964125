"""The fork server of the tests: real processes that start fast, because a Gofer has already worked in its memory."""

import asyncio
import multiprocessing
import sys
from collections.abc import Callable
from multiprocessing.process import BaseProcess

from gofer.cli.main import COMMANDS

FORKS = multiprocessing.get_context("forkserver")
PLAYED = "support.processes.played_once"
# The fork server has the root of the repository in its path.
FORKS.set_forkserver_preload([*(f"gofer.cli.{name}" for name in COMMANDS), f"tests.{PLAYED}"])


def start(life: Callable[..., None], *arguments: object) -> BaseProcess:
    """Start a process that runs the function."""
    process = FORKS.Process(target=_live, args=(life, *arguments))
    process.start()
    return process


def _live(life: Callable[..., None], *arguments: object) -> None:
    # The fork server goes on without a module that it cannot import.
    assert f"tests.{PLAYED}" in sys.modules
    life(*arguments)


async def exit_code(process: BaseProcess) -> int:
    """Wait for the end of a process and return its exit code, negative for a signal."""
    loop, over = asyncio.get_running_loop(), asyncio.Event()
    # Not joined in a thread: an exit status can be read only once, and starting another process reads it as well.
    loop.add_reader(process.sentinel, over.set)
    try:
        await over.wait()
    finally:
        loop.remove_reader(process.sentinel)
    process.join()
    assert process.exitcode is not None
    return process.exitcode
