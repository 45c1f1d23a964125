"""Signed mentions through the whole of Gofer: the simulated Slack and the journal afterwards."""

import asyncio
import json
import sqlite3
from itertools import pairwise
from pathlib import Path

import pytest

from gofer.journal.entries import LlmResponse, MessageReceived, RunConcluded, RunFinished, RunStarted, ToolCall
from support.app.company import ROOT, ask_about_the_decision, company, links
from support.app.one_workflow import Echo

pytestmark = pytest.mark.anyio


async def test_mention_is_answered_in_the_thread_after_a_tool_call(tmp_path: Path) -> None:
    async with company(tmp_path) as made:
        asked = await ask_about_the_decision(made)
        (head,) = await made.ended()
        (answer,) = made.answers(asked)
        entries = await made.entries(head.run)
    assert (head.status, head.workflow, head.private) == ("done", "answer-here", False)
    assert "address form in checkout" in answer.text
    assert answer.text.startswith("[offline model]")
    calls = [entry for entry in entries if isinstance(entry, ToolCall)]
    assert [(call.call, call.tool) for call in calls] == [
        ("actor/1", "slack_get_user"),
        ("context/1", "slack_read_thread"),
        ("status/1", "slack_post_message"),
        ("1.0", "slack_read_thread"),
        ("answer/1", "slack_update_message"),
    ]
    assert entries[-2] == RunFinished("done")
    assert RunConcluded("done", "", str(answer.blocks[0]["text"])) in entries


async def test_first_model_call_has_the_thread_with_names_in_place_of_ids(tmp_path: Path) -> None:
    async with company(tmp_path) as made:
        await ask_about_the_decision(made)
        (head,) = await made.ended()
        entries = await made.entries(head.run)
    kinds = [type(entry) for entry in entries]
    assert kinds.index(MessageReceived) < kinds.index(LlmResponse)
    (first,) = [entry.text for entry in entries if isinstance(entry, MessageReceived)]
    assert "Thread in #deploys" in first
    assert "@Release Captain at " in first
    assert "@Gofer does what was decided" in first
    for some_id in ("U0CAPTN0", "U0GOFER0", "<@", "<#", "T0ACME00"):
        assert some_id not in first


async def test_answer_links_to_the_prompt_and_the_run(tmp_path: Path) -> None:
    async with company(tmp_path) as made:
        asked = await ask_about_the_decision(made)
        (head,) = await made.ended()
        found = links(made.answers(asked)[0])
        prompt = await made.http.get(found["answer-here prompt"])
        run = await made.http.get(found[f"run {head.run[:8]}"])
        spans = (await made.get(f"/runs/{head.run}/trace")).json()["spans"]
        listed = await made.get("/runs")
    assert "# Answer in the thread" in prompt.text
    assert (run.status_code, head.run[:8] in run.text) == (200, True)
    assert head.run in listed.text
    assert [span["kind"] for span in spans] == ["run", "tool", "tool", "tool", "llm", "tool", "llm", "tool"]
    assert all(span["end"] for span in spans)


async def test_mention_delivered_eleven_times_gets_one_answer(tmp_path: Path) -> None:
    async with company(tmp_path) as made:
        asked = await made.ask("@Gofer hello", "general")
        for copy in range(4):
            for envelope in made.slack.envelopes(asked):
                assert await made.slack.deliver({**envelope, "event_id": f"Ev{copy}"}) == 200
        for retry in (1, 2, 3):
            envelope = made.slack.envelopes(asked)[retry % 2]
            assert await made.slack.deliver(envelope, retry_num=retry, retry_reason="http_timeout") == 200
        assert len(await made.ended()) == 1
        assert len(made.answers(asked)) == 1


async def test_mention_accepted_before_a_restart_is_answered_once_afterwards(tmp_path: Path) -> None:
    async with company(tmp_path, work=False) as made:
        asked = await made.ask("@Gofer hello", "general")
        await made.slack.settled()
        envelope = made.slack.envelopes(asked)[0]
        assert made.answers(asked) == []
    async with company(tmp_path) as made:
        made.slack.adopt(envelope)
        await made.slack.deliver(envelope, retry_num=1, retry_reason="http_timeout")
        (head,) = await made.ended()
        assert head.status == "done"
        assert len(made.answers(asked)) == 1


async def test_runs_of_one_thread_happen_one_after_the_other_and_each_is_answered(tmp_path: Path) -> None:
    async with company(tmp_path) as made:
        thread = await made.ask("A thread about nothing.", "general")
        asked = [await made.ask(f"@Gofer hello {n}", "general", thread) for n in range(5)]
        heads = await made.ended(runs=5)
        assert len(made.answers(thread)) == 5
        spans = []
        for head in heads:
            trace = (await made.get(f"/runs/{head.run}/trace")).json()["spans"]
            spans.append((trace[1]["start"], trace[0]["end"]))
    assert len(asked) == len(heads) == 5
    spans.sort()
    assert all(before[1] <= after[0] for before, after in pairwise(spans))


