"""Planted regressions in a copy of the shipped workflows: each fails with a report that a person understands."""

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from gofer.evals.goldens.golden_reader import read_golden
from support.app.command_line import gofer
from support.app.company import ROOT
from support.evals.live_answers import Said, answering, answering_each, recorded_answers
from support.evals.small_repository import report

pytestmark = pytest.mark.usefixtures("terminal")
Capture = pytest.CaptureFixture[str]
GOLDEN = "goldens/ticket-from-a-reaction"
REWORDED = Said("I filed **PAY-18** in PAY: the refund job pays twice when it restarts. How many refunds?")
RULE = "3. Search for an open issue"


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, terminal: None) -> Path:
    """A copy of the shipped workflows and their evals as the current folder."""
    folder = tmp_path / "repository"
    for name in ("agents", "coordinators", "evals", "skills", "subagents"):
        shutil.copytree(ROOT / name, folder / name)
    monkeypatch.chdir(folder)
    return folder


def change(path: Path, before: str, after: str) -> None:
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after))


def change_recording(repository: Path, before: str, after: str) -> None:
    recording = repository / "evals" / f"{GOLDEN}.run.json"
    old = hashlib.sha256(recording.read_bytes()).hexdigest()
    change(recording, before, after)
    change(repository / "evals" / f"{GOLDEN}.yaml", old, hashlib.sha256(recording.read_bytes()).hexdigest())


def live(capsys: Capture, monkeypatch: pytest.MonkeyPatch, answers: list[Said], *words: str) -> tuple[int, str]:
    """Run `gofer eval --live` with a model that gives these answers."""
    with answering(answers) as url:
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        code, out, err = gofer(capsys, "eval", "--live", *words)
    assert err == ""
    return code, out


def four_lines(out: str, case: str) -> dict[str, str]:
    """Return the four lines about a failed case by their labels."""
    lines = out.split(f"\n{case}: ", 1)[1].splitlines()[1:5]
    return {label.strip(): text.strip() for label, _, text in (line.partition(":") for line in lines)}


def test_unchanged_goldens_pass_and_are_labelled(capsys: Capture, repository: Path) -> None:
    code, out, err = gofer(capsys, "eval", "goldens")
    assert (code, err) == (0, "")
    assert "5 passed (5 harness only)" in out
    assert "scripted answers say nothing about the prompt" in out


def test_prompt_without_its_rule_is_no_evidence_until_a_model_answers(capsys: Capture, repository: Path) -> None:
    change(repository / "agents" / "file-ticket.md", RULE, "3. Do not search for an open issue")
    code, out, err = gofer(capsys, "eval", "file-ticket/one-ticket", GOLDEN)
    assert (code, err) == (3, "")
    assert "2 no evidence" in out
    found = four_lines(out, GOLDEN)
    assert found["happened"].startswith(
        "Changed since the recording, in file-ticket: prompt. First difference: -3. Search"
    )
    assert found["replay"] == f"gofer eval {GOLDEN} --live --record"


def test_model_that_follows_the_bad_prompt_fails_in_four_lines(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, repository: Path
) -> None:
    change(repository / "agents" / "file-ticket.md", RULE, "3. Do not search for an open issue")
    answers = recorded_answers(repository / "evals" / f"{GOLDEN}.yaml")
    answers[0] = answers[0].without("jira_search")
    code, out = live(capsys, monkeypatch, answers, GOLDEN)
    assert code == 1
    found = four_lines(out, GOLDEN)
    assert found["expected"] == "a call of jira_search"
    assert found["happened"].startswith("it was not called; the run called slack_get_permalink, jira_create_issue")
    assert found["first diverging step"]
    code, out, err = gofer(capsys, *found["replay"].split()[1:])
    assert (code, err) == (0, "")
    assert "identical" in out


def test_reworded_answer_of_a_live_model_passes(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, repository: Path
) -> None:
    answers = recorded_answers(repository / "evals" / f"{GOLDEN}.yaml")
    answers[-1] = REWORDED
    code, out = live(capsys, monkeypatch, answers, GOLDEN)
    assert (code, "1 passed" in out) == (0, True)


