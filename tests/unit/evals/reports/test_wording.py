"""The shared words: the state of a case, the verdict of a suite, and the four lines of a failure."""

from dataclasses import replace

import pytest

from gofer.evals.plays import Evidence
from gofer.evals.reports import wording
from gofer.evals.results import SuiteResult
from support.evals.suite_results import FORBIDDEN, case_run, failed_case, passed_case, pull_request


def test_failures_come_first_and_passed_cases_last() -> None:
    states = [case.outcome for case in wording.in_order(pull_request().cases)]
    assert states[:5] == ["failed", "infrastructure", "no_evidence", "quarantined", "passed"]


def test_weakest_evidence_of_a_case_is_shown() -> None:
    mixed = replace(passed_case("a/b"), runs=[case_run(1), case_run(2, evidence="scripted")])
    assert wording.evidence_text(mixed) == "harness only: scripted answers say nothing about the prompt"
    assert wording.evidence_text(replace(mixed, runs=[])) == "no evidence"
    assert wording.evidence_text(replace(mixed, outcome="no_evidence")) == "no evidence"


@pytest.mark.parametrize("evidence", ["live", "recorded", "scripted"])
def test_case_that_asked_no_model_is_shown_as_code(evidence: Evidence) -> None:
    run = replace(case_run(evidence=evidence), llm_calls=0)
    case = replace(passed_case("review-rfc/draft-starts-nothing"), runs=[run])
    assert wording.evidence_text(case) == "code only: the workflow asked no model"
    assert wording.evidence_text(replace(case, coordinator="script")) == wording.evidence_text(case)
    assert wording.evidence_of(replace(case, runs=[run, case_run(2, evidence=evidence)])) == evidence


def test_infrastructure_that_failed_before_the_first_request_is_not_shown_as_code() -> None:
    run = replace(case_run(outcome="infrastructure"), llm_calls=0)
    case = replace(passed_case("a/b"), outcome="infrastructure", runs=[run])
    assert wording.evidence_text(case) == "live: a model answered now"


def test_case_that_asked_no_model_does_not_count_into_the_pass_rate() -> None:
    code = replace(passed_case("a/b"), runs=[replace(case_run(), llm_calls=0)])
    assert wording.pass_rate([code]) is None
    assert wording.pass_rate([code, failed_case("a/c")]) == 1 / 3


def test_answers_of_a_script_do_not_count_into_the_pass_rate() -> None:
    harness = passed_case("a/b", evidence="scripted")
    assert wording.pass_rate([harness]) is None
    assert wording.pass_rate([harness, failed_case("a/c")]) == 1 / 3
    result = SuiteResult(cases=[harness], at=0.0, seconds=1.0)
    assert wording.headline(result) == "1 passed (1 harness only) · 0.0102 USD · 1 s"
    assert wording.sign_of(result) == "⚪"


def test_judge_without_a_verdict_is_not_shown_as_failed() -> None:
    assert wording.verdict_text(replace(FORBIDDEN, missing="no_evidence", blocks=False)) == "no verdict"


def test_failed_turn_decides_which_run_is_replayed() -> None:
    run = replace(case_run(2, replace(FORBIDDEN, turn=1), outcome="failed"), runs=["first", "second"])
    case = replace(failed_case("a/b"), runs=[run])
    assert wording.failure_of(case).command == "gofer replay first --until 2.0"


def test_suite_without_evidence_has_no_green_sign() -> None:
    unproved = replace(passed_case("a/b"), outcome="no_evidence")
    result = SuiteResult(cases=[passed_case("a/c"), unproved], at=0.0, seconds=1.0)
    assert wording.sign_of(result) == "⚪"
    assert wording.sign_of(replace(result, cases=[passed_case("a/c")])) == "✅"


def test_interrupted_suite_has_no_green_sign() -> None:
    result = SuiteResult(cases=[passed_case("a/c")], at=0.0, seconds=1.0, interrupted=True)
    assert wording.sign_of(result) == "⚪"
    assert wording.headline(result).startswith("interrupted")


def test_failure_without_kept_runs_names_the_command_that_plays_the_case_again() -> None:
    case = failed_case("file ticket/outage", FORBIDDEN)
    assert wording.failure_of(case, kept=False).command == "gofer eval 'file ticket/outage' --live"
    assert wording.failure_of(case).command == f"gofer replay {'2' * 24} --until 2.0"


def test_command_has_no_step_without_the_form_of_a_call() -> None:
    case = failed_case("a/b", replace(FORBIDDEN, step="$(reboot)"))
    assert wording.failure_of(case).command == f"gofer replay {'2' * 24}"


def test_unknown_price_of_one_run_makes_the_cost_unknown() -> None:
    case = replace(passed_case("a/b"), runs=[case_run(1), replace(case_run(2), cost_usd=None)])
    assert wording.cost_of([case]) is None


def test_p95_is_the_nearest_rank_of_graded_runs() -> None:
    runs = [replace(case_run(number), latency_ms=number * 100) for number in range(1, 21)]
    ungraded = replace(case_run(outcome="infrastructure"), latency_ms=90_000)
    assert wording.p95([replace(passed_case("a/b"), runs=[*runs, ungraded])]) == 1_900
    assert wording.p95([]) is None


def test_long_text_of_a_model_becomes_one_short_line() -> None:
    line = wording.short("a\nb " * 10_000)
    assert len(line) == wording.MOST_CHARACTERS + 1
    assert "\n" not in line
