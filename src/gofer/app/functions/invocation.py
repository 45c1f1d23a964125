"""The invocations that a coroutine answers, on one event loop that is kept for all of them, as its clients are.

What goes wrong unexpectedly is named by its type: the runtime would print all that the error says, contents too.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Protocol, TypeAlias

from aws_lambda_powertools.logging import Logger

from gofer.values.errors import GoferError


class Context(Protocol):
    """What the runtime says of an invocation."""

    def get_remaining_time_in_millis(self) -> int:
        """Return how long until it is killed."""
        ...


class Failed(Exception):
    """An invocation failed; the message is the type of what went wrong."""


Handler: TypeAlias = Callable[[object, Context], object]
Answer: TypeAlias = Callable[[object, float], Awaitable[object]]
"""What an event, and the seconds there are for it, come to. An error is one that Lambda counts, and may retry."""

_log = logging.getLogger(__name__)


def handler(logger: Logger, runner: asyncio.Runner, answer: Answer) -> Handler:
    """Return the entry point of a function; `runner` has the loop on which its clients were made, if they know one."""

    async def work(event: object, seconds: float) -> object:
        return await answer(event, seconds)

    def handle(event: object, context: Context) -> object:
        try:
            return runner.run(work(event, context.get_remaining_time_in_millis() / 1000))
        except GoferError as error:
            _log.error("%s", error)
            raise Failed(type(error).__name__) from None
        except Exception as error:  # noqa: BLE001 - at the rim: it is named, counted and tried again
            _log.exception("an invocation failed")
            raise Failed(type(error).__name__) from None

    return logger.inject_lambda_context(handle)
