"""The workspace of a run: its files and the parts that were read, its skills and its plan."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from gofer.journal.entries import Recorded
from gofer.journal.workspace_entries import ContextCompacted, FileAdded, FileRead, PlanUpdated, SkillLoaded, Todo

MOST_RANGES = 20
"""The most separate ranges of one file that are kept; beyond that, the nearest ranges are joined."""


@dataclass(frozen=True, slots=True)
class HeldFile:
    """One file of a run, and the parts of it that were shown."""

    added: FileAdded
    lines: Sequence[tuple[int, int]] = ()
    """The ranges of lines that were shown, ends included, sorted and disjoint."""
    bytes: Sequence[tuple[int, int]] = ()
    """The ranges of bytes that were shown, ends excluded."""
    pages: Sequence[tuple[int, int]] = ()
    """The ranges of pages that were shown as images, ends included."""
    searches: int = 0

    @property
    def fetched(self) -> bool:
        """Whether its content was fetched."""
        return bool(self.added.body)


@dataclass(slots=True)
class Workspace:
    """The files, skills and plan of one run so far."""

    files: dict[str, HeldFile] = field(default_factory=dict[str, HeldFile])
    """The files by id, in the order in which the run learned of them."""
    skills: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    """The shown files of each skill that are still in the context window, by path; the empty path is SKILL.md."""
    plan: tuple[Todo, ...] = ()
    plans: int = 0
    """How often the plan was written or changed."""

    @property
    def bytes_held(self) -> int:
        """The bytes of all fetched files that this run stores."""
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
            state.files[read.file] = _with_read(held, read)
        case SkillLoaded(skill=skill, file=file):
            state.skills.setdefault(skill, set()).add(file)
        case PlanUpdated(todos=todos):
            state.plan = todos
            state.plans += 1
        case ContextCompacted(kept=first):
            _compact(state, first)
        case _:
            pass


def _add(state: Workspace, added: FileAdded) -> None:
    held = state.files.get(added.file)
    if held is None:
        state.files[added.file] = HeldFile(added)
    elif added.body:
        # The file was fetched now. Its first name stays.
        now = replace(added, name=held.added.name, preloaded=held.added.preloaded or added.preloaded)
        state.files[added.file] = replace(held, added=now)


def _compact(state: Workspace, first: int) -> None:
    """Forget what may have left the context window. The record of the parts that were read stays."""
    state.skills.clear()
    if not first:
        for file, held in state.files.items():
            state.files[file] = replace(held, added=replace(held.added, preloaded=False))


def _with_read(held: HeldFile, read: FileRead) -> HeldFile:
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
    """Return the ranges sorted and disjoint; ranges that touch or are at most `gap` apart are joined."""
    disjoint: list[tuple[int, int]] = []
    for start, stop in sorted(ranges):
        if disjoint and start <= disjoint[-1][1] + gap:
            disjoint[-1] = disjoint[-1][0], max(disjoint[-1][1], stop)
        else:
            disjoint.append((start, stop))
    while len(disjoint) > MOST_RANGES:
        nearest = min(range(len(disjoint) - 1), key=lambda i: disjoint[i + 1][0] - disjoint[i][1])
        disjoint[nearest : nearest + 2] = [(disjoint[nearest][0], disjoint[nearest + 1][1])]
    return tuple(disjoint)
