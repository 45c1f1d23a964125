"""One `gofer eval`: plays the chosen cases of a folder, compares them with a baseline, and keeps what is resumable."""

import asyncio
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from gofer import __version__
from gofer.app.embedded.eval_state import open_eval_state
from gofer.app.embedded.worlds import EVALS
from gofer.app.evals.eval_mistakes import mistakes_of_goldens
from gofer.app.evals.likely_cost import likely_cost
from gofer.app.evals.player import Player, Playing, open_player
from gofer.app.evals.repository import FilesBefore, changed_paths, checkout_of, files_before
from gofer.app.evals.suite_parts import PlayerPlays, StoredGrades, fingerprints, grades_for
from gofer.app.settings import Settings
from gofer.evals.affected import Change
from gofer.evals.baseline import compared
from gofer.evals.goldens.golden_cases import load_cases
from gofer.evals.kept_runs import KeptRuns, unchanged
from gofer.evals.load import FOLDER
from gofer.evals.plan import PlannedCase, chosen, coordinators_of, plan
from gofer.evals.prompt_texts import changed_texts, not_loaded, prompt_texts
from gofer.evals.results import CaseRun, SuiteResult
from gofer.evals.suite import Parts, Suite
from gofer.evals.touched import Repository
from gofer.replay.isolation import NoNetwork
from gofer.tools.company import load_company
from gofer.values.errors import ConfigError
from gofer.values.outside import Clock, Outside, SystemClock, random_id, random_key
from gofer.workflows.load import Catalog

PLAYED = ("passed", "failed", "quarantined")
"""The outcomes of cases with finished runs."""
KEPT = Path(EVALS) / "runs.jsonl"
"""The file below GOFER_DATA with the finished runs of a suite that was broken off."""


