"""Runs that exist for an effect: whatever their models and people do, they never end as done without it."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.journal import entries as e
from gofer.models.language_model import Answer
from support.engine.approvals import FILE, ApprovalWorker, approval_worker, status
from support.engine.memory_run import says

pytestmark = pytest.mark.anyio
ANSWERS = (
    says("There is nothing to file."),
    says("", ("finish", {"answer": "There is nothing to file."})),
    says("", FILE),
    says("", ("file_ticket", {"txt": "broken"})),
    says("", ("no_such_tool", {})),
    says("", ("slack_read_thread", {"ts": "1.0"})),
    says(""),
)
"""The answers of a model that files a ticket, answers too early, makes mistakes, or says nothing."""
DECISIONS = ("approved", "denied", "expired")


async def _play(answers: list[Answer], decisions: list[str], *, asks_people: bool) -> ApprovalWorker:
    last = says("This is the end.")
    keys: dict[str, object] = {"tools": ["file_ticket", "slack_read_thread"], "requires": "file_ticket"}
    if not asks_people:
        keys["approve"] = None
    made = approval_worker(*answers, *[last] * 12, **keys)
    await made.memory_worker.accept("run1", private=False)
    await made.work(3)
    for decision in decisions:
        if await status(made) != "parked":
            break
        if decision == "expired":
            made.memory_worker.clock.advance(90_000)
        else:
            await made.press(decision)
        await made.work(4)
    return made


@given(
    st.lists(st.sampled_from(ANSWERS), max_size=5),
    st.lists(st.sampled_from(DECISIONS), min_size=5, max_size=5),
    st.booleans(),
)
def test_no_run_ends_as_done_without_its_effect_unless_a_person_denied_the_call(
    answers: list[Answer], decisions: list[str], asks_people: bool
) -> None:
    async def play() -> None:
        made = await _play(answers, decisions, asks_people=asks_people)
        entries = await made.entries()
        denied = [one for one in entries if isinstance(one, e.ApprovalDecided) and one.decision == "denied"]
        ended = await status(made)
        assert ended in ("done", "limited", "failed", "needs_attention")
        assert ended != "done" or made.filed or denied
        assert ended != "needs_attention" or not (made.filed or denied)
        remarks = [one for one in entries if isinstance(one, e.MessageReceived) and one.code == "unmet"]
        refused = [
            one for one in entries if isinstance(one, e.ToolResult) and (one.details or {}).get("code") == "unmet"
        ]
        assert len(remarks) + len(refused) <= 1

    asyncio.run(play())


async def test_expired_approval_leaves_the_effect_to_be_done() -> None:
    made = await _play([says("", FILE), says("Nobody decided.")], ["expired"], asks_people=True)
    assert await status(made) == "needs_attention"
    assert len(made.asked) == 1


async def test_crash_after_a_run_was_sent_back_does_not_send_the_model_back_again() -> None:
    made = approval_worker(says("No."), says("", FILE), says("No."), requires="file_ticket", approve=None)
    made.crash_after = "file_ticket"
    await made.memory_worker.accept("run1", private=False)
    await made.work()
    assert (await status(made), len(made.filed)) == ("done", 1)
    assert [one.code for one in await made.entries() if isinstance(one, e.MessageReceived)].count("unmet") == 1
