"""Code of tools, kept from ending or holding up the process that runs it.

`sys.exit`, a raised KeyboardInterrupt and a raised CancelledError are failures of the code that raises them, also in
tasks that it starts. Ctrl-C and the cancellation of the task that awaits the code remain what they are.
"""

import asyncio
import itertools
import json
import logging
import threading
import time
import types
from collections.abc import Awaitable, Callable, Coroutine, Generator, Mapping
from contextvars import ContextVar
from functools import cache, partial
from typing import Any, TypeVar

from gofer.tools.definition import ToolResult
from gofer.values.canonical_json import encode, not_json
from gofer.values.errors import fault
from gofer.values.foreign_code import is_from_outside

T = TypeVar("T")

_FIELDS: Mapping[str, type | tuple[type, ...]] = {
    "text": str,
    "summary": str,
    "details": Mapping,
    "files": (list, tuple),
    "facts": (list, tuple),
    "media": (list, tuple),
}
"""The types of the fields of a result."""
_ENDS = {SystemExit: "it called exit", KeyboardInterrupt: "it raised KeyboardInterrupt"}
_BLOCKS = (
    "the tool %s has held up every other run of this process for %g seconds: let its code await, or do slow work "
    "with `asyncio.to_thread`"
)

_log = logging.getLogger(__name__)


class Misbehaved(Exception):
    """What no code of a tool may do. The message is a clause, such as `it called exit`; contents follow a colon."""


async def contained(name: str, code: Callable[[], Awaitable[T]], blocking: float) -> T:
    """Return what the code of a tool returns. Raises Misbehaved, and what the code raises.

    The log names a tool that holds up the event loop for longer than `blocking` seconds.
    """

    async def run() -> T:
        return await code()

    loop = asyncio.get_running_loop()
    if loop.get_task_factory() is None:
        loop.set_task_factory(_task)
    _watch(blocking)
    call = (name, blocking)
    token = _CURRENT.set(call)
    try:
        return await _through(call, run())
    finally:
        _CURRENT.reset(token)


async def _through(call: tuple[str, float], code: Coroutine[Any, Any, T]) -> T:
    """Return what a coroutine of a tool returns, step by step."""
    return await _each(call, code)


@types.coroutine
def _each(call: tuple[str, float], code: Coroutine[Any, Any, T]) -> Generator[Any, Any, T]:
    thread = threading.get_ident()
    step: Callable[[], object] = partial(code.send, None)
    while True:
        _STEPS[thread] = (*call, next(_NUMBERS))
        try:
            waits_for = step()
        except StopIteration as end:
            return end.value
        except (SystemExit, KeyboardInterrupt) as error:
            # In a task, either of them would end the whole event loop.
            if is_from_outside(error):
                raise
            raise Misbehaved(_ENDS[type(error)]) from error
        finally:
            _STEPS.pop(thread, None)
        try:
            given = yield waits_for
        except GeneratorExit:
            code.close()
            raise
        except BaseException as error:  # noqa: BLE001 - the code gets it where it waits
            step = partial(code.throw, error)
        else:
            step = partial(code.send, given)


_STEPS: dict[int, tuple[str, float, int]] = {}
"""The tool whose code runs now in each thread, its limit in seconds, and the number of this step. The event loop of the
thread does nothing else meanwhile."""
_NUMBERS = itertools.count()


@cache
def _watch(blocking: float) -> None:
    threading.Thread(target=_look, args=(blocking,), name="gofer-held-up", daemon=True).start()


def _look(blocking: float) -> None:
    """Log each step with this limit that takes longer, once, for as long as the process lives."""
    seen: set[int] = set()
    told: set[int] = set()
    while True:
        time.sleep(blocking)
        steps = {number: name for name, limit, number in _STEPS.copy().values() if limit == blocking}
        for number in (steps.keys() & seen) - told:
            _log.error(_BLOCKS, steps[number], blocking)
            told.add(number)
        seen = set(steps)
        told &= seen


_CURRENT: ContextVar[tuple[str, float] | None] = ContextVar("tool", default=None)
"""The tool to whose call this task belongs, and the limit in seconds of its steps."""


def _task(
    loop: asyncio.AbstractEventLoop, code: Coroutine[Any, Any, T] | Generator[Any, None, T], **options: Any
) -> asyncio.Task[T]:
    """Return a new task. A task that a contained call starts is contained too."""
    call = _CURRENT.get()
    if call is not None and isinstance(code, Coroutine):
        code = _through(call, code)
    return asyncio.Task(code, loop=loop, **options)


def checked(result: object) -> ToolResult:
    """Return the result of a tool. Raises Misbehaved for a value that is none, which no type checker has seen."""
    if result is None:
        raise Misbehaved("it returned None instead of a ToolResult, as if a `return` were missing")
    if not isinstance(result, ToolResult):
        raise Misbehaved(f"it returned a {type(result).__name__} instead of a ToolResult")
    for name, kind in _FIELDS.items():
        if not isinstance(getattr(result, name), kind):
            raise Misbehaved(f"it returned a ToolResult with a wrong `{name}`")
    if not all(isinstance(getattr(file, "content", ""), bytes | None) for file in result.files):
        raise Misbehaved("it returned a ToolResult with wrong `files`")
    try:
        encode([dict(result.details), result.value])
        "".join(result.details)
    except (TypeError, ValueError, RecursionError) as error:
        flaw = not_json({"details": result.details, "value": result.value})
        raise Misbehaved(f"it returned what is not JSON: {flaw}") from error
    return result


def bug_of(error: BaseException) -> str:
    """Return a bug of a tool as people and models read it."""
    if isinstance(error, Misbehaved):
        return f"a bug ({error})"
    return type(error).__name__


def logged_bug(error: BaseException) -> str:
    """Return a bug of a tool for the log, without contents."""
    if isinstance(error, Misbehaved):
        return f"a bug ({str(error).partition(': ')[0]})"
    return fault(error)


def has_half_character(result: object) -> bool:
    """Return whether a text of a result has a lone surrogate, which no encoding can carry."""
    if not isinstance(result, ToolResult):
        return False
    names = [one.name for one in result.files]
    texts = [result.text, result.summary, result.details, result.value, names]
    try:
        json.dumps(texts, ensure_ascii=False, default=str).encode()
    except UnicodeEncodeError:
        return True
    return False
