"""The words about a baseline: the verdict, the drop that can be found, and the runs that tell."""

from dataclasses import replace

import pytest

from gofer.evals.reports.comparison_words import case_comparison, suite_comparison
from gofer.evals.reports.html_report import html_report
from gofer.evals.reports.json_report import report_json
from gofer.evals.reports.markdown import markdown_report
from gofer.evals.reports.terminal import terminal_lines
from gofer.evals.results import Comparison, SuiteResult
from support.evals.suite_results import passed_case, pull_request

OPEN = Comparison("not_enough_evidence", 9, 10, 0.3, detectable=0.42, more_runs=38)
SAID = (
    "not enough evidence: 9/10 before, p = 0.3. The smallest drop that these runs find is 42 percentage points. "
    "About 38 more runs, here and in the baseline, tell."
)
UNDECIDED = SuiteResult(
    cases=[replace(passed_case("a/b"), comparison=OPEN)], at=0.0, seconds=1.0, comparison=replace(OPEN, more_runs=200)
)


def test_open_comparison_explains_the_exit_code() -> None:
    said = suite_comparison(UNDECIDED)
    assert said.startswith("Compared with the baseline, all cases: not enough evidence: 9/10 before")
    assert said.endswith(
        "About 200 more runs, here and in the baseline, tell. The exit code is 3; --inconclusive changes it."
    )
    assert "exit code" not in suite_comparison(replace(UNDECIDED, interrupted=True))


@pytest.mark.parametrize(
    ("comparison", "said"),
    [
        (OPEN, SAID),
        (replace(OPEN, detectable=None, more_runs=None), "No number of runs tells as long as the pass rates stay."),
        (Comparison("regressed", 10, 10, 0.001), "regressed: 10/10 before, p = 0.001."),
        (Comparison("not_regressed", 3, 3, None), "Recorded answers leave nothing to chance."),
    ],
)
def test_comparison_of_a_case_says_the_verdict_and_the_runs_needed(comparison: Comparison, said: str) -> None:
    text = case_comparison(replace(passed_case("a/b"), comparison=comparison))
    assert text.startswith("Compared with the baseline: ")
    assert text.endswith(said)


def test_suite_and_case_without_a_baseline_have_no_sentence_about_one() -> None:
    assert suite_comparison(replace(UNDECIDED, comparison=None)) == ""
    assert case_comparison(replace(passed_case("a/b"), comparison=None)) == ""


def test_each_report_says_that_the_evidence_is_not_enough() -> None:
    for report in ("\n".join(terminal_lines(UNDECIDED)), markdown_report(UNDECIDED), html_report(UNDECIDED)):
        assert suite_comparison(UNDECIDED) in report
        assert SAID.replace("`", "") in report
    assert "The exit code is 3" in report_json(UNDECIDED)


def test_failed_case_shows_its_comparison() -> None:
    assert "  baseline:              regressed: 3/3 before, p = 0.018." in terminal_lines(pull_request())
