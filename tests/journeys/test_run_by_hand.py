"""`gofer run` and `gofer explain` with events of every source."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from gofer.cli.main import main
from gofer_simulators.demo import demo_world
from support.app.command_line import gofer
from support.app.company import ROOT
from support.sources.every_delivery import EVENTS, PRESS, headers_of
from support.workflows.every_trigger import every_trigger

pytestmark = pytest.mark.usefixtures("terminal")

PAGE, RFC = "0b1e6c1a-0000-4000-8000-000000000030", "5f1c7d2e-0a3b-4c4d-8e9f-000000000012"
"""The page of the recorded payloads, and one of the demo's world."""
AUTHOR, OWNER = "0b1e6c1a-0000-4000-8000-000000000020", "0d1f6a52-0000-4000-8000-00000000c4ec"
"""The author of the recorded payloads, and a person in Notion of the demo's world."""
PULL = "repositories/acme~1shop/pulls/41"
SHIPPED = [
    ("answer-here", "evals/payloads/answer-here-asked-for-a-reaction.json"),
    ("answer-here", "evals/payloads/answer-here-second-question-2.json"),
    ("answer-in-jira", "evals/payloads/answer-in-jira-may-it-go-out.json"),
    ("file-ticket", "evals/payloads/file-ticket-one-ticket.json"),
    ("welcome-channel", "evals/payloads/welcome-channel-new-project-channel.json"),
]
"""Shipped payloads about objects of the demo's world that no command of the documents uses."""
MENTION = ROOT / "tests" / "events" / "slack_app_mention.json"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, terminal: None) -> Path:
    """A repository with workflows for every trigger, as the current folder."""
    every_trigger(tmp_path)
    shutil.copy(ROOT / "agents" / "defaults.yaml", tmp_path / "agents")
    shutil.copy(ROOT / "agents" / "preamble.md", tmp_path / "agents")
    (tmp_path / "world.yaml").write_text(yaml.safe_dump(dict(demo_world())))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def header_words(event: Path) -> list[str]:
    return [word for name, value in headers_of(event) for word in ("--header", f"{name}: {value}")]


