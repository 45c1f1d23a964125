"""The calls of a script by name, the same whenever it is run again, and the check that a script has not diverged.

A script begins in branch `0`; the third part of its second `gather` is `0.2-2`. A call is named by its branch, what it
calls, a hash of its arguments, and how often the same was asked for in that branch before.
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
"""Levels of `gather` within `gather`."""
WIDTH = 1_000
"""Branches of one `gather`."""
ARGUMENTS_LIMIT = 200_000
"""Bytes of the arguments of one call, as JSON."""

Path = tuple[tuple[int, int], ...]
"""For each level: which `gather` of its branch, and which part of that."""
QUOTED = 300
"""Characters of arguments that people are shown."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One call as a script asks for it."""

    call: str
    path: Path
    tool: str
    arguments: Mapping[str, object]
    place: str
    """`file:line` of the script."""


@dataclass(slots=True)
class Branch:
    """What runs by itself within a script: the whole of it, or one part of a `gather`."""

    place: str
    """`file:line` where it was begun."""
    path: Path = ()
    gathers: int = 0
    asked: Counter[str] = field(default_factory=Counter[str])
    files: dict[str, FileAdded] = field(default_factory=dict[str, FileAdded])
    """The files that it was told of, by id."""

    def learn(self, files: Iterable[FileAdded]) -> None:
        """It was told of some files, or more of those it knew."""
        for added in files:
            known = self.files.get(added.file)
            if known is None or added.body:
                self.files[added.file] = replace(added, name=known.name if known else added.name)

    def ask(self, tool: str, arguments: Mapping[str, object], place: str) -> Asked:
        """The next call of the branch. Raises TypeError or ValueError for arguments that are no plain JSON."""
        raw = encode(arguments)
        if len(raw) > ARGUMENTS_LIMIT or deeper_than(arguments, MAX_DEPTH):
            raise ValueError(f"arguments larger than {ARGUMENTS_LIMIT} bytes or nested deeper than {MAX_DEPTH} levels")
        name = f"{_name(self.path)}:{tool}:{hashlib.sha256(raw).hexdigest()[:12]}"
        self.asked[name] += 1
        return Asked(f"{name}:{self.asked[name]}", self.path, tool, json.loads(raw), place)

    def split(self, parts: int, place: str) -> list["Branch"]:
        """The parts of its next `gather`. Raises ValueError when they are too many."""
        self.gathers += 1
        if len(self.path) >= DEPTH or parts > WIDTH:
            raise ValueError(f"a gather of more than {WIDTH} parts, or more than {DEPTH} of them within each other")
        paths = [(*self.path, (self.gathers, index)) for index in range(parts)]
        return [Branch(place, path, files=dict(self.files)) for path in paths]


def path_of(call: str) -> Path:
    """The branch that a call's id names."""
    levels = call.partition(":")[0].split(".")[1:]
    return tuple((int(gather), int(index)) for gather, _, index in (level.partition("-") for level in levels))


def beside(one: Path, other: Path) -> bool:
    """Whether two branches run at the same time: they are in different parts of one `gather`."""
    for (gather, part), (other_gather, other_part) in zip(one, other, strict=False):
        if (gather, part) != (other_gather, other_part):
            return gather == other_gather
    return False


def _name(path: Path) -> str:
    return ".".join(["0", *(f"{gather}-{index}" for gather, index in path)])


class Diverged(RunStopped):
    """The message is for lists and names no contents; `notice` shows the person who asked what differs."""

    def __init__(self, reason: str, recorded: str, asked: str) -> None:
        super().__init__(f"diverged: {reason}")
        self.notice = (
            "I stopped: my script was changed while I was at work, and what it asks for now does not follow from what "
            f"I did. Please check what I did.\n\n```\n- {recorded}\n+ {asked}\n```"
        )


class Ledger:
    """The effects on record that a script has not asked for again yet."""

    def __init__(self, effects: Mapping[str, ToolCall]) -> None:
        self._left = dict(effects)

    def account(self, call: str) -> None:
        """The script asks for it again."""
        self._left.pop(call, None)

    def check(self, asked: Asked) -> None:
        """Raises Diverged when a new effect would follow one that is on record and was not asked for."""
        if (recorded := self._first(asked.path, asked.tool)) is None:
            return
        other = _other_arguments(recorded, asked) if recorded.tool == asked.tool else ""
        raise Diverged(
            f"{asked.place} asks for {asked.tool}, and the journal has {recorded.tool}{other} instead",
            f"{_shown(recorded.tool, recorded.arguments)}   (the journal, call {recorded.call})",
            f"{_shown(asked.tool, asked.arguments)}   ({asked.place})",
        )

    def check_end(self, path: Path, place: str) -> None:
        """Raises Diverged when a branch ended and something within it is on record that was not asked for."""
        within = [call for call in self._left.values() if path_of(call.call)[: len(path)] == path]
        if not within:
            return
        recorded = within[0]
        raise Diverged(
            f"{place} ended without asking for {recorded.tool}, which the journal has",
            f"{_shown(recorded.tool, recorded.arguments)}   (the journal, call {recorded.call})",
            f"nothing more   ({place})",
        )

    def _first(self, path: Path, tool: str) -> ToolCall | None:
        """The one that was probably meant: of the same tool, if there is one."""
        found = [call for call in self._left.values() if not beside(path_of(call.call), path)]
        return next((call for call in found if call.tool == tool), found[0] if found else None)


def _other_arguments(recorded: ToolCall, asked: Asked) -> str:
    before = recorded.arguments or {}
    names = sorted(name for name in {*before, *asked.arguments} if before.get(name) != asked.arguments.get(name))
    return f" with other {', '.join(names)}" if names else ""


def _shown(tool: str, arguments: Mapping[str, object] | None) -> str:
    written = encode_text(arguments or {}).replace("`", "\\u0060")
    return f"{tool} {written if len(written) <= QUOTED else written[:QUOTED] + ' [cut]'}"
