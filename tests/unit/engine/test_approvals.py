"""Calls under approval: the question, the clicks that count, and the call, which happens at most once."""

import hashlib
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.engine.approvals import ApprovalTerms, ask_approval
from gofer.engine.own_step import OwnStep
from gofer.engine.owned_run import Deadline
from gofer.engine.permitted_call import Permitted
from gofer.journal import entries as e
from gofer.journal.coordination import UNFINISHED
from gofer.journal.log import Pen, open_journal, read_journal
from gofer.runtime.cancel import cancel
from gofer.sources.receiver import Click, Ignored
from gofer.sources.slack.approvals import MayDecide
from gofer.tools.definition import Call, ToolResult
from gofer.values.canonical_json import encode
from gofer.values.events import Actor
from gofer.values.installation_key import InstallationKey
from gofer.values.secret import Secret
from support.engine.approvals import (
    FILE,
    ApprovalWorker,
    FilesThenSaysSo,
    approval_worker,
    status,
    waiting_for_approval,
)
from support.engine.memory_run import PROVENANCE, says
from support.runtime.memory_worker import Crashed

pytestmark = pytest.mark.anyio


def item_of(step: OwnStep, call: str, wanted: tuple[str, dict[str, object]]) -> Permitted:
    """Return the call of an approval, as the loop parses it from the answer of the model."""
    name, arguments = wanted
    tool = step.services.tools[name]
    return Permitted(call, tool, tool.parse(arguments), arguments)


def is_decision(recorded: e.Recorded) -> bool:
    return isinstance(recorded.entry, e.ApprovalDecided)


async def test_approved_call_is_asked_with_exact_arguments_and_made_once() -> None:
    made = await waiting_for_approval()
    assert (made.filed, await status(made)) == ([], "parked")
    head = await made.memory_worker.store.head("run1")
    assert head is not None
    assert head.reason == "waits for approval of file_ticket by @leads"
    (question,) = made.asked
    assert (question.tool, question.arguments) == ("file_ticket", {"text": "Checkout fails"})
    assert (question.by, question.page) == (["@leads"], ["S0LEADS00"])
    assert await made.press("approved") == ""
    await made.work()
    assert (made.filed, made.memory_worker.posted) == (["run1/1.0"], ["Filed."])
    (ending,) = made.closed
    assert ending.startswith("Approved by name of U0LEAD000 on 21 November")
    decided = [one for one in await made.entries() if isinstance(one, e.ApprovalDecided)]
    assert [(one.decision, one.by) for one in decided] == [("approved", "name of U0LEAD000")]


async def test_run_that_waits_for_approval_does_not_block_other_runs_of_the_conversation() -> None:
    made = approval_worker(says("", FILE), says("Second."), says("Filed."))
    await made.memory_worker.accept("run1", 1, private=False)
    await made.work(2)
    await made.memory_worker.accept("run2", 2, private=False)
    await made.work(2)
    assert (await status(made), await status(made, "run2")) == ("parked", "done")
    await made.press("approved")
    await made.work()
    assert (made.filed, await status(made)) == (["run1/1.0"], "done")


async def test_denied_call_is_not_made_and_the_run_continues() -> None:
    made = await waiting_for_approval(says("Then not."))
    await made.press("denied")
    await made.work()
    assert (made.filed, made.memory_worker.posted, await status(made)) == ([], ["Then not."], "done")
    assert "name of U0LEAD000 denied it" in await made.first_result()
    assert made.closed[0].startswith("Denied by name of U0LEAD000")


async def test_approval_is_not_requested_again_for_a_denied_call() -> None:
    made = await waiting_for_approval(says("", FILE), says("", FILE), says("", FILE), says("Then not."))
    await made.press("denied")
    await made.work()
    assert (len(made.asked), made.filed, made.memory_worker.posted) == (1, [], ["Then not."])