def result_of(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    code, out, err = gofer(capsys, "run", *words, "--json")
    assert (code, "Traceback" in err) in ((0, False), (1, False)), err
    return json.loads(out)


@pytest.mark.parametrize("event", EVENTS, ids=lambda path: path.stem)
def test_explain_gives_workflows_or_a_reason_for_every_recorded_payload(
    capsys: pytest.CaptureFixture[str], folder: Path, event: Path
) -> None:
    source = event.stem.partition("_")[0]
    code, out, err = gofer(capsys, "explain", "--json", "--source", source, *header_words(event), str(event))
    (line,) = out.splitlines()
    told = json.loads(line)
    assert (code, err, told["file"], told["error"]) == (0, "", str(event), None)
    assert bool(told["workflows"]) != bool(told["ignored_because"])


def test_explain_takes_webhooks_schedules_and_button_presses(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    (folder / "body.txt").write_text('{"id": 7}')
    (folder / "press.json").write_text(json.dumps(PRESS))
    times = [{"workflow": "called", "scheduled": f"2026-11-2{day}T08:00:00Z"} for day in (3, 4)]
    (folder / "times.jsonl").write_text("\n".join(map(json.dumps, times)))
    for words in (("--hook", "new-hire"), ("--path", "/hooks/new-hire")):
        code, out, _ = gofer(capsys, "explain", "--json", "--source", "webhook", *words, "body.txt")
        assert (code, json.loads(out)["dedupe_key"]) == (0, "webhook:new-hire:key:7")
    code, out, _ = gofer(capsys, "explain", "--json", "--source", "schedule", "times.jsonl")
    first, second = map(json.loads, out.splitlines())
    assert (code, first["workflows"], first["dedupe_key"][-20:]) == (0, ["called"], "2026-11-23T08:00:00Z")
    assert "no schedule of called has a time then" in second["ignored_because"]
    code, out, _ = gofer(capsys, "explain", "--json", "--source", "slack", "press.json")
    assert "the click of a button" in json.loads(out)["ignored_because"]
    assert gofer(capsys, "explain", "--json", "--source", "webhook", "body.txt")[0] == 2
    assert gofer(capsys, "explain", "--json", "--source", "webhook", "--path", "/slack/events", "body.txt")[0] == 2


@pytest.mark.parametrize(
    ("name", "here", "where"),
    [
        ("slack_app_mention", {}, "/slack/channels/general/messages/"),
        ("jira_comment_created", {"OPS-7": "PAY-17"}, "/jira/PAY-17/comments/"),
        ("notion_page_created", {PAGE: RFC, AUTHOR: OWNER}, f"/notion/{RFC}/comments/"),
        (
            "github_pull_request_merged",
            {"acme/app": "acme/shop", '"number": 7': '"number": 41'},
            "/github/repositories/acme~1shop/pulls/41/comments/",
        ),
    ],
)
def test_run_takes_a_payload_of_any_vendor_and_answers_in_that_system(
    capsys: pytest.CaptureFixture[str], folder: Path, name: str, here: dict[str, str], where: str
) -> None:
    event = next(event for event in EVENTS if event.stem == name)
    text = event.read_text()
    for recorded, in_this_world in here.items():
        assert recorded in text
        text = text.replace(recorded, in_this_world)
    (folder / "event.json").write_text(text)
    words = ("everything", "--event", "event.json", *header_words(event), "--world", "world.yaml")
    told = result_of(capsys, *words)
    assert (told["workflow"], told["status"], told["reason"]) == ("everything", "done", "")
    (path,) = told["world"]["added"]
    assert path.startswith(where)
    assert told["answer"] in json.dumps(told["world"]["added"][path], ensure_ascii=False)


def test_run_infers_the_source_of_a_payload_or_asks_for_the_option(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    assert result_of(capsys, "everything", "--event", str(MENTION))["workflow"] == "everything"
    (folder / "x.json").write_text("{}")
    code, _, err = gofer(capsys, "run", "everything", "--event", "x.json")
    assert (code, err) == (
        2,
        "gofer: Name the sender of this payload (slack or jira or notion or github) with --source.\n",
    )
    code, _, err = gofer(capsys, "run", "called", "--event", "x.json")
    assert (code, err) == (2, "gofer: Name the sender of this payload (webhook or schedule) with --source.\n")


def test_run_takes_any_webhook_body_and_asks_for_the_hook(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    (folder / "body.txt").write_bytes(b"neither JSON nor a form \xe2\x9c\x93")
    words = ("run", "called", "--event", "body.txt", "--source", "webhook")
    assert "Name the webhook with --hook; there are: alarm, form, new-hire." in gofer(capsys, *words)[2]
    assert result_of(capsys, *words[1:], "--hook", "form")["workflow"] == "called"
    code, _, err = gofer(capsys, *words, "--path", "/hooks/new-hire")
    assert code == 2
    assert "body.txt starts nothing: The body is not JSON, so it has no key at /id" in err


def test_run_starts_a_schedule_now_or_for_a_given_time(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    assert result_of(capsys, "called")["workflow"] == "called"
    time = folder / "time.json"
    time.write_text('{"workflow": "called", "scheduled": "2026-11-23T08:00:00Z"}')
    assert result_of(capsys, "called", "--event", str(time))["workflow"] == "called"
    time.write_text('{"workflow": "called", "scheduled": "2026-11-23T08:00:01Z"}')
    code, _, err = gofer(capsys, "run", "called", "--event", str(time), "--source", "schedule")
    assert code == 2
    assert "no schedule of called has a time then" in err
    for words in (("everything",), ("everything", "--source", "schedule")):
        code, _, err = gofer(capsys, "run", *words)
        assert code == 2
        assert "--event" in err


def test_run_with_a_world_prints_the_changes_to_that_world(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    words = ("everything", "--event", str(MENTION), "--world", "world.yaml")
    told = result_of(capsys, *words)
    assert (told["status"], list(told)[-1]) == ("done", "world")
    world = told["world"]
    assert list(world) == ["added", "removed", "changed", "more"]
    assert (world["removed"], world["more"]) == ({}, 0)
    (path,) = world["added"]
    assert path.startswith("/slack/channels/general/messages/")
    # The thread of the payload existed before the run.
    assert world["added"][path]["thread_ts"] == "1795240812.000300"
    assert told["answer"] in world["added"][path]["text"]


def test_every_shipped_payload_in_a_command_of_the_documents_finds_its_world(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOFER_DATA", str(tmp_path))
    monkeypatch.chdir(ROOT)
    texts = [path.read_text() for path in (ROOT / "README.md", *(ROOT / "docs").glob("*.md"))]
    texts += [f"gofer run {workflow} --event {payload}" for workflow, payload in SHIPPED]
    commands = {found for text in texts for found in re.findall(r"gofer run (\S+) --event (evals/payloads/\S+)", text)}
    assert set(SHIPPED) < commands
    for words in sorted(commands):
        code, out, err = gofer(capsys, "run", words[0], "--event", words[1], "--json")
        assert code == 0, err
        read = gofer(capsys, "trace", json.loads(out)["run"], "--full")[1]
        assert read.count(" ok ") > 2
        assert not re.findall(r"  error  |\(no text\)|app unnamed|not_found", read), words


def test_run_fails_if_the_offline_model_relies_on_a_thread_that_was_not_read(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOFER_DATA", str(tmp_path))
    monkeypatch.chdir(ROOT)
    payload = (ROOT / "evals/payloads/answer-here-linked-decision.json").read_text()
    (tmp_path / "event.json").write_text(payload.replace("p1772394600000000", "p1772390000000000"))
    code, out, _ = gofer(capsys, "run", "answer-here", "--event", str(tmp_path / "event.json"), "--json")
    told = json.loads(out)
    assert (code, told["status"], "checkout" in told["answer"]) == (1, "failed", False)
    assert "The answer of the script decided-elsewhere relies on tool results that contain" in told["reason"]
    assert "(thread_not_found)" in told["reason"]


def test_run_of_a_github_payload_needs_the_event_header(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    event = next(event for event in EVENTS if event.stem == "github_push")
    code, _, err = gofer(capsys, "run", "everything", "--event", str(event), "--source", "github")
    assert code == 2
    assert 'for example --header "X-GitHub-Event: pull_request"' in err


def test_help_of_explain_and_run_has_examples(capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("explain", "run"):
        with pytest.raises(SystemExit):
            main([command, "--help"])
        told = capsys.readouterr().out
        assert f"examples:\n  gofer {command}" in told
        assert "--header" in told
        assert "--hook" in told
        if command == "explain":
            for source in ("slack", "jira", "notion", "github", "webhook", "schedule"):
                assert f"gofer explain --source {source}" in told
