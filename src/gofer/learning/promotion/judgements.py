"""The judgements that are left: the fields of the answer of the subagent, and the values that recorded models decided.

The name of a field says which argument it is: `create_ticket_text` is the argument `text` of the first call of
`create_ticket`, `create_ticket_2_text` that of the second, and `create_ticket_each_text` is a list with that of every
call. So a script and its subagent can be verified with any recorded run, also after an edit.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from gofer.learning.promotion.call_path import in_order
from gofer.learning.promotion.observed_run import ObservedRun
from gofer.learning.promotion.origins import Absent, Judged
from gofer.learning.promotion.promotion import Promotion
from gofer.tools.definition import AnyTool

ANSWER = "answer"
"""The field with the answer of the run."""
MOST_CHOICES = 6
"""The most different values of a field that becomes a choice."""
_TIMES_EACH = 3
"""How often the values of a choice occur at least, on average."""
_LONGEST_CHOICE = 40
_REST = re.compile(r"(?:(?P<number>[2-9]|[1-9][0-9])_|(?P<each>each)_)?(?P<argument>.+)")
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")


@dataclass(frozen=True, slots=True)
class JudgedField:
    """One field of the subagent's answer."""

    name: str
    schema: Mapping[str, object]
    tool: str = ""
    """The tool of the call; empty for the answer of the run."""
    argument: str = ""
    step: int = -1
    """The step of the path, counted from 0; -1 for the answer."""
    each: bool = False
    """Whether the field is a list with one value for each call of a loop."""


class NotDecided(ValueError):
    """The recorded run has no value for a field."""


def judged_fields(promotion: Promotion, *, with_answer: bool) -> Sequence[JudgedField]:
    """Return the fields that a script cannot derive, in the order of the calls."""
    found: list[JudgedField] = []
    times: Counter[str] = Counter()
    for number, promoted in enumerate(promotion.steps):
        tool = promoted.step.tool
        times[tool] += 1
        each = promoted.step.loop is not None
        for argument in promoted.judged:
            schema = _schema(cast(Judged, promoted.arguments[argument].origin).values)
            name = field_name(tool, times[tool], argument, each=each)
            about = f"The argument {argument} of the {_ordinal(times[tool])} call of {tool}."
            if each:
                schema = {"type": "array", "items": schema}
                about = f"The argument {argument} of each call of {tool}, in the order of the items."
            found.append(JudgedField(name, {**schema, "description": about}, tool, argument, number, each))
    if with_answer and isinstance(promotion.answer.origin, Judged):
        found.append(JudgedField(ANSWER, {"type": "string", "description": "The answer of the run."}))
    return found


def field_name(tool: str, time: int, argument: str, *, each: bool) -> str:
    """Return the name of the field of an argument; `time` counts the calls of the tool from 1."""
    if each:
        return f"{tool}_each_{argument}"
    if time == 1:
        return f"{tool}_{argument}"
    return f"{tool}_{time}_{argument}"


def decided(run: ObservedRun, fields: Sequence[str], tools: Mapping[str, AnyTool]) -> Mapping[str, object]:
    """Return the values that the recorded model decided for fields of these names. Raises NotDecided."""
    return {name: _decided(run, name, tools) for name in fields}


def _decided(run: ObservedRun, name: str, tools: Mapping[str, AnyTool]) -> object:
    if name == ANSWER:
        return run.answer
    for tool in sorted(tools, key=len, reverse=True):
        rest = _REST.fullmatch(name.removeprefix(f"{tool}_"))
        if not name.startswith(f"{tool}_") or rest is None:
            continue
        if rest["argument"] in tools[tool].arguments.model_fields:
            return _recorded(run, tool, rest)
    raise NotDecided(f"its field {name[:80]!r} names no argument of a tool; name it TOOL_ARGUMENT")


def _recorded(run: ObservedRun, tool: str, rest: re.Match[str]) -> object:
    argument = rest["argument"]
    calls = [call for call in in_order(run) if call.tool == tool]
    if rest["each"]:
        return [call.arguments.get(argument) for call in calls]
    time = int(rest["number"] or 1)
    if len(calls) < time:
        raise NotDecided(f"the recorded run has no {_ordinal(time)} call of {tool}")
    return calls[time - 1].arguments.get(argument)


def _ordinal(number: int) -> str:
    if number <= len(_ORDINALS):
        return _ORDINALS[number - 1]
    return f"{number}th"


def _schema(values: Sequence[object]) -> Mapping[str, object]:
    """Return the schema of the values that models decided."""
    kinds = sorted({_kind(value) for value in values})
    if kinds == ["string"]:
        counted = Counter(cast(Sequence[str], values))
        if len(counted) <= MOST_CHOICES and len(values) >= _TIMES_EACH * len(counted) and _are_short(counted):
            return {"type": "string", "enum": sorted(counted)}
    if kinds == ["array"]:
        items = [item for value in values for item in cast(Sequence[object], value)]
        if items:
            return {"type": "array", "items": _schema(items)}
    if len(kinds) == 1:
        return {"type": kinds[0]}
    return {"type": kinds}


def _are_short(values: Mapping[str, int]) -> bool:
    return all(len(value) <= _LONGEST_CHOICE for value in values)


def _kind(value: object) -> str:
    match value:
        case Absent() | None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "object"
