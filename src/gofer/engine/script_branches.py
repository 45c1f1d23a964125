"""The branches of a script, the names of its calls, and the check that a changed script has not diverged.

A script begins in branch `0`; the third part of its second `gather` is `0.2-2`. The name of a call consists of its
branch, its tool, a hash of its arguments, and a counter of equal calls in that branch. So a call has the same name each
time the script runs.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from gofer.journal.entries import ToolCall
from gofer.journal.workspace_entries import FileAdded
from gofer.values.canonical_json import MAX_DEPTH, deeper_than, encode, encode_text
from gofer.values.errors import RunStopped

DEPTH = 8
"""Greatest number of `gather` calls within each other."""
WIDTH = 1_000
"""Greatest number of branches of one `gather`."""
ARGUMENTS_LIMIT = 200_000
"""Largest arguments of one call, in bytes of JSON."""

Path = tuple[tuple[int, int], ...]
"""The place of a branch. Each level holds the number of a `gather` in its branch, and the index of the part."""
QUOTED = 300
"""Characters of arguments that people see."""


@dataclass(frozen=True, slots=True)
class ScriptCall:
    """One call of a script."""

    call: str
    path: Path
    tool: str
    arguments: Mapping[str, object]
    place: str
    """`file:line` of the script."""


@dataclass(slots=True)
class Branch:
    """A branch of a script: the whole script, or one part of a `gather`."""

    place: str
    """`file:line` where the branch began."""
    path: Path = ()
    gathers: int = 0
    counts: Counter[str] = field(default_factory=Counter[str])
    files: dict[str, FileAdded] = field(default_factory=dict[str, FileAdded])
    """The files that the branch knows, by id."""

    def add_files(self, files: Iterable[FileAdded]) -> None:
        """Add files, or fetched versions of files that the branch knows; a known file keeps its name."""
        for added in files:
            known = self.files.get(added.file)
            if known is None:
                self.files[added.file] = added
            elif added.body:
                self.files[added.file] = replace(added, name=known.name)

    def next_call(self, tool: str, arguments: Mapping[str, object], place: str) -> ScriptCall:
        """Return the next call of the branch. Raises TypeError or ValueError for arguments that are no plain JSON."""
        raw = encode(arguments)
        if len(raw) > ARGUMENTS_LIMIT or deeper_than(arguments, MAX_DEPTH):
            raise ValueError(f"arguments larger than {ARGUMENTS_LIMIT} bytes or nested deeper than {MAX_DEPTH} levels")
        name = f"{_name(self.path)}:{tool}:{hashlib.sha256(raw).hexdigest()[:12]}"
        self.counts[name] += 1
        return ScriptCall(f"{name}:{self.counts[name]}", self.path, tool, json.loads(raw), place)

    def split(self, parts: int, place: str) -> list["Branch"]:
        """Return the branches of the next `gather`. Raises ValueError when they are too many or too deep."""
        self.gathers += 1
        if len(self.path) >= DEPTH or parts > WIDTH:
            raise ValueError(f"a gather of more than {WIDTH} parts, or more than {DEPTH} of them within each other")
        paths = [(*self.path, (self.gathers, index)) for index in range(parts)]
        return [Branch(place, path, files=dict(self.files)) for path in paths]


def path_of(call: str) -> Path:
    """Return the path of the branch that a call id names."""
    levels = call.partition(":")[0].split(".")[1:]
    return tuple((int(gather), int(index)) for gather, _, index in (level.partition("-") for level in levels))


def are_concurrent(one: Path, other: Path) -> bool:
    """Return whether two branches run at the same time, in different parts of one `gather`."""
    for (gather, part), (other_gather, other_part) in zip(one, other, strict=False):
        if (gather, part) != (other_gather, other_part):
            return gather == other_gather
    return False


def _name(path: Path) -> str:
    return ".".join(["0", *(f"{gather}-{index}" for gather, index in path)])


class Diverged(RunStopped):
    """The script no longer matches the journal. The message is for lists; `notice` shows the asker what differs."""

    def __init__(self, reason: str, recorded: str, asked: str) -> None:
        super().__init__(f"diverged: {reason}")
        self.notice = (
            "I stopped, because my script was changed while I was at work, and its new steps do not follow from the "
            f"steps that I took before. Please check what I did.\n\n```\n- {recorded}\n+ {asked}\n```"
        )


class Ledger:
    """The recorded writes that the resumed script has not asked for again yet."""

    def __init__(self, effects: Mapping[str, ToolCall]) -> None:
        self._left = dict(effects)

    def mark_asked(self, call: str) -> None:
        """Remove a call from the ledger, because the script asked for it again."""
        self._left.pop(call, None)

    def check(self, asked: ScriptCall) -> None:
        """Raise Diverged when a new write would follow a recorded write that the script did not ask for again."""
        if (recorded := self._likely_replaced(asked.path, asked.tool)) is None:
            return
        other = ""
        if recorded.tool == asked.tool:
            other = _other_arguments(recorded, asked)
        raise Diverged(
            f"{asked.place} asks for {asked.tool}, and the journal has {recorded.tool}{other} instead",
            f"{_call_text(recorded.tool, recorded.arguments)}   (the journal, call {recorded.call})",
            f"{_call_text(asked.tool, asked.arguments)}   ({asked.place})",
        )

    def check_end(self, path: Path, place: str) -> None:
        """Raise Diverged when a branch ended without asking again for a write that was recorded in it."""
        within = [call for call in self._left.values() if path_of(call.call)[: len(path)] == path]
        if not within:
            return
        recorded = within[0]
        raise Diverged(
            f"{place} ended without asking for {recorded.tool}, which the journal has",
            f"{_call_text(recorded.tool, recorded.arguments)}   (the journal, call {recorded.call})",
            f"nothing more   ({place})",
        )

    def _likely_replaced(self, path: Path, tool: str) -> ToolCall | None:
        """Return the recorded write that the script most likely replaced: one of the same tool if possible."""
        found = [call for call in self._left.values() if not are_concurrent(path_of(call.call), path)]
        of_same_tool = [call for call in found if call.tool == tool]
        return next(iter([*of_same_tool, *found]), None)


def _other_arguments(recorded: ToolCall, asked: ScriptCall) -> str:
    before = recorded.arguments or {}
    names = sorted(name for name in {*before, *asked.arguments} if before.get(name) != asked.arguments.get(name))
    if not names:
        return ""
    return f" with other {', '.join(names)}"


def _call_text(tool: str, arguments: Mapping[str, object] | None) -> str:
    text = encode_text(arguments or {}).replace("`", "\\u0060")
    if len(text) > QUOTED:
        text = f"{text[:QUOTED]} [cut]"
    return f"{tool} {text}"
