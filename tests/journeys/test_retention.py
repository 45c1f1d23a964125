"""Contents of runs on the disk: during a run, after a private run ended, and after a purge."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from gofer.app.embedded.server import serve
from gofer.journal import inbox
from gofer.journal.coordination import Head
from gofer.journal.entries import MessageReceived
from gofer.journal.log import read_journal
from gofer.runtime.retention import Purger
from gofer.values.errors import Gone
from support.app.company import Company, company
from support.journal.forensic_examiner import files, holding, opens, reading
from support.stand_ins import SetClock

pytestmark = pytest.mark.anyio

CANARY = "canary-5d1e"


@dataclass
class Paused:
    """A run paused right before its model answers, and the files of its state."""

    folder: Path
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    answer: asyncio.Event = field(default_factory=asyncio.Event)

    def stored(self) -> dict[str, bytes]:
        """Return every file of the state by its name."""
        files = [path for path in (self.folder / "state").rglob("*") if path.is_file()]
        return {str(path.relative_to(self.folder / "state")): path.read_bytes() for path in files}

    def holding(self, *needles: bytes) -> Sequence[str]:
        """Return the names of the files that contain one of these bytes."""
        return [name for name, raw in self.stored().items() if any(needle in raw for needle in needles)]


@asynccontextmanager
async def paused(folder: Path) -> AsyncIterator[tuple[Company, Paused]]:
    """A company whose model answers only after `answer` is set."""
    disk = Paused(folder)

    async def model(request: Request) -> Response:
        assert CANARY in (await request.body()).decode()
        disk.asked.set()
        await disk.answer.wait()
        message = {"role": "assistant", "content": f"An answer with the {CANARY}."}
        usage = {"prompt_tokens": 50, "completion_tokens": 5}
        return JSONResponse({"model": "other", "choices": [{"message": message}], "usage": usage})

    async with (
        serve(Starlette(routes=[Route("/v1/chat/completions", model, methods=["POST"])])) as url,
        company(folder, OPENAI_BASE_URL=f"{url}/v1", OPENAI_API_KEY="sk-test") as made,
    ):
        yield made, disk


async def ask(made: Company, disk: Paused, channel: str) -> Head:
    """Mention Gofer in a thread too long for a frame; return the head of its run once the model is being asked."""
    thread = await made.ask(f"A thread about the {CANARY}.", channel)
    for n in range(40):
        await made.ask(f"{CANARY} {n} " + "word " * 100, channel, thread)
    await made.ask(f"@Gofer what about the {CANARY}?", channel, thread)
    async with asyncio.timeout(60):
        await disk.asked.wait()
    (head,) = await made.embedded.state.store.heads(9, private=True)
    await inbox.put(made.embedded.state.store, head.run, "a1", MessageReceived(f"and the {CANARY}"))
    return head


async def deleted(made: Company, run: str) -> None:
    async with asyncio.timeout(60):
        while (head := await made.embedded.state.store.head(run)) is None or head.retention != "deleted":
            await asyncio.sleep(0.01)


async def test_private_run_is_unreadable_on_disk_while_running_and_deleted_afterwards(
    tmp_path: Path,
) -> None:
    async with paused(tmp_path) as (made, disk):
        head = await ask(made, disk, "leads")
        store, blobs = made.embedded.state.store, made.embedded.state.blobs
        first, key = (await store.frames(head.run))[0], await store.key(head.run)
        assert key is not None
        under_way = disk.stored()
        assert {"gofer.db", "gofer.db-wal"} <= set(under_way)
        assert any(name.startswith(f"blobs/{head.run}/") for name in under_way)
        assert disk.holding(first, key) != []
        assert disk.holding(CANARY.encode()) == []
        disk.answer.set()
        await made.ended()
        await deleted(made, head.run)
        assert disk.holding(CANARY.encode(), first, key) == []
        assert not any(name.startswith(f"blobs/{head.run}") for name in disk.stored())
        assert set(await store.frames(head.run)) == {b""}
        with pytest.raises(Gone):
            await read_journal(head.run, store, blobs)
    assert disk.holding(CANARY.encode(), first, key) == []


async def test_private_run_that_ends_during_a_database_read_leaves_no_readable_byte(tmp_path: Path) -> None:
    words = CANARY.encode()
    async with paused(tmp_path) as (made, disk):
        head = await ask(made, disk, "leads")
        store, state = made.embedded.state.store, tmp_path / "state"
        frames, key = await store.frames(head.run), await store.key(head.run)
        assert key is not None
        under_way = files(state)
        assert [name for name, raw in under_way.items() if holding(raw, key)] == ["keys"]
        assert opens(under_way["keys"], head.run, 1, frames[0])
        with reading(state / "gofer.db"):
            disk.answer.set()
            await made.ended()
            async with asyncio.timeout(60):
                while await store.key(head.run):
                    await asyncio.sleep(0.01)
            held_up = files(state)
            known = await store.head(head.run)
            assert known is not None
            assert known.retention == "deleting"
        assert [name for name, raw in held_up.items() if holding(raw, key, words)] == []
        assert any(frames[0] in raw for raw in held_up.values())
        assert not opens(held_up["keys"], head.run, 1, frames[0])
        await deleted(made, head.run)
        left = files(state)
        assert [name for name, raw in left.items() if holding(raw, key, words, *frames)] == []


async def test_redelivered_mention_of_a_deleted_private_run_is_not_answered_again(tmp_path: Path) -> None:
    async with company(tmp_path) as made:
        asked = await made.ask("@Gofer hello", "leads")
        (head,) = await made.ended()
        await deleted(made, head.run)
        for envelope in made.slack.envelopes(asked):
            assert await made.slack.deliver({**envelope, "event_id": "EvAgain"}) == 200
        assert [known.run for known in await made.ended()] == [head.run]
        assert len(made.answers(asked)) == 1


async def test_public_run_has_pages_until_a_purge_deletes_the_contents(tmp_path: Path) -> None:
    async with paused(tmp_path) as (made, disk):
        head = await ask(made, disk, "general")
        disk.answer.set()
        await made.ended()
        state = made.embedded.state
        key = await state.store.key(head.run)
        assert key is not None
        assert (await made.get(f"/runs/{head.run}")).status_code == 200
        clock = SetClock(head.accepted_at / 1000 + 29 * 86_400)
        await Purger(state.stores, clock).purge(7)
        pages = [await made.get(f"/runs/{head.run}{page}") for page in ("", "/trace")]
        assert [page.status_code for page in pages] == [404, 404]
        assert disk.holding(CANARY.encode(), key) == []
        clock.advance(2 * 86_400)
        await Purger(state.stores, clock).purge()
        assert disk.holding(head.run.encode()) == []


async def test_run_due_for_deletion_is_deleted_at_the_next_start(tmp_path: Path) -> None:
    async with company(tmp_path) as made:
        await made.ask("@Gofer hello", "general")
        (head,) = await made.ended()
        month = 31 * 86_400_000
        aged = replace(head, accepted_at=head.accepted_at - month, updated_at=head.updated_at - month)
        await made.embedded.state.store.put_head(aged)
    async with company(tmp_path) as made, asyncio.timeout(60):
        while await made.embedded.state.store.head(head.run):
            await asyncio.sleep(0.01)
        assert list(await made.embedded.state.store.frames(head.run)) == []
