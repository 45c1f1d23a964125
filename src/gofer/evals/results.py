"""The results of evals: the grades of a run, the runs of a case, and the cases of a suite."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Literal

from gofer.journal.grade_entries import Evidence, Grade, RunOutcome


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseRun:
    """One graded run of a case."""

    number: int
    """1 for the first run of the case."""
    outcome: RunOutcome
    runs: Sequence[str]
    """The ids of the runs, one for each turn."""
    grades: Sequence[Grade]
    evidence: Evidence
    status: str = ""
    """The status of the last run: that in its answer if the answer has one, or else that of the run."""
    problem: str = ""
    """One sentence, if the run could not be graded."""
    latency_ms: int = 0
    cost_usd: float | None = None
    """None if the price of a model is unknown."""
    input_tokens: int = 0
    output_tokens: int = 0
    llm_calls: int = 0
    tool_calls: int = 0
    models: Sequence[str] = ()
    agent_version: str = ""
    """The hash of the bundle: workflow, prompt, skills and tools."""
    attempts: int = 1
    """The plays, with those that failures of infrastructure ended."""
    texts: Sequence[str] = ()
    """The prompts, skills and subagents that its requests contained, as `evals/prompt_texts.py` names them."""

    answer: str = ""
    """The answer of the last run for people; empty without one, and in reports of earlier versions."""

    @property
    def was_played(self) -> bool:
        """Whether a run began. A golden with a mistake in its files fails without a run."""
        return bool(self.status)

    @property
    def measured_ms(self) -> int | None:
        """The latency; None without a live model, because recorded answers come at once and waits are virtual."""
        if self.evidence == "live":
            return self.latency_ms
        return None

    @property
    def failures(self) -> Sequence[Grade]:
        """The grades that failed and block."""
        return [grade for grade in self.grades if grade.blocks and not grade.passed and not grade.missing]

    @property
    def missing(self) -> Sequence[Grade]:
        """The grades that would block and have no verdict."""
        return [grade for grade in self.grades if grade.blocks and grade.missing]


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval of a share, 0 to 1."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Repeated:
    """What `k` runs of a case do, estimated without bias from all of its runs that a model answered."""

    k: int
    pass_at_k: float
    """The probability, 0 to 1, that at least one of `k` runs passes."""
    pass_hat_k: float
    """The probability that all of `k` runs pass (pass^k)."""


@dataclass(frozen=True, slots=True)
class Figures:
    """The runs of a case or of a suite in numbers."""

    passed: int
    runs: int
    cost_usd: float | None
    """The mean US dollars of one run; None if a price is unknown."""
    latency_ms: float | None
    """The mean latency of one run in milliseconds; None without runs of a live model."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A case or a suite beside its baseline. It is a remark, and changes no outcome and no exit code."""

    before: Figures
    now: Figures


CaseOutcome = Literal["passed", "failed", "no_evidence", "infrastructure", "over_budget", "quarantined", "not_played"]
"""`quarantined`: the case failed and is in quarantine. `not_played`: the suite ended before the case."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseResult:
    """The runs of one case, and what follows from them."""

    case: str
    """`<file>/<case>`, without the suffix of the file."""
    workflow: str
    outcome: CaseOutcome
    runs: Sequence[CaseRun]
    required: int
    """The runs that must pass."""
    planned: int
    """The runs that were planned; fewer are played if the outcome is clear before."""
    interval: Interval | None = None
    """The Wilson interval of the pass rate of the runs that a model answered, 95 %; None without such runs."""
    consistency: float | None = None
    """The share of the runs with the most frequent status; a script below 1.0 fails."""
    repeated: Repeated | None = None
    """pass@k and pass^k; None for a case without several graded runs that a model answered."""
    comparison: Comparison | None = None
    quarantined_until: date | None = None
    tags: Sequence[str] = ()
    coordinator: Literal["llm", "script"] = "llm"
    notes: Sequence[str] = ()
    """Sentences for people beside the grades, such as the end of a quarantine."""

    @property
    def passed(self) -> int:
        """The number of runs that passed."""
        return sum(run.outcome == "passed" for run in self.runs)


SCHEMA_VERSION = 2
"""The version of the JSON report."""

PASSED = 0
FAILED = 1
NO_EVIDENCE = 3
INFRASTRUCTURE = 4
OVER_BUDGET = 5
INTERRUPTED = 130


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteResult:
    """The results of all cases of one `gofer eval`."""

    cases: Sequence[CaseResult]
    at: float
    """Unix seconds of the begin."""
    seconds: float
    commit: str = ""
    """The commit of the files; empty if there is none."""
    changed: bool = False
    """Whether the files differ from the commit."""
    gofer: str = ""
    """The version of Gofer."""
    interrupted: bool = False
    agent_versions: Mapping[str, str] = field(default_factory=dict[str, str])
    """The hash of the bundle of each workflow."""
    comparison: Comparison | None = None
    """All cases that the baseline has, beside it; None without a baseline, and if it has none of these cases."""
    unproved: Sequence[str] = ()
    """The changed prompts and skills that no case loads. Only a live model could say something about them."""
    prompt_texts: int = 0
    """The number of prompts and skills in the repository; 0 if not all cases were played."""
    unloaded: Sequence[str] = ()
    """The prompts and skills that no case loads, if all cases were played."""
    missing: Sequence[str] = ()
    """The cases of the baseline that do not exist any more, if all cases were played."""
    remarks: Sequence[str] = ()
    """Sentences about the play itself, such as why a baseline could not be read."""

    @property
    def exit_code(self) -> int:
        """The exit code of the command: the worst outcome of a case."""
        outcomes = {case.outcome for case in self.cases}
        if self.interrupted:
            return INTERRUPTED
        if "failed" in outcomes:
            return FAILED
        if "over_budget" in outcomes:
            return OVER_BUDGET
        if "infrastructure" in outcomes:
            return INFRASTRUCTURE
        if self.unproved or "no_evidence" in outcomes or "not_played" in outcomes:
            return NO_EVIDENCE
        return PASSED
