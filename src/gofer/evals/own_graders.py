"""Graders of one's own: functions of `evals/` that say whether a play is right."""

import copy
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gofer.evals.grading.dimensions import Failure, verdicts
from gofer.evals.grading.turn_view import turn_view
from gofer.evals.load import FOLDER
from gofer.evals.plays import Play
from gofer.evals.results import Grade
from gofer.values.canonical_json import as_list
from gofer.values.errors import ConfigError
from gofer.workflows.file_text import read_text
from gofer.workflows.script_module import Modules, file_of, line_of

DIMENSION = "grade"

Grader = Callable[[Any], object]


@dataclass(frozen=True, slots=True)
class SeenCall:
    """A call of the play, with those of subagents."""

    tool: str
    arguments: Mapping[str, Any]
    status: str
    """`ok`, `error`, `refused` or `unknown`."""
    text: str
    """The result as the model reads it."""


@dataclass(frozen=True, slots=True)
class SeenPlay:
    """A play as a grader sees it. All values are copies."""

    answer: str
    """The answer of the last run; empty without one."""
    answers: Sequence[str]
    """The answers of all runs, in order."""
    output: Any
    """The fields of the last answer, for a workflow with `output`; None without them."""
    status: str
    """The status of the last run."""
    calls: Sequence[SeenCall]
    before: Mapping[str, Any]
    """The world before the play, by system; empty without a world."""
    after: Mapping[str, Any]
    """The world after the play."""


def load_grader(root: Path, name: str) -> Grader:
    """Return the grader `evals/<module>.py:<function>` of a repository. Raises ConfigError."""
    path, _, function = name.partition(":")
    module = Path(path).stem
    sources: dict[str, str] = {}
    for file in sorted((root / FOLDER).glob("*.py")):
        text, _ = read_text(file)
        if text is not None:
            sources[file.stem] = text
    if module not in sources:
        raise ConfigError(f"There is no file {path[:80]} that can be read as text.")
    try:
        found = vars(Modules(sources, FOLDER).load(module)).get(function)
    except (Exception, SystemExit) as error:
        files = {file_of(one, FOLDER) for one in sources}
        file, line = line_of(error, files) or (path, 1)
        raise ConfigError(f"{file}:{line} cannot be imported: {type(error).__name__}: {error}.") from error
    if not callable(found):
        raise ConfigError(f"{path} has no function {function[:80]}.")
    return found


def own_grades(names: Sequence[str], play: Play, root: Path) -> Sequence[Grade]:
    """Return the grades of the graders of a case: one for each verdict that they return.

    A grader that fails, or that returns no verdict, is a failed grade with the reason.
    """
    if not play.turns:
        return []
    return [grade for name in names for grade in verdicts(DIMENSION, _failures(name, play, root), len(play.turns))]


def _failures(name: str, play: Play, root: Path) -> Sequence[Failure]:
    function = name.partition(":")[2]
    try:
        found = load_grader(root, name)(_seen(play))
    except ConfigError as error:
        return [Failure(f"a verdict of {function}", str(error))]
    except Exception as error:  # noqa: BLE001 - the code of a company may raise any error
        return [Failure(f"a verdict of {function}", f"{_place(error)}{type(error).__name__}: {error}")]
    listed = as_list(found)
    if not isinstance(found, list):
        listed = [found]
    return [failure for one in listed for failure in _failure(function, one)]


def _failure(function: str, verdict: object) -> Sequence[Failure]:
    reason = "it returned False"
    match verdict:
        case bool(passed):
            pass
        case (bool(passed), str(reason)):
            pass
        case _:
            kind = type(verdict).__name__
            return [Failure(f"a verdict of {function}", f"it returned a {kind}; return True, False, or (False, why)")]
    if passed:
        return []
    return [Failure(f"True of {function}", reason)]


def _place(error: Exception) -> str:
    """Return `evals/<module>.py:<line>: ` of an error; empty for an error elsewhere."""
    frames = [one for one in traceback.extract_tb(error.__traceback__) if one.filename.startswith(f"{FOLDER}/")]
    return "".join(f"{one.filename}:{one.lineno}: " for one in frames[-1:])


def _seen(play: Play) -> SeenPlay:
    turns = [turn_view(play, number) for number in range(1, len(play.turns) + 1)]
    last = turns[-1]
    output = None
    if last.progress.concluded is not None:
        output = last.progress.concluded.output
    calls = [made.call for turn in turns for made in turn.calls]
    return SeenPlay(
        answer=last.answer,
        answers=tuple(turn.answer for turn in turns),
        output=copy.deepcopy(output),
        status=last.status,
        calls=tuple(SeenCall(one.tool, copy.deepcopy(one.arguments or {}), one.status, one.text) for one in calls),
        before=copy.deepcopy(play.before),
        after=copy.deepcopy(play.after),
    )
