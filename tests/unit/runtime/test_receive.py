import asyncio
import hashlib
import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.journal.coordination import Head, InboxItem
from gofer.journal.entries import Route, RunAccepted
from gofer.journal.lineage import run_id
from gofer.journal.log import read_journal
from gofer.runtime.claimed_start import PROMPT
from gofer.runtime.concurrency import AT_ONCE
from gofer.runtime.receive import Ingress
from gofer.runtime.sweeper import Sweeper
from gofer.sources.notion.receiver import NotionReceiver
from gofer.sources.notion.receiver import sign as notion_sign
from gofer.sources.receiver import BODY_LIMIT, RawRequest, Registration, Stop
from gofer.sources.slack.receiver import SlackReceiver, sign
from gofer.stores.memory.blobs import MemoryBlobs
from gofer.stores.memory.journal import MemoryStore
from gofer.stores.memory.queue import MemoryQueue
from gofer.stores.one_place import Stores
from gofer.stores.queue import UNKNOWN, QueueLine
from gofer.values.errors import TemporaryError
from gofer.values.installation_key import InstallationKey
from gofer.values.secret import Secret
from gofer.workflows.routes import read_routes
from support.stand_ins import NOON, SetClock, make_outside, mention

pytestmark = pytest.mark.anyio

KEY = InstallationKey(Secret("installation key"))
SIGNING = Secret("signing secret")
MENTION = (Path(__file__).parents[2] / "events" / "slack_app_mention.json").read_bytes()


class WatchedStore(MemoryStore):
    """A store that counts claims. `full` fails claims, and `deaf` fails inbox items."""

    def __init__(self) -> None:
        super().__init__()
        self.writes = 0
        self.heads_created = 0
        self.full = False
        self.deaf = False

    async def create_head(self, head: Head) -> None:
        self.heads_created += 1
        await super().create_head(head)

    async def put_item(self, run: str, item: InboxItem) -> None:
        if self.deaf:
            raise TemporaryError("disk full")
        await super().put_item(run, item)

    async def claim(self, run: str, frame: bytes, key: bytes, at: int = 0) -> bytes | None:
        self.writes += 1
        if self.full:
            raise TemporaryError("disk full")
        return await super().claim(run, frame, key, at)


def ingress(store: MemoryStore | None = None, *workflows: str) -> tuple[Ingress, WatchedStore, MemoryQueue]:
    clock = SetClock()
    store = store or WatchedStore()
    queue = MemoryQueue(clock)
    routes = read_routes({"slack.mention": [(name, {}) for name in workflows or ("answer-here",)]})
    made = Ingress(
        {"/slack/events": SlackReceiver((SIGNING,))},
        routes,
        Stores(store, MemoryBlobs(), queue),
        KEY,
        make_outside(clock),
    )
    return made, store, queue


def delivery(body: bytes) -> RawRequest:
    return RawRequest("POST", "/slack/events", (), body)


def post(body: bytes, path: str = "/slack/events", method: str = "POST", signature: str | None = None) -> RawRequest:
    timestamp = str(int(NOON))
    headers = [
        ("x-slack-request-timestamp", timestamp),
        ("x-slack-signature", signature or sign(SIGNING, timestamp, body)),
    ]
    return RawRequest(method, path, headers, body)


async def enqueued(queue: MemoryQueue) -> list[str]:
    return [queue_message.run for queue_message in await queue.receive(100, 120, 0)]


async def test_mention_is_claimed_listed_and_enqueued() -> None:
    receiver, store, queue = ingress()
    reply = await receiver.receive(post(MENTION))
    assert reply.status == 200
    (run,) = await enqueued(queue)
    (claimed,) = await read_journal(run, store, MemoryBlobs())
    assert isinstance(claimed.entry, RunAccepted)
    assert claimed.entry.workflow == "answer-here"
    head = await store.head(run)
    assert head is not None
    assert (head.status, head.private) == ("queued", True)


async def test_immediate_second_delivery_neither_writes_a_head_nor_enqueues() -> None:
    store = WatchedStore()
    receiver, _, queue = ingress(store)
    assert (await receiver.receive(post(MENTION))).status == 200
    (run,) = await enqueued(queue)
    assert (await receiver.receive(post(MENTION))).status == 200
    assert (await enqueued(queue), store.heads_created) == ([], 1)
    assert len(await store.frames(run)) == 1


