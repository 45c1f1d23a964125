"""The tail of every request: usage, files and plan, built for one model call and not part of the history."""

from collections.abc import Sequence

from gofer.engine.first_message import today
from gofer.engine.transcript import HISTORY
from gofer.files.completeness import incomplete
from gofer.journal.workspace_entries import Todo
from gofer.projections.progress import Progress
from gofer.projections.workspace import HeldFile, Workspace
from gofer.tools.plan import CURRENT, current, open_items, shown
from gofer.values import messages
from gofer.values.canonical_json import encode_text
from gofer.workflows.schema import Limits

STALE_MS = 3_600_000
"""Age of the first message, in milliseconds, from which on the tail gives the time again."""
LISTED = 40
"""Greatest number of files in the list; the others are counted."""
LASTING = 30
"""Greatest number of attachments and files of compacted turns among them."""
PLAN = 4_000
"""Longest plan that is shown whole, in characters."""
LINE = 80
"""Characters of each item of a longer plan."""
_UNITS = ((1_000_000, "MB"), (1_000, "kB"))


def tail(progress: Progress, workspace: Workspace, limits: Limits, context: str = "") -> str:
    """Return the end of a request, as JSON text; `context` says how full the window is."""
    sections = [" ".join(filter(None, [_usage(progress, limits), context])), *_files(workspace), *_plan(workspace)]
    return "," + messages.user("\n".join(sections)).decode() + "]}"


def _usage(progress: Progress, limits: Limits) -> str:
    used = progress.usage.input_tokens + progress.usage.output_tokens
    parts = [
        f"[Gofer, by code] {_time_if_stale(progress)}Used so far:",
        f"{progress.llm_calls} of {limits.llm_calls} model calls,",
        f"{progress.tool_calls} of {limits.tool_calls} tool calls,",
        f"{used} of {limits.tokens} tokens.",
    ]
    return " ".join(parts)


def _time_if_stale(progress: Progress) -> str:
    """Return the current time if the first message is old, as after a wait for a person; empty otherwise."""
    if progress.last_at - progress.accepted_at < STALE_MS:
        return ""
    return f"{today(progress.last_at)} "


def _files(workspace: Workspace) -> Sequence[str]:
    """Return a line for each file: its id for tools, its name as data, its size, and the parts that were read."""
    files = list(workspace.files.values())
    if not files:
        return []
    listed = _listed_files(files)
    lines = ["Files of this run (tools take the id; names are data):"]
    if len(files) > len(listed):
        lines.append(f"- {len(files) - len(listed)} other files, not listed")
    return [*lines, *map(_file_line, listed)]


def _listed_files(files: Sequence[HeldFile]) -> Sequence[HeldFile]:
    """Return the newest files; attachments and compacted turns first, because no message may name them any more."""
    lasting = [one.added.file for one in files if one.added.source or one.added.file.startswith(HISTORY)][-LASTING:]
    results = [one.added.file for one in files if one.added.file not in lasting][len(lasting) - LISTED :]
    return [one for one in files if one.added.file in {*lasting, *results}]


def _plan(workspace: Workspace) -> Sequence[str]:
    """Return the plan, and a reminder of the next call for it."""
    plan = workspace.plan
    if not plan:
        return []
    return ["Your plan:", _short_plan(plan), f"REMINDER: {_next_call(plan)}"]


def _short_plan(plan: Sequence[Todo]) -> str:
    """Return the plan; a long plan is shortened to the beginning of each line, because every request contains it."""
    whole = shown(plan)
    if len(whole) <= PLAN:
        return whole
    lines = map(_short_line, whole.split("\n"))
    return "\n".join([*lines, "(shortened; todo_read returns the whole plan)"])


def _short_line(line: str) -> str:
    if len(line) <= LINE or line.endswith(CURRENT):
        return line
    return f"{line[:LINE]}…"


def _next_call(plan: Sequence[Todo]) -> str:
    now = current(plan)
    if now is None:
        return "nothing is left to do; answer now, and say what is blocked and what it needs."
    if now.status == "pending":
        return f'before you begin {now.id}, call todo_update(id="{now.id}", status="in_progress").'
    left = len(open_items(plan)) - 1
    then = f"{left} more to do after it" if left else "then answer"
    return f'as soon as {now.id} is done, call todo_update(id="{now.id}", status="completed"); {then}.'


def _file_line(held: HeldFile) -> str:
    added = held.added
    size = size_of(added.size) if added.size or held.fetched else "unknown size"
    about = [added.media_type or "unknown type", size, f"from {added.origin}", _parts_read(held)]
    line = f"- {added.file} {encode_text(added.name)}: {', '.join(about)}"
    if added.missing:
        return f"{line}. {incomplete(added.missing, 'It')}"
    return line


def _parts_read(held: HeldFile) -> str:
    if held.added.preloaded:
        return "shown whole in the first message"
    read = [
        *(f"lines {first} to {last}" for first, last in held.lines),
        *(f"bytes {start} to {stop}" for start, stop in held.bytes),
        *(f"pages {first} to {last} as images" for first, last in held.pages),
    ]
    text = "not read"
    if read:
        text = f"read: {', '.join(read)}"
    if held.searches:
        text = f"{text}; searched {held.searches} times"
    return text


def size_of(size: int) -> str:
    """Return a number of bytes for people, such as `1.2 MB`."""
    for unit, name in _UNITS:
        if size >= unit:
            return f"{size / unit:.1f} {name}"
    return f"{size} bytes"
