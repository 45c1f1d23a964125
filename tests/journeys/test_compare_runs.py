"""Two runs compared at a terminal."""

import json
from pathlib import Path

import pytest

from support.app.command_line import EVENT, gofer, run_json

pytestmark = pytest.mark.usefixtures("terminal")


def run_of(capsys: pytest.CaptureFixture[str], folder: Path, **changed: str) -> str:
    payload = json.loads(Path(EVENT).read_text())
    payload["event"] |= changed
    event = folder / "event.json"
    event.write_text(json.dumps(payload))
    return json.loads(gofer(capsys, "run", "answer-here", "--event", str(event), "--json")[1])["run"]


def test_run_compared_with_itself_is_equal(capsys: pytest.CaptureFixture[str]) -> None:
    run = run_json(capsys)["run"]
    code, out, _ = gofer(capsys, "diff", run[:8], run)
    assert (code, out.startswith("The runs are equal: "), out.count("\n")) == (0, True, 1)
    assert json.loads(gofer(capsys, "diff", run, run, "--json")[1])["equal"] is True


def test_runs_of_two_questions_part_at_the_event(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    first = run_of(capsys, tmp_path, text="<@U0GOFER0> where is the plan?")
    second = run_of(capsys, tmp_path, text="<@U0GOFER0> where is the budget?")
    code, out, _ = gofer(capsys, "diff", first, second)
    assert code == 1
    assert "First difference, after 0 equal entries\n- run.accepted 1.0\n+ run.accepted 1.0\n" in out
    assert "    -<@U0GOFER0> where is the plan?\n    +<@U0GOFER0> where is the budget?\n" in out
    assert "@@ first message: message 1, user, changed @@" in out
    printed = json.loads(gofer(capsys, "diff", first, second, "--json")[1])
    assert (printed["equal"], printed["equal_entries"]) == (False, 0)


def test_private_run_is_not_compared(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    public = run_json(capsys)["run"]
    private = run_of(capsys, tmp_path, channel="C0LEADS00")
    for words in ((public, private), (private, public)):
        code, out, err = gofer(capsys, "diff", *words)
        assert (code, out) == (2, "")
        assert "There is no run" in err


def test_health_of_a_run_is_one_screen_without_its_words(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    run = run_of(capsys, tmp_path, text="<@U0GOFER0> where is the heronry?")
    code, out, _ = gofer(capsys, "health", run[:8])
    assert (code, len(out.splitlines()) < 30, "heronry" in out) == (0, True, False)
    assert "no baseline yet; answer-here has 0 other ended runs among the newest 10,000 runs, and 20 are needed" in out
    assert f"gofer trace {run} --full" in out
    printed = json.loads(gofer(capsys, "health", run, "--json")[1])
    assert list(printed) == ["healthy", "run", "runs", "workflow", "waste", "anomalies"]
    assert printed["runs"][0]["context"][0]["number"] == 1


def test_health_of_a_private_run_is_not_shown(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    run = run_of(capsys, tmp_path, channel="C0LEADS00")
    code, out, err = gofer(capsys, "health", run)
    assert (code, out) == (2, "")
    assert "There is no run" in err
