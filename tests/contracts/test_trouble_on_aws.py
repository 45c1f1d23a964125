"""Damaged, newer or poisonous state on the AWS stores: reported, never dropped, and not in the way of other runs."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from gofer.journal.entries import MessageReceived, RunOwned
from gofer.journal.frames import Frame, frame_hash
from gofer.journal.log import Pen, open_journal, read_journal
from gofer.journal.seal import seal_of
from gofer.models.language_model import Answer
from gofer.projections.attempts import CRASHES, UNREAD
from gofer.runtime.run_reports import Ended, Observers
from gofer.runtime.sweeper import Sweeper
from gofer.runtime.worker import WorkerLimits
from gofer.stores.aws.items import frame_key, head_key, key_key
from gofer.stores.aws.journal import DynamoStore
from gofer.stores.aws.table import Put, Update
from gofer.values.canonical_json import encode
from gofer.values.errors import Corrupt
from support.aws.moto_server import RECEIVES, MotoClock, MotoCloud, client
from support.engine.memory_run import ListModel, says
from support.journal.stored_bytes import frame_bytes
from support.runtime.memory_worker import Crashed, MemoryWorker
from support.runtime.worker_parts import worker_over
from support.stand_ins import make_outside

pytestmark = pytest.mark.anyio


class Serverless:
    """A worker over the stores of AWS."""

    def __init__(self, *answers: Answer | Exception) -> None:
        self.clock = MotoClock()
        self.cloud = MotoCloud(self.clock)
        self.memory_worker = MemoryWorker(ListModel(list(answers)), self.clock, self.cloud.store, self.cloud.blobs)  # type: ignore[arg-type]
        self.memory_worker.queue = self.cloud.queue  # type: ignore[assignment]
        self.memory_worker.worker = worker_over(self.memory_worker.worker, queue=self.cloud.queue)

    async def run_with(self, run: str, *entries: Sequence[object]) -> None:
        """Claim a run and append frames to its journal."""
        await self.memory_worker.accept(run, private=False)
        for frame in entries:
            journal, _ = await open_journal(run, self.cloud.store, self.cloud.blobs, Pen("lost", make_outside()))
            for entry in frame:
                journal.add(entry)  # type: ignore[arg-type]
            await journal.commit()

    async def settle(self) -> None:
        """Receive every queue message, redelivered ones included, until there is none."""
        quiet = 0
        while quiet < 3:
            quiet = 0 if await self.memory_worker.work_once() else quiet + 1
            self.clock.advance(121)

    async def attention(self, run: str) -> str:
        head = await self.cloud.store.head(run)
        assert head is not None
        return head.reason if head.status == "needs_attention" else ""


async def test_run_is_answered_on_the_stores_of_aws() -> None:
    made = Serverless(says("Hello."))
    await made.memory_worker.accept("run1", private=False)
    await made.settle()
    assert (await made.memory_worker.status("run1"), made.memory_worker.posted) == ("done", ["Hello."])
    assert list(await made.cloud.queue.dead_letters(9)) == []


async def test_run_with_a_frame_of_a_newer_gofer_becomes_a_dead_letter_and_stays_unchanged() -> None:
    made = Serverless(says("Hello."))
    await made.memory_worker.accept("run1", private=False)
    (first,) = await made.cloud.store.frames("run1")
    newer = Frame(2, 1, "o", "n", frame_hash(first), [{"kind": "run.dreamed"}])
    await made.cloud.store.create("run1", 2, frame_bytes(newer, await seal_of("run1", made.cloud.store)))
    await made.settle()
    (letter,) = await made.cloud.queue.dead_letters(9)
    assert letter.run == "run1"
    head = await made.cloud.store.head("run1")
    assert head is not None
    # The list row of a run that waits for a newer worker.
    assert (head.status, head.reason) == (
        "queued",
        "another version of Gofer wrote its journal; finish the run with that version",
    )
    assert len(await made.cloud.store.frames("run1")) == 2
    assert await Sweeper(made.cloud.store, made.cloud.queue, made.clock).sweep(0) == 1


def body_of(folder: str, made: Serverless) -> str:
    (found,) = client("s3").list_objects_v2(Bucket=made.cloud.bucket, Prefix=f"blobs/{folder}/")["Contents"]
    return found["Key"]


LONG = MessageReceived("user", "x" * 20_000)


async def test_run_with_a_missing_body_needs_attention_and_the_next_run_is_answered() -> None:
    made = Serverless(says("Hello."))
    await made.run_with("run1", [LONG])
    client("s3").delete_object(Bucket=made.cloud.bucket, Key=body_of("run1", made))
    await made.memory_worker.accept("run2", 2)
    await made.settle()
    assert "missing; restore it from a backup" in await made.attention("run1")
    assert await made.memory_worker.status("run2") == "done"


async def test_run_with_a_changed_body_needs_attention_and_the_next_run_is_answered() -> None:
    made = Serverless(says("Hello."))
    await made.run_with("run1", [LONG])
    client("s3").put_object(Bucket=made.cloud.bucket, Key=body_of("run1", made), Body=b"something else")
    await made.memory_worker.accept("run2", 2)
    await made.settle()
    assert "not the one that was written" in await made.attention("run1")
    assert await made.memory_worker.status("run2") == "done"


@pytest.mark.parametrize("frame", [b"", b"no frame", "text"], ids=["empty", "bytes", "text"])
async def test_run_with_a_changed_frame_needs_attention_and_the_next_run_is_answered(frame: bytes | str) -> None:
    made = Serverless(says("Hello."))
    await made.run_with("run1", [RunOwned()])
    await made.cloud.table.write(Update(frame_key("run1", 2), {"frame": frame}))
    await made.memory_worker.accept("run2", 2)
    await made.settle()
    assert "damaged at frame 2" in await made.attention("run1")
    assert await made.memory_worker.status("run2") == "done"


async def test_run_with_a_lost_frame_needs_attention_and_the_next_run_is_answered() -> None:
    made = Serverless(says("Hello."))
    await made.run_with("run1", [RunOwned()], [RunOwned()])
    await made.cloud.table.delete_all([frame_key("run1", 2)])
    await made.memory_worker.accept("run2", 2)
    await made.settle()
    assert "it is missing and later ones are there" in await made.attention("run1")
    assert await made.memory_worker.status("run2") == "done"


class Deadly:
    """A model that kills the worker that asks it, while `kills` is set."""

    def __init__(self, then: Answer) -> None:
        self.kills = True
        self.then = then

    async def ask(self, body: bytes, timeout: float) -> Answer:
        if self.kills:
            raise Crashed
        return self.then


async def test_run_that_kills_workers_fails_as_poison_and_the_conversation_goes_on() -> None:
    made, model = Serverless(), Deadly(says("Hello."))
    worker = made.memory_worker.worker
    made.memory_worker.worker = replace(worker, services=replace(worker.services, model=model))
    await made.memory_worker.accept("run1", private=False)
    lost = 0
    while await made.memory_worker.status("run1") != "failed":
        lost += sum(isinstance(result, Crashed) for result in await made.memory_worker.work_once_or_crash())
        made.clock.advance(181)
        # By then SQS has made a dead letter of its queue message.
        await Sweeper(made.cloud.store, made.cloud.queue, made.clock).sweep(180)
    head = await made.cloud.store.head("run1")
    assert head is not None
    assert (lost, head.reason[:8]) == (CRASHES, "poison: ")
    model.kills = False
    await made.memory_worker.accept("run2", 2)
    await made.settle()
    assert await made.memory_worker.status("run2") == "done"


async def test_run_that_kills_workers_while_loading_needs_attention() -> None:
    made, told = Serverless(), list[str]()

    class Deadly(DynamoStore):
        async def frames(self, run: str) -> list[bytes]:
            raise Crashed

    def tell(ended: Ended) -> None:
        told.append(ended.trouble)

    worker, store = made.memory_worker.worker, Deadly(made.cloud.table)
    made.memory_worker.worker = replace(
        worker_over(worker, store=store), limits=WorkerLimits(receives=RECEIVES), observers=Observers(tell)
    )
    await made.memory_worker.accept("run1", private=False)
    for _ in range(3 * UNREAD):
        await made.memory_worker.work_once_or_crash()
        made.clock.advance(121)
        await Sweeper(made.cloud.store, made.cloud.queue, made.clock).sweep(180)
    # The alarm is counted, lists show the reason, and the sweeper no longer enqueues the run.
    assert (told, await made.attention("run1")) == (
        ["poison"],
        "it cannot be continued: 10 workers in a row ended before they had read its journal",
    )
    assert await Sweeper(made.cloud.store, made.cloud.queue, made.clock).sweep(0) == 0


async def test_run_is_found_by_the_sweeper_after_lost_workers_made_a_dead_letter() -> None:
    made = Serverless()
    await made.memory_worker.accept("run1")
    for _ in range(RECEIVES):
        assert len(await made.cloud.queue.receive(10, 120, 0)) == 1
        made.clock.advance(121)
    assert list(await made.cloud.queue.receive(10, 120, 0)) == []
    assert [letter.run for letter in await made.cloud.queue.dead_letters(9)] == ["run1"]
    assert await Sweeper(made.cloud.store, made.cloud.queue, made.clock).sweep(0) == 1


DAMAGE = [{"status": 7}, {"accepted_at": -1}, {"updated_at": 10**15}, {"private": "yes"}, {"run": "another"}]


@pytest.mark.parametrize("damage", DAMAGE, ids=lambda damage: next(iter(damage)))
async def test_damaged_head_is_left_out_of_lists_and_logged(
    damage: dict[str, object], caplog: pytest.LogCaptureFixture
) -> None:
    made = Serverless()
    await made.memory_worker.accept("run1")
    await made.memory_worker.accept("run2", 2)
    await made.cloud.table.write(Update(head_key("run1"), damage))  # type: ignore[arg-type]
    assert [head.run for head in await made.cloud.store.heads(9, private=True)] == ["run2"]
    assert [head.run for head in await made.cloud.store.unfinished(10**14, 9)] == ["run2"]
    assert "The list row of run#run1 is damaged" in caplog.text
    with pytest.raises(Corrupt, match="run#run1"):
        await made.cloud.store.head("run1")


async def test_run_key_of_a_wrong_type_is_corrupt() -> None:
    made = Serverless()
    await made.memory_worker.accept("run1")
    await made.cloud.table.write(Update(key_key("run1"), {"key": encode("text").decode()}))
    with pytest.raises(Corrupt, match="key of run run1"):
        await read_journal("run1", made.cloud.store, made.cloud.blobs)


async def test_table_item_of_an_unknown_type_is_corrupt() -> None:
    made = Serverless()
    await made.cloud.table.write(Put({"pk": "run#r", "sk": "head"}))
    item = {"pk": {"S": "run#r"}, "sk": {"S": "head"}, "run": {"L": []}}
    client("dynamodb").put_item(TableName=made.cloud.table._name, Item=item)
    with pytest.raises(Corrupt, match="never writes"):
        await made.cloud.store.head("r")
