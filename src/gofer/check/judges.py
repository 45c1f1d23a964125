"""Mistakes in the criteria and persons of eval files: the role of the judge, and labels."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from gofer.evals.eval_file import Criterion
from gofer.evals.judging.agreement import agreement_path, not_blocking, read_agreement
from gofer.evals.judging.judge import name_of, without_credentials
from gofer.evals.judging.judge_role import JUDGE_ROLE, judge_of
from gofer.evals.judging.labels import read_labels
from gofer.evals.load import LoadedEval, read_evals
from gofer.models.served_model import ServedModel, unlisted
from gofer.values.errors import ConfigError
from gofer.workflows.file_text import is_there
from gofer.workflows.load import Catalog
from gofer.workflows.mistake import Mistake
from gofer.workflows.yaml_source import Loc


def check_judges(folder: Path, catalog: Catalog) -> Sequence[Mistake]:
    """Return the mistakes in the criteria of the eval files of a folder, and a hint for each that cannot block."""
    loaded, _ = read_evals(folder)
    judge = judge_of(catalog.defaults.roles(unlisted))
    return [mistake for one in loaded for mistake in _mistakes(one, judge, catalog)]


def _mistakes(loaded: LoadedEval, judge: ServedModel | None, catalog: Catalog) -> Iterator[Mistake]:
    criteria = [
        (("cases", at, "judge", number), criterion)
        for at, case in enumerate(loaded.eval.cases)
        for number, criterion in enumerate(case.judge)
    ]
    if judge is None:
        yield from _no_role(loaded, [loc for loc, _ in criteria])
        return
    if not criteria:
        return
    first = criteria[0][0]
    if _judges_itself(loaded, judge, catalog):
        yield _same_model(loaded, first, judge)
    for loc, criterion in criteria:
        if criterion.labels:
            yield from _label_mistakes(loaded, (*loc, "labels"), criterion, judge)


def _judges_itself(loaded: LoadedEval, judge: ServedModel, catalog: Catalog) -> bool:
    workflow = catalog.workflows.get(loaded.eval.workflow)
    if workflow is None or workflow.workflow.coordinator == "script":
        return False
    return any((model.name, model.endpoint) == (judge.name, judge.endpoint) for model in workflow.models)


def _no_role(loaded: LoadedEval, criteria: Sequence[Loc]) -> Iterator[Mistake]:
    """Yield a mistake for the first criterion, and one for the first person whom the judge would play."""
    persons = [("cases", at, "user") for at, case in enumerate(loaded.eval.cases) if case.user]
    hint = f"Add `models: {{{JUDGE_ROLE}: …}}` there, with another model than that of the workflow."
    for places, does in ((criteria, "answers this criterion"), (persons, "plays this `user`")):
        for loc in places[:1]:
            message = f"`agents/defaults.yaml` has no role `{JUDGE_ROLE}`, so no model {does}."
            yield Mistake(loaded.path, loaded.source.place(loc), "missing-judge", message, hint)


def _same_model(loaded: LoadedEval, loc: Loc, judge: ServedModel) -> Mistake:
    message = f"The role `{JUDGE_ROLE}` is played by `{judge.name[:80]}`, which the workflow may ask as well."
    hint = "Name another model in one of the two roles; no model judges itself."
    return Mistake(loaded.path, loaded.source.place(loc), "judge-of-itself", message, hint)


def _label_mistakes(loaded: LoadedEval, loc: Loc, criterion: Criterion, judge: ServedModel) -> Iterator[Mistake]:
    path = loaded.path.parent / criterion.labels
    if not is_there(path):
        # The check of references reports a missing file.
        return
    try:
        labels = read_labels(path)
    except ConfigError as error:
        hint = 'Write {"text": "…", "label": "CORRECT"} or "INCORRECT" in each line.'
        reason = str(error).replace(str(path), criterion.labels).partition(". ")[0]
        yield Mistake(loaded.path, loaded.source.place(loc), "wrong-labels", f"{reason.rstrip('.')}.", hint)
        return
    try:
        measured = read_agreement(path)
        # The settings of the process decide the default endpoint, and a check reads none.
        reason = not_blocking(criterion, name_of(judge), without_credentials(judge.endpoint.base_url), labels, measured)
    except ConfigError as error:
        reason = str(error)
    if reason:
        message = f"The criterion `{criterion.id[:80]}` never blocks. {reason}"
        hint = f"`gofer eval --calibrate` measures the judge and writes {agreement_path(path).name}."
        yield Mistake(loaded.path, loaded.source.place(loc), "unmeasured-criterion", message, hint)
