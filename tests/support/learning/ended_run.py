"""Records of ended runs for tests of suggestions: feedback, a review, checks, and failed calls."""

from gofer.journal.check_entries import RunChecked, Verdict
from gofer.journal.child_runs import SubagentJournals
from gofer.journal.entries import (
    Entry,
    FeedbackGiven,
    Recorded,
    RunAccepted,
    RunConcluded,
    RunReviewed,
    RunStarted,
    ToolCall,
    ToolResult,
)
from gofer.projections.progress import project
from gofer.runtime.run_record import RunRecord
from support.engine.memory_run import memory_run
from support.stand_ins import mention


def ended_run(run: str, *entries: Entry) -> RunRecord:
    """Return the record of a run with an answer, and with further entries after the answer."""
    every = [
        RunAccepted(mention(), "w"),
        RunStarted("b", private=False),
        RunConcluded("done", "", "The answer."),
        *entries,
    ]
    journal = [Recorded(n=number, i=0, at=number, owner="me", entry=entry) for number, entry in enumerate(every, 1)]
    return RunRecord(run, journal, project(journal), SubagentJournals(), {run: memory_run().bundle()})


def disliked(words: str = "") -> FeedbackGiven:
    """Return bad feedback."""
    return FeedbackGiven("bad", "U1", words=words, item="f1")


def liked() -> FeedbackGiven:
    """Return good feedback."""
    return FeedbackGiven("good", "U1", item="f1")


def low_review(why: str, next_step: str = "") -> RunReviewed:
    """Return the review of a run that did not do what it was asked for."""
    return RunReviewed(effective=False, why=why, next_step=next_step, item="review")


def failed_check(name: str) -> RunChecked:
    """Return the verdicts of the checks, one of which failed."""
    verdict = Verdict(name, passed=False, summary=f"{name} failed.", entries=("2.0",))
    return RunChecked((verdict, Verdict("other", passed=True)))


def failed_call(call: str, tool: str, text: str = "not found") -> tuple[Entry, Entry]:
    """Return a call of a tool that failed."""
    return ToolCall(call, tool, "read", {}), ToolResult(call, "error", text)
