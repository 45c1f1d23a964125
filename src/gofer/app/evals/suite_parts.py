"""The parts of a suite that play and grade for real: the player, the rules, and the judge."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from typing_extensions import override

from gofer.app.catalog import model_roles
from gofer.app.embedded.eval_state import EvalState
from gofer.app.evals.player import Answers, Player
from gofer.app.evals.repository import Checkout
from gofer.app.model_endpoints import ModelAccess, models_of
from gofer.evals.affected import Change
from gofer.evals.answers import FOLDER as ANSWERS
from gofer.evals.eval_file import Case
from gofer.evals.grading.call_words import joined
from gofer.evals.grading.certain_failures import certain_failures
from gofer.evals.grading.grading import case_run, graded_case
from gofer.evals.history import append, past_run
from gofer.evals.judging.judge import Judge
from gofer.evals.judging.judge_role import judge_of
from gofer.evals.judging.judged import judged, ungraded
from gofer.evals.judging.judged_trajectory import judged_trajectory
from gofer.evals.judging.trajectories import SAME_TURN
from gofer.evals.judging.turn_facts import turns_of
from gofer.evals.load import FOLDER as EVALS
from gofer.evals.outcomes import scripts_prove_nothing
from gofer.evals.own_graders import own_grades
from gofer.evals.plan import PlannedCase
from gofer.evals.plays import Play
from gofer.evals.references import golden_path
from gofer.evals.results import CaseRun, Grade
from gofer.evals.suite import Grades, Plays
from gofer.models.served_model import ServedModel
from gofer.values.canonical_json import encode
from gofer.values.errors import ConfigError

_ONLY_LIVE = "The judge is asked only with --live."
_FRESH_SCRIPT = "Scripts gave the answers, which says nothing about the prompt; without --record the case can pass."
_BASELINE = "baseline.json"
_DEPENDENCIES = ("agents", "coordinators", "skills", "subagents", "tools")
"""The folders that every run depends on, besides `evals/`."""


@dataclass(frozen=True, slots=True)
class PlayerPlays(Plays):
    """Plays cases with the player. A golden with a mistake in its files is not played, and its case fails."""

    player: Player
    mistakes: Mapping[Path, str] = field(default_factory=dict[Path, str])
    """The mistakes of goldens, as `mistakes_of_goldens` returns them."""

    @override
    async def play(self, planned: PlannedCase, number: int) -> Play:
        mistake = self._mistake(planned.case)
        if mistake:
            return Play(turns=(), world={}, evidence="recorded", latency_ms=0, mistake=mistake)
        try:
            return await self.player.play(planned.loaded, planned.case, number)
        except ConfigError as error:
            raise ConfigError(f"{planned.place}: the case cannot be played. {error}") from error

    def _mistake(self, case: Case) -> str:
        """Return why the golden of a case cannot be played; empty for a golden without mistakes, and without one."""
        if not case.golden:
            return ""
        path = self.player.book.folder / golden_path(case.golden)
        known = self.mistakes.get(path.resolve(), "")
        if known:
            return known
        try:
            self.player.files.golden(path)
        except ConfigError as error:
            return str(error)
        return ""


@dataclass(frozen=True, slots=True)
class RulesAndJudge(Grades):
    """Grades plays by the expectations and the rubric of their case, and live ones by a judge too."""

    answers: Answers
    judge: ServedModel | None = None
    access: ModelAccess | None = None
    change: Change | None = None
    """The change that is played; None if cases are not chosen by one."""
    root: Path = Path()
    """The root of the repository, with the graders of `evals/`."""

    @override
    async def graded(self, planned: PlannedCase, number: int, play: Play) -> CaseRun:
        field = planned.case.rubric.status_field
        if play.mistake or play.infrastructure:
            return case_run(number, play, (), status_field=field)
        if play.no_evidence:
            return case_run(number, play, certain_failures(planned.case, play), status_field=field)
        judge = self._judge()
        grades = [
            *graded_case(planned.case, play),
            *own_grades(planned.case.grade, play, self.root),
            *await self._trajectory(planned, play, judge),
            *await self._judged(planned, play, judge),
        ]
        run = case_run(number, play, grades, status_field=field)
        if judge is not None:
            run = replace(run, cost_usd=_sum(run.cost_usd, judge.cost_usd))
        if self.answers == "scripted" and run.outcome == "passed" and run.llm_calls:
            return replace(run, outcome="no_evidence", problem=_FRESH_SCRIPT)
        changed = self._changed(planned, play)
        if scripts_prove_nothing(run, prompt_changed=bool(changed)):
            why = f"Its requests changed ({joined(changed)}), and only scripted answers exist; play it with --live."
            return replace(run, outcome="no_evidence", problem=why)
        return run

    def _changed(self, planned: PlannedCase, play: Play) -> Sequence[str]:
        """Return what the played change changes in the requests of a play. A script is no part of a request."""
        if self.change is None:
            return ()
        workflow = planned.eval.workflow
        causes = [cause for turn in play.turns for cause in self.change.requests(workflow, turn.run, turn.journals)]
        return list(dict.fromkeys(cause.title for cause in causes if cause.kind != "script"))

    def _judge(self) -> Judge | None:
        """Return a judge that counts its cost from zero."""
        if self.judge is None or self.access is None:
            return None
        return judge_with(self.judge, self.access)

    async def _trajectory(self, planned: PlannedCase, play: Play, judge: Judge | None) -> Sequence[Grade]:
        """Return the grades of a play beside the recording of its golden; none for other cases."""
        if not play.recorded:
            return []
        own = (criterion for criterion in planned.case.judge if criterion.id == SAME_TURN.id)
        recorded = [turns_of(entries) for entries in play.recorded]
        return await judged_trajectory(recorded, play, next(own, SAME_TURN), judge, planned.path.parent)

    async def _judged(self, planned: PlannedCase, play: Play, judge: Judge | None) -> Sequence[Grade]:
        criteria = planned.case.judge
        if play.recorded:
            criteria = [criterion for criterion in criteria if criterion.id != SAME_TURN.id]
        if self.answers != "live":
            return [ungraded(criterion, _ONLY_LIVE) for criterion in criteria]
        return await judged(criteria, play, judge, planned.path.parent)


@dataclass(frozen=True, slots=True)
class StoredGrades(Grades):
    """Grades plays, stores their runs with their grades, and appends the scores to the history of the case."""

    grades: Grades
    state: EvalState
    suite_at: float
    """Unix seconds of the begin of the suite."""
    checkout: Checkout

    @override
    async def graded(self, planned: PlannedCase, number: int, play: Play) -> CaseRun:
        run = await self.state.keep(planned.name, await self.grades.graded(planned, number, play), play)
        if run.outcome != "infrastructure":
            past = past_run(planned.name, run, self.suite_at, self.checkout.commit, changed=self.checkout.changed)
            append(self.state.folder, past)
        return run


def judge_with(served: ServedModel, access: ModelAccess) -> Judge:
    """Return a judge that counts its cost from zero."""
    return Judge(served, access.of(served.endpoint), access.default_url)


def grades_for(player: Player, change: Change | None = None) -> RulesAndJudge:
    """Return the grading of a player's plays; `change` is the one that is played."""
    answers = player.playing.answers
    root = player.book.folder.parent
    if answers != "live":
        return RulesAndJudge(answers, change=change, root=root)
    access = models_of(player.settings, player.http)
    return RulesAndJudge(answers, judge_of(model_roles(player.catalog)), access, root=root)


