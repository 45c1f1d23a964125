"""Questions to the requester before a run writes to a foreign place or leaves a private channel."""

from dataclasses import replace

import pytest

from gofer.tools.definition import Call, ToolResult
from support.engine.approvals import FILE, ApprovalWorker, approval_worker, status
from support.engine.memory_run import says

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("asked", [FILE, ("call_tool", {"name": FILE[0], "arguments": FILE[1]})])
async def test_private_run_asks_the_requester_before_writing_elsewhere(asked: tuple[str, dict]) -> None:
    made = approval_worker(says("", asked), says("Filed."), approve=None)
    _private(made)
    await made.memory_worker.accept("run1")
    await made.work(2)
    (question,) = made.asked
    assert (question.about, question.to, made.filed) == ("leaving", "U0NEWCO0", [])
    await made.press("approved", "U0LEAD000")
    await made.work(2)
    assert (made.filed, await status(made)) == ([], "parked")
    await made.press("approved", "U0NEWCO0")
    await made.work()
    assert made.filed == ["run1/1.0"]


@pytest.mark.parametrize("pressed", [0, 1])
async def test_private_question_with_a_lost_answer_is_asked_again_and_one_press_decides(pressed: int) -> None:
    made = approval_worker(says("", FILE), says("Filed."), approve=None)
    _private(made)
    # Slack cannot be asked whether a person sees a private message. A question that nobody sees would never end.
    made.crash_after = "slack_ask_approval"
    await made.memory_worker.accept("run1")
    await made.work(4)
    first, second = made.asked
    assert first == second
    await made.press("approved", "U0NEWCO0", nth=pressed)
    await made.press("denied", "U0NEWCO0", nth=1 - pressed)
    await made.work()
    assert made.filed == ["run1/1.0"]


@pytest.mark.parametrize(("said", "filed"), [("allow", ["run1/1.0"]), ("refuse", [])])
async def test_workflow_may_allow_or_refuse_private_writes_without_asking(said: str, filed: list[str]) -> None:
    made = approval_worker(says("", FILE), says("Done."), approve=None, private_channels=said)
    _private(made)
    await made.memory_worker.accept("run1")
    await made.work()
    assert (made.asked, made.filed, made.memory_worker.posted) == ([], filed, ["Done."])


async def test_private_write_under_approval_asks_requester_and_approvers() -> None:
    made = approval_worker(says("", FILE), says("Filed."))
    _private(made)
    await made.memory_worker.accept("run1")
    await made.work(2)
    await made.press("approved", "U0NEWCO0")
    await made.work(2)
    assert ([one.about for one in made.asked], made.filed) == (["leaving", "call"], [])
    await made.press("approved")
    await made.work()
    assert made.filed == ["run1/1.0"]


async def test_public_write_to_a_named_channel_and_private_write_in_the_thread_need_no_approval() -> None:
    in_thread = {"text": "here", "channel": "C0DEPLOY0", "thread_ts": "1795262400.000100"}
    at_home = ("slack_post_message", in_thread)
    made = approval_worker(says("", at_home), says("Done."), approve=None, tools=["slack_post_message"])
    _private(made)
    await made.memory_worker.accept("run1")
    await made.work()
    assert (made.asked, made.memory_worker.posted) == ([], ["Done.", "here"])
    for private, where in ((False, "#random"), (True, "#random")):
        made = approval_worker(
            says("", ("slack_post_message", {"text": "there", "channel": where})),
            says("Done."),
            approve=None,
            tools=["slack_post_message"],
        )
        _private(made, private=private)
        await made.memory_worker.accept("run1", private=private, text="<@U0GOFER0> tell #random")
        await made.work(2)
        assert (len(made.asked), "there" in made.memory_worker.posted) == ((1, False) if private else (0, True))


async def test_public_run_asks_before_writing_where_the_requester_is_no_member() -> None:
    where: dict[str, object] = {"text": "there", "channel": "#random"}
    made = approval_worker(
        says("", ("slack_post_message", where)), says("Done."), approve=None, tools=["slack_post_message"]
    )
    made.memory_worker.member = False
    _private(made, private=False)
    await made.memory_worker.accept("run1", private=False)
    await made.work(2)
    (question,) = made.asked
    assert (question.about, question.to, question.where) == ("elsewhere", "U0NEWCO0", "#random")
    assert "there" not in made.memory_worker.posted
    await made.press("approved", "U0LEAD000")
    await made.work(2)
    assert "there" not in made.memory_worker.posted
    await made.press("approved", "U0NEWCO0")
    await made.work()
    assert "there" in made.memory_worker.posted


@pytest.mark.parametrize("said", ["reply_only", "allow"])
async def test_private_run_asks_a_single_question_about_a_foreign_place(said: str) -> None:
    where: dict[str, object] = {"text": "there", "channel": "#random"}
    made = approval_worker(
        says("", ("slack_post_message", where)),
        says("Done."),
        approve=None,
        tools=["slack_post_message"],
        private_channels=said,
    )
    made.memory_worker.member = False
    _private(made)
    await made.memory_worker.accept("run1")
    await made.work(2)
    await made.press("approved", "U0NEWCO0")
    await made.work()
    asked = "leaving" if said == "reply_only" else "elsewhere"
    assert ([question.about for question in made.asked], "there" in made.memory_worker.posted) == ([asked], True)


async def test_neither_writes_key_nor_membership_allows_leaving_a_private_channel_unasked() -> None:
    where: dict[str, object] = {"text": "there", "channel": "#random"}
    writes = {"slack": ["#random"]}
    made = approval_worker(
        says("", ("slack_post_message", where)),
        says("Done."),
        approve=None,
        tools=["slack_post_message"],
        writes=writes,
    )
    _private(made)
    await made.memory_worker.accept("run1")
    await made.work(2)
    assert [question.about for question in made.asked] == ["leaving"]
    assert "there" not in made.memory_worker.posted


def _private(made: ApprovalWorker, *, private: bool = True) -> None:
    """Make the thread private, or public."""
    services = made.memory_worker.worker.services

    async def read(call: Call, arguments: object) -> ToolResult:
        return ToolResult("Thread", "read", {"private": private})

    tools = {**services.tools, "slack_read_thread": replace(services.tools["slack_read_thread"], act=read)}
    made.memory_worker.worker = replace(made.memory_worker.worker, services=replace(services, tools=tools))
