"""Output and exit codes of the demo, of wrong input, missing settings and help."""

import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from gofer.app.embedded.state import serving
from gofer.cli.main import COMMANDS, HEADINGS, main
from support.app.command_line import EVENT, gofer

pytestmark = pytest.mark.usefixtures("terminal")


@pytest.mark.rehearsal(
    "tests/journeys/test_demo.py::test_free_questions_are_answered_once_each_with_links_that_open",
    "tests/journeys/test_command_line.py::test_demo_tour_that_fails_prints_the_reason_in_one_sentence",
)
def test_demo_tour_prints_the_answer_and_the_number_of_runs(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = gofer(capsys, "demo", "--exit")
    assert (code, err) == (0, "")
    assert "the offline model: a script, not a language model" in out
    assert re.search(r"@Gofer does what was decided in http://127.0.0.1:\d+/archives/", out)
    assert "[offline model] Partly." in out
    assert "✓ slack_read_thread" in out
    assert "delivered one message 11 times" in out
    assert "Runs: 1. Answers in the thread: 1." in out


def test_closed_output_ends_a_command_without_a_message() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "gofer", "schema", "--eval"]
    ended = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert (ended.returncode, ended.stderr) == (141, b"")


@pytest.mark.usefixtures("busy_model")
def test_demo_tour_that_fails_prints_the_reason_in_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = gofer(capsys, "demo", "--exit")
    assert code == 1
    assert "came out as they must" not in out
    assert err.splitlines()[-1] == (
        "The tour failed: the mention was not answered, its run is parked: "
        "The model's provider is busy or failing (HTTP 503)."
    )
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["trace", "abc"], "There are no runs in"),
        (["keep", "abc"], "There are no runs in"),
        (["purge"], "There are no runs in"),
        (["run", "nope", "--event", EVENT], "There is no workflow 'nope'"),
        (["run", "answer-here", "--event", "missing.json"], "missing.json cannot be read"),
        (["run", "answer-here", "--event", "README.md"], "README.md is not JSON"),
        (
            ["run", "answer-here", "--event", EVENT, "--world", "nope.yaml"],
            "nope.yaml does not describe simulated systems",
        ),
    ],
)
def test_wrong_command_input_prints_one_sentence_and_exits_with_2(
    capsys: pytest.CaptureFixture[str], words: list[str], sentence: str
) -> None:
    code, out, err = gofer(capsys, *words)
    assert (code, out) == (2, "")
    assert err.startswith("gofer: ")
    assert sentence in err
    assert "Traceback" not in err


def test_demo_refuses_a_folder_that_another_process_serves(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with serving(tmp_path / "state"):
        code, _, err = gofer(capsys, "demo", "--exit")
    assert code == 2
    assert "Another Gofer serves" in err


def test_demo_reports_a_port_already_in_use(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, out, err = gofer(capsys, "demo", "--exit", "--port", str(port))
    assert (code, out) == (2, "")
    assert err.startswith(f"gofer: Port {port} on 127.0.0.1 is already in use, and the demo needs the ports {port} to ")
    assert "`gofer demo --port 9000`" in err


@pytest.mark.parametrize(
    "words", [("runs", "--limit", "99999999999999999999"), ("runs", "--limit", "0"), ("demo", "--port", "99999")]
)
def test_number_option_out_of_bounds_is_refused(capsys: pytest.CaptureFixture[str], words: tuple[str, ...]) -> None:
    with pytest.raises(SystemExit) as left:
        main(words)
    assert left.value.code == 2
    assert "is not a whole number from" in capsys.readouterr().err


def test_gofer_without_a_command_prints_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = gofer(capsys)
    assert code == 2
    listed = re.findall(r"^  (\w+) +[a-z]", err.partition("\noptions:")[0], re.MULTILINE)
    assert listed[:10] == ["init", "new", "check", "run", "demo", "serve", "doctor", "eval", "docs", "upgrade"]
    assert sorted(listed) == sorted(COMMANDS)
    assert re.findall(r"^([a-z ]+):$", err, re.MULTILINE)[: len(HEADINGS)] == list(HEADINGS)
    with pytest.raises(SystemExit) as left:
        main(["run", "--help"])
    assert left.value.code == 0
    assert "--event FILE" in capsys.readouterr().out


def test_python_with_the_module_is_the_command_gofer(capsys: pytest.CaptureFixture[str]) -> None:
    done = subprocess.run([sys.executable, "-m", "gofer", "version"], check=True, capture_output=True, text=True)
    assert (0, done.stdout, done.stderr) == gofer(capsys, "version")


@pytest.mark.parametrize("name", ["evals", "evals.md", "docs/evals.md", "docs/evals.md#the-file"])
def test_page_is_printed_by_each_name_that_messages_use(capsys: pytest.CaptureFixture[str], name: str) -> None:
    code, out, err = gofer(capsys, "docs", name)
    assert (code, out.partition("\n")[0], err) == (0, "# Evals", "")


@pytest.mark.parametrize("name", ["nope", "docs/nope.md", "evals.yaml", "../README.md", ""])
def test_page_that_does_not_exist_is_refused(capsys: pytest.CaptureFixture[str], name: str) -> None:
    assert gofer(capsys, "docs", name) == (2, "", f"gofer: There is no page {name!r}; `gofer docs` lists all pages.\n")


@pytest.mark.parametrize("command", ["check", "explain", "schema"])
def test_command_help_has_examples(capsys: pytest.CaptureFixture[str], command: str) -> None:
    with pytest.raises(SystemExit):
        main([command, "--help"])
    assert f"examples:\n  gofer {command}" in capsys.readouterr().out


def test_serve_names_every_missing_setting(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = gofer(capsys, "serve")
    assert (code, out) == (2, "")
    lines = err.splitlines()
    assert all(line.startswith("gofer: ") for line in lines)
    for line, name in zip(lines, ("SLACK_BOT_TOKEN", "SLACK_SIGNING_SECRET", "OPENAI_API_KEY"), strict=False):
        assert name in line


def test_serve_reports_an_unreachable_slack_in_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = {"SLACK_API_URL": "http://127.0.0.1:1", "SLACK_BOT_TOKEN": "x", "SLACK_SIGNING_SECRET": "s"}
    for name, value in {**settings, "OPENAI_API_KEY": "k"}.items():
        monkeypatch.setenv(name, value)
    code, out, err = gofer(capsys, "serve", "--port", "0")
    assert (code, out) == (1, "")
    assert err.startswith("gofer: Slack cannot be reached (the connection failed")
    assert len(err.splitlines()) == 1


def test_every_command_names_a_malformed_dotenv_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / ".env").write_text("A=1\nSLACK_BOT_TOKEN xoxb-hunter2\n")
    monkeypatch.chdir(tmp_path)
    for words in (("serve",), ("runs",), ("demo", "--exit")):
        code, out, err = gofer(capsys, *words)
        assert (code, out) == (2, "")
        assert err == "gofer: .env:2: this line is not a setting; write NAME=value, or # before a comment.\n"


def test_serve_refuses_an_unknown_log_level(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENT_LOG_LEVEL", "verbose")
    assert gofer(capsys, "serve") == (
        2,
        "",
        "gofer: AGENT_LOG_LEVEL is 'verbose'; write minimal, summary or full.\n",
    )
