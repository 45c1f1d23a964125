"""The judge of subagent runs, of files of runs, and of the requests to models."""

import hashlib
from collections.abc import Awaitable, Callable, Mapping, Sequence

from gofer.journal import entries as e
from gofer.journal.workspace_entries import ContextCompacted, FileAdded
from gofer.projections import progress
from gofer.values.errors import Corrupt, Gone
from support.simulation.delegating_runs import given
from support.simulation.judge import Journal, Report


def below(journals: Mapping[str, Journal], report: Report) -> list[str]:
    """Return the violations in the subagents of some runs; `journals` are those of all runs."""
    found: list[str] = []
    for run, journal in journals.items():
        state = progress.project(journal)
        started = {r.entry.call: r.entry for r in journal if isinstance(r.entry, e.SubagentStarted) and r.entry.run}
        settled = {r.entry.call: r.entry for r in journal if isinstance(r.entry, e.SubagentFinished)}
        report.delegated += len(started)
        report.compacted += sum(isinstance(r.entry, ContextCompacted) for r in journal)
        if state.finished is not None and state.children:
            found.append("a run ended and its subagents did not")
        for call, asked in started.items():
            child = journals[asked.run]
            if child and (call in settled or state.finished is not None):
                found += _ended(asked, settled.get(call), child)
        if state.finished is not None and state.finished.status == "done" and "." not in run:
            found += _in_order(journal)
    return found


def _ended(asked: e.SubagentStarted, settled: e.SubagentFinished | None, child: Journal) -> list[str]:
    """Check that a settled subagent run ended, with its usage recorded and within its limits."""
    state = progress.project(child)
    if settled is None or state.finished is None:
        return ["a subagent is left at work"]
    used = (state.usage, state.llm_calls, state.tool_calls)
    found = (
        [] if (settled.usage, settled.llm_calls, settled.tool_calls) == used else ["what a subagent used is not told"]
    )
    assert asked.reserved is not None
    most = asked.reserved.llm_calls, asked.reserved.tool_calls
    within = all(had <= might for had, might in zip(used[1:], most, strict=True))
    return found + ([] if within else ["a subagent used more than it might"])


def _in_order(journal: Journal) -> list[str]:
    """Check that the model made each of its turns once."""
    answers = [r.entry for r in journal if isinstance(r.entry, e.LlmResponse)]
    asked = [tuple(ask.id for ask in answer.tool_calls) for answer in answers]
    return ["a model lost its thread"] if len(set(asked)) != len(asked) else []


def unasked(journals: Mapping[str, Journal], asked: Sequence[bytes]) -> list[str]:
    """Find requests to models that no journal has, byte for byte except for the texts in them."""
    requests = [r.entry for journal in journals.values() for r in journal if isinstance(r.entry, e.LlmRequest)]
    known = {(one.prefix_sha256, one.tail) for one in requests}
    tails = {one.tail.encode() for one in requests}
    lost = 0
    for body in asked:
        at = body.rfind(b',{"content":"[Gofer, by code] Used so far')
        prefix, tail = body[:at], body[at:]
        if at > 0 and (tail not in tails or (hashlib.sha256(prefix).hexdigest(), tail.decode()) not in known):
            lost += 1
    return [f"{lost} questions to a model without an intent"] if lost else []


async def unread(journals: Mapping[str, Journal], read: Callable[[str, str], Awaitable[bytes]]) -> list[str]:
    """Find files of runs with other contents than were given."""
    found: list[str] = []
    for run, journal in journals.items():
        for added in (r.entry for r in journal if isinstance(r.entry, FileAdded) and r.entry.body):
            try:
                content = await read(added.run or run, added.body)
            except Gone:
                continue  # deleted, with its run
            except Corrupt as error:
                found.append(f"a file of a run cannot be read: {error}")
                continue
            if len(content) != added.size or not _whole(added, content.decode()):
                found.append("a file does not hold what was given")
    return found


def _whole(added: FileAdded, text: str) -> bool:
    """Return whether a file of a long result is complete."""
    name, _, rest = text.partition(" ")
    words = " ".join(rest.partition("\n")[0].split(" ")[:-1])
    return not added.file.startswith("result_") or text == given(name, words)
