"""Observed runs of tests: a webhook's event with a body, and calls of tools with their results."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

from gofer.learning.promotion.observed_run import ObservedCall, ObservedRun
from gofer.values.events import Event
from support.stand_ins import mention

READS = ("find", "look")
"""The tools that only read."""


def hook_event(body: Mapping[str, object] | str, **place: str) -> Event:
    """Return the event of a webhook with a JSON body, or with a text."""
    text = body
    if not isinstance(text, str):
        text = json.dumps(text, indent=2)
    return replace(mention(), source="webhook", kind="webhook", text=text, place={"hook": "h", **place}, facts={})


def made(tool: str, result: Mapping[str, object] | None = None, *, turn: int = 0, **arguments: object) -> ObservedCall:
    """Return a call of a tool; each call with turn 0 is made in a turn of its own by `observed`."""
    return ObservedCall("", tool, arguments, turn, tool in READS, result or {"text": "ok"})


def observed(
    number: int, body: Mapping[str, object] | str, *calls: ObservedCall, answer: str = "Done.", **place: str
) -> ObservedRun:
    """Return a run with these calls, one turn each unless a call says otherwise."""
    numbered = [replace(call, id=f"{index}.0", turn=call.turn or index) for index, call in enumerate(calls, 1)]
    return ObservedRun(f"run{number:02}", hook_event(body, **place), numbered, answer)


def orders(count: int = 10) -> Sequence[ObservedRun]:
    """Return runs that look up an order, and tell its owner with words that a model chose."""
    return [_order(number) for number in range(count)]


def _order(number: int) -> ObservedRun:
    body = {"id": f"o-{number}", "city": f"City {number}", "express": False}
    found = {"text": f"found {number}", "owner": {"name": f"Owner {number}"}}
    return observed(
        number,
        body,
        made("find", found, id=f"o-{number}", limit=5),
        made("tell", who=f"Owner {number}", text=f"Order o-{number} to City {number}.", mood=f"mood {number * 7}"),
    )