class Watcher(Protocol):
    """Sees the progress of a suite."""

    def begin(self, planned: Sequence[PlannedCase], cost: str) -> None:
        """Take note of the cases that will be played. `cost` says what a recording is likely to cost, else nothing."""
        ...

    def finished(self, planned: PlannedCase, run: CaseRun) -> None:
        """Take note of a finished run."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """What to play, and how."""

    playing: Playing
    names: Sequence[str] = ()
    tags: Sequence[str] = ()
    changed_since: str = ""
    """A Git reference; only cases that the change since it touches are played."""
    repeat: int | None = None
    baseline: SuiteResult | None = None
    resume: bool = False

    def __post_init__(self) -> None:
        if self.resume and self.playing.record:
            raise ConfigError(
                "Use either --resume or --record: a run that is not played again has no answers to record."
            )

    @property
    def is_whole(self) -> bool:
        """Whether all cases are played."""
        return not (self.names or self.tags or self.changed_since)


def select(catalog: Catalog, root: Path, choices: Choices) -> Sequence[PlannedCase]:
    """Return the chosen cases of a folder. Raises ConfigError for mistakes in evals and for unknown names.

    The result may be empty if only changed cases are wanted.
    """
    files = load_cases(root / FOLDER, choices.names)
    if not files:
        raise ConfigError(f"There is no eval in {FOLDER}/; write {FOLDER}/<workflow>.yaml, see docs/evals.md.")
    every = plan(files, coordinators_of(catalog), repeat=choices.repeat)
    found = chosen(every, choices.names, choices.tags)
    if not choices.changed_since:
        return found
    company = [tool.name for tool in load_company(root)]
    paths = changed_paths(root, choices.changed_since)
    touched: set[str] = set()
    for file in files:
        touched |= Repository({file.name: file.eval}, catalog, company).touched(paths).keys()
    return [case for case in found if case.name in touched]


async def play_suite(
    settings: Settings, root: Path, choices: Choices, watcher: Watcher, clock: Clock | None = None
) -> SuiteResult:
    """Play the chosen cases and return their result; if this is cancelled, that of the cases played so far.

    Raises ConfigError for mistakes in the files and for cases that cannot be played.
    """
    clock = clock or SystemClock()
    at = clock.now()
    began = clock.monotonic()
    kept = KeptRuns(settings.data / KEPT)
    checkout = checkout_of(root)
    outside = Outside(NoNetwork(), clock, random_id, random.SystemRandom(), random_key)
    async with open_eval_state(settings.data, outside) as state, open_player(settings, root, choices.playing) as player:
        planned = [player.planned(case, choices.repeat) for case in select(player.catalog, root, choices)]
        mistakes = mistakes_of_goldens([case.path for case in planned], root, clock)
        cost = ""
        if planned and choices.playing.record and choices.playing.answers == "live":
            cost = likely_cost(planned, player, state.folder, choices.baseline)
        watcher.begin(planned, cost)
        gofer = __version__
        prints = fingerprints(planned, root, player, gofer)
        earlier = _earlier(kept, prints, resume=choices.resume)
        before = _before(root, choices)
        change = None
        if before is not None:
            change = Change(before.files, player.replays.current)
        grades = StoredGrades(grades_for(player, change), state, at, checkout)
        parts = Parts(
            plays=PlayerPlays(player, mistakes), grades=grades, clock=clock, keeper=kept, finished=watcher.finished
        )
        suite = Suite(planned, parts, fingerprints=prints, earlier=earlier)
        interrupted = await _is_interrupted(suite)
    result = SuiteResult(
        cases=suite.results(),
        at=at,
        seconds=clock.monotonic() - began,
        commit=checkout.commit,
        changed=checkout.changed,
        gofer=gofer,
        interrupted=interrupted,
    )
    if not _is_resumable(result):
        kept.forget()
    result = _with_texts(result, player, root, choices, before)
    return _completed(result, choices)


def _before(root: Path, choices: Choices) -> FilesBefore | None:
    """Return the files before the change that is played; None if cases are not chosen by a change."""
    if not choices.changed_since:
        return None
    return files_before(root, choices.changed_since)


def _earlier(kept: KeptRuns, prints: Mapping[str, str], *, resume: bool) -> Mapping[str, Sequence[CaseRun]]:
    if resume:
        return unchanged(kept.read(), prints)
    kept.forget()
    return {}


async def _is_interrupted(suite: Suite) -> bool:
    """Play a suite, and return whether this was cancelled, which Ctrl-C does."""
    try:
        await suite.play()
    except asyncio.CancelledError:
        # The command reports the finished cases before it ends, so that the cancellation ends here.
        task = asyncio.current_task()
        if task is not None:
            task.uncancel()
        return True
    return False


def _is_resumable(result: SuiteResult) -> bool:
    """Return whether another play could finish what this one did not."""
    return result.interrupted or any(case.outcome == "infrastructure" for case in result.cases)


def _with_texts(
    result: SuiteResult, player: Player, root: Path, choices: Choices, before: FilesBefore | None
) -> SuiteResult:
    """Return the result with the prompts and skills about which its plays say nothing. Raises ConfigError."""
    texts = prompt_texts(root, player.catalog, player.replays.current.bundles)
    missing = not_loaded(texts, {name for case in result.cases for run in case.runs for name in run.texts})
    if before is not None:
        if choices.playing.answers == "live" or result.interrupted:
            return result
        return replace(result, unproved=[text.name for text in changed_texts(missing, before.texts)])
    if not choices.is_whole or not all(case.outcome in PLAYED for case in result.cases):
        return result
    return replace(result, prompt_texts=len(texts), unloaded=[text.name for text in missing])


def _completed(result: SuiteResult, choices: Choices) -> SuiteResult:
    """Return the result with the versions of its agents, and with its comparison."""
    runs = [(case.workflow, run.agent_version) for case in result.cases for run in case.runs]
    result = replace(result, agent_versions=dict(sorted({run for run in runs if run[1]})))
    if choices.baseline is None:
        return result
    return compared(result, choices.baseline, is_whole=choices.is_whole)
