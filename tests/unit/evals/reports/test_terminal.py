"""The report for a terminal: failures first in four lines, and one screen for any number of cases."""

from dataclasses import replace

import pytest

from gofer.evals.reports.terminal import MOST_LINES, terminal_lines
from support.evals.suite_results import hostile_suite, large_suite, pull_request


@pytest.mark.parametrize("failing", [False, True])
def test_report_of_500_cases_has_at_most_100_lines(failing: bool) -> None:
    lines = terminal_lines(large_suite(500, failing=failing))
    assert len(lines) <= MOST_LINES
    assert lines[0].startswith(f"{500 if failing else 100} failed")
    assert "more case" in lines[-1]


def test_first_failure_has_four_lines_below_the_verdict() -> None:
    lines = terminal_lines(pull_request())
    begin = lines.index("file-ticket/outage-thread: regressed, 1/3 runs passed")
    labels = [line.split(":")[0].strip() for line in lines[begin + 1 : begin + 5]]
    assert labels == ["expected", "happened", "first diverging step", "replay"]
    assert lines[begin + 4].endswith(f"gofer replay {'2' * 24} --until 2.0")
    assert all("passed" not in line.split(":")[0] for line in lines[4:begin])


def test_tables_show_workflows_with_runs_rate_p95_and_cost_and_cases_with_k_of_n() -> None:
    text = "\n".join(terminal_lines(pull_request()))
    assert "answer-here      37     111   100%    1.5 s  0.3774 USD" in text
    assert "file-ticket/outage-thread    1/3  1.5 s    100%         regressed       tools.forbidden ×2" in text


def test_scripted_answers_are_labelled_as_harness_only() -> None:
    lines = terminal_lines(pull_request())
    assert "1 case harness only: scripted answers say nothing about the prompt" in lines[3]
    assert "38 passed (1 harness only)" in lines[0]


def test_texts_of_models_cannot_move_the_cursor_or_make_lines() -> None:
    text = "\n".join(terminal_lines(hostile_suite()))
    assert "\x1b" not in text
    assert "\n# Title" not in text


def test_suite_without_cases_says_so() -> None:
    assert terminal_lines(replace(pull_request(), cases=(), comparison=None))[0].startswith("no cases")
