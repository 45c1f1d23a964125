"""Cancelling a run in Slack: by a stop sign, by the Stop button, by deleting the message."""

import asyncio
import json
from pathlib import Path

import pytest

from gofer.journal.coordination import Head
from gofer.journal.entries import RunCancelled
from gofer.runtime.deliver import AT_WORK
from gofer_simulators.slack.workspace import Message
from support.app.company import Company
from support.app.one_workflow import CAPTAIN, DEPLOYS, ONCALL, Echo, gofer, quiet, texts

pytestmark = pytest.mark.anyio
ASK = "<@U0GOFER0> hello"
TOOLS = "when: [slack.mention]\ntools: [slack_add_reaction]"


def held(*asks: tuple[str, dict[str, object]]) -> Echo:
    """Return a model that does not answer before `go` is set."""
    model = Echo(asks)
    model.go.clear()
    return model


async def under_way(made: Company, model: Echo, text: str = ASK, thread: Message | None = None) -> Message:
    """Mention Gofer and wait until the run asks the model."""
    asked = await made.slack.say(CAPTAIN, DEPLOYS, text, thread.ts if thread else None)
    async with asyncio.timeout(60):
        await model.asked.wait()
    return asked


async def ended(made: Company, model: Echo) -> Head:
    """Let the model answer after all deliveries were made; return the run once it ended."""
    await made.slack.settled()
    model.go.set()
    (head,) = await made.ended()
    return head


@pytest.mark.parametrize("reply", [False, True])
async def test_deleted_message_cancels_the_run_before_the_next_write_and_the_status(
    tmp_path: Path, reply: bool
) -> None:
    model = held(("slack_add_reaction", {"emoji": "eyes", "ts": "1"}))
    async with gofer(tmp_path, TOOLS, model) as made:
        thread = made.slack.workspace.timeline(DEPLOYS)[0] if reply else None
        asked = await under_way(made, model, thread=thread)
        (status,) = made.answers(asked)
        assert status.text == AT_WORK.strip("_")
        await made.slack.delete(CAPTAIN, DEPLOYS, asked.ts)
        head = await ended(made, model)
        assert head.status == "cancelled"
        assert made.slack.workspace.find(DEPLOYS, status.ts) is None
        assert [m.text for m in made.slack.workspace.all_messages() if m.user == "U0GOFER0" and m.ts > asked.ts] == []
        # One request to the model was under way; no request and no write followed.
        assert len(model.bodies) == 1
        # A tombstone stays where there were replies.
        assert (made.slack.workspace.find(DEPLOYS, asked.ts) is None) == reply


async def test_deleted_message_that_started_no_run_cancels_no_run(tmp_path: Path) -> None:
    model = held()
    async with gofer(tmp_path, TOOLS, model) as made:
        asked = await under_way(made, model)
        other = await made.slack.say(CAPTAIN, DEPLOYS, "oops", asked.ts)
        await made.slack.delete(CAPTAIN, DEPLOYS, other.ts)
        assert (await ended(made, model)).status == "done"
        # After its end a run is not cancelled.
        await made.slack.delete(CAPTAIN, DEPLOYS, asked.ts)
        assert [head.status for head in await quiet(made)] == ["done"]


@pytest.mark.parametrize("on_status", [False, True])
async def test_stop_sign_of_the_requester_cancels_the_run_with_a_notice(tmp_path: Path, on_status: bool) -> None:
    model = held(("slack_add_reaction", {"emoji": "eyes", "ts": "1"}))
    async with gofer(tmp_path, TOOLS, model) as made:
        asked = await under_way(made, model)
        (status,) = made.answers(asked)
        target = status if on_status else asked
        await made.slack.react(CAPTAIN, DEPLOYS, target.ts, "octagonal_sign")
        head = await ended(made, model)
        assert (head.status, head.reason) == ("cancelled", "cancelled by the person who asked")
        assert texts(made.answers(asked)) == ["Stopped, as you asked."]


async def test_stop_sign_by_another_person_or_on_another_message_cancels_no_run(tmp_path: Path) -> None:
    model = held()
    async with gofer(tmp_path, TOOLS, model) as made:
        other = await made.slack.say(CAPTAIN, DEPLOYS, "something else")
        asked = await under_way(made, model)
        await made.slack.react(ONCALL, DEPLOYS, asked.ts, "octagonal_sign")
        await made.slack.react(CAPTAIN, DEPLOYS, other.ts, "octagonal_sign")
        assert (await ended(made, model)).status == "done"
        assert texts(made.answers(asked)) == ["Here you are."]


async def test_stop_button_cancels_the_run_under_way_in_the_thread(tmp_path: Path) -> None:
    model = held(("slack_add_reaction", {"emoji": "eyes", "ts": "1"}))
    async with gofer(tmp_path, "when: [slack.direct]\ntools: [slack_add_reaction]", model) as made:
        direct = made.slack.direct(CAPTAIN)
        asked = await made.slack.say(CAPTAIN, direct.id, "hello")
        async with asyncio.timeout(60):
            await model.asked.wait()
        await made.slack.stop_session(CAPTAIN, direct.id, asked.ts)
        assert (await ended(made, model)).status == "cancelled"
        assert texts(made.answers(asked)) == ["Stopped: cancelled by a press on Stop."]


async def test_deletion_delivered_several_times_cancels_the_run_once(tmp_path: Path) -> None:
    model = held(("slack_add_reaction", {"emoji": "eyes", "ts": "1"}))
    async with gofer(tmp_path, TOOLS, model) as made:
        asked = await under_way(made, model)
        await made.slack.delete(CAPTAIN, DEPLOYS, asked.ts)
        await made.slack.settled()
        # The same deletion again, as Slack retries a delivery without a response.
        event = {"type": "message", "subtype": "message_deleted", "channel": DEPLOYS, "deleted_ts": asked.ts}
        envelope = made.slack.envelopes(await made.slack.say(CAPTAIN, DEPLOYS, "x"))[0]
        for number in (1, 2):
            again = json.loads(json.dumps(envelope)) | {"event": event, "event_id": f"Ev{number}"}
            assert await made.slack.deliver(again, retry_num=number) == 200
        head = await ended(made, model)
        assert head.status == "cancelled"
        assert len([one for one in await made.entries(head.run) if isinstance(one, RunCancelled)]) == 1
        assert len(model.bodies) == 1