async def test_messages_of_gofer_and_other_bots_start_no_run(tmp_path: Path) -> None:
    async with company(tmp_path) as made:
        asked = await made.ask("@Gofer hello", "general")
        await made.ended()
        own = made.answers(asked)[0]
        for envelope in made.slack.envelopes(own):
            assert await made.slack.deliver(envelope) == 200
        bot = json.loads((ROOT / "tests/events/slack_app_mention.json").read_text())
        bot["event"] |= {"bot_id": "B0OTHER0", "ts": "1795240812.000900"}
        assert await made.slack.deliver(bot) == 200
        assert len(await made.ended()) == 1


async def test_private_run_has_no_list_row_no_link_and_no_trace(tmp_path: Path) -> None:
    canary = "canary-7f3a"
    async with company(tmp_path) as made:
        asked = await made.ask(f"@Gofer hello {canary}", "leads")
        (head,) = await made.ended()
        (answer,) = made.answers(asked)
        assert list(links(answer)) == ["answer-here prompt"]
        pages = [await made.get(path) for path in ("/runs", f"/runs/{head.run}", f"/runs/{head.run}/trace")]
    assert (head.status, head.private) == ("done", True)
    assert [page.status_code for page in pages] == [200, 404, 404]
    assert not any(word in page.text for page in pages for word in (canary, head.run[:8]))


async def test_delivery_cannot_declare_a_private_channel_public(tmp_path: Path) -> None:
    """Slack's own answer about the channel outweighs the delivery."""
    async with company(tmp_path, work=False) as made:
        asked = await made.ask("@Gofer hello", "leads")
        await made.slack.settled()
        (envelope,) = [e for e in made.slack.envelopes(asked) if e["event"]["type"] == "message"]
    async with company(tmp_path / "again") as made:
        made.slack.adopt(envelope)
        await made.slack.deliver({**envelope, "event": {**envelope["event"], "channel_type": "channel"}})
        (head,) = await made.ended()
        assert head.private
        assert head.run[:8] not in (await made.get("/runs")).text


async def test_long_thread_is_cut_without_losing_the_question(tmp_path: Path) -> None:
    async with company(tmp_path) as made:
        thread = await made.ask("The beginning.", "general")
        for n in range(120):
            await made.ask(f"Reply {n}. " + "word " * 80, "general", thread)
        await made.ask("@Gofer hello, what is the question?", "general", thread)
        for n in range(60):
            await made.ask(f"Later {n}. " + "word " * 80, "general", thread)
        (head,) = await made.ended()
        entries = await made.entries(head.run)
    (first,) = [entry.text for entry in entries if isinstance(entry, MessageReceived)]
    for kept in ("The beginning.", "what is the question?", "Later 0."):
        assert kept in first
    assert "messages are left out here" in first


