"""A recorded run as its promotion reads it: its event, the calls that a model decided, and its answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gofer.evals.affected import RecordedWork
from gofer.journal.entries import RunConcluded
from gofer.projections.calls import Call, project
from gofer.projections.progress import project as progress_of
from gofer.tools.definition import AnyTool
from gofer.values.canonical_json import as_object, encode
from gofer.values.errors import ToolError
from gofer.values.events import Event

MOST_CALLS = 100
"""The most calls of a run; a run with more is left out."""
MOST_BYTES = 400_000
"""The most bytes of JSON in the event, the arguments and the results of one run; a run with more is left out."""


@dataclass(frozen=True, slots=True)
class ObservedCall:
    """A call that succeeded."""

    id: str
    tool: str
    arguments: Mapping[str, object]
    """The arguments as the tool read them, without those that equal its defaults."""
    turn: int
    """The turn of the model that asked for it; 0 for a call of a script."""
    reads: bool
    """Whether the tool only reads."""
    result: Mapping[str, object]
    """The result as a script gets it: the text, and the details of the tool."""

    @property
    def signature(self) -> tuple[str, bytes]:
        """The tool and its canonical arguments."""
        return self.tool, encode(self.arguments)


@dataclass(frozen=True, slots=True)
class ObservedRun:
    """A run that a model decided."""

    run: str
    event: Event
    calls: Sequence[ObservedCall]
    answer: str
    failed: int = 0
    """The number of calls without success, which are left out."""
    at: int = 0
    """The time of the run, in unix milliseconds."""


def observe(work: RecordedWork, tools: Mapping[str, AnyTool]) -> ObservedRun | None:
    """Return a recorded run; None for one that a script decided, that is too large or that never started."""
    bundle = work.bundles.get(work.run)
    progress = progress_of(work.entries)
    if bundle is None or progress.event is None or bundle.loaded.workflow.coordinator != "llm":
        return None
    asked = [call for call in project(work.entries).calls.values() if is_on_a_system(call, tools)]
    calls = [observed_call(call, tools) for call in asked if call.status == "ok"]
    size = len(encode([progress.event.text, progress.event.facts, [[one.arguments, one.result] for one in calls]]))
    if len(calls) > MOST_CALLS or size > MOST_BYTES:
        return None
    return ObservedRun(
        run=work.run,
        event=progress.event,
        calls=calls,
        answer=_answer(work),
        failed=len(asked) - len(calls),
        at=work.entries[0].at,
    )


def observed_call(call: Call, tools: Mapping[str, AnyTool]) -> ObservedCall:
    """Return a call with canonical arguments and the result that a script would get."""
    tool = tools.get(call.tool)
    result: dict[str, object] = {"text": call.text, **call.details}
    if call.value is not None:
        result = {**as_object(call.value)}
    return ObservedCall(
        id=call.id,
        tool=call.tool,
        arguments=_canonical(tool, call.arguments or {}),
        turn=call.turn,
        reads=tool is not None and tool.effect == "read",
        result=result,
    )


def is_on_a_system(call: Call, tools: Mapping[str, AnyTool]) -> bool:
    """Return whether a model or a script decided a call, and not one on the files, plan or skills of the run."""
    tool = tools.get(call.tool)
    return not call.is_own and bool(call.tool) and (tool is None or not tool.base)


def _canonical(tool: AnyTool | None, arguments: Mapping[str, object]) -> Mapping[str, object]:
    if tool is None:
        return arguments
    try:
        return tool.parse(arguments).model_dump(mode="json", exclude_defaults=True)
    except ToolError:
        return arguments


def _answer(work: RecordedWork) -> str:
    concluded = [one.entry for one in work.entries if isinstance(one.entry, RunConcluded)]
    if not concluded:
        return ""
    return concluded[-1].text
