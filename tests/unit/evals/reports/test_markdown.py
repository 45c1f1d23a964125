"""The Markdown report: the verdict first, changed cases only, and no more than a forge takes."""

from dataclasses import replace

import pytest

from gofer.evals.reports.markdown import MARKER, MOST_BYTES, markdown_report
from gofer.evals.results import SuiteResult
from gofer.journal.grade_entries import RunOutcome
from support.evals.suite_results import affected, hostile_suite, large_suite, passed_case, pull_request


def test_first_line_says_the_work_to_do_and_the_next_one_the_verdict_with_its_numbers() -> None:
    lines = markdown_report(pull_request()).splitlines()
    assert lines[0] == "### ❌ Mend 1 case (`file-ticket/outage-thread`)."
    assert lines[2] == (
        "1 failed · 1 infrastructure · 1 no evidence · 1 quarantined · 38 passed (1 harness only) · "
        "pass rate 97% [92%, 99%] vs 99% before · 0.4148 USD · 38 s"
    )


def test_table_lists_changed_cases_only() -> None:
    text = markdown_report(pull_request())
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    changed = [row.split("`")[1] for row in rows if "gofer eval" in row]
    assert changed == [
        "file-ticket/outage-thread",
        "answer-in-jira/comment",
        "review-rfc/short-rfc",
        "weekly-digest/many-channels",
        "answer-here/question",
    ]
    assert (
        "| `file-ticket/outage-thread` | 3/3 | 1/3 | ❌ failed: `tools.forbidden`; 1/3 runs pass instead of 3/3 |"
        in text
    )


def test_failure_is_shown_in_four_lines_above_the_table() -> None:
    text = markdown_report(pull_request())
    failure = text[: text.index("| case |")]
    for line in (
        "- expected: `no call of jira_create_issue`",
        "- happened: `jira_create_issue was called with project OPS`",
        "- first diverging step: `2.0`",
        "- replay: `gofer eval file-ticket/outage-thread --live`",
    ):
        assert line in failure


def test_affected_recorded_runs_are_counted_and_their_causes_folded() -> None:
    text = markdown_report(pull_request(), affected=affected())
    counts = "203 are unaffected, 8 change from the first request, 3 change later."
    assert f"**Recorded runs:** Of 214 recorded runs {counts}" in text
    assert "+Create a ticket at once." in text[text.index("<details>") :]
    assert "Recorded runs" not in markdown_report(pull_request())


def answered(answer: str, version: str, outcome: RunOutcome = "passed") -> SuiteResult:
    """Return a suite with one case that has an answer."""
    case = passed_case("answer-here/question")
    run = replace(case.runs[0], answer=answer, agent_version=version, outcome=outcome)
    return replace(pull_request(), cases=[replace(case, runs=[run])])


def test_answers_of_a_changed_workflow_are_shown_before_and_now() -> None:
    text = markdown_report(answered("Now.\n" + "long " * 100, "b"), before=answered("Before.", "a"))
    shown = text.split("Answers before → now", 1)[1].split("</details>")[0]
    assert shown.index("Before.") < shown.index("now:") < shown.index("Now.")
    assert "…" not in shown


@pytest.mark.parametrize(
    "now",
    [answered("Now.", "a"), answered("Before.", "b"), answered("", "b"), answered("No model.", "b", "no_evidence")],
)
def test_answers_of_the_same_workflow_and_equal_or_missing_answers_are_left_out(now: SuiteResult) -> None:
    assert "Answers before" not in markdown_report(now, before=answered("Before.", "a"))


def test_cost_and_tokens_are_shown_before_and_after() -> None:
    text = markdown_report(pull_request(), before=pull_request())
    assert "| `file-ticket` | 0.0034 USD → 0.0034 USD | 4,210 → 4,210 | 312 → 312 |" in text


def test_reason_of_a_judge_quotes_its_evidence() -> None:
    text = markdown_report(pull_request())
    assert '`The ticket says "checkout is down since 9:40", and the thread says 9:14.`' in text
    assert "failed, does not block" in text


@pytest.mark.parametrize(
    "result",
    [large_suite(5_000, failing=True), hostile_suite(2_000), large_suite(0)],
    ids=["large", "hostile", "empty"],
)
def test_report_has_at_most_60000_bytes_and_ends_with_its_marker(result: SuiteResult) -> None:
    text = markdown_report(result, before=result, affected=affected(), notes=["a note"] * 10)
    assert len(text.encode()) <= MOST_BYTES
    assert text.endswith(f"\n{MARKER}\n")
    assert text.count("<details>") == text.count("</details>") or "`" in text


def test_cases_that_do_not_fit_are_counted() -> None:
    text = markdown_report(large_suite(500, failing=True))
    assert "490 more are in the HTML report among the artifacts." in text


def test_suite_without_changes_has_no_table_of_cases() -> None:
    text = markdown_report(SuiteResult(cases=[passed_case("a/b")], at=0.0, seconds=1.0))
    assert text.startswith("### ✅ Nothing to do: 1 case passed.\n\n1 passed")
    assert "| case |" not in text
