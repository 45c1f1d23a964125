"""Decision points: the history of a run up to a call, and the calls that the model made next."""

from collections.abc import Mapping, Sequence

from gofer.evals.case_begin import DecisionPoint, EarlierCall, EarlierTurn
from gofer.evals.eval_file import CallExpectation
from gofer.journal.entries import LlmResponse, PlanUpdated, Recorded, ToolResult, ToolUnknown
from gofer.values.canonical_json import as_text
from gofer.values.errors import ConfigError
from gofer.values.messages import ToolAsk, arguments, resolved_call

RESULT = 20_000
"""The most characters of one result in a history."""
NextCalls = Sequence[str | Mapping[str, CallExpectation]]


def decision_before(entries: Sequence[Recorded], call: str) -> tuple[DecisionPoint, NextCalls]:
    """Return the history before the answer that asked for a call, and the calls of that answer.

    `call` is `<turn>.<index>`, as the trace names calls, or only the turn. Raises ConfigError if there is no such call.
    """
    turn = _turn(entries, call)
    answers = [one for one in entries if isinstance(one.entry, LlmResponse)]
    before = entries[: entries.index(answers[turn - 1])]
    outcomes = {one.entry.call: one.entry for one in before if isinstance(one.entry, ToolResult | ToolUnknown)}
    history: list[EarlierTurn] = []
    for number, answer in enumerate(answers[: turn - 1], 1):
        assert isinstance(answer.entry, LlmResponse)  # noqa: S101
        asks = enumerate(answer.entry.tool_calls)
        calls = [_earlier(resolved_call(ask), outcomes.get(f"{number}.{index}")) for index, ask in asks]
        history.append(EarlierTurn(text=answer.entry.text, calls=tuple(calls)))
    chosen = answers[turn - 1].entry
    assert isinstance(chosen, LlmResponse)  # noqa: S101
    return DecisionPoint(history=tuple(history), plan=_plan(before)), [_expected(ask) for ask in chosen.tool_calls]


def _turn(entries: Sequence[Recorded], call: str) -> int:
    answers = [one.entry for one in entries if isinstance(one.entry, LlmResponse)]
    known = [f"{turn}.{index}" for turn, one in enumerate(answers, 1) for index in range(len(one.tool_calls))]
    number = call.partition(".")[0]
    if call in known or (call == number and number.isdigit() and 1 <= int(number) <= len(answers)):
        return int(number)
    listed = ", ".join(known[:20]) or "none"
    raise ConfigError(
        f"--at {call!r} is no call of the model; the calls of the run are {listed}. The number of a turn is enough."
    )


def _earlier(ask: ToolAsk, outcome: ToolResult | ToolUnknown | None) -> EarlierCall:
    given = _arguments(ask)
    match outcome:
        case ToolResult(status=status, text=text):
            return EarlierCall(tool=ask.tool, arguments=given, text=text[:RESULT], status=status)
        case ToolUnknown(text=text):
            return EarlierCall(tool=ask.tool, arguments=given, text=text[:RESULT], status="error")
        case None:
            return EarlierCall(tool=ask.tool, arguments=given, text="", status="error")


def _arguments(ask: ToolAsk) -> Mapping[str, object]:
    try:
        return arguments(ask.arguments)
    except ValueError:
        return {}


def _expected(ask: ToolAsk) -> str | Mapping[str, CallExpectation]:
    """Return the call as an expectation, with its short arguments."""
    resolved = resolved_call(ask)
    given = _arguments(resolved)
    short = {name: value for name, value in given.items() if isinstance(value, str | int) and len(str(value)) <= 80}
    if not short:
        return resolved.tool
    return {resolved.tool: CallExpectation(arguments=short, status=None)}


def _plan(entries: Sequence[Recorded]) -> tuple[Mapping[str, str], ...]:
    plans = [one.entry for one in entries if isinstance(one.entry, PlanUpdated)]
    if not plans:
        return ()
    steps = plans[-1].todos
    return tuple(
        {
            key: as_text(value)
            for key, value in (
                ("id", step.id),
                ("description", step.description),
                ("status", step.status),
                ("needs", step.needs),
            )
            if value
        }
        for step in steps
    )
