"""The words that all reports share: the verdict, the state of a case, and the four lines of a failure."""

import re
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from gofer.evals.outcomes import is_graded, passes, says_something_about_the_prompt
from gofer.evals.plays import Evidence
from gofer.evals.results import NO_EVIDENCE as NO_EVIDENCE_CODE
from gofer.evals.results import CaseOutcome, CaseResult, CaseRun, Grade, Interval, SuiteResult
from gofer.evals.statistics import percentile, wilson
from gofer.journal.purposes import is_own
from gofer.projections.words.transcript import harmless
from gofer.values.amounts import counted, money

STATES: Mapping[CaseOutcome, str] = {
    "failed": "failed",
    "over_budget": "over budget",
    "infrastructure": "infrastructure",
    "no_evidence": "no evidence",
    "not_played": "not played",
    "quarantined": "quarantined",
    "passed": "passed",
}
"""The outcomes in words, in the order in which reports list their cases."""
_ORDER: Sequence[CaseOutcome] = list(STATES)

SIGNS: Mapping[CaseOutcome, str] = {
    "failed": "❌",
    "over_budget": "❌",
    "infrastructure": "⚠️",
    "no_evidence": "⚪",
    "not_played": "⚪",
    "quarantined": "🟡",
    "passed": "✅",
}

Proof = Evidence | Literal["code"]
"""Where the answers of a case came from; `code` if no run of the case asked a model."""
EVIDENCE: Mapping[Proof, str] = {
    "live": "live: a model answered now",
    "recorded": "recorded: a model gave these answers earlier to the same requests",
    "code": "code only: the workflow asked no model",
    "scripted": "harness only: scripted answers say nothing about the prompt",
}
"""What the answers of a case prove."""
_CALL = re.compile(r"[\w.:-]+")
_MOST_NAMES = 10
"""The most cases that a command names."""
MOST_CHARACTERS = 300
"""The most characters of one line about a failure."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A failed case in four lines."""

    expected: str
    happened: str
    step: str
    """The first step that differs; a sentence if no step can be named."""
    command: str
    """The command that opens the run at this step, or plays the case again."""

    def lines(self) -> Sequence[tuple[str, str]]:
        """Return the four lines, each with its label."""
        return (
            ("expected", self.expected),
            ("happened", self.happened),
            ("first diverging step", self.step),
            ("replay", self.command),
        )


def in_order(cases: Sequence[CaseResult]) -> Sequence[CaseResult]:
    """Return the cases, failures first, each state in the order of the suite."""
    return sorted(cases, key=lambda case: _ORDER.index(case.outcome))


def is_failure(case: CaseResult) -> bool:
    """Return whether a case failed in a way that a person must look at."""
    return case.outcome in ("failed", "over_budget", "infrastructure")


def by_workflow(cases: Sequence[CaseResult]) -> Mapping[str, Sequence[CaseResult]]:
    """Return the cases of each workflow, in the order of the suite."""
    found: dict[str, list[CaseResult]] = {}
    for case in cases:
        found.setdefault(case.workflow, []).append(case)
    return found


def evidence_of(case: CaseResult) -> Proof | None:
    """Return the weakest evidence of a case's runs; None for a case without runs."""
    graded = [run for run in case.runs if is_graded(run)]
    if graded and not any(run.was_played for run in graded):
        return None
    if graded and not any(run.llm_calls for run in graded):
        return "code"
    found = {run.evidence for run in case.runs}
    weakest: Sequence[Evidence] = ("scripted", "recorded", "live")
    return next((evidence for evidence in weakest if evidence in found), None)


def is_harness_only(case: CaseResult) -> bool:
    """Return whether a case passed with answers of a script, which test the harness only."""
    return case.outcome == "passed" and evidence_of(case) == "scripted"


def state_text(case: CaseResult) -> str:
    """Return the state of a case in a few words."""
    if is_harness_only(case):
        return "passed (harness only)"
    if is_of_recorded_plays(case):
        return f"{STATES[case.outcome]} (recorded {case.passed} of {len(case.runs)})"
    return STATES[case.outcome]


def is_of_recorded_plays(case: CaseResult) -> bool:
    """Return whether the recorded answers of a model decided a case."""
    return evidence_of(case) == "recorded" and any(is_graded(run) for run in case.runs)


