"""Loops of bots: bots start no runs unless a workflow names them, and never an endless chain."""

import json
from collections.abc import Mapping
from dataclasses import replace

import pytest

from gofer.engine.conditions import MOST_HOPS
from gofer.journal.coordination import Head
from gofer.journal.entries import RunAccepted
from gofer.journal.log import Pen, claim, read_journal
from gofer.runtime.receive import Ingress
from gofer.sources.receiver import RawRequest
from gofer.sources.slack.receiver import SlackReceiver
from gofer.sources.workflow_files import WorkflowForm as Workflow
from gofer.stores.memory.blobs import MemoryBlobs
from gofer.stores.memory.journal import MemoryStore
from gofer.stores.memory.queue import MemoryQueue
from gofer.stores.one_place import Stores
from gofer.values.installation_key import InstallationKey
from gofer.values.secret import Secret
from gofer.workflows.load import Catalog, Loaded
from gofer.workflows.routes import read_routes
from gofer.workflows.schema import Defaults
from support.engine.memory_run import says
from support.models.served import served
from support.runtime.memory_worker import memory_worker
from support.stand_ins import TOKENS, SetClock, make_outside, mention

pytestmark = pytest.mark.anyio
FILES = {
    "bots are not named": {"when": ["slack.mention", "slack.direct", {"slack.message": {"channels": "any"}}]},
    "bots are named": {"when": ["slack.mention"], "who": ["members", "bots"]},
}


def ingress(file: str) -> tuple[Ingress, MemoryStore]:
    workflow = Workflow.model_validate({"description": "d", "owner": "#o", **FILES[file]})
    catalog = Catalog({"w": Loaded("w", workflow, "Be brief.", "agents/w.md", served("m"))}, Defaults())
    store, clock = MemoryStore(), SetClock()
    routes = read_routes(catalog.routes())
    receiver = Ingress(
        {}, routes, Stores(store, MemoryBlobs(), MemoryQueue(clock)), InstallationKey(Secret("k")), make_outside(clock)
    )
    return receiver, store


def post(reader: str, writer: str, number: int, hops: int) -> RawRequest:
    """Return the delivery that one bot receives for a message of another bot."""
    event: Mapping[str, object] = {
        "type": "app_mention",
        "user": f"U0{writer}",
        "bot_id": f"B0{writer}",
        "app_id": f"A0{writer}",
        "text": f"<@U0{reader}> and you?",
        "ts": f"1795262400.{number:06}",
        "channel": "C0DEPLOY0",
        "metadata": {"event_type": "gofer_call", "event_payload": {"key": "k", "hops": hops}},
    }
    body = {
        "type": "event_callback",
        "team_id": "T0ACME00",
        "api_app_id": f"A0{reader}",
        "authorizations": [{"user_id": f"U0{reader}"}],
        "event": event,
    }
    return RawRequest("POST", "/slack/events", (), json.dumps(body).encode())


async def test_bots_start_no_run_unless_the_workflow_names_bots() -> None:
    made, store = ingress("bots are not named")
    for number in range(1_000):
        reader, writer = ("FIRST00", "SECOND0") if number % 2 else ("SECOND0", "FIRST00")
        reply = await made.receive_verified(SlackReceiver(()), post(reader, writer, number, number))
        said = b"Ignored: w takes nothing from bots, because its `who` does not name them."
        assert (reply.status, reply.body) == (200, said)
    assert await store.heads(10, private=True) == []


async def test_run_started_by_a_bot_counts_one_hop_more() -> None:
    made, store = ingress("bots are named")
    await made.receive_verified(SlackReceiver(()), post("FIRST00", "SECOND0", 1, hops=2))
    (head,) = await store.heads(10, private=True)
    (claimed,) = await read_journal(head.run, store, MemoryBlobs())
    assert isinstance(claimed.entry, RunAccepted)
    assert claimed.entry.event.hops == 3


@pytest.mark.parametrize(("hops", "status"), [(0, "done"), (MOST_HOPS, "done"), (MOST_HOPS + 1, "ignored")])
async def test_run_beyond_the_hop_limit_is_ignored(hops: int, status: str) -> None:
    made = memory_worker(says("Hello."))
    event = replace(mention(hops=hops), private=False)
    await claim("run1", RunAccepted(event, "answer-here"), Pen("ingress", make_outside()), made.store, made.blobs)
    await made.store.create_head(Head("run1", "answer-here", TOKENS.conversation(event.conversation), 1, private=False))
    await made.queue.enqueue("run1")
    await made.work_once()
    assert await made.status("run1") == status
    assert made.posted == (["Hello."] if status == "done" else [])
    head = await made.store.head("run1")
    assert head is not None
    assert ("runs have started one another in a row" in head.reason) == (status == "ignored")
