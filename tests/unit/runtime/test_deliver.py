"""Delivery of answers: texts for colleagues and operators, deleted announcements, and notices in doubt."""

import pytest

from gofer.engine.loop import Ending
from gofer.journal.entries import ToolCall
from gofer.journal.log import read_journal
from gofer.journal.purposes import STATUS
from gofer.projections.attempts import CRASHES
from gofer.projections.progress import Progress
from gofer.runtime.deliver import AT_WORK, answer_text, conclude
from gofer.sources.slack.places import channel_place
from gofer.sources.slack.write import PostMessage
from gofer.tools.definition import Call, Target, Tool, ToolResult
from gofer.values.errors import TemporaryError
from support.engine.memory_run import says
from support.runtime.memory_worker import memory_worker

pytestmark = pytest.mark.anyio


def test_failed_run_answers_with_a_plain_reason_and_the_partial_text() -> None:
    ending = Ending(
        "failed",
        "Two builds failed.",
        "The key is refused (HTTP 401).",
        plain_reason="I could not reach it. Please tell #dev.",
    )
    assert (
        answer_text(ending) == "I could not reach it. Please tell #dev.\n\n_Here is what I have:_\n\nTwo builds failed."
    )


@pytest.mark.parametrize(
    ("locked", "place"),
    [
        ({("jira_create_issue", "")}, "Jira"),
        ({("jira_create_issue", ""), ("notion_add", "a page")}, "Jira or Notion"),
        ({("gone", "")}, "a system outside"),
    ],
)
@pytest.mark.parametrize(
    ("ending", "status", "reason", "said"),
    [
        (Ending("done", "Filed."), "needs_attention", "", "Filed."),
        (
            Ending("failed", reason="The key is refused (HTTP 401).", plain_reason="I failed. Please tell #dev."),
            "failed",
            "The key is refused (HTTP 401); ",
            "I failed. Please tell #dev.",
        ),
        (Ending("cancelled", reason="cancelled"), "cancelled", "cancelled; ", "_Stopped: cancelled._"),
    ],
)
def test_unknown_write_names_the_system_to_colleagues_and_the_tool_to_operators(
    ending: Ending, status: str, reason: str, said: str, locked: set[tuple[str, str]], place: str
) -> None:
    tools = {name: _writes(name, system) for name, system in [("jira_create_issue", "Jira"), ("notion_add", "Notion")]}
    concluded = conclude(ending, Progress(locked=locked), tools)
    doubt = f"_I do not know whether my last change in {place} arrived. Please check it there before you ask again._"
    names = ", ".join(sorted(tool for tool, _ in locked))
    assert (concluded.status, concluded.text) == (status, f"{said}\n\n{doubt}")
    assert concluded.reason == f"{reason}the outcome of {names} cannot be determined"


def _writes(name: str, system: str) -> Tool[PostMessage]:
    async def act(call: Call, arguments: PostMessage) -> ToolResult:
        raise AssertionError

    return Tool(name, "", "blind", PostMessage, act, target=Target(system=system, where=channel_place))


async def test_answer_is_posted_anew_when_the_announced_message_was_deleted_after_a_crash() -> None:
    made = memory_worker(says("Hello."))
    await made.accept("run1")
    made.crash_in = {"slack_update_message"}
    for _ in range(CRASHES - 2):
        await made.work_once_or_crash()
        made.clock.advance(130)
    made.crash_in, made.deleted = set(), {"1.0"}
    await made.work_once()
    assert made.posted == ["", "Hello."]
    assert await made.status("run1") == "done"


async def test_notice_in_doubt_is_settled_before_the_answer_is_delivered() -> None:
    made = memory_worker(TemporaryError("The provider is busy", retry_after=600), says("Hello."))
    await made.accept("run1")
    made.crash_in = {"slack_update_message"}
    await made.work_once_or_crash()
    made.crash_in = set()
    made.clock.advance(130)
    await made.work_once()
    assert made.edits == [AT_WORK, "Hello."]
    assert made.posted == ["Hello."]
    assert await made.status("run1") == "done"


async def test_announcement_has_its_text_and_place_in_the_journal() -> None:
    made = memory_worker(says("Hello."))
    await made.accept("run1")
    await made.work_once_or_crash()
    entries = await read_journal("run1", made.store, made.blobs)
    (announced,) = [one.entry for one in entries if isinstance(one.entry, ToolCall) and one.entry.call == STATUS]
    assert announced.arguments is not None
    assert announced.arguments["text"] == AT_WORK
    assert announced.arguments["thread_ts"]
