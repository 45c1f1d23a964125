"""The files that an eval file refers to: payloads, worlds, labels and goldens, all below its own folder."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from gofer.evals.eval_file import Case, Eval
from gofer.workflows.file_text import is_there
from gofer.workflows.mistake import Mistake
from gofer.workflows.sentences import close_match
from gofer.workflows.yaml_source import Loc, Source

GOLDENS = "goldens"
"""The folder of recorded cases, in the folder of evals."""
DEMO = "demo"
"""The name of the world of the demo, which is no file."""
_MOST_FILES = 1_000
"""The most files among which a hint looks for a similar name."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A file that an eval file names."""

    kind: Literal["payload", "world", "labels", "golden"]
    path: str
    """The path from the folder of the eval file."""
    loc: Loc
    """The path of the value in the eval file."""


def references(of: Eval) -> Iterator[Reference]:
    """Yield every file that an eval names."""
    if isinstance(of.world, str) and of.world != DEMO:
        yield Reference("world", of.world, ("world",))
    for at, case in enumerate(of.cases):
        yield from _of_case(case, ("cases", at))


def _of_case(case: Case, loc: Loc) -> Iterator[Reference]:
    if isinstance(case.world, str) and case.world != DEMO:
        yield Reference("world", case.world, (*loc, "world"))
    if case.trigger is not None and isinstance(case.trigger.payload, str):
        yield Reference("payload", case.trigger.payload, (*loc, "trigger", "payload"))
    for at, turn in enumerate(case.then):
        if isinstance(turn.trigger.payload, str):
            yield Reference("payload", turn.trigger.payload, (*loc, "then", at, "trigger", "payload"))
    for at, criterion in enumerate(case.judge):
        if criterion.labels:
            yield Reference("labels", criterion.labels, (*loc, "judge", at, "labels"))
    if case.golden:
        yield Reference("golden", golden_path(case.golden), (*loc, "golden"))


def golden_path(name: str) -> str:
    """Return the path of a golden from the folder of evals."""
    return f"{GOLDENS}/{name}.yaml"


def check_references(source: Source, of: Eval) -> Iterator[Mistake]:
    """Yield a mistake for each file that does not exist or that is not below the folder of the eval file."""
    folder = source.file.parent
    for reference in references(of):
        place = source.place(reference.loc)
        if _is_outside(folder, reference.path):
            message = f"`{reference.path[:80]}` is not below the folder {folder.name}/."
            hint = f"Move the file into {folder.name}/, and write its path from there."
            yield Mistake(source.file, place, "missing-file", message, hint)
        elif (folder / reference.path).is_dir():
            message = f"`{reference.path[:80]}` in {folder.name}/ is a folder."
            yield Mistake(source.file, place, "missing-file", message, "Write the path of a file in it.")
        elif not _is_file(folder / reference.path):
            message = f"There is no file `{reference.path[:80]}` in {folder.name}/."
            yield Mistake(source.file, place, "missing-file", message, _hint(folder, reference))


def is_usable(folder: Path, path: str) -> bool:
    """Return whether a path names a file below the folder."""
    return not _is_outside(folder, path) and _is_file(folder / path)


def _is_outside(folder: Path, path: str) -> bool:
    """Return whether a path leads out of the folder, also through symbolic links."""
    if not path or "\0" in path or "\\" in path:
        return True
    return not Path(os.path.realpath(folder / path)).is_relative_to(os.path.realpath(folder))


def _is_file(file: Path) -> bool:
    try:
        return is_there(file)
    except OSError:
        # The name is too long.
        return False


def _hint(folder: Path, reference: Reference) -> str:
    suffix = Path(reference.path).suffix
    known: list[str] = []
    for path in folder.rglob(f"*{suffix}"):
        if len(known) < _MOST_FILES and path.parent != folder and path.is_file():
            known.append(path.relative_to(folder).as_posix())
    meant = close_match(reference.path, sorted(known))
    if meant is None:
        return "Create it, or correct its path."
    if reference.kind == "golden":
        meant = Path(meant).stem
    return f"Write `{meant}`, or create the file."