async def test_approval_without_a_decision_in_time_counts_as_denied() -> None:
    made = await waiting_for_approval(
        says("Nobody came."), approve={"tools": ["file_ticket"], "by": "@leads", "expires": "1 hour"}
    )
    await made.work(20)
    assert (await status(made), made.closed) == ("parked", [])
    await made.work(10)
    assert (made.filed, made.memory_worker.posted) == ([], ["Nobody came."])
    assert made.closed == ["Denied, because no person decided in time."]
    assert "no person approved it in time" in await made.first_result()


async def test_expired_approval_is_recorded_after_the_expiry_despite_an_older_draft() -> None:
    made = await waiting_for_approval(approve={"tools": ["file_ticket"], "by": "@leads", "expires": "1 hour"})
    services = made.memory_worker.worker.services
    pen = Pen("next", services.outside)
    journal, entries = await open_journal("run1", made.memory_worker.store, made.memory_worker.blobs, pen)
    step = OwnStep(journal, services, entries, Deadline(made.memory_worker.clock))
    (approval,) = step.progress.approvals.values()
    step.note(e.RunOwned())
    # Another branch drafted an entry. Then the machine was suspended until after the expiry.
    made.memory_worker.clock.advance(3601)
    item = item_of(step, approval.requested.call, FILE)
    refused = await ask_approval(step, item, ApprovalTerms("call", ("@leads",), 3_600_000), PROVENANCE)
    await step.commit()
    assert refused is not None
    assert "no person approved it in time" in refused.text
    decided = [
        one
        for one in await read_journal("run1", made.memory_worker.store, made.memory_worker.blobs)
        if is_decision(one)
    ]
    assert [one.at >= approval.requested.until for one in decided] == [True]


async def test_approval_click_after_the_expiry_does_not_count() -> None:
    made = await waiting_for_approval(
        says("Nobody came."), approve={"tools": ["file_ticket"], "by": "@leads", "expires": "1 hour"}
    )
    made.memory_worker.clock.advance(3601)
    await made.press("approved")
    await made.work()
    assert (made.filed, made.memory_worker.posted) == ([], ["Nobody came."])
    assert made.private_messages == [("U0LEAD000", "The time for this decision has run out.")]


async def test_approval_click_of_the_wrong_person_is_refused_and_the_run_keeps_waiting() -> None:
    made = await waiting_for_approval()
    await made.press("approved", "U0NOBODY0")
    await made.work(2)
    assert (made.filed, await status(made)) == ([], "parked")
    assert made.private_messages == [("U0NOBODY0", "Only @leads may decide this.")]
    await made.press("approved")
    await made.work()
    assert made.filed == ["run1/1.0"]


async def test_first_valid_approval_click_decides_and_later_clicks_have_no_effect() -> None:
    made = await waiting_for_approval()
    await made.press("denied", "U0NOBODY0")
    made.memory_worker.clock.advance(1)
    await made.press("approved")
    made.memory_worker.clock.advance(1)
    await made.press("denied")
    await made.press("approved")
    await made.work()
    assert (made.filed, len(made.closed)) == (["run1/1.0"], 1)
    assert await made.press("approved") == "the run that asked has ended"


async def test_approval_click_delivered_twice_is_one_inbox_item() -> None:
    made = await waiting_for_approval()
    await made.press("approved")
    await made.press("approved")
    assert len(await made.memory_worker.store.items("run1")) == 1


@given(st.data())
async def test_forged_approval_button_is_refused_and_not_stored(data: st.DataObject) -> None:
    made = await waiting_for_approval()
    token = made.asked[0].approve
    at = data.draw(st.integers(0, len(token) - 1))
    other = data.draw(st.characters().filter(lambda char: char != token[at]))
    cut = data.draw(st.integers(0, len(token) - 1))
    for forged in (token[:at] + other + token[at + 1 :], token[:cut], token + "0", "", "."):
        refused = await made.ingress.press(Click(forged, Actor("U0LEAD000"), 1))
        assert isinstance(refused, Ignored)
        assert refused.reason == "Gofer did not make the button"
    assert await made.memory_worker.store.items("run1") == []