def test_model_is_asked_about_shipped_goldens_and_passes_with_the_recorded_answers(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, repository: Path
) -> None:
    goldens = sorted((repository / "evals" / "goldens").glob("*.yaml"))
    # The model of this test counts the answers in a request, and a summary takes the place of some.
    paths = [path for path in goldens if path.stem != "rfc-review-with-much-to-read"]
    conversations = {read_golden(path).golden.turns[-1].context: recorded_answers(path) for path in paths}
    with answering_each(conversations) as url:
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        names = [f"goldens/{path.stem}" for path in paths]
        code, out, err = gofer(capsys, "eval", *names, "--live", "--json", "r.json")
    assert (code, err) == (0, ""), out
    cases = report(repository / "r.json")["cases"]
    assert [case["case"] for case in cases] == names
    runs = [run for case in cases for run in case["runs"]]
    assert {run["evidence"] for run in runs} == {"live"}
    assert all(run["llm_calls"] and run["status"] != "ignored" for run in runs)


def test_live_play_that_asks_no_model_is_no_evidence_and_no_failure(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, repository: Path
) -> None:
    change_recording(repository, '"kind": "slack.reaction"', '"hops": 9, "kind": "slack.reaction"')
    code, out = live(capsys, monkeypatch, [REWORDED], GOLDEN)
    assert code == 3
    assert four_lines(out, GOLDEN)["happened"] == (
        "Turn 1 asked no model, so nothing is known about its answers: the run ended as ignored "
        "(9 runs have started one another in a row, and at most 5 may)."
    )


def test_call_without_a_recorded_outcome_is_no_evidence(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, repository: Path
) -> None:
    search = ("jira_search", {"project": "PAY", "text": "billing"})
    answers = recorded_answers(repository / "evals" / f"{GOLDEN}.yaml")
    answers.insert(1, Said(calls=[search]))
    code, out = live(capsys, monkeypatch, answers, GOLDEN)
    assert code == 3
    assert "The run called jira_search in a way that the recorded run did not" in four_lines(out, GOLDEN)["happened"]


def test_forbidden_call_fails_with_its_step(capsys: Capture, monkeypatch: pytest.MonkeyPatch, repository: Path) -> None:
    case = "file-ticket/known-bug-is-linked"
    search, create, _, _ = recorded_answers(repository / "evals" / f"{GOLDEN}.yaml")
    link = {"issue": "PAY-17", "url": "https://acme.slack.com/archives/C0INCID00/p1772394600000000", "title": "Thread"}
    answers = [search, create, Said(calls=[("jira_link_url", link)]), Said("Linked in PAY-17.")]
    code, out = live(capsys, monkeypatch, answers, case)
    assert code == 1
    found = four_lines(out, case)
    assert found["expected"] == "no call of jira_create_issue"
    assert found["first diverging step"] == "2.0"
    assert found["replay"].endswith(" --until 2.0")


def test_renamed_tool_is_named_by_check_and_by_eval(capsys: Capture, repository: Path) -> None:
    change(repository / "agents" / "file-ticket.yaml", "- jira_search", "- jira_find")
    code, out, err = gofer(capsys, "check")
    assert code == 1
    assert "There is no tool `jira_find`" in out + err
    code, out, err = gofer(capsys, "eval", GOLDEN)
    assert code == 2
    assert "There is no tool `jira_find`" in out + err


def test_lost_tool_fails_each_case_with_its_calls(capsys: Capture, repository: Path) -> None:
    change(repository / "agents" / "file-ticket.yaml", "  - jira_search\n", "")
    change(repository / "agents" / "file-ticket.md", " with `jira_search`", "")
    code, out, _ = gofer(capsys, "check")
    assert code == 1
    assert "jira_search" in out
    code, out, err = gofer(capsys, "eval", GOLDEN, "file-ticket/known-bug-is-linked")
    assert (code, err) == (1, "")
    for case in (GOLDEN, "file-ticket/known-bug-is-linked"):
        found = four_lines(out, case)
        assert found["expected"] == "a call of jira_search"
        assert found["happened"].startswith("the workflow has no tool jira_search any more")


def test_regression_is_no_evidence_until_a_model_gives_a_better_answer(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, repository: Path
) -> None:
    path = repository / "evals" / f"{GOLDEN}.yaml"
    change(path, "recording_sha256", "purpose: regression\nnot_contains: [Filed in PAY]\nrecording_sha256")
    code, out, _ = gofer(capsys, "eval", GOLDEN)
    assert code == 3
    assert four_lines(out, GOLDEN)["happened"].startswith("The recorded answer is the bad one")
    bad = recorded_answers(path)
    code, out = live(capsys, monkeypatch, bad, GOLDEN)
    assert code == 1
    assert four_lines(out, GOLDEN)["expected"] == "no “Filed in PAY”"
    code, _ = live(capsys, monkeypatch, [*bad[:-1], REWORDED], GOLDEN)
    assert code == 0


