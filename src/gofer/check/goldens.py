"""The check of goldens: their form, their recording, and the tools that they name."""

from collections.abc import Iterator
from pathlib import Path

from gofer.check.eval_calls import CallChecks
from gofer.check.eval_names import EvalNames
from gofer.evals.goldens.golden_file import Golden, recording_path
from gofer.evals.goldens.golden_reader import read_golden
from gofer.evals.references import GOLDENS
from gofer.values.errors import ConfigError
from gofer.workflows.form import fill
from gofer.workflows.mistake import START, Mistake
from gofer.workflows.yaml_source import read_source


def check_goldens(folder: Path, names: EvalNames) -> Iterator[Mistake]:
    """Yield every mistake in the goldens below a folder of evals."""
    for path in sorted((folder / GOLDENS).glob("*.yaml")):
        yield from _check(path, names)


def _check(path: Path, names: EvalNames) -> Iterator[Mistake]:
    source = read_source(path)
    golden, mistakes = fill(source, Golden)
    # A recorded text may hold any signs, also those of templates.
    wrong = [mistake for mistake in mistakes if mistake.rule != "template"]
    yield from wrong
    if golden is None or wrong:
        return
    try:
        read_golden(path)
    except ConfigError as error:
        reason = str(error).removeprefix(str(recording_path(path))).removeprefix(str(path)).lstrip(":1 ")
        message = f"The golden cannot be used: {reason.partition('; ')[0].rstrip('.')}."
        hint = "Restore the golden with its recording, or write it again with `gofer golden`."
        yield Mistake(path, START, "unusable-golden", message, hint)
    if golden.workflow not in names.workflows:
        yield names.unknown_workflow(source, golden.workflow)
        return
    calls = CallChecks(source, names.granted(golden.workflow))
    for at, turn in enumerate(golden.turns):
        yield from calls.expectations(turn.expect, ("turns", at, "expect"))
    yield from calls.calls(golden.next, ("next",))
    if golden.decision is not None:
        yield from calls.history(golden.decision, ("decision", "history"))
