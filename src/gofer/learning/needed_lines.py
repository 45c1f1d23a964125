"""The lines of workflow files that recorded runs would have needed: for places, reads, counts of calls and addresses.

A run may have obeyed an attacker. So a line is a proposal, and a person decides whether the workflow is meant to do so.
"""

import contextlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from gofer.engine.known_asker import is_read_by_outsiders
from gofer.engine.place_rules import entry_of
from gofer.journal.approval_entries import ApprovalRequested
from gofer.journal.entries import Recorded
from gofer.projections.calls import Call
from gofer.projections.calls import project as calls_of
from gofer.runtime.run_record import RunRecord
from gofer.sources.registry import SHARED_HOSTS
from gofer.sources.workflow_files import READABLE
from gofer.tools.definition import AnyTool
from gofer.tools.places import Place
from gofer.tools.readable import MAY_BE_HIDDEN
from gofer.values.addresses import host_of
from gofer.values.errors import ToolError
from gofer.values.events import Event
from gofer.workflows.grants import MOST_WRITES, most_calls
from gofer.workflows.schema import Workflow

_NAMING = ("issue", "project", "page", "database", "repository", "url")
"""The arguments with which tools name what they read."""
Needed = Mapping[str, Counter[str]]
"""The lines by workflow, each with the number of runs that would have needed it."""


def needed_by(records: Iterable[RunRecord], workflows: Mapping[str, Workflow], tools: Mapping[str, AnyTool]) -> Needed:
    """Return the lines that runs would have needed in the files of their workflows as these are now."""
    found: dict[str, Counter[str]] = {}
    for record in records:
        workflow = workflows.get(record.progress.workflow)
        if workflow is not None:
            lines = found.setdefault(record.progress.workflow, Counter())
            lines.update(dict.fromkeys(_lines(record, workflow, tools), 1))
    return {name: lines for name, lines in sorted(found.items()) if lines}


def needed_text(needed: Needed, days: int) -> Iterator[str]:
    """Yield the lines for people; none without a line."""
    if not needed:
        return
    yield f"Runs of the last {days} days would have needed these lines. Add one only if the workflow is meant to do so:"
    for name, lines in needed.items():
        yield f"  agents/{name}.yaml"
        for line, runs in lines.most_common():
            yield f"    {line}  ({runs} of its runs)"


def _lines(record: RunRecord, workflow: Workflow, tools: Mapping[str, AnyTool]) -> Iterator[str]:
    event = record.progress.event
    calls: list[Call] = []
    for entries in record.journals.values():
        calls += calls_of(entries).calls.values()
        if event is not None:
            yield from _places(entries, event, tools)
    yield from _counts(calls, workflow)
    if event is not None:
        outsiders = is_read_by_outsiders(record.progress, event)
        yield from (line for call in calls for line in _reads(call, event, workflow, outsiders=outsiders))
    for call in calls:
        if call.code == "unread_address":
            hosts = {host_of(str(value)) for value in (call.arguments or {}).values()}
            yield from (f"links: [{host}]" for host in sorted(hosts - SHARED_HOSTS - set(workflow.links) - {""}))


def _places(entries: Iterable[Recorded], event: Event, tools: Mapping[str, AnyTool]) -> Iterator[str]:
    """Yield the entries of `writes` for the calls that were refused or asked for because of their place."""
    recorded = list(entries)
    asked = {
        one.entry.call
        for one in recorded
        if isinstance(one.entry, ApprovalRequested) and one.entry.about == "elsewhere"
    }
    for call in calls_of(recorded).calls.values():
        tool = tools.get(call.tool)
        if tool is None or tool.target.where is None or not (call.code == "elsewhere" or call.id in asked):
            continue
        with contextlib.suppress(ToolError):
            place = tool.target.where(event, tool.parse(call.arguments or {}))
            if place.kind != "person":
                yield f"writes: {{{entry_of(place)}}}"


def _reads(call: Call, event: Event, workflow: Workflow, *, outsiders: bool) -> Iterator[str]:
    """Yield the entries of `reads` for reads of hidden or missing objects, and for reads that would now be hidden.

    A run sees no difference between a hidden and a missing object, so the object of a line may not exist.
    """
    system = call.tool.partition("_")[0]
    opened = call.status == "ok" and (call.details.get("private") is True or (outsiders and system != event.source))
    if call.is_own or system not in READABLE or not (opened or MAY_BE_HIDDEN in call.text):
        return
    given = call.arguments or {}
    listed = {f"{system}: [{entry}]" for entry in workflow.reads.entries(system)}
    for name in _NAMING:
        value = str(given.get(name) or "")
        link = READABLE[system].linked.match(value)
        place = Place(system, "issue" if name == "issue" and not link else "other", link[1] if link else value)
        owner = f"{system}: [{place.name.partition('/')[0]}]"
        if value and value not in event.place.values() and not {entry_of(place), owner} & listed:
            yield f"reads: {{{entry_of(place)}}}"


def _counts(calls: Iterable[Call], workflow: Workflow) -> Iterator[str]:
    """Yield the limits that a run, with its subagents, went beyond."""
    wanted = Counter(call.tool for call in calls if call.code == "most" or call.effect not in (None, "read"))
    for tool, times in wanted.items():
        most = most_calls(workflow.tools, tool)
        if most is None and workflow.coordinator == "llm":
            most = MOST_WRITES
        if tool in workflow.tool_names and most is not None and times > most:
            yield f"tools: [{{{tool}: {{most: {times}}}}}]"