def evidence_lines(cases: Sequence[CaseResult]) -> Iterator[tuple[Proof | Literal["none"], str]]:
    """Yield what the answers of the cases prove: a sentence with the number of cases for each kind of evidence."""
    proved = Counter(evidence_of(case) for case in cases if case.outcome != "no_evidence")
    for evidence, sentence in EVIDENCE.items():
        if proved[evidence]:
            yield evidence, f"{counted(proved[evidence], 'case')} {sentence}{_recorded_plays(cases, evidence)}"
    unproved = sum(case.outcome == "no_evidence" for case in cases)
    if unproved:
        yield "none", f"{counted(unproved, 'case')} without evidence: no answer of a model says whether they pass"


def evidence_text(case: CaseResult) -> str:
    """Return what the answers of a case prove, in words."""
    evidence = evidence_of(case)
    if evidence is None or case.outcome == "no_evidence":
        return "no evidence"
    return f"{EVIDENCE[evidence]}{_recorded_plays([case], evidence)}"


def _recorded_plays(cases: Sequence[CaseResult], evidence: Proof) -> str:
    """Return how many of the recorded plays passed; empty for other evidence."""
    if evidence != "recorded":
        return ""
    runs = [run for case in cases if is_of_recorded_plays(case) for run in case.runs]
    return f"; recorded {passes(runs)} of {len(runs)}"


def state_sentence(case: CaseResult) -> str:
    """Return the state of a case in one sentence."""
    happened = failure_of(case).happened
    match case.outcome:
        case "quarantined":
            until = case.quarantined_until or "an unknown date"
            return f"In quarantine until {until}: {tally(case)} runs passed; {happened}"
        case "no_evidence":
            return f"No evidence: {happened}"
        case "not_played":
            return "Not played: the suite ended before the case"
        case "infrastructure":
            return f"Not graded, because infrastructure failed: {happened}"
        case state:
            return f"{STATES[state].capitalize()}: {tally(case)} runs passed, {case.required} required; {happened}"


def headline(result: SuiteResult) -> str:
    """Return the verdict of a suite in one line, with its numbers."""
    parts: list[str] = []
    if result.interrupted:
        parts.append("interrupted")
    counts = Counter(case.outcome for case in result.cases)
    parts += [f"{counts[state]} {word}" for state, word in STATES.items() if counts[state]]
    harness = sum(is_harness_only(case) for case in result.cases)
    if harness:
        parts[-1] = f"{parts[-1]} ({harness} harness only)"
    if not result.cases:
        parts.append("no cases")
    parts += [*_rate(result), money(cost_of(result.cases)), f"{result.seconds:.0f} s"]
    return " · ".join(parts)


def _rate(result: SuiteResult) -> Iterator[str]:
    """Yield the pass rate of the runs that a model answered, beside that of the baseline."""
    runs = _answered(result.cases)
    if not runs:
        return
    words = f"pass rate {share_text(passes(runs) / len(runs))} {interval_text(wilson(passes(runs), len(runs)))}"
    comparison = result.comparison
    if comparison is not None:
        words = f"{words} vs {share_text(comparison.before.passed / comparison.before.runs)} before"
    yield words


def worst_state(result: SuiteResult) -> CaseOutcome:
    """Return the worst state of a suite. A quarantined case counts only if there is no other."""
    if result.interrupted:
        return "not_played"
    states = {case.outcome for case in result.cases}
    for state in STATES:
        if state in states and (state != "quarantined" or states == {"quarantined"}):
            return state
    return "not_played"


def sign_of(result: SuiteResult) -> str:
    """Return the sign of the worst state of a suite."""
    if result.exit_code == NO_EVIDENCE_CODE or all(map(is_harness_only, result.cases)):
        return SIGNS["no_evidence"]
    return SIGNS[worst_state(result)]


def pass_rate(cases: Sequence[CaseResult]) -> float | None:
    """Return the share of the graded runs that passed, of those that a model answered; None without such runs."""
    runs = _answered(cases)
    if not runs:
        return None
    return passes(runs) / len(runs)


def _answered(cases: Sequence[CaseResult]) -> Sequence[CaseRun]:
    """Return the graded runs that a model answered."""
    return [run for case in cases for run in case.runs if says_something_about_the_prompt(run)]


def repeated_text(case: CaseResult) -> str:
    """Return pass@k and pass^k of a case; empty for a case without several runs that a model answered."""
    repeated = case.repeated
    if repeated is None:
        return ""
    return f"{share_text(repeated.pass_at_k)}, {share_text(repeated.pass_hat_k)} (k = {repeated.k})"


def share_text(share: float | None) -> str:
    """Return a share as a percentage; a dash if it is unknown."""
    if share is None:
        return "–"
    return f"{share:.0%}"


def interval_text(interval: Interval | None) -> str:
    """Return a confidence interval as percentages; empty if there is none."""
    if interval is None:
        return ""
    return f"[{interval.low:.0%}, {interval.high:.0%}]"


