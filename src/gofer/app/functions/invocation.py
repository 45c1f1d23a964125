"""The entry point of a function: a coroutine answers each invocation, on one event loop for the life of the process.

Only the type of an unexpected error leaves this module, because the runtime would print its message, which may hold
contents.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Protocol, TypeAlias

from aws_lambda_powertools.logging import Logger

from gofer.values.errors import GoferError


class Context(Protocol):
    """The runtime's data on an invocation."""

    def get_remaining_time_in_millis(self) -> int:
        """Return the milliseconds until the runtime kills the invocation."""
        ...


class Failed(Exception):
    """A failed invocation. The message is the type of the error."""


Handler: TypeAlias = Callable[[object, Context], object]
Answer: TypeAlias = Callable[[object, float], Awaitable[object]]
"""Answers an event within a number of seconds. Lambda counts an error as failed, and may retry the event."""

_log = logging.getLogger(__name__)


def handler(logger: Logger, runner: asyncio.Runner, answer: Answer) -> Handler:
    """Return the entry point of a function. `runner` owns the event loop, to which clients may be bound."""

    async def work(event: object, seconds: float) -> object:
        return await answer(event, seconds)

    def handle(event: object, context: Context) -> object:
        try:
            return runner.run(work(event, context.get_remaining_time_in_millis() / 1000))
        except GoferError as error:
            _log.error("%s", error)
            raise Failed(type(error).__name__) from None
        except Exception as error:  # noqa: BLE001 - the outermost frame, which hides the message of the error
            _log.exception("an invocation failed")
            raise Failed(type(error).__name__) from None

    return logger.inject_lambda_context(handle)
