"""Runs of earlier versions, which named messages and conversations with the workspace of their delivery."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from gofer.journal.answer_rows import note_answer
from gofer.journal.coordination import Head
from gofer.journal.entries import RunAccepted, RunStarted
from gofer.journal.lineage import run_id
from gofer.journal.log import Pen, claim, read_journal
from gofer.runtime.claimed_start import start_run
from gofer.runtime.receive import Ingress
from gofer.sources.receiver import PossibleFeedback, RawRequest, Stop
from gofer.sources.slack.receiver import SlackReceiver
from gofer.stores.memory.blobs import MemoryBlobs
from gofer.stores.memory.journal import MemoryStore
from gofer.stores.memory.queue import MemoryQueue
from gofer.stores.one_place import Stores
from gofer.values.events import Event
from gofer.workflows.routes import read_routes
from support.engine.memory_run import says
from support.runtime.memory_worker import MemoryWorker, memory_worker
from support.stand_ins import KEY, TOKENS, SetClock, make_outside

pytestmark = pytest.mark.anyio
EVENTS = Path(__file__).parents[3] / "events"
WORKFLOW = "answer-here"
TEAMS = ["T0ACME00", "T0OTHER0"]
"""Gofer's workspace, and one that shares the channel. Either may have been the workspace of a delivery."""


def payload(name: str, **changes: object) -> RawRequest:
    """Return a recorded delivery that Slack sends for the other workspace, to Gofer in its own."""
    body = json.loads((EVENTS / f"slack_{name}.json").read_text()) | {"team_id": "T0OTHER0"}
    body["event"] |= changes
    return RawRequest("POST", "/slack/events", (), json.dumps(body).encode())


def translated(name: str, **changes: object) -> object:
    return SlackReceiver(()).translate(payload(name, **changes))


def event(name: str, **changes: object) -> Event:
    found = translated(name, **changes)
    if isinstance(found, PossibleFeedback) and found.event is not None:
        return found.event
    assert isinstance(found, Event)
    return found


def before(now: Event, team: str) -> Event:
    """Return an event as an earlier version wrote it."""
    place = {name: value for name, value in now.place.items() if name not in ("outer_team", "client_msg_id")}
    return replace(
        now,
        identity=(team, *now.identity),
        conversation=now.conversation.replace("slack:", f"slack:{team}:", 1),
        place={**place, "team": team},
    )


async def stored(stores: Stores, now: Event, team: str, *, private: bool = False) -> str:
    """Store the run that an earlier version began for an event, and return its id."""
    old = before(now, team)
    run = run_id(KEY, old, WORKFLOW)
    pen = Pen("ingress", make_outside())
    await claim(run, RunAccepted(old, WORKFLOW), pen, stores.journals, stores.blobs)
    token = TOKENS.conversation(old.conversation)
    await stores.journals.create_head(Head(run, WORKFLOW, token, 1, private=private))
    return run


def ingress() -> Ingress:
    clock = SetClock()
    stores = Stores(MemoryStore(), MemoryBlobs(), MemoryQueue(clock))
    kinds = ("slack.mention", "slack.message", "slack.direct", "slack.reaction")
    routes = read_routes({kind: [(WORKFLOW, {})] for kind in kinds})
    return Ingress({"/slack/events": SlackReceiver(())}, routes, stores, KEY, make_outside(clock))


@pytest.mark.parametrize("team", TEAMS)
@pytest.mark.parametrize(
    ("asked", "stopping", "changes"),
    [
        ("app_mention", "deleted", {"deleted_ts": "1795240812.000300"}),
        ("app_mention", "tombstone", {}),
        ("app_mention", "reaction", {"reaction": "no_entry", "user": "U0NEWCO0"}),
        ("direct", "session_stopped", {}),
    ],
)
async def test_old_run_is_cancelled(team: str, asked: str, stopping: str, changes: dict[str, object]) -> None:
    made = ingress()
    run = await stored(made.stores, event(asked), team)
    stop = translated(stopping, **changes)
    assert isinstance(stop, Stop)
    assert await made.stop(stop) == [run]