async def test_later_delivery_enqueues_a_run_that_no_worker_began() -> None:
    receiver, store, queue = ingress()
    await receiver.receive(post(MENTION))
    (run,) = await enqueued(queue)
    later = replace(receiver, outside=make_outside(SetClock(NOON + PROMPT)))
    assert (await later.receive(post(MENTION))).status == 200
    # The queue message of the first delivery may be lost.
    assert await enqueued(queue) == [run]
    head = await store.head(run)
    assert head is not None
    await store.put_head(head.now("running", int(NOON * 1000)))
    assert (await later.receive(post(MENTION))).status == 200
    assert await enqueued(queue) == []


class CrashingQueue(MemoryQueue):
    """A queue whose sender is killed before the message is sent."""

    async def enqueue(self, run: str, delay: float = 0.0, *, line: QueueLine = UNKNOWN) -> None:
        raise Killed


class CrashingStore(MemoryStore):
    """A store whose writer is killed before the head is written."""

    async def create_head(self, head: Head) -> None:
        raise Killed


class Killed(BaseException):
    """The receiver was killed, which no code catches."""


async def test_delivery_completes_a_start_that_was_killed_before_its_head() -> None:
    receiver, store, queue = ingress()
    dying = CrashingStore()
    dying.__dict__ = store.__dict__
    with pytest.raises(Killed):
        await replace(receiver, stores=replace(receiver.stores, journals=dying)).receive(post(MENTION))
    assert (await enqueued(queue), await store.heads(10, private=True)) == ([], [])
    assert (await receiver.receive(post(MENTION))).status == 200
    (run,) = await enqueued(queue)
    assert await store.head(run) is not None


async def test_sweeper_enqueues_a_run_after_a_start_killed_before_its_queue_message() -> None:
    receiver, store, queue = ingress()
    with pytest.raises(Killed):
        await replace(receiver, stores=replace(receiver.stores, queue=CrashingQueue(SetClock()))).receive(post(MENTION))
    # The other delivery of the post finds the head of the first one, and is accepted.
    assert (await receiver.receive(post(MENTION))).status == 200
    assert await enqueued(queue) == []
    sweeper = Sweeper(store, queue, SetClock(NOON + 181))
    assert await sweeper.sweep(sweeper.still) == 1
    assert len(await enqueued(queue)) == 1


async def test_event_starts_one_run_per_matching_workflow() -> None:
    receiver, _, queue = ingress(None, "answer-here", "log-it")
    await receiver.receive(post(MENTION))
    assert len(set(await enqueued(queue))) == 2


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (("answer-here",), ("answer-here", "log-it")),
        (("answer-here", "log-it"), ("answer-here", "log-it", "third")),
        (("answer-here", "log-it"), ("answer-here", "third")),
    ],
)
async def test_repeated_delivery_after_a_publish_starts_no_further_workflow(
    first: tuple[str, ...], second: tuple[str, ...]
) -> None:
    receiver, store, queue = ingress(None, *first)
    await receiver.receive(post(MENTION))
    runs = await enqueued(queue)
    after, _, _ = ingress(store, *second)
    await replace(after, stores=replace(after.stores, queue=queue)).receive(post(MENTION))
    assert set(await enqueued(queue)) <= set(runs)
    listed = {head.workflow for head in await store.heads(10, private=True)}
    assert listed == set(first)


@pytest.mark.parametrize("workflows", [("answer-here",), ("answer-here", "log-it")])
async def test_each_run_of_an_event_holds_the_same_matching_routes(workflows: tuple[str, ...]) -> None:
    receiver, store, queue = ingress(None, *workflows)
    await receiver.receive(post(MENTION))
    listed = []
    for run in await enqueued(queue):
        (claimed,) = await read_journal(run, store, MemoryBlobs())
        assert isinstance(claimed.entry, RunAccepted)
        listed.append(claimed.entry.routes)
    matched = tuple(Route(name, {}) for name in workflows)
    assert listed == [matched if len(workflows) > 1 else ()] * len(workflows)


async def test_delivery_that_cannot_be_stored_is_answered_with_503() -> None:
    store = WatchedStore()
    store.full = True
    receiver, _, queue = ingress(store)
    assert (await receiver.receive(post(MENTION))).status == 503
    assert await enqueued(queue) == []


async def test_slack_challenge_is_echoed_only_with_a_valid_signature() -> None:
    receiver, store, _ = ingress()
    body = json.dumps({"type": "url_verification", "challenge": "c4"}).encode()
    good = await receiver.receive(post(body))
    assert (good.status, good.body) == (200, b"c4")
    assert (await receiver.receive(post(body, signature="v0=" + "0" * 64))).status == 401
    assert store.writes == 0


