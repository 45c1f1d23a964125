"""The history of a case as a table and as JSON."""

from gofer.evals.history_report import MOST_LINES, history_json, history_lines, past_evals
from gofer.values.canonical_json import as_list
from support.evals.past_runs import DAY, past


def test_each_eval_of_a_case_is_a_line_with_its_figures() -> None:
    runs = [past(number=n, outcome=outcome, latency_ms=1_000 * n) for n, outcome in enumerate(["passed", "failed"], 1)]
    title, header, line = history_lines("answers/basic", runs)
    assert title == "answers/basic: 1 eval, 2 runs"
    assert header.split()[:3] == ["date", "(UTC)", "commit"]
    assert [cell.strip() for cell in line.split("  ") if cell] == [
        "2026-03-02 09:00",
        "cccccccccccc",
        "bbbbbbbbbbbb",
        "live",
        "1 of 2",
        "2.0 s",
        "0.0200 USD",
    ]


def test_moved_pass_rate_is_marked_with_the_change_of_version_and_the_failed_dimensions() -> None:
    before = past()
    after = past(suite_at=before.suite_at + DAY, agent_version="d" * 64, outcome="failed", verdicts={"status": False})
    *_, first, second = history_lines("answers/basic", [before, after])
    assert first.endswith("USD")
    assert second.endswith("fell from 100% to 0%; new agent version; failed: status")
    *_, back = history_lines("answers/basic", [before, after, past(suite_at=before.suite_at + 2 * DAY)])
    assert back.endswith("rose from 0% to 100%; new agent version")


def test_scripted_answers_are_never_compared_with_answers_of_a_model() -> None:
    live = past()
    scripted = past(suite_at=live.suite_at + DAY, evidence="scripted", outcome="failed", agent_version="d" * 64)
    *_, line = history_lines("answers/basic", [live, scripted])
    assert "scripted" in line
    assert "fell" not in line


def test_runs_without_a_verdict_count_in_no_pass_rate() -> None:
    runs = [past(), past(number=2, outcome="no_evidence")]
    (only,) = past_evals(runs)
    assert only.pass_rate == 1.0
    assert "1 of 1, 1 without verdict" in history_lines("answers/basic", runs)[-1]


def test_unknown_cost_and_changed_files_are_named() -> None:
    lines = history_lines("answers/basic", [past(cost_usd=None, changed=True)])
    assert "cost unknown" in lines[2]
    assert "cccccccccccc+" in lines[2]
    assert lines[3] == "+ after a commit: the files differed from it"


def test_table_lists_the_newest_evals_and_json_lists_all() -> None:
    runs = [past(suite_at=DAY * number) for number in range(1, MOST_LINES + 4)]
    lines = history_lines("answers/basic", runs)
    assert len(lines) == MOST_LINES + 3
    assert lines[-1] == "(3 earlier evals: `--json` has them)"
    assert len(as_list(history_json("answers/basic", runs)["evals"])) == MOST_LINES + 3


def test_case_without_a_history_says_so() -> None:
    (line,) = history_lines("answers/basic", [])
    assert line == "answers/basic has no history here; `gofer eval` writes it with the first run of the case."
