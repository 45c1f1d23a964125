"""`gofer trace`: the words of a run, its steps as JSON, and the part of a damaged run."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from support.app.command_line import gofer, run_json

pytestmark = pytest.mark.usefixtures("terminal")
QUESTION = "hello, what can you do for me here?"


def damage(folder: Path, run: str, frame: int) -> None:
    """Change the last byte of a stored frame."""
    with closing(sqlite3.connect(folder / "state" / "gofer.db")) as database, database:
        named = (run, frame)
        (raw,) = database.execute("SELECT frame FROM frames WHERE run = ? AND n = ?", named).fetchone()
        changed = raw[:-1] + bytes([raw[-1] ^ 1])
        database.execute("UPDATE frames SET frame = ? WHERE run = ? AND n = ?", (changed, *named))


def test_full_trace_shows_event_prompt_request_answer_and_results(capsys: pytest.CaptureFixture[str]) -> None:
    run = run_json(capsys)["run"]
    code, out, err = gofer(capsys, "trace", run[:6], "--full")
    assert (code, err) == (0, "")
    in_order = [
        "slack.mention starts answer-here",
        QUESTION,
        "looked up a person",
        "You are Gofer, the assistant of this company.",
        "messages, 2 new, ",
        "Used so far: 0 of 6 model calls",
        "[offline model] Hello!",
        "changed a message",
        "agent.end          1 model call, 0 tool calls",
    ]
    places = [out.find(words) for words in in_order]
    assert -1 not in places, in_order[places.index(-1)]
    assert places == sorted(places)


def test_json_trace_has_summaries_and_with_full_the_exact_requests(capsys: pytest.CaptureFixture[str]) -> None:
    run = run_json(capsys)["run"]
    brief = json.loads(gofer(capsys, "trace", run, "--json")[1])["steps"]
    full = json.loads(gofer(capsys, "trace", run, "--full", "--json")[1])["steps"]
    assert [step["kind"] for step in brief] == [step["kind"] for step in full]
    assert all({"input", "output", "body"}.isdisjoint(step) for step in brief)
    (request,) = [step for step in full if step["kind"] == "llm.request"]
    body = json.loads(request["body"])
    assert (request["is_exact"], body["model"]) == (True, request["details"]["model"])
    assert [message["role"] for message in body["messages"]] == ["system", "user", "user"]
    assert QUESTION in body["messages"][1]["content"]
    (start,) = [step for step in full if step["kind"] == "agent.start"]
    assert start["input"] == body["messages"][0]["content"]


@pytest.mark.parametrize("options", [(), ("--full",), ("--json",)])
def test_damaged_run_is_shown_up_to_its_damage(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, options: tuple[str, ...]
) -> None:
    run = run_json(capsys)["run"]
    damage(tmp_path, run, 4)
    code, out, err = gofer(capsys, "trace", run, *options)
    assert (code, "slack_get_user" in out, "slack_update_message" in out) == (1, True, False)
    assert err.startswith(f"gofer: Run {run} is damaged at frame 4")
    if options == ("--json",):
        trace = json.loads(out)
        assert trace["damage"] == trace["steps"][-1]["output_summary"]
        assert trace["steps"][-1]["kind"] == "damage"
        assert trace["status"] == "damaged"
    if not options:
        assert out.startswith(f"run {run}  damaged\n")


def test_run_without_a_readable_first_frame_names_the_restore(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    run = run_json(capsys)["run"]
    damage(tmp_path, run, 1)
    code, out, err = gofer(capsys, "trace", run, "--full")
    assert (code, out) == (1, "")
    assert "No part of the run can be read; restore it from a backup with `gofer restore`." in err
