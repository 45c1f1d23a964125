"""Matchers of eval files: what an argument, a value of the world or a field of an answer must be.

A plain value must be equal. A mapping matches an object with at least its keys, a list matches item by item, and a
mapping of operators only, such as `{any_of: [High, Highest]}`, matches if every operator holds.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sized
from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import Final, Literal, TypeAlias, cast, get_args

from typing_extensions import TypeIs

from gofer.evals.patterns import LONGEST_TEXT, PatternError, is_found
from gofer.values.canonical_json import as_list, as_object

Operator: TypeAlias = Literal[
    "present", "equals", "any_of", "matches", "contains", "at_least", "at_most", "min_items", "length"
]
OPERATORS: tuple[Operator, ...] = get_args(Operator)
"""The operators, in the order in which they are compared."""
MOST_STEPS = 100_000
"""The most values that one comparison looks at."""
_QUOTED = 80
"""The most characters of a value that a sentence quotes."""
_MOST_OPTIONS = 8


_Problem: TypeAlias = Callable[[], str]
"""The sentence about a value that does not match. It is written when it is used, because it quotes whole values."""


class Missing(Enum):
    """The value of a key that an object does not have."""

    MISSING = "missing"


MISSING: Final = Missing.MISSING


def is_operator(matcher: object) -> bool:
    """Return whether a matcher is a mapping of operators."""
    fields = as_object(matcher)
    return bool(fields) and fields.keys() <= set(OPERATORS)


def mismatch(matcher: object, value: object, at: str = "") -> str:
    """Return why a value does not match, as one plain sentence without a full stop; empty if it matches.

    `value` is plain JSON or `MISSING`. `at` names it in the sentence, such as `fields.priority`. Never raises.
    """
    try:
        problem = _Comparison().compare(matcher, value, at)
        if problem is None:
            return ""
        return problem()
    except _TooLargeError:
        return f"{_subject(at)} is too large to compare; match a smaller part"
    except PatternError as error:
        return str(error).rstrip(".")


def field_at(value: object, path: str) -> object:
    """Return the part of a JSON value that a dotted path leads to, or `MISSING`. Numbers lead into lists."""
    for step in path.split("."):
        if _is_object(value):
            value = value.get(step, MISSING)
        elif _is_list(value) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            return MISSING
    return value


class _TooLargeError(Exception):
    """A comparison of more than `MOST_STEPS` values."""


@dataclass(slots=True)
class _Comparison:
    """One comparison, with the number of values that it may still look at."""

    left: int = MOST_STEPS

    def compare(self, matcher: object, value: object, at: str) -> _Problem | None:
        """Return why a value does not match; None if it matches. Raises _TooLargeError and PatternError."""
        self._step()
        if is_operator(matcher):
            operands = as_object(matcher)
            named = filter(operands.keys().__contains__, OPERATORS)
            return _first(self._operator(operator, operands[operator], value, at) for operator in named)
        if _is_object(matcher):
            return self._fields(matcher, value, at)
        if _is_list(matcher):
            return self._items(matcher, value, at)
        return _unless(_is_same(matcher, value), at, value, lambda: _quoted(matcher))

    def _step(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise _TooLargeError

    def _fields(self, wanted: Mapping[str, object], value: object, at: str) -> _Problem | None:
        if not _is_object(value):
            return lambda: _sentence(at, value, "an object")
        return _first(
            self.compare(matcher, value.get(key, MISSING), f"{at}.{key}".removeprefix("."))
            for key, matcher in wanted.items()
        )

    def _items(self, wanted: list[object], value: object, at: str) -> _Problem | None:
        if not _is_list(value):
            return lambda: _sentence(at, value, "a list")
        if len(value) != len(wanted):
            return lambda: f"{_subject(at)} has {_amount(value)}; expected {len(wanted)}"
        return _first(self.compare(item, value[place], f"{at}[{place}]") for place, item in enumerate(wanted))

    def _operator(self, operator: Operator, operand: object, value: object, at: str) -> _Problem | None:
        match operator:
            case "present":
                return _present(operand, value, at)
            case "equals":
                return _unless(self._is_equal(operand, value), at, value, lambda: _quoted(operand))
            case "any_of":
                return self._any_of(as_list(operand), value, at)
            case "matches":
                return _matches(str(operand), value, at)
            case "contains":
                return self._contains(operand, value, at)
            case "at_least":
                return _unless(_is_ordered(operand, value), at, value, lambda: f"at least {_quoted(operand)}")
            case "at_most":
                return _unless(_is_ordered(value, operand), at, value, lambda: f"at most {_quoted(operand)}")
            case "min_items":
                return _size(value, operand, at, exact=False)
            case "length":
                return _size(value, operand, at, exact=True)

    def _any_of(self, options: list[object], value: object, at: str) -> _Problem | None:
        found = any(self.compare(option, value, at) is None for option in options)
        return _unless(found, at, value, lambda: _one_of(options))

    def _contains(self, operand: object, value: object, at: str) -> _Problem | None:
        parts = [operand]
        if _is_list(operand):
            parts = operand
        return _first(_unless(self._is_in(part, value), at, value, partial(_part_in_it, part)) for part in parts)

    def _is_in(self, part: object, value: object) -> bool:
        """Return whether a text has the part, or a list has an item that matches the part."""
        if isinstance(value, str):
            return isinstance(part, str) and part in value
        return any(self.compare(part, item, "") is None for item in as_list(value))

    def _is_equal(self, wanted: object, value: object) -> bool:
        """Return whether two values are equal in every part."""
        self._step()
        if _is_object(wanted) and _is_object(value):
            return wanted.keys() == value.keys() and all(self._is_equal(wanted[key], value[key]) for key in wanted)
        if _is_list(wanted) and _is_list(value):
            return len(wanted) == len(value) and all(map(self._is_equal, wanted, value))
        return _is_same(wanted, value)


def _is_object(value: object) -> TypeIs[Mapping[str, object]]:
    return isinstance(value, Mapping)


def _is_list(value: object) -> TypeIs[list[object]]:
    return isinstance(value, list)


def _first(problems: Iterable[_Problem | None]) -> _Problem | None:
    return next(filter(None, problems), None)


def _is_same(wanted: object, value: object) -> bool:
    """Return whether two values without parts are equal: 1 and 1.0 are, 1 and true are not."""
    if isinstance(wanted, bool) or isinstance(value, bool):
        return wanted is value
    return wanted == value


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_ordered(low: object, high: object) -> bool:
    """Return whether one number is not above another, or one text such as a date not after another."""
    if isinstance(low, str) and isinstance(high, str):
        return low <= high
    if _is_number(low) and _is_number(high):
        return cast(float, low) <= cast(float, high)
    return False


def _present(operand: object, value: object, at: str) -> _Problem | None:
    is_there = value is not MISSING and value is not None
    if operand is False:
        return _unless(not is_there, at, value, lambda: "no value")
    return _unless(is_there, at, value, lambda: "a value")


def _matches(pattern: str, value: object, at: str) -> _Problem | None:
    wanted = f"a text that matches `{pattern[:_QUOTED]}`"
    if not isinstance(value, str):
        return lambda: _sentence(at, value, wanted)
    if len(value) > LONGEST_TEXT:
        return lambda: f"{_subject(at)} is longer than {LONGEST_TEXT:,} characters, which no pattern searches"
    return _unless(is_found(pattern, value), at, value, lambda: wanted)


def _size(value: object, operand: object, at: str, *, exact: bool) -> _Problem | None:
    if not isinstance(value, str) and not _is_list(value) and not _is_object(value):
        return lambda: _sentence(at, value, "a list, an object or a text")
    size = len(value)
    if exact:
        holds = size == operand
        wanted = f"{operand}"
    else:
        holds = _is_ordered(operand, size)
        wanted = f"{operand} or more"
    if holds:
        return None
    return lambda: f"{_subject(at)} has {_amount(value)}; expected {wanted}"


def _unless(holds: bool, at: str, value: object, wanted: Callable[[], str]) -> _Problem | None:
    if holds:
        return None
    return lambda: _sentence(at, value, wanted())


def _sentence(at: str, value: object, wanted: str) -> str:
    if value is MISSING:
        return f"{_subject(at)} is missing; expected {wanted}"
    return f"{_subject(at)} is {_quoted(value)}; expected {wanted}"


def _subject(at: str) -> str:
    if at:
        return f"`{at[:_QUOTED]}`"
    return "the value"


def _amount(value: Sized) -> str:
    """Return the size of a list, an object or a text in words."""
    size = len(value)
    unit = "items"
    if isinstance(value, str):
        unit = "characters"
    if size == 1:
        unit = unit.removesuffix("s")
    return f"{size:,} {unit}"


def _one_of(options: list[object]) -> str:
    return f"one of {', '.join(_described(option) for option in options[:_MOST_OPTIONS])}"


def _part_in_it(part: object) -> str:
    return f"{_described(part)} in it"


def _described(matcher: object) -> str:
    """Return what a matcher expects, in a few words."""
    operands = as_object(matcher)
    if list(operands) == ["matches"]:
        return f"a text that matches `{str(operands['matches'])[:_QUOTED]}`"
    return _quoted(matcher)


def _quoted(value: object) -> str:
    """Return a short value as it is, and the beginning or the size of a long one."""
    if (_is_list(value) or _is_object(value)) and len(value) > _QUOTED:
        return f"a value with {_amount(value)}"
    written = value
    if not isinstance(written, str):
        written = json.dumps(value, ensure_ascii=False, default=str)
    if len(written) > _QUOTED:
        written = f"{written[:_QUOTED]}…"
    return f"`{written}`"
