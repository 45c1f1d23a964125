"""What a run and its subagents wrote outside, as one line below the answer. Code makes it from the journals."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from gofer.engine.family import family
from gofer.engine.known_asker import read_by_outsiders
from gofer.engine.outgoing import live_addresses
from gofer.engine.own_step import OwnStep
from gofer.engine.permitted_call import Permitted
from gofer.engine.place_rules import at_origin
from gofer.journal.entries import ToolResult
from gofer.journal.purposes import WRITE_PLACE
from gofer.projections.calls import Call
from gofer.projections.checks.run_checks import CheckState
from gofer.sources.outgoing_text import plain_words
from gofer.tools.definition import AnyTool
from gofer.tools.places import Place
from gofer.values.canonical_json import as_object, as_text
from gofer.values.errors import Corrupt, Gone, ToolError
from gofer.values.events import Event

MOST = 5
"""The most writes that the line names."""
_LONGEST = 100
"""The most characters for one write."""
_NOTHING = "changed nothing"
_HERE = "here"
_DIRECT = "your direct message"
_ELSEWHERE = "another channel"
_UNREAD = "what its subagents wrote is not known"


async def written_outside(step: OwnStep, event: Event) -> str:
    """Return what a run wrote, in a line of plain text; empty for a run that had no tool to change anything.

    Raises TemporaryError.
    """
    states = [step.checks]
    unread = [_UNREAD]
    try:
        states = [*(await family(step, step.run)).values()]
        unread = []
    except (Corrupt, Gone):
        # The answer is delivered without what cannot be read.
        pass
    view = _View(event=event, tools=step.services.tools, outsiders=read_by_outsiders(step, event))
    parts = [*dict.fromkeys(part for state in states for part in view.writes(state)), *unread]
    if not parts and _may_change(step):
        parts = [_NOTHING]
    if len(parts) > MOST:
        parts = [*parts[:MOST], f"and {len(parts) - MOST} more"]
    return plain_words(" · ".join(parts), live_addresses(step))


def _may_change(step: OwnStep) -> bool:
    """Return whether the workflow lists a tool with an effect outside. A reaction changes no object."""
    if step.bundle is None:
        return False
    tools = step.services.tools
    listed = [tools[name] for name in step.bundle.loaded.workflow.tool_names if name in tools]
    return any(_writes_outside(tool) and tool.shows != "reaction" for tool in listed)


def _writes_outside(tool: AnyTool) -> bool:
    return tool.effect != "read" and bool(tool.target.system)


@dataclass(frozen=True, slots=True, kw_only=True)
class _View:
    """The writes of runs as the readers of the answer may see them."""

    event: Event
    tools: Mapping[str, AnyTool]
    outsiders: bool
    """Whether people from outside the company read the answer."""

    def writes(self, state: CheckState) -> Iterator[str]:
        """Yield each write of one run in a few words, in the order of its journal."""
        for call in state.calls.calls.values():
            tool = self.tools.get(call.tool)
            if tool is None or not _writes_outside(tool) or call.is_own or call.effect in (None, "read"):
                continue
            where = self._where(state, _item(tool, call))
            match call.status:
                case "ok" if self.outsiders and not where:
                    yield f"wrote in {tool.target.system}"
                case "ok":
                    yield _done(" ".join(call.summary.split())[:_LONGEST], where)
                case "unknown":
                    yield f"{where or tool.target.system}: outcome not known"
                case _:
                    pass

    def _where(self, state: CheckState, item: Permitted | None) -> str:
        """Return the place of a call by name, or its kind if some readers may not know it; empty if it has no name."""
        place = _place(item, self.event)
        if item is None or place is None:
            return ""
        if at_origin(item, self.event):
            return _HERE
        if place.kind == "person" and place.name == self.event.actor.id:
            return _DIRECT
        if self.outsiders or place.kind in ("person", "page", "other"):
            return ""
        if place.kind != "channel":
            return place.name
        found = _looked_up(state, place.name)
        if found.get("public") is True:
            return f"#{as_text(found.get('name'))}"
        return _DIRECT if found.get("own") is True else _ELSEWHERE


def _done(summary: str, where: str) -> str:
    """Return the words for a write that succeeded."""
    if where == _DIRECT:
        return "sent you a direct message"
    if not where or where == _HERE or where in summary:
        return summary
    return f"{summary} in {where}"


def _item(tool: AnyTool, call: Call) -> Permitted | None:
    """Return a recorded call with its parsed arguments; None if its tool takes them no longer."""
    try:
        return Permitted(call.id, tool, tool.parse(call.arguments or {}))
    except ToolError:
        return None


def _place(item: Permitted | None, event: Event) -> Place | None:
    try:
        return item and item.place(event)
    except ToolError:
        return None


def _looked_up(state: CheckState, channel: str) -> Mapping[str, object]:
    """Return what a run found about a channel before it wrote there; empty if its workflow file names the channel."""
    for call, outcome in state.progress.outcomes.items():
        if call.startswith(f"{WRITE_PLACE}/") and isinstance(outcome, ToolResult):
            found = as_object(outcome.details)
            if found.get("id") == channel:
                return found
    return {}