async def test_invalid_slack_token_is_logged_without_ids_of_run_and_channel(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with company(tmp_path) as made:
        made.slack.fail_next("conversations.info", "invalid_auth")
        made.slack.fail_next("chat.postMessage", "invalid_auth")
        await made.ask("@Gofer hello", "leads")
        (head,) = await made.ended()
    assert "the operator of Gofer must renew it" in caplog.text
    assert head.run not in caplog.text
    assert "C0LEADS00" not in caplog.text


async def test_worker_survives_a_locked_database(tmp_path: Path) -> None:
    async with company(tmp_path) as made:
        other = sqlite3.connect(tmp_path / "state" / "gofer.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        # Longer than SQLite waits for a lock: the worker gets an error when it receives from the queue.
        await asyncio.sleep(6)
        other.execute("ROLLBACK")
        other.close()
        asked = await made.ask("@Gofer hello", "general")
        (head,) = await made.ended()
        assert head.status == "done"
        assert len(made.answers(asked)) == 1


async def test_answer_to_an_archived_channel_fails_the_run_with_the_reason(tmp_path: Path) -> None:
    async with company(tmp_path) as made:
        made.slack.fail_next("chat.postMessage", "is_archived", "is_archived")
        asked = await made.ask("@Gofer hello", "general")
        (head,) = await made.ended()
        assert made.answers(asked) == []
    assert head.status == "failed"
    assert "archived" in head.reason


async def test_answer_replaces_the_status_message(tmp_path: Path) -> None:
    async with company(tmp_path) as made:
        asked = await made.ask("@Gofer hello", "general")
        async with asyncio.timeout(60):
            while not made.answers(asked):
                await asyncio.sleep(0.001)
        (first,) = made.answers(asked)
        await made.ended()
        (answer,) = made.answers(asked)
    assert (first.ts, answer.edited_ts is not None) == (answer.ts, True)
    assert "On it" not in answer.text


@pytest.mark.parametrize(
    "refusal", ["message_not_found", "cant_update_message", "edit_window_closed", "msg_too_long", "something_new"]
)
async def test_answer_is_posted_anew_after_every_definite_refusal_of_the_edit(tmp_path: Path, refusal: str) -> None:
    async with company(tmp_path) as made:
        made.slack.fail_next("chat.update", refusal)
        asked = await made.ask("@Gofer hello", "general")
        (head,) = await made.ended()
        (answer,) = made.answers(asked)
    assert head.status == "done"
    assert "Hello" in answer.text


async def test_answer_refused_as_edit_and_as_post_fails_the_run_with_the_code(tmp_path: Path) -> None:
    model = Echo()
    model.go.clear()
    async with company(tmp_path, model=model) as made:
        made.slack.fail_next("chat.update", "missing_scope")
        await made.ask("@Gofer hello", "general")
        async with asyncio.timeout(60):
            await model.asked.wait()
        made.slack.fail_next("chat.postMessage", "missing_scope")
        model.go.set()
        (head,) = await made.ended()
    assert head.status == "failed"
    assert "the answer was not delivered: Slack refused chat.postMessage (missing_scope)" in head.reason


async def test_rate_limited_slack_gets_one_answer(tmp_path: Path) -> None:
    async with company(tmp_path) as made:
        for method in ("conversations.info", "chat.update"):
            made.slack.fail_next(method, 429)
        asked = await made.ask("@Gofer hello", "general")
        (head,) = await made.ended()
        (answer,) = made.answers(asked)
    assert head.status == "done"
    assert "Hello" in answer.text


async def test_unread_thread_is_announced_in_the_message_of_the_answer(tmp_path: Path) -> None:
    async with company(tmp_path) as made:
        made.slack.fail_next("conversations.replies", *[503] * 4)
        asked = await made.ask("@Gofer hello", "general")
        (head,) = await made.ended()
        (answer,) = made.answers(asked)
        entries = await made.entries(head.run)
    (sign,) = [entry for entry in entries if isinstance(entry, ToolCall) and entry.call == "status/1"]
    assert "_On it. I cannot read this thread yet, because Slack " in str(sign.arguments)
    started = next(number for number, entry in enumerate(entries) if isinstance(entry, RunStarted))
    assert entries.index(sign) < started, "the sign waited for the thread"
    assert (head.status, "Hello" in answer.text) == ("done", True)


@pytest.mark.parametrize("method", ["chat.postMessage", "chat.update"])
@pytest.mark.parametrize("happened", [True, False])
async def test_answer_with_an_unconfirmed_slack_call_appears_once(tmp_path: Path, method: str, happened: bool) -> None:
    async with company(tmp_path) as made:
        made.slack.fail_next(method, 500, after_effect=happened)
        asked = await made.ask("@Gofer hello", "general")
        (head,) = await made.ended()
        (answer,) = made.answers(asked)
    assert head.status == "done"
    assert "Hello" in answer.text


async def test_answer_survives_two_failed_edits(tmp_path: Path) -> None:
    async with company(tmp_path) as made:
        made.slack.fail_next("chat.update", 500, 500)
        asked = await made.ask("@Gofer hello", "general")
        (head,) = await made.ended()
        (answer,) = made.answers(asked)
    assert head.status == "done"
    assert "Hello" in answer.text


async def test_reply_to_a_finished_run_continues_from_the_results_of_that_run(tmp_path: Path) -> None:
    async with company(tmp_path) as made:
        asked = await ask_about_the_decision(made)
        (first,) = await made.ended()
        await made.ask("@Gofer and who decided that?", "deploys", made.thread(asked)[0])
        second = (await made.ended(2))[-1]
        entries = await made.entries(second.run)
    started = next(entry for entry in entries if isinstance(entry, RunStarted))
    message = next(entry for entry in entries if isinstance(entry, MessageReceived))
    assert started.continues == first.run
    assert f"run {first.run[:8]}, which ended: done" in message.text
    assert "- slack_read_thread {" in message.text
    assert message.text.index("and who decided that?") < message.text.index("You were at work")


async def test_mention_in_another_thread_continues_no_earlier_run(tmp_path: Path) -> None:
    async with company(tmp_path) as made:
        for _ in range(2):
            await made.ask("@Gofer hello", "general")
            heads = await made.ended()
        entries = [entry for head in heads for entry in await made.entries(head.run)]
    assert [entry.continues for entry in entries if isinstance(entry, RunStarted)] == ["", ""]


async def test_unreadable_thread_is_reported_in_the_answer_and_the_missing_scope_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with company(tmp_path) as made:
        made.slack.fail_next("conversations.replies", "missing_scope")
        asked = await made.ask("@Gofer hello", "general")
        (head,) = await made.ended()
        (answer,) = made.answers(asked)
    assert head.status == "failed"
    assert answer.text == "I am not allowed to read this thread. Please tell #dev-experience."
    assert "The missing permission is channels:history" in caplog.text
