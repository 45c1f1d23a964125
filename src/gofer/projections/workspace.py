"""The workspace of a run: its files and what of them was read, its skills and its plan."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from gofer.journal.entries import Recorded
from gofer.journal.workspace_entries import ContextCompacted, FileAdded, FileRead, PlanUpdated, SkillLoaded, Todo

REMEMBERED = 20
"""Separate ranges of one file that are remembered; further apart ones become one."""


@dataclass(frozen=True, slots=True)
class HeldFile:
    """One file of a run as it stands now."""

    added: FileAdded
    lines: Sequence[tuple[int, int]] = ()
    """Ranges of lines that were shown, first and last included, in order and apart from each other."""
    bytes: Sequence[tuple[int, int]] = ()
    """Ranges of bytes that were shown, without their end."""
    pages: Sequence[tuple[int, int]] = ()
    """Ranges of pages that were shown as images, first and last included."""
    searches: int = 0

    @property
    def fetched(self) -> bool:
        """Whether its content is known."""
        return bool(self.added.body)


@dataclass(slots=True)
class Workspace:
    """What one run has at hand, as far as its journal goes."""

    files: dict[str, HeldFile] = field(default_factory=dict[str, HeldFile])
    """By id, in the order in which the run learned of them."""
    skills: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    """What was shown of each skill and has not left the window: paths of its files, the empty one for SKILL.md."""
    plan: tuple[Todo, ...] = ()
    plans: int = 0
    """How often it was written or changed."""

    @property
    def bytes_held(self) -> int:
        """Bytes of all files whose content is known and stored with this run."""
        return sum(file.added.size for file in self.files.values() if file.fetched and not file.added.run)


def project(entries: Iterable[Recorded]) -> Workspace:
    """Return the workspace of a whole journal."""
    state = Workspace()
    for recorded in entries:
        fold(state, recorded)
    return state


def fold(state: Workspace, recorded: Recorded) -> None:
    """Add one more entry to the workspace, in place."""
    match recorded.entry:
        case FileAdded() as added:
            _add(state, added)
        case FileRead() as read if held := state.files.get(read.file):
            state.files[read.file] = _shown(held, read)
        case SkillLoaded(skill=skill, file=file):
            state.skills.setdefault(skill, set()).add(file)
        case PlanUpdated(todos=todos):
            state.plan = todos
            state.plans += 1
        case ContextCompacted(kept=first):
            _fold_away(state, first)
        case _:
            pass


def _add(state: Workspace, added: FileAdded) -> None:
    held = state.files.get(added.file)
    if held is None:
        state.files[added.file] = HeldFile(added)
    elif added.body:
        # Fetched by now; what it was called first stays.
        now = replace(added, name=held.added.name, preloaded=held.added.preloaded or added.preloaded)
        state.files[added.file] = replace(held, added=now)


def _fold_away(state: Workspace, first: int) -> None:
    """What was shown may not stand in the window any more; what was read of files is known to have been read."""
    state.skills.clear()
    if not first:
        for file, held in state.files.items():
            state.files[file] = replace(held, added=replace(held.added, preloaded=False))


def _shown(held: HeldFile, read: FileRead) -> HeldFile:
    match read.unit:
        case "lines":
            return replace(held, lines=merged([*held.lines, (read.start, read.stop)], gap=1))
        case "bytes":
            return replace(held, bytes=merged([*held.bytes, (read.start, read.stop)], gap=0))
        case "pages":
            return replace(held, pages=merged([*held.pages, (read.start, read.stop)], gap=1))
        case "matches":
            return replace(held, searches=held.searches + 1)


def merged(ranges: Iterable[tuple[int, int]], gap: int) -> Sequence[tuple[int, int]]:
    """The same ranges, in order; those that touch, or are at most `gap` apart, are one."""
    apart: list[tuple[int, int]] = []
    for start, stop in sorted(ranges):
        if apart and start <= apart[-1][1] + gap:
            apart[-1] = apart[-1][0], max(apart[-1][1], stop)
        else:
            apart.append((start, stop))
    while len(apart) > REMEMBERED:
        nearest = min(range(len(apart) - 1), key=lambda i: apart[i + 1][0] - apart[i][1])
        apart[nearest : nearest + 2] = [(apart[nearest][0], apart[nearest + 1][1])]
    return tuple(apart)
