"""`gofer eval` at a terminal: failures that a person understands, and exit codes that a program understands."""

import json
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from xml.etree import ElementTree

import pytest

from support.app.command_line import gofer
from support.evals.live_answers import Said, answering
from support.evals.small_repository import SmallRepository, report, says

pytestmark = pytest.mark.usefixtures("terminal")
Capture = pytest.CaptureFixture[str]


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, terminal: None, capsys: Capture) -> SmallRepository:
    """A repository with two cases whose answers are recorded."""
    made = SmallRepository(tmp_path)
    made.cases(says("restarted", "restarted"), says("polite", "restarted"))
    monkeypatch.chdir(tmp_path)
    code, out, _ = gofer(capsys, "eval", "--record")
    assert (code, "2 no evidence" in out) == (3, True)
    return made


def test_recorded_answers_of_scripts_pass_and_are_labelled(capsys: Capture, repository: SmallRepository) -> None:
    code, out, err = gofer(capsys, "eval")
    assert (code, err) == (0, "")
    assert "2 passed (2 harness only)" in out
    assert "scripted answers say nothing about the prompt" in out


def test_changed_prompt_without_a_model_is_no_evidence(capsys: Capture, repository: SmallRepository) -> None:
    repository.prompt("Help, and be brief.")
    code, out, err = gofer(capsys, "eval")
    assert (code, err) == (3, "")
    assert "2 no evidence" in out
    assert "the prompt" in out
    assert gofer(capsys, "eval", "--inconclusive", "pass")[0] == 0
    assert gofer(capsys, "eval", "--inconclusive", "fail")[0] == 1


def test_failed_case_says_the_expectation_and_the_answer(capsys: Capture, repository: SmallRepository) -> None:
    repository.cases(says("restarted", "rolled back"))
    code, out, _ = gofer(capsys, "eval", "pager/restarted")
    assert code == 1
    assert "pager/restarted: failed, 0/1 runs passed" in out
    assert "rolled back" in out
    assert "Restarted." in out


def test_json_report_is_alone_on_stdout(capsys: Capture, repository: SmallRepository) -> None:
    code, out, err = gofer(capsys, "eval", "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert (found["schema_version"], found["exit_code"]) == (2, 0)
    assert [case["case"] for case in found["result"]["cases"]] == ["pager/restarted", "pager/polite"]


def test_reports_are_written_into_the_named_files(capsys: Capture, repository: SmallRepository) -> None:
    names = {"--json": "r.json", "--junit": "r.xml", "--markdown": "r.md", "--html": "r.html"}
    words = [word for pair in names.items() for word in pair]
    assert gofer(capsys, "eval", *words)[0] == 0
    assert len(report(repository.path / "r.json")["cases"]) == 2
    assert len(list(ElementTree.parse(repository.path / "r.xml").iter("testcase"))) == 2
    assert "pager" in (repository.path / "r.md").read_text()
    assert (repository.path / "r.html").read_text().startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["nope"], "No case and no eval file is called 'nope'"),
        (["--tag", "nope"], "No case has the tag 'nope'"),
        (["--live-tools"], "--live-tools needs --live"),
        (["--live"], "No model is set up"),
        (["--html", "there/is/no/such/folder.html"], "name a file in an existing folder"),
        (["--baseline", "none.json"], "There is no report none.json"),
        (["--changed", "no-such-branch"], "Git knows no common commit of 'no-such-branch'"),
    ],
)
def test_wrong_input_exits_with_two_and_says_the_remedy(
    capsys: Capture, repository: SmallRepository, words: list[str], problem: str
) -> None:
    code, out, err = gofer(capsys, "eval", *words)
    assert (code, out) == (2, "")
    assert problem in err