@pytest.mark.parametrize("team", TEAMS)
async def test_old_answer_takes_feedback(team: str) -> None:
    made = ingress()
    run = await stored(made.stores, event("app_mention"), team)
    names = [("slack", team, "C0GENERA0", "1795240812.000300")]
    await note_answer(run, names, names, made.stores.journals, TOKENS, at=1)
    own = {"item_user": "U0GOFER0", "reaction": "+1"}
    for delivery in (payload("reaction", **own), payload("message", text=":+1: thanks")):
        taken = len(await made.stores.journals.items(run))
        assert (await made.receive_verified(SlackReceiver(()), delivery)).body == b"Accepted."
        assert len(await made.stores.journals.items(run)) == taken + 1


async def begun(made: MemoryWorker, now: Event) -> str:
    """Start the run of an event as a receiver does, and let it work."""
    services = made.worker.services
    run = await start_run(now, WORKFLOW, Pen("ingress", services.outside), services.stores, KEY)
    await made.work_once()
    return run


@pytest.mark.parametrize("team", TEAMS)
async def test_second_delivery_after_an_upgrade_starts_no_run(team: str) -> None:
    made = memory_worker(says("Hello."), says("Hello again."))
    first = event("app_mention")
    old = await stored(made.worker.services.stores, first, team)
    assert await begun(made, first) != old
    assert made.posted == []
    again = await begun(made, event("message", text="<@U0GOFER0> and now?"))
    assert (await made.status(again), made.posted) == ("done", ["Hello."])


@pytest.mark.parametrize("team", TEAMS)
async def test_reply_continues_an_old_run(team: str) -> None:
    made = memory_worker(says("Hello."), says("Hello again."))
    stores = made.worker.services.stores
    old = await stored(stores, event("app_mention"), team)
    await made.queue.enqueue(old)
    await made.work_once()
    assert (await made.status(old), made.posted) == ("done", ["Hello."])
    made.clock.advance(60)
    run = await begun(made, event("message", text="<@U0GOFER0> and now?"))
    journal = [item.entry for item in await read_journal(run, stores.journals, stores.blobs)]
    assert [entry.continues for entry in journal if isinstance(entry, RunStarted)] == [old]


@pytest.mark.parametrize("name", ["app_mention", "message", "direct", "reaction", "channel_created", "member_joined"])
def test_message_has_the_same_names_in_every_workspace(name: str) -> None:
    ours = json.loads((EVENTS / f"slack_{name}.json").read_text())
    raw = RawRequest("POST", "/slack/events", (), json.dumps(ours).encode())
    mine = SlackReceiver(()).translate(raw)
    theirs = event(name)
    if isinstance(mine, PossibleFeedback):
        mine = mine.event
    assert isinstance(mine, Event)
    assert (mine.identity, mine.conversation) == (theirs.identity, theirs.conversation)
    assert (mine.place["team"], theirs.place["team"]) == ("T0ACME00", "T0ACME00")
    assert "T0ACME00" not in mine.identity


async def sent(made: Ingress, ts: str, **changes: object) -> bool:
    """Deliver a mention with a ts, and return whether a run began."""
    heads = len(await made.stores.journals.heads(100, private=True))
    reply = await made.receive_verified(SlackReceiver(()), payload("app_mention", ts=ts, **changes))
    assert reply.status == 200
    return len(await made.stores.journals.heads(100, private=True)) > heads


async def test_message_sent_again_within_a_minute_starts_no_second_run() -> None:
    made = ingress()
    assert await sent(made, "1795240812.000300")
    assert not await sent(made, "1795240812.000300")
    assert not await sent(made, "1795240813.000100")
    assert not await sent(made, "1795240872.000300")
    # Another channel, another person, another message, no id, and a later time.
    assert await sent(made, "1795240814.000100", channel="C0OTHER00")
    assert await sent(made, "1795240814.000100", user="U0ONCAL0")
    assert await sent(made, "1795240815.000100", client_msg_id="another")
    assert await sent(made, "1795240816.000100", client_msg_id=None)
    assert await sent(made, "1795240817.000100", client_msg_id=None)
    assert await sent(made, "1795240873.000300")
    assert not await sent(made, "1795240874.000300")


async def test_odd_ids_and_times_of_messages_are_accepted() -> None:
    made = ingress()
    assert await sent(made, "soon")
    assert await sent(made, "later")
    assert await sent(made, "1.5", client_msg_id=5)
    assert await sent(made, "1.6", client_msg_id="x" * 10_000)
