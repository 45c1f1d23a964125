"""The entry about the grades of a run that an eval started."""

from dataclasses import dataclass
from typing import Literal

Evidence = Literal["live", "recorded", "scripted"]
"""Where the answers of the model came from: a model now, a model earlier (found by the hash of the request), or a
script. Answers of a script test the harness and say nothing about a prompt."""

RunOutcome = Literal["passed", "failed", "no_evidence", "infrastructure", "over_budget"]
"""The outcome of one run of a case."""


@dataclass(frozen=True, slots=True)
class Grade:
    """The verdict about one dimension of a run."""

    dimension: str
    """What was graded, such as `status`, `tools.required`, `world.added`, `output.not_contains`, `check.no-tool-loops`,
    `rubric.max_latency_ms` or `judge.faithful`."""
    passed: bool
    expected: str = ""
    """One line for people; empty for a grade that passed."""
    happened: str = ""
    """One line for people; empty for a grade that passed."""
    step: str = ""
    """Where the run first differs from the expectation: the id of a call, or `entry` and an address, such as
    `entry 9.0`; empty if there is no such place."""
    blocks: bool = True
    """Whether a failure fails the run; a judge without measured agreement does not block."""
    score: float | None = None
    """0 to 1, for grades that have a score."""
    explanation: str = ""
    turn: int = 1
    """The turn of the play with the run of `step`, counted from 1."""
    missing: Literal["", "no_evidence", "infrastructure"] = ""
    """Why there is no verdict, such as a judge that did not answer; empty for a grade with a verdict. A grade without a
    verdict has not passed and has not failed. If it blocks, the run is not evidence either."""


@dataclass(frozen=True, slots=True)
class RunGraded:
    """`run.graded`: the grades of a run that an eval started. It follows the end, in a frame of its own."""

    case: str
    """`<file>/<case>`, without the suffix of the file."""
    number: int
    """1 for the first run of the case in one `gofer eval`."""
    outcome: RunOutcome
    evidence: Evidence
    agent_version: str
    """The hash of the bundle: workflow, prompt, skills and tools."""
    grades: tuple[Grade, ...]