async def test_approval_button_of_another_installation_is_refused() -> None:
    made = await waiting_for_approval()
    elsewhere = replace(made.ingress, installation_key=InstallationKey(Secret("1" * 64)))
    refused = await elsewhere.press(Click(made.asked[0].approve, Actor("U0LEAD000"), 1))
    assert isinstance(refused, Ignored)
    refused = await made.ingress.press(Click("x.y", Actor("U"), 1))
    assert isinstance(refused, Ignored)


async def test_approval_button_counts_only_for_the_call_asked_about() -> None:
    made = await waiting_for_approval(says("", ("file_ticket", {"text": "Another"})), says("Both."))
    await made.press("approved")
    await made.work(2)
    assert (made.filed, len(made.asked)) == (["run1/1.0"], 2)
    await made.press("approved", nth=0)
    await made.work(2)
    assert made.filed == ["run1/1.0"]
    await made.press("approved")
    await made.work()
    assert made.filed == ["run1/1.0", "run1/2.0"]


@pytest.mark.parametrize("seconds", [1, 3601])
async def test_approval_click_received_while_another_click_is_checked_is_processed_too(seconds: int) -> None:
    made = await waiting_for_approval(approve={"tools": ["file_ticket"], "by": "@leads", "expires": "1 hour"})
    tools = made.memory_worker.worker.services.tools
    late: list[str] = []

    async def slow(call: Call, arguments: MayDecide) -> ToolResult:
        if not late:
            late.append(await made.press("approved"))
            made.memory_worker.clock.advance(seconds)
        return await tools["slack_may_decide"].act(call, arguments)

    slower = {**tools, "slack_may_decide": replace(tools["slack_may_decide"], act=slow)}
    services = replace(made.memory_worker.worker.services, tools=slower)
    made.memory_worker.worker = replace(made.memory_worker.worker, services=services)
    await made.press("approved", "U0NOBODY0")
    await made.work(2)
    assert (late, made.filed) == ([""], ["run1/1.0"])


async def test_approval_is_used_once_and_a_repeated_call_needs_another_approval() -> None:
    made = await waiting_for_approval(says("", FILE), says("Both."))
    await made.press("approved")
    await made.work(2)
    assert (made.filed, len(made.asked), await status(made)) == (["run1/1.0"], 2, "parked")
    await made.press("approved")
    await made.work()
    assert made.filed == ["run1/1.0", "run1/2.0"]


async def test_cancellation_during_an_approval_stops_the_run_and_closes_the_question() -> None:
    made = await waiting_for_approval()
    await cancel("run1", e.RunCancelled("Ada"), made.memory_worker.store, made.memory_worker.queue, "c1")
    await made.work()
    assert (made.filed, await status(made)) == ([], "cancelled")
    assert made.memory_worker.posted == ["_Stopped: cancelled by Ada._"]
    assert made.closed == ["file_ticket was not called: the run ended before a decision."]


async def test_call_without_an_available_approver_is_not_made() -> None:
    made = await waiting_for_approval(says("Alas."), approve={"tools": ["file_ticket"], "by": "@nobody"})
    await made.work()
    assert (made.asked, made.filed, made.memory_worker.posted) == ([], [], ["Alas."])
    assert (await made.first_result()).startswith(
        "Not called: it needs approval, and there is no user group @nobody in Slack."
    )


async def test_requester_may_approve_where_the_workflow_says_so() -> None:
    made = await waiting_for_approval(approve={"tools": ["file_ticket"], "by": "requester"})
    assert made.asked[0].page == ["U0NEWCO0"]
    await made.press("approved", "U0LEAD000")
    await made.work(2)
    assert (made.filed, made.private_messages[0][1]) == ([], "Only the person who started this may decide this.")
    await made.press("approved", "U0NEWCO0")
    await made.work()
    assert made.filed == ["run1/1.0"]