def test_changed_recorded_outcome_fails_at_the_step_that_differs(capsys: Capture, repository: Path) -> None:
    sentence = "After the refund job was restarted on"
    change_recording(repository, f"{sentence} Tuesday", f"{sentence} Monday")
    code, out, _ = gofer(capsys, "eval", GOLDEN)
    assert code == 1
    assert four_lines(out, GOLDEN)["first diverging step"]


def test_judge_is_measured_on_the_labels_of_a_criterion(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, repository: Path
) -> None:
    change(
        repository / "evals" / "file-ticket.yaml",
        "- id: self-contained",
        "- labels: labels.jsonl\n        id: self-contained",
    )
    labels = [{"text": f"Ticket {number}", "label": "CORRECT"} for number in range(3)]
    (repository / "evals" / "labels.jsonl").write_text("\n".join(map(json.dumps, labels)))
    with answering([]) as url:
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        code, out, err = gofer(capsys, "eval", "--calibrate", "file-ticket")
    assert (code, err) == (0, "")
    assert out.startswith("self-contained: gpt-4.1 agrees with 3 of 3 labels (100%)")
    measured = (repository / "evals" / "labels.jsonl.agreement.json").read_text()
    assert f'"endpoint": "{url}"' in measured
    # The server is away now.
    code, out, err = gofer(capsys, "eval", "--calibrate", "file-ticket")
    assert (code, err) == (4, "")
    assert out.startswith("self-contained: not measured; none of 3 labels got an answer. The judge gpt-4.1 did not")
    assert (repository / "evals" / "labels.jsonl.agreement.json").read_text() == measured
    assert "No criterion of these cases has `labels`" in gofer(capsys, "eval", "--calibrate", "answer-here")[2]


def broken_yaml(repository: Path) -> str:
    (repository / "evals" / f"{GOLDEN}.yaml").write_text("{")
    return "An earlier bracket is not closed."


def unknown_tool(repository: Path) -> str:
    change(repository / "evals" / f"{GOLDEN}.yaml", "      - jira_search\n", "      - jira_find\n")
    return "There is no tool `jira_find`"


def other_recording(repository: Path) -> str:
    (repository / "evals" / f"{GOLDEN}.run.json").write_text("{}")
    return "the recording is not the one"


def other_turns(repository: Path) -> str:
    path = repository / "evals" / f"{GOLDEN}.yaml"
    run = next(line for line in path.read_text().splitlines() if "run: " in line)
    change(path, run, f"{run}0")
    return "the turns are not the runs of"


@pytest.mark.parametrize("broken", [broken_yaml, unknown_tool, other_recording, other_turns])
def test_golden_with_a_mistake_fails_alone_and_other_cases_are_played(
    capsys: Capture, repository: Path, broken: Callable[[Path], str]
) -> None:
    message = broken(repository)
    own = "workflow: file-ticket\ncases:\n  - {name: own, golden: ticket-from-a-reaction}\n"
    (repository / "evals" / "own.yaml").write_text(own)
    code, out, err = gofer(capsys, "eval", "goldens", "own", "--junit", "junit.xml", "--html", "report.html")
    assert (code, err) == (1, "")
    assert "2 failed · 4 passed" in out
    for case in (GOLDEN, "own/own"):
        found = four_lines(out, case)
        assert message in found["happened"]
        assert found["happened"].startswith(f"evals/{GOLDEN}.yaml:")
        assert found["replay"] == f"gofer eval {case}"
    assert message in (repository / "report.html").read_text()
    assert message in (repository / "junit.xml").read_text()
    # The check of a repository still counts it as a mistake.
    code, out, err = gofer(capsys, "check")
    assert code == 1
    assert message in out + err


def test_case_of_another_file_passes_beside_a_golden_with_a_mistake(capsys: Capture, repository: Path) -> None:
    broken_yaml(repository)
    code, out, err = gofer(capsys, "eval", "file-ticket/one-ticket")
    assert (code, err) == (0, "")
    assert "1 passed" in out
