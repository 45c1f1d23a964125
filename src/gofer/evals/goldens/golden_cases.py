"""Goldens as cases of a suite: those of `evals/goldens/` themselves, and those that the cases of eval files name."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from gofer.evals.case_begin import Trigger
from gofer.evals.eval_file import Case, Eval, Expectations, ToolExpectations, Turn
from gofer.evals.goldens.golden_file import Golden, read_golden_file
from gofer.evals.load import LoadedEval, load_evals
from gofer.evals.references import GOLDENS, golden_path
from gofer.values.canonical_json import as_text
from gofer.values.errors import ConfigError
from gofer.workflows.yaml_source import read_source

_UNKNOWN = "unknown"
"""The workflow of a golden whose file does not name one."""


def load_cases(folder: Path, names: Collection[str] = ()) -> Sequence[LoadedEval]:
    """Return the eval files of a folder, and each of its goldens as a file with one case, sorted by name.

    `names` are those that a person chose, as in `load_evals`. A golden with mistakes is a case without expectations,
    which cannot be played. Raises ConfigError with the mistakes of the eval files.
    """
    files = [with_goldens(loaded) for loaded in load_evals(folder, names)]
    return [*files, *golden_evals(folder)]


def golden_evals(folder: Path) -> Iterator[LoadedEval]:
    """Yield each golden below a folder of evals as an eval file with one case, sorted by name.

    The case of a golden with mistakes has only its name.
    """
    for path in sorted((folder / GOLDENS).glob("*.yaml")):
        yield golden_eval(path)


def golden_eval(path: Path) -> LoadedEval:
    """Return a golden as an eval file with one case, which has only its name if the golden has mistakes."""
    source = read_source(path)
    golden = _without_mistakes(path)
    if golden is not None:
        return LoadedEval(source, Eval(workflow=golden.workflow, cases=(case_of(golden),)), is_golden=True)
    # The name of such a file may be none that cases can have.
    case = Case.model_construct(name=path.stem, golden=path.stem)
    workflow = as_text(source.fields.get("workflow")) or _UNKNOWN
    return LoadedEval(source, Eval.model_construct(workflow=workflow, cases=(case,)), is_golden=True)


def with_goldens(loaded: LoadedEval) -> LoadedEval:
    """Return an eval file in which each case with a golden also has the turns and the decision point of it."""
    if not any(case.golden for case in loaded.eval.cases):
        return loaded
    cases = tuple(_with_golden(case, loaded.path.parent) for case in loaded.eval.cases)
    return replace(loaded, eval=loaded.eval.model_copy(update={"cases": cases}))


def case_of(golden: Golden) -> Case:
    """Return the case of a golden, with everything that its file expects."""
    expected = [turn.expect for turn in golden.turns]
    expected[-1] = _of_last_turn(golden)
    if golden.decision is not None:
        expected = expected[-1:]
    return Case(
        name=golden.golden,
        description=golden.description,
        tags=golden.tags,
        golden=golden.golden,
        decision=golden.decision,
        expect=expected[0],
        then=tuple(Turn(trigger=Trigger(), expect=expect) for expect in expected[1:]),
        judge=golden.judge,
        runs=golden.runs,
    )


def _with_golden(case: Case, folder: Path) -> Case:
    if not case.golden:
        return case
    read = _without_mistakes(folder / golden_path(case.golden))
    if read is None:
        return case
    golden = case_of(read)
    expect = case.expect
    if golden.decision is not None and expect.next is None:
        expect = expect.model_copy(update={"next": golden.expect.next})
    then = case.then or golden.then
    return case.model_copy(update={"decision": golden.decision, "expect": expect, "then": then})


def _without_mistakes(path: Path) -> Golden | None:
    """Return the file of a golden; None if it has mistakes, with which the case fails when it is played."""
    try:
        return read_golden_file(path)
    except ConfigError:
        return None


def _of_last_turn(golden: Golden) -> Expectations:
    """Return what the last turn must do. A decision point ends before its calls have outcomes and the run an answer."""
    expect = golden.turns[-1].expect
    if golden.decision is not None:
        forbidden = ToolExpectations(forbidden=expect.tools.forbidden)
        expect = Expectations(tools=forbidden, next=golden.next)
    unwanted = tuple(dict.fromkeys((*expect.output.not_contains, *golden.not_contains)))
    if not unwanted:
        return expect
    output = expect.output.model_copy(update={"not_contains": unwanted})
    return expect.model_copy(update={"output": output})