@pytest.mark.parametrize("tool", ["slack_ask_approval", "slack_close_question", "slack_tell_one", "file_ticket"])
async def test_approved_call_happens_once_with_a_crash_after_any_effect(tool: str) -> None:
    made = approval_worker(says("", FILE), says("Filed."))
    made.crash_after = tool
    await made.memory_worker.accept("run1", private=False)
    await made.work(4)
    await made.press("approved", "U0NOBODY0")
    await made.work(4)
    await made.press("approved")
    await made.work()
    assert made.crash_after == ""
    assert (made.filed, made.memory_worker.posted, len(made.asked)) == (["run1/1.0"], ["Filed."], 1)
    assert len(made.private_messages) == 1
    assert {ending[:8] for ending in made.closed} == {"Approved"}


async def test_recorded_decision_is_shown_although_another_branch_was_denied_the_same_call() -> None:
    made = await waiting_for_approval()
    services = made.memory_worker.worker.services
    pen = Pen("next", services.outside)
    journal, entries = await open_journal("run1", made.memory_worker.store, made.memory_worker.blobs, pen)
    step = OwnStep(journal, services, entries, Deadline(made.memory_worker.clock))
    (approval,) = step.progress.approvals.values()
    step.note(e.RunOwned())
    # The owner before crashed while it showed the decision. Another branch was denied the same call meanwhile.
    step.note(e.ApprovalDecided(approval.requested.call, "approved", "Ada", "click-1"))
    step.note(replace(approval.requested, call="1.1"))
    step.note(e.ApprovalDecided("1.1", "denied", "Ada", "click-2"))
    item = item_of(step, approval.requested.call, FILE)
    assert await ask_approval(step, item, ApprovalTerms("call", ("@leads",), 3_600_000), PROVENANCE) is None
    assert made.closed == ["Approved by Ada."]


async def test_approved_call_happens_once_with_a_crash_at_any_frame() -> None:
    for n, after in ((n, after) for n in range(2, 100) for after in (False, True)):
        made = approval_worker()
        made.memory_worker.worker = replace(
            made.memory_worker.worker, services=replace(made.memory_worker.worker.services, model=FilesThenSaysSo())
        )
        reached = _crash_at_frame(made, n, after=after)
        await made.memory_worker.accept("run1", private=False)
        await made.work(4)
        if made.asked:
            await made.press("approved", "U0NOBODY0")
        await made.work(3)
        if made.asked:
            await made.press("approved")
        await made.work()
        # Only the last message counts: messages are blind here, so a status message may stay.
        assert (made.filed, made.memory_worker.posted[-1], await status(made)) == (["run1/1.0"], "Filed.", "done"), n
        assert len(made.asked) == 1
        assert sum(isinstance(one, e.ApprovalDecided) for one in await made.entries()) == 1
        if not reached:
            assert n > 12
            return


def _crash_at_frame(made: ApprovalWorker, n: int, *, after: bool) -> list[int]:
    """Crash the worker once, right before or after frame `n`. The returned list is empty until then."""
    store, reached = made.memory_worker.store, list[int]()
    create = store.create

    async def mortal(run: str, number: int, frame: bytes) -> bytes | None:
        if number == n and not reached and not after:
            reached.append(n)
            raise Crashed
        stands = await create(run, number, frame)
        if number == n and not reached:
            reached.append(n)
            raise Crashed
        return stands

    store.create = mortal  # type: ignore[method-assign]
    return reached


async def test_approval_request_is_journaled_with_the_expiry_and_shows_the_arguments() -> None:
    made = await waiting_for_approval()
    requested = [one for one in await made.entries() if isinstance(one, e.ApprovalRequested)]
    until = int(made.memory_worker.clock.now() * 1000) + 86_400_000 - 260_000
    (question,) = made.asked
    sha256 = hashlib.sha256(encode(list(FILE))).hexdigest()
    assert requested == [e.ApprovalRequested("1.0", "file_ticket", sha256, ("@leads",), until)]
    assert (await status(made)) in UNFINISHED
    assert (question.arguments, question.arguments_sha256) == ({"text": "Checkout fails"}, sha256)
