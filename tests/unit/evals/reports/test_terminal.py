"""The report for a terminal: failures first in four lines, and one screen for any number of cases."""

from dataclasses import replace

import pytest

from gofer.evals.reports.terminal import MOST_LINES, terminal_lines
from gofer.evals.results import Repeated
from support.evals.suite_results import case_run, failed_case, hostile_suite, large_suite, passed_case, pull_request


@pytest.mark.parametrize("failing", [False, True])
def test_report_of_500_cases_has_at_most_100_lines(failing: bool) -> None:
    lines = terminal_lines(large_suite(500, failing=failing))
    assert len(lines) <= MOST_LINES
    assert lines[0].startswith(f"{500 if failing else 100} failed")
    assert "more case" in lines[-3]
    assert lines[-1].startswith("Mend ")


def test_first_failure_has_four_lines_below_the_verdict() -> None:
    lines = terminal_lines(pull_request())
    begin = lines.index("file-ticket/outage-thread: failed, 1/3 runs passed")
    labels = [line.split(":")[0].strip() for line in lines[begin + 1 : begin + 5]]
    assert labels == ["expected", "happened", "first diverging step", "replay"]
    assert lines[begin + 4].endswith(f"gofer replay {'2' * 24} --until 2.0")
    assert all("passed" not in line.split(":")[0] for line in lines[4:begin])


def test_tables_show_workflows_with_runs_rate_p95_and_cost_and_cases_with_k_of_n() -> None:
    text = "\n".join(terminal_lines(pull_request()))
    assert "answer-here      37     111   100%    1.5 s  0.3774 USD" in text
    assert "file-ticket/outage-thread    1/3  1.5 s    100%         failed                 tools.forbidden ×2" in text


def test_report_with_room_shows_every_case() -> None:
    lines = terminal_lines(replace(pull_request(), cases=[passed_case(f"a/case-{n}") for n in range(60)]))
    assert sum(line.startswith("a/case-") for line in lines) == 60


def test_cases_without_evidence_for_the_same_reason_are_one_group() -> None:
    run = replace(case_run(outcome="no_evidence"), problem="Request 1.1 has no answer.")
    unproved = replace(passed_case("a/b"), outcome="no_evidence", runs=[run], comparison=None)
    other = replace(unproved, case="a/c", runs=[replace(run, problem="The golden is a regression.")])
    cases = [unproved, other, *(replace(unproved, case=f"d/case-{n}") for n in range(12))]
    lines = terminal_lines(replace(pull_request(), cases=cases, comparison=None))
    begin = lines.index("13 cases: no evidence")
    assert lines[begin + 1].endswith("Request 1.1 has no answer.")
    assert lines[begin + 2].endswith("d/case-8 and 3 more")
    assert lines[begin + 3].endswith("gofer eval a d --live --record")
    assert "a/c: no evidence, 0/1 runs passed" in lines


def test_repeated_runs_of_a_live_model_show_pass_at_k_and_pass_hat_k() -> None:
    repeated = replace(failed_case("a/b"), repeated=Repeated(2, 0.9, 0.3))
    lines = terminal_lines(replace(pull_request(), cases=[repeated, passed_case("a/c")]))
    assert any("90%, 30% (k = 2)" in line for line in lines)
    assert not any("pass@k" in line for line in terminal_lines(pull_request()))


def test_scripted_answers_are_labelled_as_harness_only() -> None:
    lines = terminal_lines(pull_request())
    assert "1 case harness only: scripted answers say nothing about the prompt" in lines[2]
    assert "38 passed (1 harness only)" in lines[0]


def test_texts_of_models_cannot_move_the_cursor_or_make_lines() -> None:
    text = "\n".join(terminal_lines(hostile_suite()))
    assert "\x1b" not in text
    assert "\n# Title" not in text


def test_suite_without_cases_says_so() -> None:
    assert terminal_lines(replace(pull_request(), cases=(), comparison=None))[0].startswith("no cases")
