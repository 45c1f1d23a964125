"""The difference of two runs as lines for a terminal, and as JSON."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict

from gofer.projections.calls import Call
from gofer.projections.comparison.compared_entries import ComparedEntry
from gofer.projections.comparison.prompt_diff import BlockDiff, RoleDiff, line_diff, shortened
from gofer.projections.comparison.run_diff import FirstDifference, Followed, PromptDiff, RunDiff, Summary
from gofer.projections.words.transcript import harmless
from gofer.values.amounts import counted, money
from gofer.values.canonical_json import encode_text

MOST_CALLS = 20
"""The most calls of each run that are listed after the first difference."""
MOST_JSON_CALLS = 200
"""The same in JSON."""
MOST_LINES = 40
"""The most lines of one differing field."""
WIDTH = 300
"""The most characters of a line."""
COUNTED = "Times, durations, token counts, owners and generated ids do not count as differences."


def diff_lines(diff: RunDiff, label: str = "") -> Iterator[str]:
    """Yield the difference of two runs, as lines of at most WIDTH characters that a terminal shows."""
    for line in _lines(diff, label):
        yield harmless(line)[:WIDTH]


def _lines(diff: RunDiff, label: str) -> Iterator[str]:
    if diff.is_equal:
        yield f"The runs are equal: {diff.equal_entries} entries mean the same. {COUNTED}"
        return
    if label:
        yield f"Subagent {label}"
    for sign, run in zip("-+", diff.runs, strict=True):
        yield f"{sign} {_summary(run)}"
        if run.damage:
            yield f"  {run.damage} Only the part before is compared."
    if diff.bundle:
        yield ""
        yield f"Bundle, differing in {counted(len(diff.bundle), 'part')}"
        yield from (f"  {part}" for part in diff.bundle)
    yield ""
    yield from _first_lines(diff)
    if diff.prompt is not None:
        yield ""
        yield from _prompt_lines(diff.prompt)
    if diff.followed is not None:
        yield ""
        yield from _followed_lines(diff.followed)
    for call, below in diff.subagents.items():
        yield ""
        yield from _lines(below, call)


def _summary(run: Summary) -> str:
    counts = f"{counted(run.llm_calls, 'model call')}, {counted(run.tool_calls, 'tool call')} toward the limit"
    tokens = f"{run.input_tokens:,} tokens in, {run.output_tokens:,} out"
    used = f"{counts}, {tokens}, {money(run.cost_usd)}, {run.duration_ms / 1000:.1f} s"
    return f"{run.run}  {run.workflow}  {run.status}: {used}"


def _first_lines(diff: RunDiff) -> Iterator[str]:
    if diff.first is None:
        yield f"All {diff.equal_entries} entries of the journals mean the same. {COUNTED}"
        return
    yield f"First difference, after {_entries(diff.equal_entries)}"
    for sign, entry in zip("-+", (diff.first.first, diff.first.second), strict=True):
        yield f"{sign} {_entry(entry)}"
    yield from _field_lines(diff.first)


def _entries(number: int) -> str:
    if number == 1:
        return "1 equal entry"
    return f"{number:,} equal entries"


def _entry(entry: ComparedEntry | None) -> str:
    if entry is None:
        return "(no further entry)"
    words = [entry.kind, entry.address]
    if entry.call:
        words.append(f"call {entry.call}")
    if entry.tool:
        words.append(f"of {entry.tool}")
    return " ".join(words)


def _field_lines(first: FirstDifference) -> Iterator[str]:
    for name, values in first.fields.items():
        yield f"  {name}"
        yield from (f"    {line}" for line in _value_lines(*values))
    if first.fields:
        return
    for sign, entry in zip("-+", (first.first, first.second), strict=True):
        if entry is not None:
            lines = _text(entry.meaning).splitlines()
            yield from shortened([f"    {sign}{line}" for line in lines], MOST_LINES)


def _value_lines(before: object, after: object) -> Sequence[str]:
    return shortened(list(line_diff(_text(before), _text(after))), MOST_LINES)


def _text(value: object) -> str:
    """Return a value as text, and JSON with a line for each part."""
    if isinstance(value, str):
        return value
    return json.dumps(json.loads(encode_text(value)), indent=1, ensure_ascii=False)


def _prompt_lines(prompt: PromptDiff) -> Iterator[str]:
    yield f"Prompt of llm/{prompt.requests[0]}, then llm/{prompt.requests[1]}, in estimated tokens and lines"
    if not prompt.is_exact:
        yield "  The bundle does not give the bytes that were sent, so the prompt is approximate."
    for role in prompt.roles:
        if role.blocks or any(role.tokens):
            yield _stat(role)
    for role in prompt.roles:
        for block in role.blocks:
            yield from _hunk(role, block)


def _stat(role: RoleDiff) -> str:
    change = "="
    if role.blocks:
        change = f"+{role.added} -{role.removed}"
    before, after = role.tokens
    return f"  {role.role:<14} {before:>8,} {after:>8,}  {change}"


def _hunk(role: RoleDiff, block: BlockDiff) -> Iterator[str]:
    yield f"@@ {role.role}: {block.name}, {block.change} @@"
    yield from block.lines


def _followed_lines(followed: tuple[Followed, Followed]) -> Iterator[str]:
    yield "What followed"
    for sign, after in zip("-+", followed, strict=True):
        answers = counted(after.llm_calls, "model answer")
        yield f"{sign} {answers}, {counted(after.deferrals, 'wait')}, {counted(len(after.calls), 'call')}"
        yield from shortened([f"    {sign}{_call(call)}" for call in after.calls], MOST_CALLS)


def _call(call: Call) -> str:
    again = ""
    if call.retries:
        again = f", {counted(call.retries, 'more attempt')}"
    return f"{call.id} {call.tool} {call.status}, {call.duration_ms} ms{again}{_reason(call)}"


def _reason(call: Call) -> str:
    """Return what came of a call: the code of a refusal or an error and its summary, or else its first line."""
    said = ", ".join(filter(None, [call.code, call.summary]))
    if not said and call.status != "ok":
        said = call.text.partition("\n")[0]
    if not said:
        return ""
    return f": {said}"


def diff_json(diff: RunDiff) -> dict[str, object]:
    """Return the difference as JSON. Texts are line differences with the same limits as for a terminal."""
    return {
        "equal": diff.is_equal,
        "runs": [asdict(run) for run in diff.runs],
        "equal_entries": diff.equal_entries,
        "bundle": list(diff.bundle),
        "first_difference": diff.first and _first_json(diff.first),
        "prompt": diff.prompt and _prompt_json(diff.prompt),
        "followed": diff.followed and [_followed_json(after) for after in diff.followed],
        "subagents": {call: diff_json(below) for call, below in diff.subagents.items()},
    }


def _first_json(first: FirstDifference) -> dict[str, object]:
    return {
        "entries": [_entry_json(first.first), _entry_json(first.second)],
        "fields": {name: _value_lines(*values) for name, values in first.fields.items()},
    }


def _entry_json(entry: ComparedEntry | None) -> Mapping[str, object] | None:
    if entry is None:
        return None
    return {"address": entry.address, "kind": entry.kind, "call": entry.call, "tool": entry.tool}


def _prompt_json(prompt: PromptDiff) -> dict[str, object]:
    return {
        "requests": [f"llm/{number}" for number in prompt.requests],
        "exact": prompt.is_exact,
        "roles": [_role_json(role) for role in prompt.roles],
    }


def _role_json(role: RoleDiff) -> dict[str, object]:
    counts = {"tokens": list(role.tokens), "added": role.added, "removed": role.removed}
    return {"role": role.role, **counts, "blocks": [asdict(block) for block in role.blocks]}


def _followed_json(after: Followed) -> dict[str, object]:
    counts = {"llm_calls": after.llm_calls, "deferrals": after.deferrals}
    return {**counts, "tool_calls": len(after.calls), "calls": list(_calls_json(after.calls[:MOST_JSON_CALLS]))}


def _calls_json(calls: Sequence[Call]) -> Iterator[dict[str, object]]:
    for call in calls:
        yield {
            "call": call.id,
            "tool": call.tool,
            "status": call.status,
            "duration_ms": call.duration_ms,
            "retries": call.retries,
            "code": call.code,
            "summary": call.summary,
        }
