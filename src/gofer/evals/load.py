"""The eval files of a repository."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from gofer.evals.eval_file import Eval
from gofer.evals.references import GOLDENS, check_references
from gofer.evals.rows import with_rows
from gofer.workflows.form import fill
from gofer.workflows.mistake import Mistake, in_order, refuse
from gofer.workflows.yaml_source import Source, read_source

FOLDER = "evals"
"""The folder of evals, beside the folder of the workflow files."""


@dataclass(frozen=True, slots=True)
class LoadedEval:
    """One eval file."""

    source: Source
    """The file with the places of its values."""
    eval: Eval
    is_golden: bool = False
    """Whether the file is a golden; its only case is called `goldens/<name>`."""

    @property
    def path(self) -> Path:
        """The file. The paths in it begin at its folder."""
        return self.source.file

    @property
    def name(self) -> str:
        """The name of the file without its suffix, with which the names of its cases begin."""
        if self.is_golden:
            return GOLDENS
        return self.path.stem


def eval_files(folder: Path) -> Sequence[Path]:
    """Return the eval files of a folder, sorted by name; none without the folder.

    Files of folders in it, such as worlds, payloads and goldens, are no eval files.
    """
    return sorted(path for path in folder.glob("*.yaml") if not path.is_dir())


def read_evals(folder: Path) -> tuple[Sequence[LoadedEval], Sequence[Mistake]]:
    """Return the eval files of a folder that have the right form, and the mistakes of all of them. Never raises."""
    loaded: list[LoadedEval] = []
    mistakes: list[Mistake] = []
    for path in eval_files(folder):
        source, wrong = with_rows(read_source(path))
        mistakes += wrong
        if wrong:
            # Without its rows, the placeholders of a case would be mistakes as well.
            continue
        filled, wrong = fill(source, Eval)
        mistakes += wrong
        if filled is not None:
            loaded.append(LoadedEval(source, filled))
            mistakes += check_references(source, filled)
            mistakes += _repeated_names(source, filled)
    return loaded, in_order(mistakes)


def load_evals(folder: Path, names: Collection[str] = ()) -> Sequence[LoadedEval]:
    """Return the eval files of a folder, sorted by name. Raises ConfigError with the mistakes of all files.

    With `names` of other files, a file with mistakes is left out. The files that the evals name exist and are below the
    folder. `gofer check` finds more mistakes.
    """
    loaded, mistakes = read_evals(folder)
    wrong = {mistake.file for mistake in mistakes if not mistake.is_hint}
    if names and all(_is_of_another_file(name, loaded, wrong) for name in names):
        return [one for one in loaded if one.path not in wrong]
    refuse(mistakes, "eval files")
    return loaded


def _is_of_another_file(name: str, loaded: Sequence[LoadedEval], wrong: Collection[Path]) -> bool:
    """Return whether a file, or a case as FILE/CASE, is a golden or in a file without mistakes."""
    if name.partition("/")[0] == GOLDENS:
        return True
    return any(
        one.path not in wrong and (name.partition("/")[0] == one.name or Path(name).resolve() == one.path.resolve())
        for one in loaded
    )


def _repeated_names(source: Source, of: Eval) -> Iterator[Mistake]:
    seen: dict[str, int] = {}
    for at, case in enumerate(of.cases):
        place = source.place(("cases", at, "name"))
        if case.name in seen:
            message = f"The case `{case.name}` is repeated here; line {seen[case.name]} names it first."
            yield Mistake(source.file, place, "duplicate-case", message, "Give it another name.")
        seen.setdefault(case.name, place.line)
