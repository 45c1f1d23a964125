"""The names of everything that a play is graded for, and the grades that carry them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from gofer.evals.results import Grade
from gofer.projections.checks.check_settings import CHECKS, shortened

MOST_WORDS = 1_000
"""The most characters of the line about what was expected, and of the line about what happened."""
JUDGE = "judge."
"""The beginning of the dimensions that a judge grades; the id of the criterion follows."""

DIMENSIONS: Mapping[str, str] = {
    "status": "the status with which the run ended",
    "tools.required": "calls that the run must make",
    "tools.forbidden": "calls that the run must not make",
    "tools.in_order": "calls that must happen in an order",
    "tools.only": "the only tools that the run may call",
    "replay": "every step of the replay of a golden, compared with its recording",
    "trajectory": "the calls and answers of a run, compared with those of its golden",
    "next": "the calls of the next answer at a decision point",
    "world.added": "values that the run must add to the world",
    "world.changed": "values of the world that the run must change",
    "world.removed": "values of the world that the run must remove",
    "world.unchanged": "systems and paths that the run must not change",
    "world.counts": "the number of values that the run adds",
    "output.contains_any": "texts of which the answer must contain one",
    "output.contains_all": "texts that the answer must contain",
    "output.not_contains": "texts that people must not see",
    "output.json": "fields of the answer of a workflow with `output`",
    **{f"check.{check}": f"the check `{check}` of the run" for check in CHECKS},
    "rubric.expected_status": "the status of the last run",
    "rubric.min_confidence": "the field `confidence` of the last answer",
    "rubric.require_actions": "tools that must have been called with success",
    "rubric.require_runbook_evidence": "a skill or file in the last answer that the run has read",
    "rubric.forbidden_phrases": "phrases that no person may see",
    "rubric.max_latency_ms": "the time of the play",
    "rubric.schema": "the JSON Schema of the last answer",
    "rubric.max_cost_usd": "the cost of the play",
    "rubric.max_llm_calls": "the answers of models",
    "rubric.max_tool_calls": "the tool calls",
    "grade": "graders of one's own",
}
"""Every dimension except those of judges, with what it grades."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a play does not meet one expectation, in words for a colleague."""

    expected: str
    happened: str
    step: str = ""
    """The call or the entry where the run first differs, as in a grade."""
    turn: int = 0
    """The turn with that step; 0 for the graded turn."""


def verdicts(dimension: str, failures: Iterable[Failure], turn: int) -> Sequence[Grade]:
    """Return the grades of one dimension in a turn: one for each failure, or one that passed."""
    failed = [
        Grade(
            dimension,
            passed=False,
            expected=shortened(one.expected, MOST_WORDS),
            happened=shortened(one.happened, MOST_WORDS),
            step=one.step,
            turn=one.turn or turn,
        )
        for one in failures
    ]
    return failed or [Grade(dimension, passed=True, turn=turn)]
