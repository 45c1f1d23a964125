"""Destinations and places of calls: failing declarations of a tool do not fail the run."""

from dataclasses import replace

import pytest

from gofer.engine.permitted_call import Permitted
from gofer.tools.definition import ANYWHERE, Arguments, Call, Target, Tool, ToolResult
from gofer.tools.places import Origin, Place
from gofer.values.errors import ToolError
from gofer.values.events import Actor, Event

EVENT = Event("webhook", "webhook", ("1",), "webhook:1", Actor("caller"), "{}", {})


class Page(Arguments):
    team: str


async def act(call: Call, arguments: Page) -> ToolResult:
    return ToolResult("Paged.", "paged")


def place(origin: Origin, arguments: Page) -> Place:
    return Place("oncall", "other", arguments.team)


TOOL = Tool(
    "oncall_page", "Page a team.", "blind", Page, act, target=Target(destination=lambda page: page.team, where=place)
)
CALL = Permitted("1.0", TOOL, Page(team="payments"))


def broken(*_: object) -> str:
    raise KeyError("team")


def test_call_names_destination_and_place() -> None:
    assert CALL.destination == "payments"
    assert CALL.place(EVENT) == Place("oncall", "other", "payments")
    assert replace(CALL, tool=replace(TOOL, target=replace(TOOL.target, where=None))).place(EVENT) is None


def test_call_with_a_failing_destination_rule_counts_for_every_destination() -> None:
    assert replace(CALL, tool=replace(TOOL, target=replace(TOOL.target, destination=broken))).destination == ANYWHERE


def test_call_with_a_failing_place_rule_is_refused_with_the_cause() -> None:
    with pytest.raises(ToolError, match=r"cannot be determined .KeyError."):
        replace(CALL, tool=replace(TOOL, target=replace(TOOL.target, where=broken))).place(EVENT)
