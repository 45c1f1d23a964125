"""The cases of eval files as tests: each test plays its case until its outcome is clear.

Processes share nothing: each has its own player and event loop, worlds and journals stay in memory, and no file is
written. So the cases may be distributed over processes in any way.
"""

import asyncio
import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from typing_extensions import override

from gofer.app.evals.player import Player, Playing, open_player
from gofer.app.evals.suite_parts import PlayerPlays, grades_for
from gofer.app.settings import process_settings
from gofer.evals.goldens.golden_cases import with_goldens
from gofer.evals.load import LoadedEval, read_evals
from gofer.evals.plan import PlannedCase, coordinators_of, plan
from gofer.evals.reports import wording
from gofer.evals.results import CaseResult
from gofer.evals.suite import Parts, Suite
from gofer.values.errors import ConfigError
from gofer.values.outside import SystemClock


class CaseFailed(Exception):
    """A case failed; the text is its report."""


class CaseNotPlayed(Exception):
    """Infrastructure failed or a budget ended, so that the case says nothing."""


@dataclass(slots=True)
class _Players:
    """The players of one process, by the folder of their workflows, on one event loop."""

    runner: asyncio.Runner
    stack: contextlib.AsyncExitStack
    opened: dict[Path, Player]

    def player(self, root: Path, playing: Playing) -> Player:
        """Return the player of a folder. Raises ConfigError."""
        if root not in self.opened:
            opening = open_player(process_settings(), root, playing)
            self.opened[root] = self.runner.run(self.stack.enter_async_context(opening))
        return self.opened[root]

    def close(self) -> None:
        """Close all players."""
        self.runner.run(self.stack.aclose())
        self.runner.close()


_PLAYERS = pytest.StashKey[_Players]()
_LOADED = pytest.StashKey[LoadedEval]()


def eval_file(parent: pytest.Collector, path: Path) -> pytest.Collector:
    """Return the collector of an eval file."""
    return EvalFile.from_parent(parent, path=path)  # pyright: ignore[reportUnknownMemberType] - untyped in pytest


def close_players(config: pytest.Config) -> None:
    """Close what the cases of this process have opened."""
    if _PLAYERS in config.stash:
        config.stash[_PLAYERS].close()
        del config.stash[_PLAYERS]


class EvalFile(pytest.File):
    """One eval file."""

    @override
    def collect(self) -> Iterator[pytest.Item]:
        loaded, mistakes = read_evals(self.path.parent)
        wrong = [str(mistake) for mistake in mistakes if mistake.file == self.path and not mistake.is_hint]
        if wrong:
            raise self.CollectError("\n".join(wrong))
        for one in loaded:
            if one.path == self.path:
                for case in one.eval.cases:
                    item = EvalCase.from_parent(self, name=case.name)  # pyright: ignore[reportUnknownMemberType]
                    item.stash[_LOADED] = one
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
        return self.path, None, f"eval {self.path.stem}/{self.name}"

    def _result(self) -> CaseResult:
        players = self.config.stash.setdefault(_PLAYERS, _Players(asyncio.Runner(), contextlib.AsyncExitStack(), {}))
        playing = Playing("recorded")
        if self.config.getoption("--evals-live"):
            playing = Playing("live")
        player = players.player(self.path.parent.parent, playing)
        cases = plan([with_goldens(self.stash[_LOADED])], coordinators_of(player.catalog))
        planned = next(case for case in cases if case.case.name == self.name)
        return players.runner.run(_played(player, planned))


async def _played(player: Player, planned: PlannedCase) -> CaseResult:
    parts = Parts(plays=PlayerPlays(player), grades=grades_for(player), clock=SystemClock())
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