def test_repository_without_evals_is_told_where_to_write_one(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = SmallRepository(tmp_path)
    (made.path / "evals" / "mention.json").unlink()
    monkeypatch.chdir(tmp_path)
    code, _, err = gofer(capsys, "eval")
    assert code == 2
    assert "There is no eval in evals/; write evals/<workflow>.yaml" in err


def test_expired_quarantine_fails_with_its_sentence(capsys: Capture, repository: SmallRepository) -> None:
    today = datetime.now(UTC).date()
    for days, code in ((1, 0), (-1, 1)):
        until = today + timedelta(days=days)
        quarantine = {"until": until, "reason": "Sampling.", "runs": 20, "passed": 11}
        repository.cases({**says("restarted", "rolled back"), "quarantine": quarantine})
        found = gofer(capsys, "eval", "--json")
        assert found[0] == code
        (case,) = json.loads(found[1])["result"]["cases"]
        assert case["outcome"] == {0: "quarantined", 1: "failed"}[code]
    assert case["notes"] == [
        f"The quarantine ended on {until}: mend the case, or measure it again and set a later `until`."
    ]


LIVE = [Said(calls=[("slack_read_thread", {})]), Said("Restarted.")]


def test_baseline_is_a_remark_and_a_harmless_change_stays_green(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, repository: SmallRepository
) -> None:
    repository.price(2)
    repository.cases(*[says(f"case-{number}", "restarted") for number in range(19)])
    with answering(LIVE) as url:
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        assert gofer(capsys, "eval", "--live", "--json", "night.json")[0] == 0
    repository.prompt("Help, please.")
    with answering(LIVE, tokens=2_000) as url:
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        code, out, err = gofer(capsys, "eval", "--live", "--baseline", "night.json", "--json", "now.json")
    assert (code, err) == (0, "")
    assert "19 passed" in out
    assert "Compared with the baseline, which decides nothing: 19/19 runs passed, 19/19 before" in out
    assert "a run costs 0.0088 USD, 0.0044 USD before (2.0 times)" in out
    assert {len(case["runs"]) for case in report(repository.path / "now.json")["cases"]} == {1}


@pytest.mark.parametrize("text", ["{", '{"schema_version": 9, "result": {}}'])
def test_unreadable_baseline_is_not_compared_and_changes_no_exit_code(
    capsys: Capture, repository: SmallRepository, text: str
) -> None:
    (repository.path / "evals" / "baseline.json").write_text(text)
    code, out, err = gofer(capsys, "eval")
    assert (code, err) == (0, "")
    assert "Nothing was compared with the baseline: evals/baseline.json is no eval report" in out


def test_earlier_scores_of_a_case_are_listed(capsys: Capture, repository: SmallRepository) -> None:
    gofer(capsys, "eval")
    code, out, _ = gofer(capsys, "eval", "--history", "pager/restarted")
    assert code == 0
    assert out.startswith("pager/restarted: 2 evals, 2 runs")


def begin_branch(repository: SmallRepository) -> None:
    """Commit the files of the repository to `main`, and begin the branch `work`."""

    def git(*words: str) -> None:
        who = ("-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false")
        subprocess.run(["git", *who, *words], check=True, capture_output=True)

    git("init", "--initial-branch=main")
    (repository.path / ".gitignore").write_text("state/\n__pycache__/\n")
    git("add", ".")
    git("commit", "-m", "Begin")
    git("switch", "-c", "work")


def test_changed_branch_plays_the_touched_cases(capsys: Capture, repository: SmallRepository) -> None:
    begin_branch(repository)
    code, out, err = gofer(capsys, "eval", "--changed", "main")
    assert (code, out, err) == (0, "", "The change touches no case, so no case was played.\n")
    repository.prompt("Help, and be brief.")
    code, out, _ = gofer(capsys, "eval", "--changed", "main")
    assert (code, "2 no evidence" in out) == (3, True)


def test_scripted_answers_to_a_changed_prompt_are_no_evidence(capsys: Capture, repository: SmallRepository) -> None:
    begin_branch(repository)
    repository.prompt("Help, and be brief.")
    gofer(capsys, "eval", "--record")
    code, out, err = gofer(capsys, "eval", "--changed", "main")
    assert (code, err) == (3, "")
    assert "2 no evidence" in out
    assert "Its requests changed (prompt), and only scripted answers exist; play it with --live." in out
    code, out, _ = gofer(capsys, "eval")
    assert (code, "2 passed (2 harness only)" in out) == (0, True)


@pytest.mark.rehearsal(
    "tests/journeys/test_eval_recording.py::test_interrupted_recording_keeps_the_plays_that_ended",
)
def test_interrupted_suite_is_continued_with_the_missing_runs(capsys: Capture, repository: SmallRepository) -> None:
    command = [sys.executable, "-m", "gofer", "eval", "--repeat", "60", "restarted"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    kept = repository.path / "state" / "evals" / "runs.jsonl"
    while process.poll() is None and not (kept.exists() and kept.read_bytes().count(b"\n") > 2):
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    assert process.returncode == 130, err
    assert "`gofer eval --resume` with the same options plays the rest" in err
    assert "not played" in out
    finished = kept.read_bytes().count(b"\n")
    code, out, _ = gofer(capsys, "eval", "--repeat", "60", "restarted", "--resume", "--json")
    (case,) = json.loads(out)["result"]["cases"]
    assert (code, len(case["runs"])) == (0, 60)
    history = gofer(capsys, "eval", "--history", "pager/restarted", "--json")[1]
    played = [run for past in json.loads(history)["evals"] for run in past["runs"]]
    # One run by `--record`, then each run once.
    assert len(played) <= 1 + 60 + 1
    assert 2 < finished < 60
    assert not kept.exists()
