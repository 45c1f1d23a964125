"""A call under approval: asked once with its exact arguments, made once when the right person allows it, never else."""

import json
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
from gofer.models.language_model import Answer
from gofer.runtime.cancel import cancel
from gofer.sources.receiver import Click, Ignored
from gofer.sources.slack.approvals import MayDecide
from gofer.tools.definition import Call, ToolResult
from gofer.values.events import Actor
from gofer.values.secret import Secret
from support.engine.approvals import FILE, Desk, asked, desk, status
from support.engine.memory_run import PROVENANCE, says
from support.runtime.memory_worker import Lost

pytestmark = pytest.mark.anyio


def item_of(step: OwnStep, call: str, wanted: tuple[str, dict[str, object]]) -> Permitted:
    """The call that somebody is asked about, as the loop makes it of the model's words."""
    name, arguments = wanted
    tool = step.services.tools[name]
    return Permitted(call, tool, tool.parse(arguments), arguments)


def is_decision(recorded: e.Recorded) -> bool:
    return isinstance(recorded.entry, e.ApprovalDecided)


async def test_a_call_waits_for_approval_with_its_exact_arguments_and_is_made_once_when_it_comes() -> None:
    made = await asked()
    assert (made.filed, await status(made)) == ([], "parked")
    head = await made.office.store.head("run1")
    assert head is not None
    assert head.reason == "waits for approval of file_ticket by @leads"
    (question,) = made.asked
    assert (question.tool, question.arguments) == ("file_ticket", {"text": "Checkout fails"})
    assert (question.by, question.page) == (["@leads"], ["S0LEADS00"])
    assert await made.press("approved") == ""
    await made.work()
    assert (made.filed, made.office.posted) == (["run1/1.0"], ["Filed."])
    (ending,) = made.closed
    assert ending.startswith("Approved by name of U0LEAD000 on 21 November")
    decided = [one for one in await made.entries() if isinstance(one, e.ApprovalDecided)]
    assert [(one.decision, one.by) for one in decided] == [("approved", "name of U0LEAD000")]


async def test_while_it_waits_other_runs_of_the_conversation_go_on() -> None:
    made = desk(says("", FILE), says("Second."), says("Filed."))
    await made.office.accept("run1", 1, private=False)
    await made.work(2)
    await made.office.accept("run2", 2, private=False)
    await made.work(2)
    assert (await status(made), await status(made, "run2")) == ("parked", "done")
    await made.press("approved")
    await made.work()
    assert (made.filed, await status(made)) == (["run1/1.0"], "done")


async def test_a_call_that_was_denied_is_not_made_and_the_run_goes_on() -> None:
    made = await asked(says("Then not."))
    await made.press("denied")
    await made.work()
    assert (made.filed, made.office.posted, await status(made)) == ([], ["Then not."], "done")
    assert "name of U0LEAD000 denied it" in await made.told()
    assert made.closed[0].startswith("Denied by name of U0LEAD000")


async def test_nobody_is_asked_again_for_what_was_denied() -> None:
    made = await asked(says("", FILE), says("", FILE), says("", FILE), says("Then not."))
    await made.press("denied")
    await made.work()
    assert (len(made.asked), made.filed, made.office.posted) == (1, [], ["Then not."])


async def test_without_a_decision_in_time_it_counts_as_denied() -> None:
    made = await asked(says("Nobody came."), approve={"tools": ["file_ticket"], "by": "@leads", "expires": "1 hour"})
    await made.work(20)
    assert (await status(made), made.closed) == ("parked", [])
    await made.work(10)
    assert (made.filed, made.office.posted) == ([], ["Nobody came."])
    assert made.closed == ["Denied, because no person decided in time."]
    assert "no person approved it in time" in await made.told()


async def test_an_end_that_is_drafted_with_entries_of_before_it_has_its_own_time() -> None:
    made = await asked(approve={"tools": ["file_ticket"], "by": "@leads", "expires": "1 hour"})
    services = made.office.worker.services
    pen = Pen("next", services.outside)
    journal, entries = await open_journal("run1", made.office.store, made.office.blobs, pen)
    step = OwnStep(journal, services, entries, Deadline(made.office.clock))
    (approval,) = step.progress.approvals.values()
    step.note(e.RunOwned())
    # A branch beside this one drafted something; then the machine stood still until after the end.
    made.office.clock.advance(3601)
    item = item_of(step, approval.requested.call, FILE)
    refused = await ask_approval(step, item, ApprovalTerms("call", ("@leads",), 3_600_000), PROVENANCE)
    await step.commit()
    assert refused is not None
    assert "no person approved it in time" in refused.text
    decided = [one for one in await read_journal("run1", made.office.store, made.office.blobs) if is_decision(one)]
    assert [one.at >= approval.requested.until for one in decided] == [True]


