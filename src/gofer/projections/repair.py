"""The repair of a model's tool calls for the history that the next request repeats.

A provider refuses a whole request for one id that stands twice, one name it would not have allowed, or one string of
arguments that is no JSON; and as a history only grows, it would refuse every later request too.
"""

import itertools
import re
from collections.abc import Collection

from gofer.values.messages import ToolAsk, arguments

_ID = re.compile("[!-~]{1,64}")
_NOT_IN_NAMES = re.compile("[^a-zA-Z0-9_-]")


def presentable(ask: ToolAsk, turn: int, index: int, taken: Collection[str]) -> ToolAsk:
    """The call as the history has it: an id that is not `taken`, a name any provider allows, arguments in JSON."""
    usable = _ID.fullmatch(ask.id) and ask.id not in taken
    return ToolAsk(
        id=ask.id if usable else _own_id(turn, index, taken),
        tool=_NOT_IN_NAMES.sub("_", ask.tool)[:64] or "unnamed",
        arguments=ask.arguments if _whole(ask.arguments) else "{}",
        extra=ask.extra,
    )


def _own_id(turn: int, index: int, taken: Collection[str]) -> str:
    """Nine letters and digits, which is what the strictest provider demands."""
    ids = (f"g{number % 10**8:08}" for number in itertools.count(turn * 1_000 + index))
    return next(candidate for candidate in ids if candidate not in taken)


def _whole(text: str) -> bool:
    try:
        arguments(text)
    except ValueError:
        return False
    return True
