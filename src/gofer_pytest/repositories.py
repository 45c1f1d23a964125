"""The repositories with the evals of a pytest session: their check before the first case, and their summary.

Processes share nothing: each has its own players and event loop, worlds and journals stay in memory, and no file is
written. So the cases may be distributed over processes in any way.
"""

import asyncio
import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from gofer.app.catalog import checked_catalog
from gofer.app.evals.eval_mistakes import mistakes_of_goldens
from gofer.app.evals.player import Player, Playing, open_player
from gofer.app.evals.suite_session import PLAYED
from gofer.app.settings import process_settings
from gofer.evals.load import FOLDER as EVALS
from gofer.evals.load import eval_files
from gofer.evals.prompt_texts import not_loaded, prompt_texts
from gofer.evals.references import GOLDENS
from gofer.evals.reports.suite_notes import unloaded_sentence
from gofer.evals.results import CaseResult
from gofer.values.errors import ConfigError
from gofer.values.outside import SystemClock


@dataclass(slots=True)
class Repository:
    """A folder with workflows and evals, and what is known of its cases."""

    files: list[Path] = field(default_factory=list[Path])
    """The collected eval files and goldens."""
    cases: set[str] = field(default_factory=set[str])
    """The names of the cases in these files."""
    mistakes: Mapping[Path, str] = field(default_factory=dict[Path, str])
    """The mistakes of goldens, as `mistakes_of_goldens` returns them."""
    player: Player | None = None
    results: list[CaseResult] = field(default_factory=list[CaseResult])


@dataclass(slots=True)
class Repositories:
    """The repositories with the cases of this process, by their folder, on one event loop."""

    runner: asyncio.Runner = field(default_factory=asyncio.Runner)
    stack: contextlib.AsyncExitStack = field(default_factory=contextlib.AsyncExitStack)
    of: dict[Path, Repository] = field(default_factory=dict[Path, Repository])

    def player(self, root: Path, playing: Playing) -> Player:
        """Return the player of a repository. Raises ConfigError."""
        repository = self.of[root]
        if repository.player is None:
            opening = open_player(process_settings(), root, playing)
            repository.player = self.runner.run(self.stack.enter_async_context(opening))
        return repository.player

    def close(self) -> None:
        """Close all players."""
        self.runner.run(self.stack.aclose())
        self.runner.close()


_REPOSITORIES = pytest.StashKey[Repositories]()


def repositories(config: pytest.Config) -> Repositories:
    """Return the repositories of the session."""
    if _REPOSITORIES not in config.stash:
        config.stash[_REPOSITORIES] = Repositories()
    return config.stash[_REPOSITORIES]


def check_files(config: pytest.Config) -> None:
    """Check the collected files as `gofer eval` does, with the workflows. Raises UsageError with their mistakes."""
    for root, repository in repositories(config).of.items():
        try:
            checked_catalog(root / "agents")
            repository.mistakes = mistakes_of_goldens(repository.files, root, SystemClock())
        except ConfigError as error:
            raise pytest.UsageError(str(error)) from error


def summary(config: pytest.Config) -> Sequence[str]:
    """Return a sentence for each repository with prompts that no case loads, if all its cases were played."""
    return [line for root, one in repositories(config).of.items() for line in _unloaded(root, one)]


def close_players(config: pytest.Config) -> None:
    """Close what the cases of this process have opened."""
    if _REPOSITORIES in config.stash:
        config.stash[_REPOSITORIES].close()
        del config.stash[_REPOSITORIES]


def _unloaded(root: Path, repository: Repository) -> Iterator[str]:
    """Yield the sentence about the prompts and skills that no case of a repository loads."""
    if repository.player is None or not _is_whole(root, repository):
        return
    texts = prompt_texts(root, repository.player.catalog, repository.player.replays.current.bundles)
    loaded = {name for result in repository.results for run in result.runs for name in run.texts}
    unloaded = [text.name for text in not_loaded(texts, loaded)]
    if unloaded:
        yield unloaded_sentence(unloaded, len(texts))


def _is_whole(root: Path, repository: Repository) -> bool:
    """Return whether each case of a repository was played."""
    files = {*eval_files(root / EVALS), *(root / EVALS / GOLDENS).glob("*.yaml")}
    played = {result.case for result in repository.results if result.outcome in PLAYED}
    return files <= set(repository.files) and repository.cases <= played
