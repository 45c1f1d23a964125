"""The history of a decision point, played through the engine, so that the journal begins as the engine writes it.

The model gives the answers of the history, and their calls give the recorded results. No call reaches a system.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from gofer.evals.case_begin import DecisionPoint, EarlierCall, EarlierTurn
from gofer.tools.definition import AnyTool, Arguments, Call, Target, ToolResult
from gofer.values.errors import ToolError

WRITE_PLAN = "todo_write"
"""The tool that sets a plan."""

Tools = Mapping[str, AnyTool]


def history_of(decision: DecisionPoint) -> Sequence[EarlierTurn]:
    """Return the answers before the decision. A plan that no answer wrote becomes the first one."""
    called = {call.tool for turn in decision.history for call in turn.calls}
    if not decision.plan or WRITE_PLAN in called:
        return decision.history
    written = EarlierCall(tool=WRITE_PLAN, arguments={"todos": [dict(item) for item in decision.plan]})
    return [EarlierTurn(calls=(written,)), *decision.history]


def with_history(tools: Tools, history: Sequence[EarlierTurn]) -> Tools:
    """Return the tools, changed so that each call of the history has its result.

    Tools that act within the run, such as those of the plan, act as always.
    """
    results = {
        f"{number}.{at}": call for number, turn in enumerate(history, start=1) for at, call in enumerate(turn.calls)
    }
    named = {call.tool for call in results.values()}
    return {name: _with_results(tool, results) if _is_given(tool, named) else tool for name, tool in tools.items()}


def _is_given(tool: AnyTool, named: set[str]) -> bool:
    return tool.name in named and not tool.base


def _with_results(tool: AnyTool, results: Mapping[str, EarlierCall]) -> AnyTool:
    async def act(call: Call, arguments: Arguments) -> ToolResult:
        name = call.key.removeprefix(f"{call.key.partition('/')[0]}/")
        given = results.get(name)
        if given is None:
            # A call of the run itself, such as the one that reads the thread.
            return await tool.act(call, arguments)
        if given.status != "ok":
            raise ToolError(given.text)
        return ToolResult(given.text, "as the history of the case has it")

    # The history has happened, so its places are not looked up.
    return replace(tool, act=act, target=Target(), in_doubt=replace(tool.in_doubt, settle=0.0))
