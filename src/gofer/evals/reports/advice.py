"""What the author of a change must do about the result of a suite, in one line."""

from collections.abc import Sequence

from gofer.evals.reports import wording
from gofer.evals.reports.comparison_words import worse_words
from gofer.evals.reports.markdown_text import code
from gofer.evals.results import CaseOutcome, CaseResult, SuiteResult
from gofer.values.amounts import counted

_MOST_NAMES = 3
"""The most cases or prompts that the line names."""


def advice(result: SuiteResult) -> str:
    """Return what to do, as one line of Markdown; the first reason in the order of the exit codes counts."""
    if result.interrupted:
        return "Play again: the suite was interrupted before its end."
    if broken := _in(result, "failed"):
        return f"Mend {_named(broken)}."
    if expensive := _in(result, "over_budget"):
        return f"Make {_named(expensive)} cheaper, or raise `budget_usd`."
    if ungraded := _in(result, "infrastructure"):
        return f"Play again: a provider or a simulator did not answer in {_named(ungraded)}."
    if unproved := _in(result, "no_evidence"):
        command = code(wording.again(*unproved), 2_000)
        return f"No evidence: ask a model about {_number(unproved)} with {command}, and commit evals/answers/."
    if result.unproved:
        named = _listed([code(name, 120) for name in result.unproved])
        return f"No evidence: add a case that loads {named}, or play with `--live`."
    if unplayed := _in(result, "not_played"):
        return f"Play again: the suite ended before {_named(unplayed)}."
    return _of_passed(result)


def _of_passed(result: SuiteResult) -> str:
    if not result.cases:
        return "Nothing to do: the change touches no case."
    if quarantined := _in(result, "quarantined"):
        return f"Nothing blocks. End the quarantine of {_named(quarantined)} in time."
    scripted = sum(map(wording.is_harness_only, result.cases))
    passed = f"Nothing to do: {_number(result.cases)} passed"
    if worse := worse_words(result.comparison):
        return f"Nothing blocks: {_number(result.cases)} passed. Beside the baseline, {' and '.join(worse)}."
    if scripted == len(result.cases):
        return f"{passed}, but scripts wrote all answers, which say nothing about a prompt."
    if scripted:
        return f"{passed}, {scripted} of them with answers of scripts, which say nothing about a prompt."
    return f"{passed}."


def _in(result: SuiteResult, *states: CaseOutcome) -> Sequence[CaseResult]:
    return [case for case in wording.in_order(result.cases) if case.outcome in states]


def _named(cases: Sequence[CaseResult]) -> str:
    """Return the number of cases, and the names of the first ones."""
    return f"{_number(cases)} ({_listed([code(case.case, 120) for case in cases])})"


def _listed(names: Sequence[str]) -> str:
    listed = ", ".join(names[:_MOST_NAMES])
    if len(names) > _MOST_NAMES:
        return f"{listed} and others"
    return listed


def _number(cases: Sequence[CaseResult]) -> str:
    return counted(len(cases), "case")
