"""The checks of a run's tool calls: loops, orphaned calls, and too many changes of the plan."""

import hashlib
from collections.abc import Iterable, Sequence, Set

from gofer.journal.check_entries import FailureKind, Verdict
from gofer.journal.workspace_entries import BOOKKEEPING, FINISH
from gofer.projections.calls import Call, Calls
from gofer.projections.checks.check_settings import Settings, addresses, passed, quoted
from gofer.projections.script_replay import is_of_a_script
from gofer.projections.tool_names import known_tools, shown_tool
from gofer.values.canonical_json import encode, encode_text

_ANSWERS = ("answer", "private-answer")
"""The beginnings of the ids of the calls that deliver an answer."""
_NAMED = 3
"""The most tools that a summary names."""


def no_tool_loops(calls: Calls, settings: Settings) -> Verdict:
    """Return whether no tool was called too often with the same arguments.

    Of a model all calls count, refused and failed ones included. A script reads the same thing again for good reasons,
    so only its repetitions of a call that was refused or failed count, in a row and in one branch.
    """
    most = int(settings.limit("no-tool-loops"))
    loops = [group for group in equal_calls(calls, settings.polls) if len(group) >= most]
    if not loops:
        return passed("no-tool-loops")
    known = _known(calls, settings)
    named = [f"{shown_tool(group[0].tool, known)} {len(group)} times" for group in loops[:_NAMED]]
    first = loops[0][0]
    implies: FailureKind = "reasoning_collapse"
    if is_of_a_script(first.id):
        implies = ""
    return Verdict(
        "no-tool-loops",
        passed=False,
        summary=f"Tools were called with the same arguments: {', '.join(named)}.",
        detail=f"The arguments of {first.tool[:64]} are {quoted(_shown_arguments(first))}.",
        implies=implies,
        entries=addresses(call.asked_in or call.began_in or call.ended_in for group in loops for call in group),
    )


def equal_calls(calls: Calls, polls: Set[str] = frozenset()) -> Sequence[Sequence[Call]]:
    """Return the calls in groups of one tool and the same arguments, without those of `polls` and about the plan.

    The groups of a script are its repetitions of a call that was refused or failed.
    """
    counted = [call for call in calls.calls.values() if not call.is_own and call.tool not in BOOKKEEPING | polls]
    asked_by_model = _same([call for call in counted if not is_of_a_script(call.id)])
    return [*asked_by_model, *_repeated_failures([call for call in counted if is_of_a_script(call.id)])]


def _same(asked: Iterable[Call]) -> Sequence[Sequence[Call]]:
    """Return the calls in groups of equal tools and arguments."""
    same: dict[bytes, list[Call]] = {}
    for call in asked:
        same.setdefault(hashlib.sha256(_written(call)).digest(), []).append(call)
    return list(same.values())


def _repeated_failures(made: Iterable[Call]) -> Sequence[Sequence[Call]]:
    """Return the rows of equal refused or failed calls of a script, each within one branch."""
    rows: list[list[Call]] = []
    last: dict[str, list[Call]] = {}
    for call in made:
        # `<branch>:<tool>:<hash of the arguments>:<n>`
        branch = call.id.partition(":")[0]
        row = last.get(branch)
        if call.status not in ("refused", "error"):
            last.pop(branch, None)
        elif row and _without_number(row[0].id) == _without_number(call.id):
            row.append(call)
        else:
            last[branch] = [call]
            rows.append(last[branch])
    return rows


def _without_number(script_call: str) -> str:
    return script_call.rpartition(":")[0]


def _shown_arguments(call: Call) -> str:
    """Return the arguments as they were written, or as they were recorded."""
    if call.asked_for or call.arguments is None:
        return call.asked_for
    return encode_text(call.arguments)


def _written(call: Call) -> bytes:
    if call.arguments is None:
        return f"{call.tool} {call.asked_for}".encode(errors="replace")
    try:
        return encode([call.tool, call.arguments])
    except ValueError:
        return f"{call.tool} {call.asked_for}".encode(errors="replace")


def no_orphaned_tools(calls: Calls, settings: Settings, *, complete: bool) -> Verdict:
    """Return whether each call that was made has an outcome, and each outcome belongs to a call.

    `complete` says whether the run could finish its work. Otherwise it does not repeat reading calls and answers whose
    outcome a crash lost, so only a write of the model or the script is an orphan then. Of the calls of the run itself
    only answers count, because a later owner repeats lookups and notices only if it still needs them.
    """
    asked = [call for call in calls.calls.values() if not call.is_own or call.id.startswith(_ANSWERS)]
    open_calls = [call for call in asked if _lacks_outcome(call) and (complete or _is_write(call))]
    unasked = [call for call in calls.calls.values() if _lacks_call(call)]
    if not open_calls and not unasked:
        return passed("no-orphaned-tools")
    known = _known(calls, settings)
    parts: list[str] = []
    if open_calls:
        parts.append(f"Calls without an outcome: {len(open_calls)} ({_names(open_calls, known)}).")
    if unasked:
        parts.append(f"Outcomes without a call: {len(unasked)} ({_names(unasked, known)}).")
    return Verdict(
        "no-orphaned-tools",
        passed=False,
        summary=" ".join(parts),
        detail=f"The calls are {', '.join(call.id for call in [*open_calls, *unasked][:_NAMED])}.",
        entries=addresses(call.began_in or call.ended_in for call in [*open_calls, *unasked]),
    )


def _lacks_outcome(call: Call) -> bool:
    match call.status:
        case "open":
            return True
        case "waiting":
            return call.waits[-1].in_doubt
        case "asked" | "ok" | "error" | "refused" | "unknown":
            return False


def _is_write(call: Call) -> bool:
    return call.effect != "read" and not call.is_own


def _lacks_call(call: Call) -> bool:
    # A script's call that an earlier run made has an outcome only.
    if call.asked_in or call.began_in or is_of_a_script(call.id):
        return False
    return call.status in ("ok", "error", "unknown")


def plan_call_budget(calls: Calls, settings: Settings) -> Verdict:
    """Return whether the run wrote and read its plan seldom enough. No limit of tool calls counts these calls."""
    most = int(settings.limit("plan-call-budget"))
    made = plan_calls(calls)
    if len(made) <= most:
        return passed("plan-call-budget", "warning")
    return Verdict(
        "plan-call-budget",
        passed=False,
        severity="warning",
        summary=f"Calls about the plan: {len(made)}; the check allows {most}.",
        implies="reasoning_collapse",
        entries=addresses(call.asked_in for call in made[most:]),
    )


def plan_calls(calls: Calls) -> Sequence[Call]:
    """Return the calls that wrote, changed or read the plan."""
    return [call for call in calls.calls.values() if call.tool in BOOKKEEPING and call.tool != FINISH]


def _known(calls: Calls, settings: Settings) -> frozenset[str]:
    """Return the names of tools for summaries, which must not quote a model."""
    return settings.tools | known_tools(calls.calls.values(), ())


def _names(found: Iterable[Call], known: Set[str]) -> str:
    names = dict.fromkeys(shown_tool(call.tool, known) for call in found)
    return ", ".join(list(names)[:_NAMED])
