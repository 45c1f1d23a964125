"""The cases of eval files as tests: each test plays its case until its outcome is clear."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from typing_extensions import override

from gofer.app.evals.player import Playing
from gofer.app.evals.suite_parts import PlayerPlays, grades_for
from gofer.evals.goldens.golden_cases import golden_eval, with_goldens
from gofer.evals.load import LoadedEval, read_evals
from gofer.evals.plan import PlannedCase, coordinators_of, plan
from gofer.evals.references import GOLDENS
from gofer.evals.reports import wording
from gofer.evals.results import CaseResult
from gofer.evals.suite import Parts, Suite
from gofer.values.errors import ConfigError
from gofer.values.outside import SystemClock
from gofer_pytest.repositories import Repository, repositories


class CaseFailed(Exception):
    """A case failed; the text is its report."""


class CaseNotPlayed(Exception):
    """Infrastructure failed or a budget ended, so that the case says nothing."""


_LOADED = pytest.StashKey[LoadedEval]()
_ROOT = pytest.StashKey[Path]()


def eval_file(parent: pytest.Collector, path: Path) -> pytest.Collector:
    """Return the collector of an eval file or a golden."""
    return EvalFile.from_parent(parent, path=path)  # pyright: ignore[reportUnknownMemberType] - untyped in pytest


class EvalFile(pytest.File):
    """One eval file, or one golden. A file with mistakes has no cases; `check_files` reports them."""

    @override
    def collect(self) -> Iterator[pytest.Item]:
        folder = self.path.parent
        if folder.name == GOLDENS:
            folder = folder.parent
            found = [golden_eval(self.path)]
        else:
            found = [with_goldens(one) for one in read_evals(folder)[0] if one.path == self.path]
        repository = repositories(self.config).of.setdefault(folder.parent, Repository())
        repository.files.append(self.path)
        for one in found:
            for case in one.eval.cases:
                item = EvalCase.from_parent(self, name=case.name)  # pyright: ignore[reportUnknownMemberType]
                item.stash[_LOADED] = one
                item.stash[_ROOT] = folder.parent
                repository.cases.add(f"{one.name}/{case.name}")
                yield item


class EvalCase(pytest.Item):
    """One case."""

    @override
    def runtest(self) -> None:
        result = self._result()
        # Reports in JUnit XML show with this whether a passed case says something about the prompt.
        self.user_properties.append(("evidence", wording.evidence_text(result)))
        match result.outcome:
            case "passed":
                return
            case "quarantined":
                pytest.xfail(wording.state_sentence(result))
            case "no_evidence":
                pytest.skip("; ".join((*_problems(result), f"play it: {wording.again(result)}")))
            case "failed":
                raise CaseFailed(_report(result))
            case "infrastructure" | "over_budget" | "not_played":
                raise CaseNotPlayed("\n".join((wording.state_sentence(result), *_problems(result), *result.notes)))

    @override
    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: str | None = None) -> str:
        if isinstance(excinfo.value, CaseFailed | CaseNotPlayed | ConfigError):
            return str(excinfo.value)
        return str(super().repr_failure(excinfo))

    @override
    def reportinfo(self) -> tuple[Path, int | None, str]:
        return self.path, None, f"eval {self.stash[_LOADED].name}/{self.name}"

    def _result(self) -> CaseResult:
        session = repositories(self.config)
        root = self.stash[_ROOT]
        playing = Playing("recorded")
        if self.config.getoption("--evals-live"):
            playing = Playing("live")
        player = session.player(root, playing)
        cases = plan([self.stash[_LOADED]], coordinators_of(player.catalog))
        planned = player.planned(next(case for case in cases if case.case.name == self.name))
        repository = session.of[root]
        result = session.runner.run(_played(PlayerPlays(player, repository.mistakes), planned))
        repository.results.append(result)
        return result


async def _played(plays: PlayerPlays, planned: PlannedCase) -> CaseResult:
    parts = Parts(plays=plays, grades=grades_for(plays.player), clock=SystemClock())
    suite = Suite([planned], parts)
    await suite.play()
    return suite.results()[0]


def _problems(result: CaseResult) -> Sequence[str]:
    """Return why runs could not be graded, each reason once."""
    return list(dict.fromkeys(run.problem for run in result.runs if run.problem))


def _report(result: CaseResult) -> str:
    """Return the report of a failed case."""
    head = f"{result.case}: {wording.tally(result)} runs passed, {result.required} required"
    lines = [f"  {label + ':':<22} {text}" for label, text in wording.failure_of(result).lines()]
    return "\n".join([head, *lines, *result.notes])
