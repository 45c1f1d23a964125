"""Errors and values of code that no type checker of Gofer has seen, such as a company's tools and scripts."""

import asyncio
import dis
from typing import TypeVar

T = TypeVar("T")
RAISED = (Exception, SystemExit, KeyboardInterrupt, asyncio.CancelledError)
"""Errors that code may raise by mistake. `is_from_outside` says which of them are not its doing."""
_RAISES = dis.opmap["RAISE_VARARGS"]


def of_kind(value: object, kind: type[T]) -> T:
    """Return a value of an expected type. Raises TypeError for another one."""
    if isinstance(value, kind):
        return value
    raise TypeError(f"a {type(value).__name__} is no {kind.__name__}")


def is_from_outside(error: BaseException) -> bool:
    """Return whether an error ends the process or the task, and is not the doing of the code that it came through."""
    match error:
        case asyncio.CancelledError():
            return _is_cancelled()
        case KeyboardInterrupt():
            return not _is_raised_by_code(error)
        case GeneratorExit():
            return True
        case _:
            return False


def _is_cancelled() -> bool:
    try:
        task = asyncio.current_task()
    except RuntimeError:
        # Outside of an event loop nothing is cancelled.
        return False
    return task is not None and task.cancelling() > 0


def _is_raised_by_code(error: BaseException) -> bool:
    """Return whether a `raise` of code is the origin of an error. Ctrl-C arrives between two instructions."""
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    if last is None:
        return False
    code = last.tb_frame.f_code
    # asyncio raises the error for a second Ctrl-C itself.
    return code.co_code[last.tb_lasti] == _RAISES and code.co_filename != asyncio.runners.__file__
