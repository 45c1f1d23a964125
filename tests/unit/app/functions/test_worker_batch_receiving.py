"""The worker function with free slots: it receives further messages while its time lasts and work is in flight."""

import asyncio
from dataclasses import replace

import pytest

from gofer.app.functions.worker_batch import LEAVE, LOOK, PARKED, ROOM, WAIT
from gofer.journal.coordination import Head
from gofer.journal.entries import RunHandedOver
from gofer.journal.log import read_journal
from gofer.stores.memory.journal import MemoryStore
from gofer.stores.queue import UNKNOWN, QueueLine, QueueMessage
from gofer.values.errors import ConfigError, TemporaryError
from support.aws.worker_in_virtual_time import LIFE, Function, Mortal, Timed, play, run_id
from support.runtime.worker_parts import worker_over
from support.simulation.virtual_time import VirtualClock


def test_mention_during_a_long_run_is_answered_by_the_same_worker_without_waiting() -> None:
    async def story(clock: VirtualClock) -> None:
        model = Timed([100.0, 2.0])
        made = Function(clock, model)
        await made.accept(1)
        working = asyncio.create_task(made.invoke())
        await asyncio.sleep(30)
        quick = await made.accept(2)
        await asyncio.sleep(3)
        assert await made.status(quick) == "done"
        assert model.asked_at[1] == pytest.approx(30, abs=0.5)
        assert await working == []
        assert made.waiting() == {}
        assert made.billed[0] == pytest.approx(100, abs=WAIT + 0.5)

    play(story)


def test_worker_without_work_ends_within_a_second() -> None:
    async def story(clock: VirtualClock) -> None:
        made = Function(clock, Timed([0.2, 5.0]))
        await made.accept(1)
        await made.invoke()
        # Work that ends within a look is not followed by a request to the queue.
        assert (made.queue.receives, made.billed[0] < LOOK) == ([], True)
        await made.accept(2)
        await made.invoke()
        assert made.billed[1] <= 5 + WAIT + 0.5
        assert 3 <= len(made.queue.receives) <= 6

    play(story)


def test_full_worker_receives_only_after_a_conversation_ended() -> None:
    async def story(clock: VirtualClock) -> None:
        made = Function(clock, Timed([20.0, 40.0, 1.0]), slots=2)
        for number in (1, 2):
            await made.accept(number)
        working = asyncio.create_task(made.invoke())
        await asyncio.sleep(5)
        third = await made.accept(3)
        await asyncio.sleep(10)
        assert (made.queue.receives, await made.status(third)) == ([], "queued")
        await asyncio.sleep(10)
        assert await made.status(third) == "done"
        assert await working == []

    play(story)


def test_worker_near_the_end_of_its_time_leaves_messages_in_the_queue() -> None:
    async def story(clock: VirtualClock) -> None:
        made = Function(clock, Timed([100.0]))
        await made.accept(1)
        working = asyncio.create_task(made.invoke(seconds=ROOM + 30))
        await asyncio.sleep(32)
        late = await made.accept(2)
        assert await working == []
        assert made.queue.receives[-1] <= 30
        assert (await made.status(late), made.waiting()[late] <= 0) == ("queued", True)

    play(story)


def test_received_run_cut_off_at_the_deadline_is_handed_over_and_visible_soon() -> None:
    async def story(clock: VirtualClock) -> None:
        made = Function(clock, Timed([10_000.0, 10_000.0]))
        await made.accept(1)
        working = asyncio.create_task(made.invoke())
        await asyncio.sleep(100)
        second = await made.accept(2)
        assert await working == []
        assert made.billed[0] <= LIFE - LEAVE / 2
        assert all(0 <= seconds <= 1 for seconds in made.waiting().values())
        assert set(made.waiting()) == {run_id(1), second}
        # New messages, which count their receipts from one.
        await asyncio.sleep(1)
        assert {taken.receives for taken in await made.queue.receive(10, 1, 0)} == {1}
        entries = [item.entry for item in await read_journal(second, made.made.store, made.made.blobs)]
        assert entries[-1] == RunHandedOver("interrupted")

    play(story)


def test_message_that_a_killed_worker_received_comes_back_and_is_answered_once() -> None:
    async def story(clock: VirtualClock) -> None:
        function = Function(clock, Timed([10_000.0, 10_000.0, 1.0, 1.0]))
        survivor = function.worker
        store, queue = Mortal(function.made.store), Mortal(function.queue)
        function.worker = worker_over(survivor, store=store, queue=queue)  # type: ignore[arg-type]
        function.reached = queue  # type: ignore[assignment]
        in_batch = await function.accept(1)
        doomed = asyncio.create_task(function.invoke())
        await asyncio.sleep(5)
        received = await function.accept(2)
        await asyncio.sleep(30)
        assert [await function.status(run) for run in (in_batch, received)] == ["running", "running"]
        store.killed = queue.killed = True
        await asyncio.sleep(130)
        function.worker = survivor
        function.reached = function.queue
        assert await function.invoke() == []
        assert [await function.status(run) for run in (in_batch, received)] == ["done", "done"]
        assert (function.made.posted, function.waiting()) == (["Hello.", "Hello."], {})
        doomed.cancel()

    play(story)


