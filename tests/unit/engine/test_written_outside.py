"""The line below an answer that says what a run wrote."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from gofer.engine.own_step import OwnStep
from gofer.engine.written_outside import written_outside
from gofer.journal.entries import ToolCall, ToolResult, ToolUnknown
from gofer.journal.purposes import ACTOR, WRITE_PLACE
from gofer.tools.definition import Target
from gofer.tools.places import Kind, Origin, Place, Writes
from gofer.values.visible import VisibleKind
from support.engine.memory_run import Said, memory_run
from support.stand_ins import mention

pytestmark = pytest.mark.anyio
EVENT = mention()


def target(name: str, kind: Kind) -> Target[Said]:
    """Return the target of a tool whose argument `text` is its place."""

    def where(origin: Origin, said: Said) -> Place:
        return Place(name.partition("_")[0], kind, said.text)

    def is_home(value: str, place: Mapping[str, str]) -> bool:
        return value == place.get("channel")

    return Target(system="System", where=where, writes=Writes({"text": is_home}, frozenset()))


async def run_with(**tools: tuple[Kind, VisibleKind]) -> OwnStep:
    """Return a run with these writing tools: the kind of place of each, and what people see of its calls."""
    made = memory_run()
    for name, (kind, shows) in tools.items():
        made.tool(name, "keyed")
        made.tools[name] = replace(made.tools[name], target=target(name, kind), shows=shows)
    step = await made.step()
    step.bundle = made.bundle()
    step.note(ToolResult(ACTOR, "ok", "", details={"kind": "member", "team": "T0ACME00"}))
    return step


def wrote(step: OwnStep, call: str, tool: str, place: str, summary: str) -> None:
    step.note(ToolCall(call, tool, "keyed", {"text": place}))
    step.note(ToolResult(call, "ok", "Done.", summary))


def looked_up(step: OwnStep, channel: str, **found: object) -> None:
    step.note(ToolResult(f"{WRITE_PLACE}/{channel}/1", "ok", "Seen.", details={"id": channel, **found}))


async def test_writes_are_named_in_their_order() -> None:
    step = await run_with(jira_create_issue=("project", "issue"), slack_post_message=("channel", "message"))
    wrote(step, "1.0", "jira_create_issue", "PAY", "created PAY-412")
    looked_up(step, "C1", public=True, name="general")
    wrote(step, "2.0", "slack_post_message", "C1", "posted a message")
    assert await written_outside(step, EVENT) == "created PAY-412 · posted a message in #general"


async def test_call_without_known_outcome_is_named() -> None:
    step = await run_with(jira_move=("issue", "issue"))
    step.note(ToolCall("1.0", "jira_move", "keyed", {"text": "PAY-412"}))
    step.note(ToolUnknown("1.0", "Unknown.", "PAY-412"))
    assert await written_outside(step, EVENT) == "PAY-412: outcome not known"


@pytest.mark.parametrize(
    ("shows", "line"), [("message", "changed nothing"), ("reaction", "")], ids=["message", "reaction"]
)
async def test_run_with_a_writing_tool_says_when_no_call_wrote(shows: VisibleKind, line: str) -> None:
    step = await run_with(slack_write=("channel", shows))
    step.note(ToolCall("1.0", "slack_write", "keyed", {"text": "C1"}))
    step.note(ToolResult("1.0", "error", "Refused.", "refused"))
    assert await written_outside(step, EVENT) == line


async def test_run_without_a_writing_tool_has_no_line() -> None:
    made = memory_run()
    made.tool("look", "read")
    step = await made.step()
    step.bundle = made.bundle()
    assert await written_outside(step, EVENT) == ""


async def test_private_places_are_not_named() -> None:
    step = await run_with(slack_post_message=("channel", "message"))
    looked_up(step, "C9", public=False, name="secret-plans", member=True)
    wrote(step, "1.0", "slack_post_message", "C9", "posted a message")
    looked_up(step, "D1", public=False, name="", own=True)
    wrote(step, "2.0", "slack_post_message", "D1", "posted a message")
    wrote(step, "3.0", "slack_post_message", EVENT.place["channel"], "posted a message here")
    line = "posted a message in another channel · sent you a direct message · posted a message here"
    assert await written_outside(step, EVENT) == line


async def test_guest_reads_no_names_of_other_places() -> None:
    step = await run_with(jira_create_issue=("project", "issue"))
    step.note(ToolResult(ACTOR, "ok", "", details={"kind": "guest", "team": "T0ACME00"}))
    wrote(step, "1.0", "jira_create_issue", "PAY", "created PAY-412")
    assert await written_outside(step, EVENT) == "wrote in System"


async def test_more_writes_than_fit_are_counted_and_equal_ones_stand_once() -> None:
    step = await run_with(jira_create_issue=("project", "issue"))
    for number in range(8):
        wrote(step, f"{number + 1}.0", "jira_create_issue", "PAY", f"created PAY-{number}")
        wrote(step, f"{number + 1}.1", "jira_create_issue", "PAY", f"created PAY-{number}")
    named = " · ".join(f"created PAY-{number}" for number in range(5))
    assert await written_outside(step, EVENT) == f"{named} · and 3 more"


async def test_address_that_the_run_did_not_read_is_no_link() -> None:
    step = await run_with(jira_create_issue=("project", "issue"))
    wrote(step, "1.0", "jira_create_issue", "PAY", "created https://evil.example/x")
    assert "https://evil.example" not in await written_outside(step, EVENT)
