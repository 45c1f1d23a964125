"""The recorded outcomes of a golden's tool calls, in place of the systems that the tools reach.

A call gets the outcome that was recorded for the same tool and arguments, each outcome once. A write with other
arguments, such as an answer in other words, gets the next outcome that is left of its tool. So the ids of the messages,
issues and pages that a new run creates are the recorded ones, and later turns and calls that name them fit. Another
read is refused with the code `not_recorded`, and another write is simulated; both are listed in `unrecorded`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from gofer.evals.goldens.run_file import GoldenRun
from gofer.evals.goldens.world_ids import WorldIds
from gofer.journal import entries as e
from gofer.journal.workspace_entries import FileAdded
from gofer.projections import calls
from gofer.tools.definition import AnyTool, Arguments, Call, NewFile, ToolResult
from gofer.values.canonical_json import as_object, as_text, encode
from gofer.values.errors import ToolError

Tools = Mapping[str, AnyTool]


@dataclass(slots=True)
class RecordedOutcome:
    """The outcome of one recorded call."""

    call: str
    tool: str
    arguments: Mapping[str, object]
    outcome: e.ToolResult | e.ToolUnknown
    files: Sequence[NewFile] = ()
    is_used: bool = False


@dataclass(slots=True)
class RecordedWorld:
    """The outcomes of one golden, and the calls of a play that have none."""

    turns: Sequence[Sequence[RecordedOutcome]]
    turn: int = 0
    """The index of the turn that is played."""
    unrecorded: list[str] = field(default_factory=list[str])
    """The tools of calls without a recorded outcome, in order. A play with one of them is inconclusive."""
    ids: WorldIds = field(default_factory=WorldIds)
    """The ids of the world in which the golden is played, if that is not the recorded one."""

    def next_turn(self) -> None:
        """Go on to the outcomes of the next turn."""
        self.turn += 1

    def equip(self, tools: Tools) -> Tools:
        """Return the tools with recorded outcomes. Tools that act within the run, such as plans, stay."""
        return {name: self._recorded(tool) for name, tool in tools.items()}

    def _recorded(self, tool: AnyTool) -> AnyTool:
        if tool.base:
            return tool

        async def act(call: Call, arguments: Arguments) -> ToolResult:
            return self._outcome(tool, call, arguments)

        in_doubt = tool.in_doubt
        if in_doubt.look is not None:
            # A play changes nothing outside, so an earlier attempt is never found.
            in_doubt = replace(in_doubt, look=_find_nothing)
        return replace(tool, act=act, in_doubt=replace(in_doubt, settle=0.0))

    def _outcome(self, tool: AnyTool, call: Call, arguments: Arguments) -> ToolResult:
        found = self.take(tool, arguments)
        if found is None:
            return self._without_outcome(tool, call, arguments)
        match found.outcome:
            case e.ToolResult(status="ok") as result:
                details = as_object(result.details)
                return ToolResult(result.text, result.summary, details, result.value, found.files)
            case e.ToolResult(text=text, details=details):
                raise ToolError(text, code=as_text(as_object(details).get("code")))
            case e.ToolUnknown(text=text):
                raise ToolError(text)

    def take(self, tool: AnyTool, arguments: Arguments) -> RecordedOutcome | None:
        """Return the recorded outcome of a call and mark it as used; None if no outcome is left for the call."""
        found = self._find(tool, arguments)
        if found is not None:
            found.is_used = True
        return found

    def _find(self, tool: AnyTool, arguments: Arguments) -> RecordedOutcome | None:
        left = [one for one in self._of_turn() if one.tool == tool.name and not one.is_used]
        wanted = encode(arguments.model_dump(mode="json"))
        same = [one for one in left if _canonical(tool, as_object(self.ids.to_world(one.arguments))) == wanted]
        if same:
            return same[0]
        if tool.effect == "read" or not left:
            return None
        return left[0]

    def _of_turn(self) -> Sequence[RecordedOutcome]:
        if self.turn < len(self.turns):
            return self.turns[self.turn]
        return ()

    def _without_outcome(self, tool: AnyTool, call: Call, arguments: Arguments) -> ToolResult:
        self.unrecorded.append(tool.name)
        if tool.effect == "read":
            raise ToolError(
                "Not recorded: the recorded run did not read this, so the case cannot answer it.", code="not_recorded"
            )
        if tool.mock is not None:
            return tool.mock(call, arguments)
        return ToolResult("Done.", f"simulated {tool.name}")


async def _find_nothing(call: Call, arguments: Arguments) -> None:
    return None


def _canonical(tool: AnyTool, recorded: Mapping[str, object]) -> bytes:
    try:
        return encode(tool.parse(recorded).model_dump(mode="json"))
    except ToolError:
        return b""


def recorded_world(turns: Sequence[GoldenRun]) -> RecordedWorld:
    """Return the recorded outcomes of a golden, turn by turn, with those of its subagent runs."""
    return RecordedWorld([[*_outcomes_of(turn)] for turn in turns])


def _outcomes_of(turn: GoldenRun) -> Iterator[RecordedOutcome]:
    for run in turn.journals:
        entries = turn.entries(run)
        made = calls.project(entries).calls
        concluded = next((one.entry for one in entries if isinstance(one.entry, e.RunConcluded)), None)
        files: list[FileAdded] = []
        for recorded in entries:
            match recorded.entry:
                case FileAdded() as added:
                    files.append(added)
                case e.ToolResult(call=call) | e.ToolUnknown(call=call) as outcome:
                    known = made[call]
                    yield RecordedOutcome(
                        call, known.tool, _arguments(known, concluded), outcome, [_file(one, turn) for one in files]
                    )
                    files = []
                case e.MessageReceived():
                    files = []
                case _:
                    pass


def _arguments(call: calls.Call, concluded: e.RunConcluded | None) -> Mapping[str, object]:
    if call.arguments is None and concluded is not None:
        # The call that delivers the answer has its text in `run.concluded`.
        return {"text": concluded.text}
    return call.arguments or {}


def _file(added: FileAdded, turn: GoldenRun) -> NewFile:
    return NewFile(
        added.name,
        added.media_type,
        turn.bodies.get(added.body),
        added.origin,
        size=added.size,
        source=added.source,
        prefix=added.file.rpartition("_")[0],
        missing=added.missing,
    )