def tally(case: CaseResult) -> str:
    """Return how many runs of a case passed, as `k/n`."""
    return f"{case.passed}/{len(case.runs)}"


def p95(cases: Sequence[CaseResult]) -> float | None:
    """Return the 95th percentile of the latency of graded runs in milliseconds; None without runs of a live model."""
    graded = [run.measured_ms for case in cases for run in case.runs if is_graded(run)]
    return percentile([milliseconds for milliseconds in graded if milliseconds is not None], 0.95)


def seconds_text(milliseconds: float | None) -> str:
    """Return a latency in seconds; a dash if there is none."""
    if milliseconds is None:
        return "–"
    return f"{milliseconds / 1000:.1f} s"


def cost_of(cases: Sequence[CaseResult]) -> float | None:
    """Return the US dollars of all runs; None if the price of a model is unknown."""
    costs = [run.cost_usd for case in cases for run in case.runs]
    known = [cost for cost in costs if cost is not None]
    if len(known) < len(costs):
        return None
    return sum(known)


def worst_run(case: CaseResult) -> CaseRun | None:
    """Return the first run of a case that failed, or else the first that could not be graded; None if all passed."""
    for outcome in ("failed", "over_budget", "infrastructure", "no_evidence"):
        for run in case.runs:
            if run.outcome == outcome:
                return run
    return None


def failure_of(case: CaseResult, *, kept: bool = True) -> Failure:
    """Return the four lines about a case that did not pass. `kept`: whether the reader has the runs themselves."""
    run = worst_run(case)
    if run is None:
        return Failure(_required(case), _without_failure(case), "none of the runs failed", again(case))
    if not run.failures:
        return Failure(
            "a run that can be graded", short(run.problem or STATES[case.outcome]), "not reached", again(case)
        )
    grade = run.failures[0]
    expected = short(grade.expected) or f"{grade.dimension} passes"
    happened = short(grade.happened) or f"{grade.dimension} failed"
    command = again(case)
    if kept and run.runs:
        command = replay(run.runs[min(grade.turn, len(run.runs)) - 1], grade)
    return Failure(expected, happened, _step(grade), command)


def verdict_text(grade: Grade) -> str:
    """Return the verdict of a grade in a few words."""
    match grade.missing:
        case "no_evidence":
            return "no verdict"
        case "infrastructure":
            return "no verdict, because infrastructure failed"
        case "":
            pass
    if grade.passed:
        return "passed"
    if grade.blocks:
        return "failed"
    return "failed, does not block"


def failed_dimensions(case: CaseResult) -> Mapping[str, int]:
    """Return how many runs failed in each dimension, the most frequent first."""
    return dict(Counter(grade.dimension for run in case.runs for grade in run.failures).most_common())


def again(*cases: CaseResult) -> str:
    """Return the command that plays cases again, and records the answers of a model if they lack evidence.

    Many cases are named by their files.
    """
    names = [case.case for case in cases]
    if len(names) > _MOST_NAMES:
        names = list(dict.fromkeys(name.partition("/")[0] for name in names))
    command = " ".join(["gofer eval", *(shlex.quote(short(name)) for name in names)])
    if any(case.outcome == "no_evidence" for case in cases):
        return f"{command} --live --record"
    if any(evidence_of(case) == "live" for case in cases):
        return f"{command} --live"
    return command


def replay(run: str, grade: Grade) -> str:
    """Return the command that replays a run up to a failed step."""
    if _is_call(grade.step):
        return f"gofer replay {run} --until {grade.step}"
    return f"gofer replay {run}"


def short(text: str, most: int = MOST_CHARACTERS) -> str:
    """Return a text of a model or a person as one line of at most `most` characters, without control characters."""
    line = harmless(" ".join(text[: 4 * most].split()))
    if len(line) <= most and len(text) <= 4 * most:
        return line
    return f"{line[:most]}…"


def _required(case: CaseResult) -> str:
    return f"{case.required} of {case.planned} runs pass"


def _without_failure(case: CaseResult) -> str:
    if case.outcome == "not_played":
        return "the suite ended before the case"
    if case.consistency is not None and case.consistency < 1:
        return f"only {share_text(case.consistency)} of the runs agree on the status"
    return f"{tally(case)} runs passed"


def _step(grade: Grade) -> str:
    if grade.step:
        return short(grade.step)
    return f"the end of the run ({grade.dimension})"


def _is_call(step: str) -> bool:
    """Return whether a step is the id of a call of a model or a script, and not the address of an entry."""
    return bool(_CALL.fullmatch(step)) and not is_own(step)