async def test_a_press_after_the_time_was_over_decides_nothing() -> None:
    made = await asked(says("Nobody came."), approve={"tools": ["file_ticket"], "by": "@leads", "expires": "1 hour"})
    made.office.clock.advance(3601)
    await made.press("approved")
    await made.work()
    assert (made.filed, made.office.posted) == ([], ["Nobody came."])
    assert made.words == [("U0LEAD000", "The time for this decision has run out.")]


async def test_the_wrong_person_is_told_so_alone_and_the_run_waits_on() -> None:
    made = await asked()
    await made.press("approved", "U0NOBODY0")
    await made.work(2)
    assert (made.filed, await status(made)) == ([], "parked")
    assert made.words == [("U0NOBODY0", "Only @leads may decide this.")]
    await made.press("approved")
    await made.work()
    assert made.filed == ["run1/1.0"]


async def test_the_first_press_that_counts_decides_and_every_further_one_changes_nothing() -> None:
    made = await asked()
    await made.press("denied", "U0NOBODY0")
    made.office.clock.advance(1)
    await made.press("approved")
    made.office.clock.advance(1)
    await made.press("denied")
    await made.press("approved")
    await made.work()
    assert (made.filed, len(made.closed)) == (["run1/1.0"], 1)
    assert await made.press("approved") == "the run that asked has ended"


async def test_the_same_press_delivered_twice_is_one_item() -> None:
    made = await asked()
    await made.press("approved")
    await made.press("approved")
    assert len(await made.office.store.items("run1")) == 1


@given(st.data())
async def test_a_button_that_was_changed_in_any_way_is_refused_and_nothing_is_written(data: st.DataObject) -> None:
    made = await asked()
    token = made.asked[0].approve
    at = data.draw(st.integers(0, len(token) - 1))
    other = data.draw(st.characters().filter(lambda char: char != token[at]))
    cut = data.draw(st.integers(0, len(token) - 1))
    for forged in (token[:at] + other + token[at + 1 :], token[:cut], token + "0", "", "."):
        refused = await made.ingress.press(Click(forged, Actor("U0LEAD000"), 1))
        assert isinstance(refused, Ignored)
        assert refused.reason == "the button is none that Gofer made"
    assert await made.office.store.items("run1") == []


async def test_a_button_of_another_installation_is_refused() -> None:
    made = await asked()
    elsewhere = replace(made.ingress, installation_key=Secret("1" * 64))
    refused = await elsewhere.press(Click(made.asked[0].approve, Actor("U0LEAD000"), 1))
    assert isinstance(refused, Ignored)
    refused = await replace(made.ingress, installation_key=Secret("")).press(Click("x.y", Actor("U"), 1))
    assert isinstance(refused, Ignored)


async def test_a_button_counts_for_its_own_call_only() -> None:
    made = await asked(says("", ("file_ticket", {"text": "Another"})), says("Both."))
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
async def test_a_press_that_comes_in_while_another_one_is_looked_at_is_looked_at_too(seconds: int) -> None:
    made = await asked(approve={"tools": ["file_ticket"], "by": "@leads", "expires": "1 hour"})
    tools = made.office.worker.services.tools
    late: list[str] = []

    async def slow(call: Call, arguments: MayDecide) -> ToolResult:
        if not late:
            late.append(await made.press("approved"))
            made.office.clock.advance(seconds)
        return await tools["slack_may_decide"].act(call, arguments)

    slower = {**tools, "slack_may_decide": replace(tools["slack_may_decide"], act=slow)}
    services = replace(made.office.worker.services, tools=slower)
    made.office.worker = replace(made.office.worker, services=services)
    await made.press("approved", "U0NOBODY0")
    await made.work(2)
    assert (late, made.filed) == ([""], ["run1/1.0"])


async def test_an_approval_is_used_once_and_the_same_call_again_is_asked_for_again() -> None:
    made = await asked(says("", FILE), says("Both."))
    await made.press("approved")
    await made.work(2)
    assert (made.filed, len(made.asked), await status(made)) == (["run1/1.0"], 2, "parked")
    await made.press("approved")
    await made.work()
    assert made.filed == ["run1/1.0", "run1/2.0"]


