"""The line that says what the author of a change must do."""

from dataclasses import replace

import pytest

from gofer.evals.reports.advice import advice
from gofer.evals.results import CaseOutcome, CaseResult, SuiteResult
from support.evals.suite_results import failed_case, passed_case, pull_request


def suite(*cases: CaseResult) -> SuiteResult:
    return SuiteResult(cases=cases, at=0.0, seconds=1.0)


def ended(outcome: CaseOutcome) -> CaseResult:
    return replace(passed_case("w/odd"), outcome=outcome)


@pytest.mark.parametrize(
    ("outcome", "line"),
    [
        ("failed", "Mend 1 case (`w/odd`)."),
        ("over_budget", "Make 1 case (`w/odd`) cheaper, or raise `budget_usd`."),
        ("infrastructure", "Play again: a provider or a simulator did not answer in 1 case (`w/odd`)."),
        (
            "no_evidence",
            "No evidence: ask a model about 1 case with `gofer eval w/odd --live --record`, and commit evals/answers/.",
        ),
        ("not_played", "Play again: the suite ended before 1 case (`w/odd`)."),
        ("quarantined", "Nothing blocks. End the quarantine of 1 case (`w/odd`) in time."),
        ("passed", "Nothing to do: 2 cases passed."),
    ],
)
def test_line_names_the_work_of_each_outcome(outcome: CaseOutcome, line: str) -> None:
    assert advice(suite(passed_case("w/fine"), ended(outcome))) == line


def test_failure_comes_before_missing_evidence_and_names_few_cases() -> None:
    assert advice(pull_request()) == "Mend 1 case (`file-ticket/outage-thread`)."
    many = [failed_case(f"w/{number}") for number in range(5)]
    assert advice(suite(*many, ended("no_evidence"))) == "Mend 5 cases (`w/0`, `w/1`, `w/2` and others)."


def test_answers_of_scripts_are_never_said_to_prove_a_prompt() -> None:
    scripted = passed_case("w/scripted", evidence="scripted")
    assert advice(suite(scripted)) == (
        "Nothing to do: 1 case passed, but scripts wrote all answers, which say nothing about a prompt."
    )
    assert advice(suite(scripted, passed_case("w/live"))) == (
        "Nothing to do: 2 cases passed, 1 of them with answers of scripts, which say nothing about a prompt."
    )


def test_suite_without_cases_or_without_its_end_says_so() -> None:
    assert advice(suite()) == "Nothing to do: the change touches no case."
    assert advice(replace(suite(), interrupted=True)) == "Play again: the suite was interrupted before its end."


def test_changed_prompt_that_no_case_loads_is_work_although_each_case_passed() -> None:
    result = replace(suite(passed_case("w/fine")), unproved=("skills/citing-sources",))
    assert result.exit_code == 3
    assert advice(result) == "No evidence: add a case that loads `skills/citing-sources`, or play with `--live`."
