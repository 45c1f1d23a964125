"""A changed prompt becomes green without a key by one command that records answers, goldens included."""

import json
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from support.app.command_line import gofer
from support.app.company import ROOT
from support.evals.live_answers import Said, answering, answering_each, answering_in_turn, recorded_answers
from support.evals.small_repository import SmallRepository, report, says

pytestmark = pytest.mark.usefixtures("terminal")
Capture = pytest.CaptureFixture[str]
GOLDEN = "ticket-from-a-reaction"
LIVE = [Said(calls=[("slack_read_thread", {})]), Said("Restarted.")]


@pytest.fixture
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, terminal: None) -> Path:
    """The shipped workflows with one case and three goldens of `file-ticket` as the current folder."""
    folder = tmp_path / "repository"
    for name in ("agents", "coordinators", "evals", "skills", "subagents"):
        shutil.copytree(ROOT / name, folder / name)
    evals = folder / "evals"
    for path in evals.glob("*.yaml"):
        if path.stem != "file-ticket":
            path.unlink()
    only = yaml.safe_load((evals / "file-ticket.yaml").read_text())
    only["cases"] = [case for case in only["cases"] if case["name"] == "one-ticket"]
    (evals / "file-ticket.yaml").write_text(yaml.safe_dump(only))
    text = (evals / "goldens" / f"{GOLDEN}.yaml").read_text()
    for name in ("second", "third"):
        (evals / "goldens" / f"{name}.yaml").write_text(text.replace(f"golden: {GOLDEN}", f"golden: {name}"))
        shutil.copy(evals / "goldens" / f"{GOLDEN}.run.json", evals / "goldens" / f"{name}.run.json")
    monkeypatch.chdir(folder)
    return folder


def in_the_demo(said: Said) -> Said:
    """Return an answer about the recorded thread as one about the thread of the demo."""
    calls = json.dumps(said.calls).replace("1795436633.111800", "1772436300.000000")
    calls = calls.replace("cove.slack.com/archives/C8QSAHYG5", "acme.slack.com/archives/C0GENERA0")
    return replace(said, calls=json.loads(calls.replace("1795436633111800", "1772436300000000")))


def test_changed_prompt_is_recorded_by_the_named_command_and_then_green_without_a_key(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, shipped: Path
) -> None:
    assert gofer(capsys, "eval")[0] == 0
    prompt = shipped / "agents" / "file-ticket.md"
    prompt.write_text(prompt.read_text().replace("Answer in one line", "Answer in one friendly line"))
    code, out, _ = gofer(capsys, "eval")
    assert (code, "4 no evidence" in out) == (3, True)
    (command,) = re.findall(r"ask a model about 4 cases with `(gofer [^`]*)`, and commit evals/answers/", out)
    golden = recorded_answers(shipped / "evals" / "goldens" / f"{GOLDEN}.yaml")
    with answering_each({"1772436300": [in_the_demo(said) for said in golden], "": golden}) as url:
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        code, out, err = gofer(capsys, *shlex.split(command)[1:])
    assert code == 0, out
    assert err.startswith("Recording asks models in 12 plays of 4 cases. ")
    monkeypatch.delenv("OPENAI_BASE_URL")
    code, out, err = gofer(capsys, "eval", "--json", "r.json")
    assert (code, err) == (0, "")
    assert "4 cases recorded: a model gave these answers earlier to the same requests; recorded 12 of 12" in out
    assert gofer(capsys, "check")[0] == 0


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, terminal: None) -> SmallRepository:
    """A repository with one case and a price as the current folder."""
    made = SmallRepository(tmp_path)
    made.price(2)
    made.cases(says("restarted", "restarted"))
    monkeypatch.chdir(tmp_path)
    return made


def recorded_plays(repository: SmallRepository) -> int:
    """Return the recorded plays of the case."""
    answers = json.loads((repository.path / "evals" / "answers" / "pager.json").read_text())
    return len(answers["cases"].get("restarted", ()))


@pytest.mark.parametrize(("require", "code"), [("2/4", 0), ("all", 1)])
def test_recorded_plays_count_as_runs_of_which_a_share_must_pass(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, small: SmallRepository, require: str, code: int
) -> None:
    small.cases(says("restarted", "restarted"), runs={"n": 4, "require": require})
    with answering_in_turn([LIVE, [LIVE[0], Said("Rolled back.")]]) as url:
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        gofer(capsys, "eval", "--live", "--record", "--repeat", "10")
    monkeypatch.delenv("OPENAI_BASE_URL")
    assert recorded_plays(small) == 10
    found, out, err = gofer(capsys, "eval", "--json", "r.json")
    assert (found, err) == (code, "")
    assert "(recorded 5 of 10)" in out
    (case,) = report(small.path / "r.json")["cases"]
    assert [run["outcome"] for run in case["runs"]].count("passed") == 5
    # Each play sends the same first request, so equal answers are shared.
    answers = json.loads((small.path / "evals" / "answers" / "pager.json").read_text())
    assert len(answers["answers"]) == 3