async def test_notion_verification_token_is_kept_only_while_a_registration_waits() -> None:
    made, store, _ = ingress()
    token = Secret("secret_of_a_new_subscription")
    body = json.dumps({"verification_token": token.reveal()}).encode()
    offer = RawRequest("POST", "/notion/webhook", [("X-Notion-Signature", notion_sign(token, body))], body)
    kept: list[str] = []

    async def keep(offered: Registration) -> None:
        kept.append(offered.token.reveal())

    waiting = replace(made, receivers={"/notion/webhook": NotionReceiver((), registration=lambda: True)})
    reply = await replace(waiting, register=keep).receive(offer)
    assert (reply.status, reply.body, kept) == (200, b"", [token.reveal()])
    assert (await waiting.receive(offer)).status == 403
    closed = replace(waiting, receivers={"/notion/webhook": NotionReceiver(())}, register=keep)
    assert (await closed.receive(offer)).body.startswith(b"Ignored: it offers a verification token")
    assert (len(kept), store.writes) == (1, 0)


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (post(MENTION, signature="v0=" + "0" * 64), 401),
        (post(b"not json"), 400),
        (post(b"[]"), 400),
        (post(b'"text"'), 400),
        (post(b"\xff"), 400),
        (post(b"[" * 50_000), 400),
        (post(b'{"a":' + b"[" * 200 + b"]" * 200 + b"}"), 400),
        (post(b" " * (BODY_LIMIT + 1)), 413),
        (post(MENTION, method="GET"), 405),
        (post(MENTION, path="/slack"), 404),
        (post(b"{}"), 200),
    ],
)
async def test_unusable_delivery_gets_a_status_and_is_not_stored(request_: RawRequest, status: int) -> None:
    receiver, store, queue = ingress()
    reply = await receiver.receive(request_)
    assert reply.status == status
    assert b"Traceback" not in reply.body
    assert b"Error" not in reply.body
    assert store.writes == 0
    assert await enqueued(queue) == []


@given(st.binary(max_size=300), st.booleans())
async def test_random_delivery_never_causes_a_server_error_and_is_not_stored(body: bytes, good: bool) -> None:
    receiver, store, _ = ingress()
    reply = await receiver.receive(post(body, signature=None if good else "v0=" + "a" * 64))
    assert reply.status in ({200, 400} if good else {401})
    assert store.writes == 0


def test_run_id_depends_on_event_workflow_and_installation_key() -> None:
    one = run_id(KEY, mention(), "w")
    assert one == run_id(KEY, mention(text="another text"), "w")
    others = {
        run_id(KEY, mention(ts="2.0"), "w"),
        run_id(KEY, mention(channel="C2"), "w"),
        run_id(KEY, mention(), "v"),
        run_id(InstallationKey(Secret("other")), mention(), "w"),
    }
    assert len(others | {one}) == 5
    assert len(one) == 24


async def test_socket_delivery_needs_no_signature_and_is_deduplicated_with_http() -> None:
    made, store, queue = ingress()
    unsigned = SlackReceiver(())
    replies = [
        await made.receive_verified(unsigned, delivery(MENTION)),
        await made.receive_verified(unsigned, delivery(MENTION)),
    ]
    assert [(reply.status, reply.body) for reply in replies] == [(200, b"Accepted.")] * 2
    # The claim is the same as over HTTP, so the following request is a duplicate.
    assert (await made.receive(post(MENTION))).status == 200
    assert len({queue_message.run for queue_message in await queue.receive(10, 60, 0)}) == 1
    assert len(await store.heads(10, private=True)) == 1


@pytest.mark.parametrize(
    ("body", "status"), [(b"[]", 400), (b'{"type": NaN}', 400), (b"x" * (BODY_LIMIT + 1), 413), (b"{}", 200)]
)
async def test_socket_delivery_has_the_same_limits_as_an_http_delivery(body: bytes, status: int) -> None:
    made, store, _ = ingress()
    assert (await made.receive_verified(SlackReceiver(()), delivery(body))).status == status
    assert store.writes == 0


async def test_socket_delivery_that_cannot_be_stored_is_answered_with_503() -> None:
    made, store, _ = ingress()
    store.full = True
    assert (await made.receive_verified(SlackReceiver(()), delivery(MENTION))).status == 503


