"""The fork server of the tests: real processes that start fast, because it has imported every module of Gofer."""

import asyncio
import multiprocessing
from collections.abc import Callable
from multiprocessing.process import BaseProcess

from gofer.cli.main import COMMANDS

FORKS = multiprocessing.get_context("forkserver")
# The last two are imported by the first only when it is opened.
FORKS.set_forkserver_preload(
    ["gofer.app.embedded.stack", *(f"gofer.cli.{name}" for name in COMMANDS), "httpcore2", "anyio._backends._asyncio"]
)


def start(life: Callable[..., None], *arguments: object) -> BaseProcess:
    """Start a process that runs the function."""
    process = FORKS.Process(target=life, args=arguments)
    process.start()
    return process


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
