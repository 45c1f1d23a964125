"""The plan of a suite: the cases to play, how often, and how many runs of each must pass."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from gofer.evals.eval_file import Case, Eval, Runs
from gofer.evals.load import LoadedEval
from gofer.evals.rows import base_name
from gofer.values.errors import ConfigError
from gofer.workflows.load import Catalog

Coordinator = Literal["llm", "script"]
SHOWN_NAMES = 10
"""The most names in an error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedCase:
    """One case that a suite will play."""

    name: str
    """`<file>/<case>`, without the suffix of the file."""
    loaded: LoadedEval
    """The eval file."""
    case: Case
    planned: int
    """The number of runs."""
    required: int
    """The runs that must pass."""
    plays_all: bool = False
    """Whether all planned runs are played, even if the outcome is clear before, as for a measurement."""
    coordinator: Coordinator = "llm"

    @property
    def eval(self) -> Eval:
        """The contents of the eval file."""
        return self.loaded.eval

    @property
    def path(self) -> Path:
        """The eval file."""
        return self.loaded.path

    @property
    def place(self) -> str:
        """The eval file and the line of the case in it, for people."""
        names = [case.name for case in self.eval.cases]
        line = self.loaded.source.place(("cases", names.index(self.case.name))).line
        return f"{self.path}:{line}"

    def played(self, times: int) -> "PlannedCase":
        """Return the case with so many runs, all of which are played; the share of them that must pass stays."""
        required = required_runs(self.case.runs or self.eval.runs, times)
        return replace(self, planned=times, required=required, plays_all=True)

    @property
    def tags(self) -> Sequence[str]:
        """The tags of the file and of the case."""
        return list(dict.fromkeys((*self.eval.tags, *self.case.tags)))


def plan(
    files: Iterable[LoadedEval],
    coordinators: Mapping[str, Coordinator],
    *,
    repeat: int | None = None,
) -> Sequence[PlannedCase]:
    """Return all cases of eval files in their order.

    `coordinators` says for each workflow what decides its next step. `repeat` replaces the number of runs, all of
    which are then played, and keeps the share that must pass.
    """
    return [
        _planned(loaded, case, coordinators.get(loaded.eval.workflow, "llm"), repeat)
        for loaded in files
        for case in loaded.eval.cases
    ]


def coordinators_of(catalog: Catalog) -> Mapping[str, Coordinator]:
    """Return for each workflow what decides its next step."""
    return {name: loaded.workflow.coordinator for name, loaded in catalog.workflows.items()}


def chosen(cases: Sequence[PlannedCase], names: Collection[str], tags: Collection[str]) -> Sequence[PlannedCase]:
    """Return the cases that names and tags choose; without both, all.

    A name is an eval file, a folder of eval files, `<file>/<case>`, or a case, also without its row. Raises ConfigError
    for a name or a tag that chooses no case.
    """
    found = [case for case in cases if not names or any(_is_named(case, name) for name in names)]
    _check_known(names, {name for name in names if any(_is_named(case, name) for case in cases)}, cases)
    known = {tag for case in found for tag in case.tags}
    unknown = sorted(set(tags) - known)
    if unknown:
        raise ConfigError(f"No case has the tag {unknown[0]!r}; the tags are {_listed(sorted(known))}.")
    return [case for case in found if not tags or set(tags) & {*case.tags}]


def required_runs(runs: Runs, planned: int) -> int:
    """Return how many of the planned runs must pass; a fraction such as `2/3` is a share, rounded up."""
    if runs.require == "all":
        return planned
    if runs.require == "any":
        return 1
    least, _, total = runs.require.partition("/")
    share = int(least) / max(1, int(total))
    # A requirement of no run would pass without evidence.
    return min(planned, max(1, math.ceil(share * planned - 1e-9)))


def _planned(loaded: LoadedEval, case: Case, coordinator: Coordinator, repeat: int | None) -> PlannedCase:
    runs = case.runs or loaded.eval.runs
    planned = repeat or runs.n
    return PlannedCase(
        name=f"{loaded.name}/{case.name}",
        loaded=loaded,
        case=case,
        planned=planned,
        required=required_runs(runs, planned),
        plays_all=repeat is not None or case.quarantine is not None,
        coordinator=coordinator,
    )


def _is_named(case: PlannedCase, name: str) -> bool:
    file, _, short = case.name.partition("/")
    if name in (case.name, base_name(case.name), short, base_name(short), file):
        return True
    path = Path(name).resolve()
    return path == case.path.resolve() or path in case.path.resolve().parents


def _check_known(names: Collection[str], known: Collection[str], cases: Sequence[PlannedCase]) -> None:
    for name in names:
        if name not in known:
            raise ConfigError(
                f"No case and no eval file is called {name!r}; the cases are {_listed([case.name for case in cases])}."
            )


def _listed(names: Sequence[str]) -> str:
    if not names:
        return "none"
    more = ""
    if len(names) > SHOWN_NAMES:
        more = f" and {len(names) - SHOWN_NAMES} more"
    return ", ".join(names[:SHOWN_NAMES]) + more
