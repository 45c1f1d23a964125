"""The words about a baseline: the figures then and now, and what is named because it is much worse."""

from dataclasses import replace

import pytest

from gofer.evals.reports.advice import advice
from gofer.evals.reports.comparison_words import comparison_text, worse_words
from gofer.evals.reports.html_report import html_report
from gofer.evals.reports.json_report import report_json
from gofer.evals.reports.junit import junit_xml
from gofer.evals.reports.markdown import markdown_report
from gofer.evals.reports.terminal import terminal_lines
from gofer.evals.results import Comparison, Figures, SuiteResult
from support.evals.suite_results import passed_case, pull_request

BEFORE = Figures(10, 10, 0.01, 200.0)
WORSE = Comparison(BEFORE, Figures(9, 10, 0.02, 2_000.0))
SUITE = SuiteResult(cases=[replace(passed_case("a/b"), comparison=WORSE)], at=0.0, seconds=1.0, comparison=WORSE)


def test_figures_are_said_with_their_multiple() -> None:
    assert comparison_text(WORSE) == (
        "9/10 runs passed, 10/10 before; a run costs 0.0200 USD, 0.0100 USD before (2.0 times); "
        "a run takes 2.00 s, 0.20 s before (10.0 times)"
    )
    unknown = Comparison(BEFORE, Figures(10, 10, None, None))
    assert comparison_text(unknown) == "10/10 runs passed, 10/10 before"


@pytest.mark.parametrize(
    ("now", "words"),
    [
        (BEFORE, []),
        (Figures(3, 3, 0.014, 550.0), []),
        (Figures(2, 3, 0.01, 200.0), ["2/3 runs pass instead of 10/10"]),
        (Figures(3, 3, 0.015, 200.0), ["a run costs 1.5 times as much"]),
        (Figures(3, 3, 0.01, 600.0), ["a run takes 3.0 times as long"]),
        (Figures(3, 3, None, None), []),
    ],
)
def test_only_much_worse_runs_are_named(now: Figures, words: list[str]) -> None:
    assert worse_words(Comparison(BEFORE, now)) == words


def test_milliseconds_of_a_fast_model_are_not_named() -> None:
    assert worse_words(Comparison(Figures(1, 1, None, 2.0), Figures(1, 1, None, 40.0))) == []


def test_each_report_names_a_doubled_cost_and_ten_times_the_latency() -> None:
    reports = (
        "\n".join(terminal_lines(SUITE)),
        markdown_report(SUITE),
        html_report(SUITE),
        report_json(SUITE),
        junit_xml(SUITE),
    )
    for report in reports:
        assert comparison_text(WORSE) in report
        assert "a run costs 2.0 times as much; a run takes 10.0 times as long" in report
    assert SUITE.exit_code == 0
    assert advice(SUITE).startswith("Nothing blocks: 1 case passed. Beside the baseline, 9/10 runs pass")


def test_failed_case_shows_its_comparison() -> None:
    lines = terminal_lines(pull_request())
    assert any(line.startswith("  baseline:              1/3 runs passed, 3/3 before") for line in lines)