@pytest.mark.parametrize("last", [Said("Rest", finish="length"), Said(finish="malformed_function_call")])
def test_cut_and_unreadable_answers_are_recorded_and_end_alike_without_a_key(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, small: SmallRepository, last: Said
) -> None:
    with answering([LIVE[0], last]) as url:
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        assert gofer(capsys, "eval", "--live", "--record")[0] == 1
    monkeypatch.delenv("OPENAI_BASE_URL")
    assert recorded_plays(small) == 3
    code, out, _ = gofer(capsys, "eval")
    assert (code, "(recorded 0 of 3)" in out) == (1, True)


BOOKING: Mapping[str, Any] = {
    "name": "moves",
    "trigger": {"text": "I have to move my booking."},
    "user": "A customer who wants Friday, and gives the booking number 77 only when asked.",
    "expect": {
        "tools": {"required": [{"slack_post_message": {"times": 1}}]},
        "world": {"counts": {"/slack/channels/*/messages/*": 3}},
        "output": {"contains_all": "Friday"},
        "checks": "none",
    },
}
TALK = {
    "It is 77": [Said(calls=[("slack_post_message", {"channel": "#deploys", "text": "77"})]), Said("Moved to Friday.")],
    "": [Said("Which booking number?")],
}


def test_conversation_with_a_described_person_is_recorded_and_then_green_without_a_key(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, small: SmallRepository
) -> None:
    workflow = small.path / "agents" / "pager.yaml"
    workflow.write_text(workflow.read_text().replace("slack_read_thread", "slack_read_thread, slack_post_message"))
    with workflow.open("a") as file:
        file.write("writes: {slack: [public]}\n")
    defaults = small.path / "agents" / "defaults.yaml"
    priced = "judge: {name: gpt-4.1, price: {input: 2, output: 8}} "
    defaults.write_text(defaults.read_text().replace("judge: gpt-4.1 ", priced))
    small.cases(BOOKING)
    code, out, err = gofer(capsys, "eval")
    assert (code, err) == (3, "")
    assert "No answer is recorded for this case." in out
    code, out, err = gofer(capsys, "eval", "--record")
    assert code == 3, err
    assert "play it with --live, or record it with --live --record" in " ".join(out.split())
    with answering_each(TALK, person=["It is 77.", ""]) as url:
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        code, out, err = gofer(capsys, "eval", "--live", "--record", "--json", "r.json")
        assert code == 0, out
        (live,) = report(small.path / "r.json")["cases"]
        # Three answers of the workflow's model cost less, because the person costs too.
        assert live["runs"][0]["cost_usd"] > 3 * 1_100 * 2 / 1_000_000
        assert [len(run["runs"]) for run in live["runs"]] == [2, 2, 2]
    monkeypatch.delenv("OPENAI_BASE_URL")
    code, out, err = gofer(capsys, "eval", "--json", "r.json")
    assert (code, err) == (0, "")
    assert "recorded 3 of 3" in out
    (again,) = report(small.path / "r.json")["cases"]
    assert [run["cost_usd"] for run in again["runs"]] == [run["cost_usd"] for run in live["runs"]]
    assert gofer(capsys, "check")[0] == 0
    small.cases({**BOOKING, "user": "A customer in a hurry."})
    code, out, _ = gofer(capsys, "eval")
    assert code == 3
    assert "Request 2.1 has no answer." in out


def test_interrupted_recording_keeps_the_plays_that_ended(
    monkeypatch: pytest.MonkeyPatch, small: SmallRepository
) -> None:
    command = [sys.executable, "-m", "gofer", "eval", "--live", "--record", "--repeat", "90"]
    answers = small.path / "evals" / "answers" / "pager.json"
    with answering(LIVE) as url:
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while process.poll() is None and not (answers.exists() and recorded_plays(small) > 1):
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate()
    assert process.returncode == 130, err
    assert 1 < recorded_plays(small) < 90


def test_budget_that_ends_a_recording_keeps_the_plays_that_ended(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, small: SmallRepository
) -> None:
    small.cases(says("restarted", "restarted"), budget_usd=0.01)
    with answering(LIVE) as url:
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        code, _, err = gofer(capsys, "eval", "--live", "--record", "--repeat", "20")
    assert (code, 0 < recorded_plays(small) < 20) == (5, True)
    assert "The `budget_usd` of pager.yaml ends its plays at 0.0100 USD." in err


def test_likely_cost_is_said_before_a_recording(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, small: SmallRepository
) -> None:
    with answering(LIVE) as url:
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        unknown = gofer(capsys, "eval", "--live", "--record")[2]
        by_history = gofer(capsys, "eval", "--live", "--record", "--repeat", "10")[2]
        shutil.rmtree(small.path / "state")
        by_answers = gofer(capsys, "eval", "--live", "--record", "--repeat", "10")[2]
    assert unknown == (
        "Recording asks models in 3 plays of 1 case. The cost is unknown, because no earlier answer of these cases has "
        "a price. Files without `budget_usd` have no limit.\n"
    )
    assert by_history == by_answers
    assert "asks models in 10 plays of 1 case. That is likely to cost 0.0440 USD." in by_history
