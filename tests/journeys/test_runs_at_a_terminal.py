"""The commands for runs at a terminal: run, runs, trace, keep, purge, retry, cancel and sweep."""

import asyncio
import json
import re
from pathlib import Path

import pytest

from gofer.app.embedded.state import installation_key, open_state
from gofer.journal.coordination import Head, HeadStatus
from gofer.values.outside import SystemClock
from support.app.command_line import EVENT, gofer, run_json

pytestmark = pytest.mark.usefixtures("terminal")


@pytest.mark.usefixtures("busy_model")
def test_run_by_hand_with_a_busy_model_is_parked_and_names_the_next_attempt(capsys: pytest.CaptureFixture[str]) -> None:
    result = run_json(capsys, code=1)
    assert (result["status"], result["answer"]) == ("parked", "")
    assert re.fullmatch(
        rf"Run {result['run']} is parked until .+ UTC.*: The model's provider is busy or failing \(HTTP 503\)\. "
        r"Its simulated systems ended with this command; run the command again to start over\.",
        result["reason"],
    )
    code, _, err = gofer(capsys, "run", "answer-here", "--event", EVENT)
    assert (code, err.count(" is parked until "), "needs_attention" in err) == (1, 1, False)
    code, out, _ = gofer(capsys, "runs")
    assert code == 0
    assert re.search(r"parked .+ until .+Z: The model's provider is busy or failing \(HTTP 503\)", out)


def test_runs_command_lists_the_newest_first_up_to_the_limit(capsys: pytest.CaptureFixture[str]) -> None:
    first, second = run_json(capsys)["run"], run_json(capsys)["run"]
    _, listed, _ = gofer(capsys, "runs", "--limit", "1", "--json")
    assert [row["run"] for row in json.loads(listed)] == [second]
    assert first in gofer(capsys, "runs")[1]


def test_run_by_hand_prints_one_json_object(capsys: pytest.CaptureFixture[str]) -> None:
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
    assert list(result["usage"]) == [
        "input_tokens",
        "output_tokens",
        "cached_tokens",
        "written_tokens",
        "reasoning_tokens",
        "cost_usd",
    ]
    assert result["usage"]["input_tokens"] > 0


