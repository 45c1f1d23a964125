"""The proof of a proposal: the eval case, the replays and the suite, without and with the edit, and what follows."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from gofer.evals.grading.dimensions import JUDGE
from gofer.evals.results import CaseResult, SuiteResult
from gofer.learning.suggestions.proposal import MustHold
from gofer.learning.suggestions.replayed_pair import ReplayedPair
from gofer.models.served_model import STAND_INS
from gofer.values.amounts import counted

PLAYS = 3
"""How often the eval case is played, without the edit and with it."""


@dataclass(slots=True)
class Proof:
    """What was played so far. A step that failed ends the proof, so that later steps are missing."""

    case_without: CaseResult | None = None
    case_with: CaseResult | None = None
    replays: list[ReplayedPair] = field(default_factory=list[ReplayedPair])
    suite_without: SuiteResult | None = None
    suite_with: SuiteResult | None = None

    @property
    def is_scripted(self) -> bool:
        """Whether a stand-in answered for a model, so that the proof says nothing about a model."""
        return bool(self.answered_as & {*STAND_INS})

    @property
    def answered_as(self) -> set[str]:
        """The names of the models that answered."""
        pairs = [replay for pair in self.replays for replay in (pair.without, pair.with_edit)]
        cases = [case for case in (self.case_without, self.case_with) if case is not None]
        of_replays = {name for replay in pairs for name in replay.answered_as}
        return of_replays | {name for case in cases for run in case.runs for name in run.models}

    @property
    def affected(self) -> Sequence[ReplayedPair]:
        """The replays of the runs that were no good."""
        return [pair for pair in self.replays if not pair.is_good]

    @property
    def good(self) -> Sequence[ReplayedPair]:
        """The replays of runs that people liked."""
        return [pair for pair in self.replays if pair.is_good]

    @property
    def lacked_a_model(self) -> str:
        """Why a live model did not answer; empty if each question got an answer."""
        reasons = [replay.lacked_a_model for pair in self.replays for replay in (pair.without, pair.with_edit)]
        cases = [case for case in (self.case_without, self.case_with) if case is not None]
        for suite in (self.suite_without, self.suite_with):
            if suite is not None:
                cases += suite.cases
        reasons += [run.problem for case in cases for run in case.runs if run.outcome == "infrastructure"]
        return next(filter(None, reasons), "")


def case_problem(proof: Proof) -> str:
    """Return why the eval case proves nothing, in one sentence; empty if it fails without the edit and passes with it.

    A case that was not played with the edit yet is no problem.
    """
    before = proof.case_without
    after = proof.case_with
    if before is None or before.outcome == "no_evidence":
        return "The eval case could not be decided without the edit."
    if opinion := _opinion(before):
        return f"The eval case is a question to the judge, whose verdict proves nothing here. {opinion}"
    if before.outcome != "failed" or before.passed * 2 > len(before.runs):
        return f"The eval case passes too often without the edit ({_passes(before)})."
    if after is not None and after.outcome != "passed":
        return f"The edit did not change that the eval case fails ({_passes(after)})."
    return ""


def _opinion(case: CaseResult) -> str:
    """Return the explanation of a verdict of the judge that does not count; empty if the case failed by what counts."""
    if case.outcome != "passed":
        return ""
    grades = [grade for run in case.runs for grade in run.grades if grade.dimension.startswith(JUDGE)]
    return next((grade.explanation for grade in grades if not grade.blocks and not grade.passed), "")


def replay_problem(proof: Proof, must: MustHold) -> str:
    """Return why the replays prove nothing, in one sentence; empty if they do."""
    for pair in proof.good:
        if pair.worse:
            return f"The edit changes the good run {pair.run[:8]} for the worse: {pair.worse}."
    if proof.good and not any(pair.is_kept for pair in proof.good):
        return "No replay of a good run could be compared to its end."
    if not any(pair.change or pair.mends(must) for pair in proof.affected):
        return "The edit changed no call of the affected runs, and mended none of their answers."
    return ""


def suite_problem(proof: Proof, case: str) -> str:
    """Return the first regression of the suite, in one sentence; empty without one. `case` is the new eval case."""
    before = proof.suite_without
    after = proof.suite_with
    if before is None or after is None:
        return "The suite was not played."
    outcomes = {one.case: one for one in after.cases}
    for one in before.cases:
        now = outcomes.get(one.case)
        if one.case == case or one.outcome != "passed":
            continue
        if now is None or now.outcome != "passed":
            return f"The case {one.case} passes without the edit and not with it."
    return ""


def suite_sentence(proof: Proof) -> str:
    """Return how many cases of the suite pass without and with the edit, in one sentence."""
    before = proof.suite_without
    after = proof.suite_with
    if before is None or after is None:
        return "The suite was not played."
    cases = counted(len(after.cases), "case")
    return (
        f"{_passed(before)} of {cases} pass without the edit, {_passed(after)} with it; exit code {after.exit_code} of "
        "`gofer eval` with the edit."
    )


def _passed(suite: SuiteResult) -> int:
    return sum(case.outcome == "passed" for case in suite.cases)


def _passes(case: CaseResult) -> str:
    return f"{case.passed} of {counted(len(case.runs), 'play')} passed"
