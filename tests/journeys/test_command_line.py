"""What a person at a terminal sees: the commands as they are typed, their output and their exit codes."""

import asyncio
import json
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import yaml

from company import ROOT
from gofer.bootstrap.state import installation_key, open_state, serving
from gofer.cli.main import main
from gofer.journal.coordination import Head, HeadStatus
from gofer.outside import SystemClock

EVENT = str(ROOT / "tests" / "events" / "slack_app_mention.json")


@pytest.fixture(autouse=True)
def terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The repository as the current folder, state of its own, and none of this machine's settings."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("GOFER_DATA", str(tmp_path / "state"))
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "SLACK_BOT_TOKEN", "SLACK_APP_TOKEN", "SLACK_SIGNING_SECRET"):
        # Empty instead of deleted: it also wins over a line of .env in the repository.
        monkeypatch.setenv(name, "")


def gofer(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(words)
    out, err = capsys.readouterr()
    return code, out, err


def run_json(capsys: pytest.CaptureFixture[str], code: int = 0) -> dict:
    exit_code, out, _ = gofer(capsys, "run", "answer-here", "--event", EVENT, "--json")
    assert exit_code == code
    return json.loads(out)


def test_the_tour_plays_and_says_what_happened(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = gofer(capsys, "demo", "--exit")
    assert (code, err) == (0, "")
    assert "the offline model: a script, not a language model" in out
    assert "@Gofer does what was decided in https://acme.slack.com/archives/" in out
    assert "[offline model] Partly." in out
    assert "✓ slack_read_thread" in out
    assert "delivered one message 11 times" in out
    assert "Runs: 1. Answers in the thread: 1." in out


class Busy(BaseHTTPRequestHandler):
    """A provider of models that has no time for an hour."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(503)
        self.send_header("Retry-After", "3600")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def busy_model(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Busy) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{server.server_port}/v1")
        yield
        server.shutdown()


@pytest.mark.usefixtures("busy_model")
def test_a_tour_that_fails_says_why_in_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = gofer(capsys, "demo", "--exit")
    assert code == 1
    assert "came out as they must" not in out
    assert err.splitlines()[-1] == (
        "The tour failed: the mention was not answered, its run is parked: "
        "The model's provider is busy or failing (HTTP 503); try again in a minute."
    )
    assert "Traceback" not in err


@pytest.mark.usefixtures("busy_model")
def test_a_run_by_hand_whose_model_is_not_there_says_when_it_goes_on(capsys: pytest.CaptureFixture[str]) -> None:
    result = run_json(capsys, code=1)
    assert (result["status"], result["answer"]) == ("needs_attention", "")
    assert re.fullmatch(
        r"the run is parked until .+Z; whoever serves this folder then goes on with it", result["reason"]
    )
    code, out, _ = gofer(capsys, "runs")
    assert (code, "parked" in out, "HTTP 503" in out) == (0, True, True)


def test_runs_are_limited_and_newest_first(capsys: pytest.CaptureFixture[str]) -> None:
    first, second = run_json(capsys)["run"], run_json(capsys)["run"]
    _, listed, _ = gofer(capsys, "runs", "--limit", "1", "--json")
    assert [row["run"] for row in json.loads(listed)] == [second]
    assert first in gofer(capsys, "runs")[1]


def test_a_run_by_hand_prints_one_json_object(capsys: pytest.CaptureFixture[str]) -> None:
    result = run_json(capsys)
    assert list(result) == [
        "run",
        "workflow",
        "status",
        "answer",
        "output",
        "reason",
        "usage",
        "llm_calls",
        "tool_calls",
        "seconds",
    ]
    assert (result["workflow"], result["status"], result["llm_calls"]) == ("answer-here", "done", 1)
    assert result["answer"].startswith("[offline model]")
    assert list(result["usage"]) == ["input_tokens", "output_tokens", "cached_tokens", "cost_usd"]
    assert result["usage"]["input_tokens"] > 0


def test_a_run_by_hand_never_collapses_with_an_earlier_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_json(capsys)["run"] != run_json(capsys)["run"]


def test_runs_and_traces_can_be_read_afterwards(capsys: pytest.CaptureFixture[str]) -> None:
    run = run_json(capsys)["run"]
    _, listed, _ = gofer(capsys, "runs", "--json")
    assert [row["run"] for row in json.loads(listed)] == [run]
    assert json.loads(listed)[0]["status"] == "done"
    assert run in gofer(capsys, "runs")[1]
    _, traced, _ = gofer(capsys, "trace", run, "--json")
    trace = json.loads(traced)
    assert (list(trace), trace["run"]) == (["run", "spans"], run)
    assert list(trace["spans"][0]) == ["id", "parent", "kind", "name", "status", "start", "end", "attributes"]
    assert [span["name"] for span in trace["spans"]][1:] == [
        "slack_get_user",
        "slack_read_thread",
        "slack_post_message",
        "chat gpt-5.4-mini",
        "slack_update_message",
    ]
    text = gofer(capsys, "trace", run[:6])[1]
    assert "✓ slack_post_message" in text


def test_a_run_in_a_private_channel_has_no_row_and_no_trace(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    payload = json.loads(Path(EVENT).read_text())
    payload["event"]["channel"] = "C0LEADS00"
    event = tmp_path / "private.json"
    event.write_text(json.dumps(payload))
    _, out, _ = gofer(capsys, "run", "answer-here", "--event", str(event), "--json")
    run = json.loads(out)["run"]
    assert (json.loads(out)["status"], json.loads(out)["llm_calls"]) == ("done", 1)
    assert gofer(capsys, "runs", "--json")[1].strip() == "[]"
    for command in ("trace", "keep"):
        code, out, err = gofer(capsys, command, run)
        assert (code, out) == (2, "")
        assert "There is no run" in err


def test_purged_contents_are_gone_and_kept_ones_are_not(capsys: pytest.CaptureFixture[str]) -> None:
    kept, other = run_json(capsys)["run"], run_json(capsys)["run"]
    assert gofer(capsys, "keep", kept[:8]) == (0, f"Run {kept} is kept.\n", "")
    code, out, _ = gofer(capsys, "purge", "--json")
    assert (code, json.loads(out)) == (0, {"deleted": 0, "forgotten": 0})
    code, out, _ = gofer(capsys, "purge", "--older-than", "0")
    assert (code, out) == (0, "Runs whose contents were deleted: 1. Runs of which nothing is left: 0.\n")
    assert gofer(capsys, "trace", kept)[0] == 0
    gone = f"gofer: The contents of run {other} were deleted by retention; nothing can bring them back.\n"
    assert gofer(capsys, "trace", other) == (1, "", gone)
    assert gofer(capsys, "keep", other)[::2] == (
        1,
        f"gofer: The contents of run {other} were deleted; nothing is left to keep.\n",
    )
    assert [row["retention"] for row in json.loads(gofer(capsys, "runs", "--json")[1])] == ["deleted", "kept"]
    assert gofer(capsys, "keep", kept, "--no") == (0, f"Run {kept} is deleted in its time.\n", "")
    assert json.loads(gofer(capsys, "purge", "--older-than", "0", "--json")[1]) == {"deleted": 1, "forgotten": 0}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["trace", "abc"], "There are no runs in"),
        (["keep", "abc"], "There are no runs in"),
        (["purge"], "There are no runs in"),
        (["run", "nope", "--event", EVENT], "There is no workflow 'nope'"),
        (["run", "answer-here", "--event", "missing.json"], "missing.json cannot be read"),
        (["run", "answer-here", "--event", "README.md"], "README.md is not JSON"),
        (["run", "answer-here", "--event", EVENT, "--world", "nope.yaml"], "nope.yaml is not a world"),
    ],
)
def test_a_mistake_is_one_sentence_and_exit_code_2(
    capsys: pytest.CaptureFixture[str], words: list[str], sentence: str
) -> None:
    code, out, err = gofer(capsys, *words)
    assert (code, out) == (2, "")
    assert err.startswith("gofer: ")
    assert sentence in err
    assert "Traceback" not in err


def test_a_payload_that_starts_nothing_says_why(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    event = tmp_path / "bot.json"
    event.write_text(json.dumps({"type": "event_callback", "event": {"type": "app_mention", "user": "USLACKBOT"}}))
    code, _, err = gofer(capsys, "run", "answer-here", "--event", str(event))
    assert (code, err) == (2, "gofer: This payload starts nothing: Slack wrote it.\n")


def test_one_process_serves_a_folder(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with serving(tmp_path / "state"):
        code, _, err = gofer(capsys, "demo", "--exit")
    assert code == 2
    assert "Another Gofer serves" in err


def test_a_taken_port_is_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        code, _, err = gofer(capsys, "demo", "--exit", "--port", str(taken.getsockname()[1]))
    assert code == 1
    assert "already in use" in err


@pytest.mark.parametrize(
    "words", [("runs", "--limit", "99999999999999999999"), ("runs", "--limit", "0"), ("demo", "--port", "99999")]
)
def test_a_number_out_of_bounds_is_named(capsys: pytest.CaptureFixture[str], words: tuple[str, ...]) -> None:
    with pytest.raises(SystemExit) as left:
        main(words)
    assert left.value.code == 2
    assert "is not a whole number from" in capsys.readouterr().err


def test_without_a_command_the_help_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = gofer(capsys)
    assert code == 2
    for command in ("demo", "serve", "manifest", "keep", "purge", "run", "runs", "trace"):
        assert f"    {command} " in err
    with pytest.raises(SystemExit) as left:
        main(["run", "--help"])
    assert left.value.code == 0
    assert "--event FILE" in capsys.readouterr().out


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small company's repository, with mistakes in two files."""
    folder = tmp_path / "agents"
    folder.mkdir()
    (folder / "defaults.yaml").write_text("models: {default: gpt-5}\n")
    (folder / "w.yaml").write_text('description: d\nowner: "#o"\nwhen: [slack.mention]\ntols: []\nreply: thred\n')
    (folder / "w.md").write_text("Use `slack_read_threat`.\n")
    monkeypatch.chdir(tmp_path)
    return folder


WRONG = [
    "agents/w.md:1:6: There is no tool `slack_read_threat`. Write `slack_read_thread`.",
    "agents/w.yaml:4:1: `tols` is not a key here. Write `tools`.",
    "agents/w.yaml:5:8: `reply` cannot be `thred`. Write `thread`.",
]


def test_a_check_lists_every_mistake_where_it_is(capsys: pytest.CaptureFixture[str], repository: Path) -> None:
    code, out, err = gofer(capsys, "check")
    assert (code, out.splitlines(), err) == (1, WRONG, "3 mistakes in 2 files.\n")
    assert gofer(capsys, "check", ".", "agents", "agents/w.yaml")[1].splitlines() == WRONG
    assert gofer(capsys, "check", "agents/w.md")[1].splitlines() == WRONG[:1]


def test_a_check_prints_json_or_sarif_and_nothing_else(capsys: pytest.CaptureFixture[str], repository: Path) -> None:
    code, out, err = gofer(capsys, "check", "--json")
    assert (code, err) == (1, "")
    assert json.loads(out)[1] == {
        "file": "agents/w.yaml",
        "line": 4,
        "column": 1,
        "rule": "unknown-key",
        "message": "`tols` is not a key here.",
        "hint": "Write `tools`.",
    }
    code, out, err = gofer(capsys, "check", "--sarif")
    assert (code, err) == (1, "")
    (run,) = json.loads(out)["runs"]
    assert [result["ruleId"] for result in run["results"]] == ["unknown-tool", "unknown-key", "unknown-value"]


def test_a_repository_without_mistakes_passes(capsys: pytest.CaptureFixture[str]) -> None:
    assert gofer(capsys, "check") == (0, "", "No mistakes.\n")
    assert gofer(capsys, "check", "--json") == (0, "[]\n", "")


@pytest.mark.parametrize("path", ["nowhere", "docs", "README.md", "a\0b"])
def test_a_path_without_workflows_is_a_wrong_input(capsys: pytest.CaptureFixture[str], path: str) -> None:
    code, out, err = gofer(capsys, "check", path)
    assert (code, out) == (2, "")
    assert err.startswith("gofer: There is no ")


def test_nothing_starts_on_workflows_with_mistakes(capsys: pytest.CaptureFixture[str], repository: Path) -> None:
    code, out, err = gofer(capsys, "run", "w", "--event", EVENT)
    assert (code, out) == (2, "")
    assert err.splitlines() == [
        "gofer: 3 mistakes are in the files of this Gofer; correct each.",
        *(f"  {repository.parent}/{line}" for line in WRONG),
    ]


def test_a_payload_is_explained_on_one_line_and_nothing_is_stored(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    code, out, err = gofer(capsys, "explain", "--source", "slack", EVENT, EVENT)
    assert (code, err) == (0, "")
    first, second = (json.loads(line) for line in out.splitlines())
    assert first == second
    assert (first["file"], first["kind"], first["workflows"]) == (EVENT, "slack.mention", ["answer-here"])
    assert not (tmp_path / "state").exists()


def test_what_cannot_be_explained_says_so_and_the_rest_is_answered(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = gofer(capsys, "explain", "--source", "slack", "missing.json", "README.md", EVENT)
    assert (code, err) == (2, "")
    told = [json.loads(line) for line in out.splitlines()]
    assert [line["error"] for line in told] == ["The file cannot be read.", "The body is not JSON in UTF-8.", None]


def test_payloads_are_read_from_stdin() -> None:
    words = [sys.executable, "-m", "gofer.cli.main", "explain", "--source", "slack", "-"]
    done = subprocess.run(words, input=Path(EVENT).read_bytes(), capture_output=True, check=True)
    told = json.loads(done.stdout)
    assert (told["file"], told["workflows"], done.stderr) == ("-", ["answer-here"], b"")


@pytest.mark.parametrize("command", ["check", "explain", "schema"])
def test_help_has_examples(capsys: pytest.CaptureFixture[str], command: str) -> None:
    with pytest.raises(SystemExit):
        main([command, "--help"])
    assert f"examples:\n  gofer {command}" in capsys.readouterr().out


def test_serving_without_settings_names_all_of_them(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = gofer(capsys, "serve")
    assert (code, out) == (2, "")
    lines = err.splitlines()
    assert all(line.startswith("gofer: ") for line in lines)
    for line, name in zip(lines, ("SLACK_BOT_TOKEN", "SLACK_SIGNING_SECRET", "OPENAI_API_KEY"), strict=False):
        assert name in line


def test_serving_where_slack_cannot_be_reached_says_so(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = {"SLACK_API_URL": "http://127.0.0.1:1", "SLACK_BOT_TOKEN": "x", "SLACK_SIGNING_SECRET": "s"}
    for name, value in {**settings, "OPENAI_API_KEY": "k"}.items():
        monkeypatch.setenv(name, value)
    code, out, err = gofer(capsys, "serve")
    assert (code, out) == (1, "")
    assert err.startswith("gofer: Slack cannot be reached (the connection failed")
    assert len(err.splitlines()) == 1


def test_a_malformed_line_of_dotenv_is_named_by_every_command(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / ".env").write_text("A=1\nSLACK_BOT_TOKEN xoxb-hunter2\n")
    monkeypatch.chdir(tmp_path)
    for words in (("serve",), ("runs",), ("demo", "--exit")):
        code, out, err = gofer(capsys, *words)
        assert (code, out) == (2, "")
        assert err == "gofer: .env:2: this is no setting; write NAME=value, or # before a comment.\n"


def test_a_log_level_there_is_not_is_named(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT_LOG_LEVEL", "verbose")
    assert gofer(capsys, "serve") == (
        2,
        "",
        "gofer: AGENT_LOG_LEVEL is 'verbose'; write minimal, summary or full.\n",
    )


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((), "Say how Slack reaches Gofer"),
        (("--socket", "--url", "https://gofer.example.com"), "Say how Slack reaches Gofer"),
        (("--url", "http://gofer.example.com"), "--url must be the https address"),
        (("--url", "https://gofer.example.com:x"), "--url must be the https address"),
        (("--socket", "--name", "a name that is much too long for Slack"), "--name must have 1 to 35 characters"),
    ],
)
def test_a_manifest_that_slack_would_refuse_is_not_printed(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], sentence: str
) -> None:
    code, out, err = gofer(capsys, "manifest", *words)
    assert (code, out) == (2, "")
    assert err.startswith(f"gofer: {sentence}")


def test_a_manifest_is_yaml_or_the_same_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("manifest", "--url", "https://gofer.example.com/slack/events", "--name", "Helper")
    as_yaml, as_json = gofer(capsys, *words)[1], gofer(capsys, *words, "--json")[1]
    made = json.loads(as_json)
    assert yaml.safe_load(as_yaml) == made
    assert made["features"]["bot_user"]["display_name"] == "Helper"
    assert made["settings"]["event_subscriptions"]["request_url"] == "https://gofer.example.com/slack/events"


def test_a_run_that_has_ended_is_not_cancelled(capsys: pytest.CaptureFixture[str]) -> None:
    run = run_json(capsys)["run"]
    code, _, err = gofer(capsys, "cancel", run[:8])
    assert (code, err) == (1, f"Run {run} has ended; there is nothing to cancel.\n")
    assert gofer(capsys, "cancel", "0000")[0] == 2


def test_a_sweep_needs_a_slack_to_answer_in(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = gofer(capsys, "sweep")
    assert (code, err) == (2, "gofer: Set SLACK_BOT_TOKEN; without a Slack nobody can be answered.\n")


def test_a_sweep_names_no_private_run(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Runs without a journal are over as soon as anybody looks; those that are parked for years wait."""
    monkeypatch.setenv("SLACK_BOT_TOKEN", "xoxb-nobody")

    async def leave() -> None:
        (tmp_path / "state").mkdir(exist_ok=True)
        installation_key(tmp_path / "state")
        with open_state(tmp_path / "state", SystemClock()) as state:
            for run, private, wakes_at in (
                ("open1", False, 0),
                ("secret1", True, 0),
                ("open2", False, 10**13),
                ("secret2", True, 10**13),
                ("secret3", True, 10**13),
            ):
                status: HeadStatus = "parked" if wakes_at else "queued"
                head = Head(run, "answer-here", run, 1, status, private, wakes_at=wakes_at)
                await state.store.create_head(head)

    asyncio.run(leave())
    code, out, err = gofer(capsys, "sweep", "--seconds", "1", "--json")
    assert code == 1
    assert json.loads(out) == {"ended": ["open1"], "waiting": ["open2"], "private": {"ended": 1, "waiting": 2}}
    assert "secret" not in out
    code, out, err = gofer(capsys, "sweep", "--seconds", "1")
    assert (code, out) == (1, "")
    assert "0 runs ended, 3 wait." in err


def test_a_doorbell_that_was_given_up_is_shown_beside_the_runs(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    run = run_json(capsys)["run"]

    async def give_up() -> None:
        with open_state(tmp_path / "state", SystemClock()) as state:
            head = await state.store.head(run)
            assert head is not None
            await state.store.put_head(head.now("needs_attention", 1, private=False))
            await state.queue.ring(run)
            await state.queue.ring("nobody's")
            for bell in await state.queue.receive(10, 60, 0):
                await state.queue.bury(bell, "KeyError")

    asyncio.run(give_up())
    code, out, err = gofer(capsys, "runs")
    assert code == 0
    assert f"the doorbell of run {run}; KeyError." in err
    assert "the doorbell of a run that is not listed; KeyError." in err
    assert "doorbell" not in out