def test_two_runs_by_hand_of_one_payload_are_two_runs(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_json(capsys)["run"] != run_json(capsys)["run"]


def test_finished_run_is_listed_and_has_a_trace(capsys: pytest.CaptureFixture[str]) -> None:
    run = run_json(capsys)["run"]
    _, listed, _ = gofer(capsys, "runs", "--json")
    assert [row["run"] for row in json.loads(listed)] == [run]
    assert json.loads(listed)[0]["status"] == "done"
    assert run in gofer(capsys, "runs")[1]
    _, traced, _ = gofer(capsys, "trace", run, "--json")
    trace = json.loads(traced)
    assert (list(trace), trace["run"], trace["status"]) == (["run", "status", "steps", "spans", "replay"], run, "done")
    assert trace["replay"] == f"gofer replay {run}"
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


def test_private_run_has_no_row_and_no_trace(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
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


def test_stuck_runs_are_listed_and_private_ones_by_id_only(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    run_json(capsys)
    assert gofer(capsys, "runs", "--stuck") == (0, "", "No run is stuck.\n")

    async def strand() -> None:
        with open_state(tmp_path / "state", SystemClock()) as state:
            for run, private in (("bb01", True), ("aa01", True), ("cc01", False)):
                await state.store.create_head(Head(run, "secret-workflow", f"slack:T:C:{run}", 1, private=private))

    asyncio.run(strand())
    code, out, err = gofer(capsys, "runs", "--stuck")
    public, *private = out.splitlines()
    waiting = "3 runs wait for a free worker, the oldest since 00:00 UTC on 1 January.\n"
    assert (code, private, err) == (0, ["aa01", "bb01"], waiting)
    assert public.startswith("cc01  queued")
    code, out, _ = gofer(capsys, "runs", "--stuck", "--json")
    assert [row["run"] for row in json.loads(out)] == ["cc01", "aa01", "bb01"]
    assert json.loads(out)[1:] == [{"run": "aa01"}, {"run": "bb01"}]


def test_purge_deletes_contents_except_of_kept_runs(capsys: pytest.CaptureFixture[str]) -> None:
    kept, other = run_json(capsys)["run"], run_json(capsys)["run"]
    assert gofer(capsys, "keep", kept[:8]) == (0, f"The contents of run {kept} are kept.\n", "")
    code, out, _ = gofer(capsys, "purge", "--json")
    nothing = {"deleted": 0, "forgotten": 0, "unseen": 0, "oldest_days": 0, "overlooked": 0}
    assert (code, json.loads(out)) == (0, nothing)
    code, out, _ = gofer(capsys, "purge", "--older-than", "0")
    assert (code, out) == (0, "Runs with deleted contents: 1. Runs that were removed completely: 0.\n")
    assert gofer(capsys, "trace", kept)[0] == 0
    gone = f"gofer: The contents of run {other} were deleted by retention; nothing can bring them back.\n"
    assert gofer(capsys, "trace", other) == (1, "", gone)
    assert gofer(capsys, "keep", other)[::2] == (
        1,
        f"gofer: The contents of run {other} are already deleted, so they cannot be kept.\n",
    )
    assert [row["retention"] for row in json.loads(gofer(capsys, "runs", "--json")[1])] == ["deleted", "kept"]
    assert gofer(capsys, "keep", kept, "--no") == (0, f"The contents of run {kept} will be deleted on schedule.\n", "")
    assert json.loads(gofer(capsys, "purge", "--older-than", "0", "--json")[1]) == {
        "deleted": 1,
        "forgotten": 0,
        "unseen": 0,
        "oldest_days": 0,
        "overlooked": 0,
    }


def test_run_explains_why_a_payload_starts_no_run(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    event = tmp_path / "bot.json"
    event.write_text(json.dumps({"type": "event_callback", "event": {"type": "app_mention", "user": "USLACKBOT"}}))
    code, _, err = gofer(capsys, "run", "answer-here", "--event", str(event))
    assert (code, err) == (2, "gofer: This payload starts nothing: Slack wrote it.\n")


@pytest.mark.usefixtures("busy_model")
def test_retry_of_a_parked_run_enqueues_and_announces_the_next_attempt(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    async def due() -> list[str]:
        with open_state(tmp_path / "state", SystemClock()) as state:
            return [queue_message.run for queue_message in await state.queue.receive(10, 0, 0)]

    run = run_json(capsys, code=1)["run"]
    assert asyncio.run(due()) == []
    assert gofer(capsys, "retry", run[:8]) == (0, "", f"Run {run} makes its next attempt now.\n")
    assert asyncio.run(due()) == [run]


def test_retry_of_a_finished_run_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    run = run_json(capsys)["run"]
    code, out, _ = gofer(capsys, "retry", run, "--json")
    told = f"Run {run} is done; there is nothing to retry."
    assert (code, json.loads(out)) == (1, {"run": run, "enqueued": False, "message": told})
    assert gofer(capsys, "retry", "nonsense")[0] == 2


def test_cancel_of_a_finished_run_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    run = run_json(capsys)["run"]
    code, _, err = gofer(capsys, "cancel", run[:8])
    assert (code, err) == (1, f"Run {run} has ended; there is nothing to cancel.\n")
    assert gofer(capsys, "cancel", "0000")[0] == 2


def test_sweep_needs_a_slack_token(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = gofer(capsys, "sweep")
    assert (code, err) == (2, "gofer: Set SLACK_BOT_TOKEN; Gofer needs it to answer in Slack.\n")


def test_sweep_without_workflows_of_slack_needs_no_slack_token(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "hire.md").write_text("Say who begins.\n")
    (tmp_path / "agents" / "hire.yaml").write_text(
        "description: A new hire.\nowner: people@acme.example\nwhen: [webhook: {name: hr}]\nmodel: gpt-5.4-mini\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    code, _, err = gofer(capsys, "sweep")
    assert (code, err) == (0, "0 runs finished, 0 are still unfinished.\n")


def test_sweep_counts_private_runs_and_names_none(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Runs without a journal end at the first look; runs parked for years wait."""
    monkeypatch.setenv("SLACK_BOT_TOKEN", "xoxb-nobody")
    refused = "No model is set up; set OPENAI_API_KEY"
    assert refused in gofer(capsys, "sweep", "--seconds", "1")[2]
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")

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
    assert "0 runs finished, 3 are still unfinished." in err


def test_runs_command_shows_dead_letters_on_stderr(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    run = run_json(capsys)["run"]

    async def abandon() -> None:
        with open_state(tmp_path / "state", SystemClock()) as state:
            head = await state.store.head(run)
            assert head is not None
            await state.store.put_head(head.now("needs_attention", 1, private=False))
            await state.queue.enqueue(run)
            await state.queue.enqueue("nobody's")
            for queue_message in await state.queue.receive(10, 60, 0):
                await state.queue.move_to_dead_letters(queue_message, "KeyError")

    asyncio.run(abandon())
    code, out, err = gofer(capsys, "runs")
    assert code == 0
    assert f"the queue message of run {run}; KeyError." in err
    assert "the queue message of a run that is not listed; KeyError." in err
    assert "queue message" not in out