def test_last_message_of_the_batch_is_deleted_once_the_invocation_goes_on() -> None:
    async def story(clock: VirtualClock) -> None:
        made = Function(clock, Timed([5.5, 300.0]))
        first = await made.accept(1)
        working = asyncio.create_task(made.invoke())
        # It arrives while the last request to the queue is in flight, after the first conversation ended.
        await asyncio.sleep(5.8)
        assert first not in made.queue.acknowledged
        second = await made.accept(2)
        await asyncio.sleep(150)
        assert first in made.queue.acknowledged
        assert set(made.waiting()) == {second}
        assert await working == []
        assert (await made.status(first), await made.status(second)) == ("done", "done")

    play(story)


def test_queue_that_fails_is_asked_again_and_a_refused_permission_ends_only_the_receiving() -> None:
    async def story(clock: VirtualClock) -> None:
        made = Function(clock, Timed([60.0, 1.0]))
        made.queue.fails = [TemporaryError("busy")] * 3
        await made.accept(1)
        working = asyncio.create_task(made.invoke())
        await asyncio.sleep(20)
        second = await made.accept(2)
        await asyncio.sleep(5)
        assert await made.status(second) == "done"
        made.queue.fails = [ConfigError("not allowed")]
        await asyncio.sleep(5)
        asked = len(made.queue.receives)
        assert await working == []
        assert len(made.queue.receives) == asked
        assert await made.status(run_id(1)) == "done"

    play(story)


def test_worker_that_may_not_renew_its_message_finishes_the_run_and_logs_the_reason(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def story(clock: VirtualClock) -> None:
        model = Timed([100.0])
        made = Function(clock, model)

        async def refuse(queue_message: QueueMessage, visibility: float) -> None:
            raise ConfigError("AWS does not allow change_message_visibility here")

        made.queue.extend = refuse  # type: ignore[method-assign]
        run = await made.accept(1)
        assert await made.invoke() == []
        assert (await made.status(run), len(model.asked_at)) == ("done", 1)

    play(story)
    assert "was not renewed: AWS does not allow change_message_visibility here" in caplog.text


def test_worker_that_may_not_delay_a_failed_message_raises_no_error() -> None:
    async def story(clock: VirtualClock) -> None:
        missing = run_id(7)
        made = Function(clock, Timed([]), store=AwayFor(missing))

        async def refuse(queue_message: QueueMessage, visibility: float) -> None:
            raise ConfigError("AWS does not allow change_message_visibility here")

        made.queue.extend = refuse  # type: ignore[method-assign]
        await made.worker.answer(QueueMessage(missing, "1", 1))

    play(story)


def test_run_that_needs_more_time_than_is_left_goes_to_another_worker() -> None:
    async def story(clock: VirtualClock) -> None:
        made = Function(clock, Timed([100.0, 1.0]))
        services = made.worker.services
        tools = dict(services.tools)
        made.worker = replace(made.worker, services=replace(services, tools=tools))
        await made.accept(1)
        working = asyncio.create_task(made.invoke())
        await asyncio.sleep(5)
        tools |= {name: replace(tool, timeout=LIFE) for name, tool in tools.items()}
        second = await made.accept(2)
        await asyncio.sleep(30)
        asked = len(made.queue.receives)
        assert await working == []
        # Its new message is left to the next worker, and so is everything else.
        assert (made.waiting()[second] < 0, len(made.queue.receives)) == (True, asked)
        assert {taken.receives for taken in await made.queue.receive(10, 1, 0)} == {1}

    play(story)


class AwayFor(MemoryStore):
    """A store that cannot read the head of one run."""

    def __init__(self, run: str) -> None:
        super().__init__()
        self.run = run

    async def head(self, run: str) -> Head | None:
        if run == self.run:
            raise TemporaryError("away")
        return await super().head(run)


def test_message_that_fails_keeps_its_own_pause() -> None:
    async def story(clock: VirtualClock) -> None:
        missing = run_id(7)
        made = Function(clock, Timed([2.3]), store=AwayFor(missing))
        await made.accept(1)
        working = asyncio.create_task(made.invoke())
        await asyncio.sleep(2.2)
        await made.queue.enqueue(missing)
        assert await working == []
        assert clock.monotonic() + made.waiting()[missing] == pytest.approx(4.2, abs=0.1)

    play(story)


@pytest.mark.parametrize("error", [TemporaryError("Parameter Store is busy"), ConfigError("INSTALLATION_KEY")])
def test_settings_away_for_half_an_hour_make_no_dead_letter(error: Exception) -> None:
    async def story(clock: VirtualClock) -> None:
        made = Function(clock, Timed([1.0]))
        run = await made.accept(1)
        made.refuses = [error] * 60
        while made.refuses:
            # The failed invocation is what the alarm hears.
            with pytest.raises(type(error)):
                await made.invoke()
            assert made.waiting()[run] == pytest.approx(PARKED, abs=1)
            await asyncio.sleep(PARKED)
        assert clock.monotonic() >= 1_800
        assert await made.invoke() == []
        assert (await made.status(run), await made.queue.dead_letters(10)) == ("done", [])
        assert made.waiting() == {}

    play(story)


def test_message_comes_back_soon_when_settings_and_queue_are_both_away() -> None:
    async def story(clock: VirtualClock) -> None:
        made = Function(clock, Timed([1.0]))
        run = await made.accept(1)
        made.refuses = [TemporaryError("away")]

        async def refuse(run: str, delay: float = 0.0, *, line: QueueLine = UNKNOWN) -> None:
            raise TemporaryError("away")

        made.queue.enqueue = refuse  # type: ignore[method-assign]
        with pytest.raises(TemporaryError):
            await made.invoke()
        assert made.waiting() == {run: pytest.approx(PARKED, abs=1)}

    play(story)