def fingerprints(planned: Sequence[PlannedCase], root: Path, player: Player, gofer: str) -> Mapping[str, str]:
    """Return for each case a hash of everything that its runs depend on: files, settings of the plays, and Gofer.

    A change of one eval file leaves the hashes of the cases of other files. Recorded answers count only for plays that
    use them.
    """
    playing = player.playing
    unused = {case.path.resolve() for case in planned} | {(root / EVALS / _BASELINE).resolve()}
    shared = hashlib.sha256(encode([playing.answers, playing.live_tools, player.settings.openai_base_url, gofer]))
    for path in _files([root / folder for folder in (*_DEPENDENCIES, EVALS)]):
        is_answer = path.parent == root / EVALS / ANSWERS
        if path.resolve() not in unused and (not is_answer or playing.answers == "recorded"):
            shared.update(encode([str(path.relative_to(root)), hashlib.sha256(path.read_bytes()).hexdigest()]))
    prefix = shared.hexdigest()
    return {case.name: _fingerprint(case, prefix) for case in planned}


def _fingerprint(planned: PlannedCase, shared: str) -> str:
    settings = planned.eval.model_dump(mode="json", exclude={"cases"})
    return hashlib.sha256(encode([shared, settings, planned.case.model_dump(mode="json")])).hexdigest()


def _files(folders: Sequence[Path]) -> Sequence[Path]:
    """Return all files below the folders, without compiled ones, sorted by path."""
    found = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    return sorted(path for path in found if "__pycache__" not in path.parts)


def _sum(one: float | None, other: float | None) -> float | None:
    if one is None or other is None:
        return None
    return one + other