async def test_stop_request_that_cannot_be_stored_is_answered_with_503_and_accepted_later() -> None:
    made, store, queue = ingress()
    await made.receive(post(MENTION))
    (run,) = await enqueued(queue)
    deletion = json.loads((Path(__file__).parents[2] / "events" / "slack_deleted.json").read_text())
    body = json.dumps(deletion).encode()
    store.deaf = True
    assert (await made.receive(post(body))).status == 503
    store.deaf = False
    assert (await made.receive(post(body))).body == b"Accepted."
    assert (await made.receive(post(body))).status == 200
    assert len(await store.items(run)) == 1
    assert await enqueued(queue) == [run]


async def test_stop_request_without_a_matching_run_is_ignored() -> None:
    made, store, queue = ingress()
    for name in ("deleted", "session_stopped"):
        body = (Path(__file__).parents[2] / "events" / f"slack_{name}.json").read_bytes()
        reply = await made.receive(post(body))
        assert (reply.status, reply.body) == (200, b"Ignored: it concerns no unfinished run.")
    assert (store.writes, await enqueued(queue)) == (0, [])


async def test_receiver_without_a_signing_secret_refuses_http_deliveries() -> None:
    made, store, _ = ingress()
    open_door = Ingress(
        {"/slack/events": SlackReceiver(())},
        made.routes,
        Stores(store, MemoryBlobs(), made.stores.queue),
        KEY,
        made.outside,
    )
    assert (await open_door.receive(post(MENTION))).status == 401
    assert store.writes == 0


async def test_rows_of_a_run_and_of_a_stop_request_identify_no_person() -> None:
    made, store, _ = ingress()
    event = mention()
    (run,) = await made.accept(event)
    stop = Stop("the person who asked", f"stop sign {event.conversation}", "slack", conversation=event.conversation)
    assert await made.stop(stop) == [run]
    rows = f"{await store.head(run)} {[item.id for item in await store.items(run)]}"
    for name in (*event.identity, event.conversation, event.actor.id, stop.item):
        assert name not in rows
        assert hashlib.sha256(name.encode()).hexdigest()[:12] not in rows


@pytest.mark.parametrize("sought", ["slack:C0DEPLOY0:*", mention().conversation])
async def test_stop_request_finds_runs_by_conversation_or_channel(sought: str) -> None:
    made, _, _ = ingress()
    (run,) = await made.accept(mention())
    await made.accept(mention(channel="C0OTHER00"))
    assert await made.stop(Stop("the person who asked", "stop sign", "slack", conversation=sought)) == [run]


CHANNEL = Stop("the person who asked", "stop sign", "slack", conversation="slack:C0DEPLOY0:*")
"""A stop sign in the channel of the mentions."""


class CrowdedStore(WatchedStore):
    """A store that counts the inbox items that are being written. With `takes`, it fails after so many items."""

    def __init__(self) -> None:
        super().__init__()
        self._running = 0
        self.most = 0
        self.takes: int | None = None

    async def put_item(self, run: str, item: InboxItem) -> None:
        self._running += 1
        self.most = max(self.most, self._running)
        await asyncio.sleep(0)
        self._running -= 1
        if self.takes is not None:
            self.takes -= 1
            self.deaf = self.takes < 0
        await super().put_item(run, item)


async def crowded() -> tuple[Ingress, CrowdedStore, list[str]]:
    """Return a receiving side whose channel has five times as many open runs as are stopped at once."""
    store = CrowdedStore()
    made, _, _ = ingress(store)
    mentions = [mention(ts=f"1795262400.{number:06}") for number in range(5 * AT_ONCE)]
    return made, store, [run for event in mentions for run in await made.accept(event)]


async def test_stop_request_stops_the_runs_of_a_channel_at_once_up_to_a_limit() -> None:
    made, store, runs = await crowded()
    assert sorted(await made.stop(CHANNEL)) == sorted(runs)
    assert store.most == AT_ONCE


async def test_stop_request_that_was_stored_in_part_is_repeated_and_stops_each_run_once() -> None:
    made, store, runs = await crowded()
    store.takes = AT_ONCE
    with pytest.raises(TemporaryError):
        await made.stop(CHANNEL)
    store.takes, store.deaf = None, False
    assert sorted(await made.stop(CHANNEL)) == sorted(runs)
    assert [len(await store.items(run)) for run in runs] == [1] * len(runs)
