"""The recorded outcomes of calls by what was asked, the outcomes that a replay makes up, and where others came from."""

from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import replace

from gofer.engine.gates import NOT_MADE_HERE
from gofer.engine.permitted_call import Permitted
from gofer.journal.entries import Entry, Recorded, ToolResult, ToolUnknown
from gofer.journal.purposes import is_own
from gofer.projections import calls
from gofer.projections.states import NOT_MADE
from gofer.sources.part_values import Outcome
from gofer.tools.definition import AnyTool
from gofer.values.canonical_json import encode
from gofer.values.errors import ToolError

NOT_RECORDED = "not_recorded"
"""The code of a read that the recorded run did not make."""
Signature = tuple[str, bytes]
"""The tool of a call and its canonical arguments, with the defaults of the tool."""


class RecordedOutcomes:
    """The outcomes of the calls of a model or a script in one recorded run, by signature and in their order."""

    def __init__(self, entries: Sequence[Recorded], tools: Mapping[str, AnyTool]) -> None:
        self._found: defaultdict[Signature, deque[ToolResult]] = defaultdict(deque)
        outcomes = {one.entry.call: one.entry for one in entries if isinstance(one.entry, ToolResult)}
        for call in calls.project(entries).calls.values():
            outcome = outcomes.get(call.id)
            signature = _signature(tools.get(call.tool), call.arguments or {})
            if outcome is not None and signature is not None:
                self._found[signature].append(outcome)

    def has(self, item: Permitted) -> bool:
        """Return whether the recorded run made a call with these arguments."""
        return bool(self._found.get(_signature_of(item)))

    def next(self, item: Permitted) -> ToolResult | None:
        """Return the next recorded outcome of a call with these arguments. The last one is repeated."""
        found = self._found.get(_signature_of(item))
        if not found:
            return None
        outcome = found[0]
        if len(found) > 1:
            found.popleft()
        return replace(outcome, call=item.call)


def not_recorded(item: Permitted) -> Entry:
    """Return the outcome of a read that the recorded run did not make."""
    text = f"not_recorded: the recorded run did not call {item.tool.name} with these arguments."
    return ToolResult(item.call, "error", text, details={"code": NOT_RECORDED})


def simulated(item: Permitted) -> Entry:
    """Return the outcome of a write that the recorded run did not make, by a tool without a mock."""
    text = f"simulated: a replay writes nothing, so {item.tool.name} was not called."
    return ToolResult(item.call, "ok", text, details={NOT_MADE: "simulated"})


def is_made_up(entry: Entry) -> bool:
    """Return whether an entry is a made-up outcome that may have decided something; what Gofer writes does not."""
    if not isinstance(entry, ToolResult):
        return False
    details = entry.details or {}
    if details.get("code") == NOT_RECORDED:
        return True
    return details.get(NOT_MADE) == "simulated" and not is_own(entry.call)


def is_of_another_run(outcome: Outcome) -> bool:
    """Return whether a call without an intent has the outcome of another run, which had made the call."""
    match outcome:
        case ToolResult(details=details):
            facts = details or {}
            return facts.get(NOT_MADE) == "done_before" or facts.get("code") == "being_done"
        case ToolUnknown():
            return True


def was_free(outcome: Outcome) -> bool:
    """Return whether the recorded run may have made a call that has this outcome now.

    Another branch claimed the call first, in another order than the recorded one, or the rule is newer than the run.
    """
    if is_of_another_run(outcome):
        return True
    return isinstance(outcome, ToolResult) and (outcome.details or {}).get("code") == NOT_MADE_HERE


def is_of_a_lost_file(entry: Entry) -> bool:
    """Return whether an entry is the outcome of a call that needed a file whose content is not in the recording."""
    return isinstance(entry, ToolResult) and (entry.details or {}).get("code") == "gone"


def _signature_of(item: Permitted) -> Signature:
    return item.tool.name, encode(item.arguments.model_dump(mode="json"))


def _signature(tool: AnyTool | None, arguments: Mapping[str, object]) -> Signature | None:
    if tool is None:
        return None
    try:
        return tool.name, encode(tool.parse(arguments).model_dump(mode="json"))
    except ToolError:
        return None
