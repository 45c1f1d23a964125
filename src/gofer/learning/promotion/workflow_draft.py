"""The changed file of a workflow: the lines that make a script its coordinator, and nothing else."""

import difflib
from collections.abc import Sequence

from gofer.workflows.yaml_source import Source

_KEYS = ("coordinator", "coordinator_script", "subagents")


def with_script(source: Source, script: str, subagents: Sequence[str]) -> str:
    """Return the text of a workflow file with a script as its coordinator, after its triggers."""
    added = ["coordinator: script", f"coordinator_script: {script}"]
    if subagents:
        added.append(f"subagents: [{', '.join(subagents)}]")
    starts = {name: place.line - 1 for (name, *inner), place in source.keys.items() if not inner}
    order = sorted(starts.values())
    removed: set[int] = set()
    after = len(source.lines)
    for name, start in starts.items():
        end = next((line for line in order if line > start), len(source.lines))
        end = _without_comments(source.lines, start, end)
        if name in _KEYS:
            removed |= set(range(start, end))
        if name == "when":
            after = end
    kept: list[str] = []
    for number, line in enumerate(source.lines):
        if number == after:
            kept += added
        if number not in removed:
            kept.append(line)
    if after >= len(source.lines):
        kept += added
    return "\n".join(kept) + "\n"


def workflow_diff(file: str, before: str, after: str) -> str:
    """Return a change of a workflow file as a diff that `git apply` takes."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), f"a/{file}", f"b/{file}", lineterm="")
    return "".join(f"{line}\n" for line in lines)


def _without_comments(lines: Sequence[str], start: int, end: int) -> int:
    """Return the end of a key without the comments and empty lines before the next key."""
    while end > start + 1 and (not lines[end - 1].strip() or lines[end - 1].lstrip().startswith("#")):
        end -= 1
    return end