async def test_a_cancel_while_it_waits_stops_the_run_and_takes_the_buttons_away() -> None:
    made = await asked()
    await cancel("run1", e.RunCancelled("Ada"), made.office.store, made.office.queue, "c1")
    await made.work()
    assert (made.filed, await status(made)) == ([], "cancelled")
    assert made.office.posted == ["_Stopped: cancelled by Ada._"]
    assert made.closed == ["file_ticket was not called: the run ended before a decision."]


async def test_where_nobody_can_be_asked_the_call_is_not_made() -> None:
    made = await asked(says("Alas."), approve={"tools": ["file_ticket"], "by": "@nobody"})
    await made.work()
    assert (made.asked, made.filed, made.office.posted) == ([], [], ["Alas."])
    assert (await made.told()).startswith("Not called: it needs approval, and there is no user group @nobody in Slack.")


async def test_the_requester_may_decide_where_the_file_says_so() -> None:
    made = await asked(approve={"tools": ["file_ticket"], "by": "requester"})
    assert made.asked[0].page == ["U0NEWCO0"]
    await made.press("approved", "U0LEAD000")
    await made.work(2)
    assert (made.filed, made.words[0][1]) == ([], "Only the person who started this may decide this.")
    await made.press("approved", "U0NEWCO0")
    await made.work()
    assert made.filed == ["run1/1.0"]


@pytest.mark.parametrize("tool", ["slack_ask_approval", "slack_close_question", "slack_tell_one", "file_ticket"])
async def test_a_worker_lost_after_any_effect_changes_nothing_of_what_comes_of_it(tool: str) -> None:
    made = desk(says("", FILE), says("Filed."))
    made.lose_after = tool
    await made.office.accept("run1", private=False)
    await made.work(4)
    await made.press("approved", "U0NOBODY0")
    await made.work(4)
    await made.press("approved")
    await made.work()
    assert made.lose_after == ""
    assert (made.filed, made.office.posted, len(made.asked)) == (["run1/1.0"], ["Filed."], 1)
    assert len(made.words) == 1
    assert {ending[:8] for ending in made.closed} == {"Approved"}


async def test_a_worker_lost_before_or_after_any_frame_changes_nothing_of_what_comes_of_it() -> None:
    for n, after in ((n, after) for n in range(2, 100) for after in (False, True)):
        made = desk()
        made.office.worker = replace(
            made.office.worker, services=replace(made.office.worker.services, model=FilesThenSaysSo())
        )
        reached = _mortal(made, n, after=after)
        await made.office.accept("run1", private=False)
        await made.work(4)
        if made.asked:
            await made.press("approved", "U0NOBODY0")
        await made.work(3)
        if made.asked:
            await made.press("approved")
        await made.work()
        # The last one: the office's messages are blind, so that the status may stand there for good.
        assert (made.filed, made.office.posted[-1], await status(made)) == (["run1/1.0"], "Filed.", "done"), n
        assert len(made.asked) == 1
        assert sum(isinstance(one, e.ApprovalDecided) for one in await made.entries()) == 1
        if not reached:
            assert n > 12
            return


class FilesThenSaysSo:
    """A model that answers by what it is asked, also when it is asked the same twice."""

    async def ask(self, body: bytes, timeout: float) -> Answer:
        return says("Filed.") if b'"role":"tool"' in body else says("", FILE)


def _mortal(made: Desk, n: int, *, after: bool) -> list[int]:
    """Loses the worker right before or after frame `n`, once; what is given says whether it came to that."""
    store, reached = made.office.store, list[int]()
    create = store.create

    async def mortal(run: str, number: int, frame: bytes) -> bytes | None:
        if number == n and not reached and not after:
            reached.append(n)
            raise Lost
        stands = await create(run, number, frame)
        if number == n and not reached:
            reached.append(n)
            raise Lost
        return stands

    store.create = mortal  # type: ignore[method-assign]
    return reached


async def test_a_journal_of_a_request_holds_no_token() -> None:
    made = await asked()
    requested = [one for one in await made.entries() if isinstance(one, e.ApprovalRequested)]
    assert len(requested) == 1
    assert requested[0].until == int(made.office.clock.now() * 1000) + 86_400_000 - 260_000
    assert (await status(made)) in UNFINISHED
    assert json.loads(json.dumps(made.asked[0].arguments)) == {"text": "Checkout fails"}
