"""New workers and those at work: a message that begins another worker goes to one with a free slot."""

import asyncio
import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.app.functions.offering import HEAD_START, LAST_LOOK
from gofer.app.functions.worker_batch import PARKED, ROOM
from gofer.values.errors import ConfigError, TemporaryError
from support.aws.worker_in_virtual_time import Function, MemoryOffers, Mortal, Timed, play, run_id
from support.runtime.worker_parts import worker_over
from support.simulation.virtual_time import VirtualClock


def test_message_of_a_new_worker_is_answered_by_the_one_at_work() -> None:
    async def story(clock: VirtualClock) -> None:
        made = Function(clock, Timed([100.0, 2.0]), offers=MemoryOffers())
        working = await made.work(1, 30)
        quick = await made.accept(2)
        # Lambda must not delete the message of another worker.
        assert await made.invoke() == ["m2"]
        assert made.billed == [pytest.approx(HEAD_START + LAST_LOOK)]
        await asyncio.sleep(1)
        assert (await made.status(run_id(1)), await made.status(quick)) == ("running", "done")
        assert await working == []
        assert (len(made.made.posted), made.waiting()) == (2, {})

    play(story)


def test_new_worker_beside_a_full_one_begins_after_a_quarter_of_a_second() -> None:
    async def story(clock: VirtualClock) -> None:
        model = Timed([100.0, 2.0])
        made = Function(clock, model, slots=1, offers=MemoryOffers())
        working = await made.work(1, 30)
        await made.accept(2)
        assert await made.invoke() == []
        assert model.asked_at[1] == pytest.approx(30 + HEAD_START, abs=0.1)
        assert await working == []
        assert made.waiting() == {}

    play(story)


def test_worker_near_the_end_of_its_time_takes_no_offer() -> None:
    async def story(clock: VirtualClock) -> None:
        model = Timed([100.0, 2.0])
        made = Function(clock, model, offers=MemoryOffers())
        await made.accept(1)
        working = asyncio.create_task(made.invoke(seconds=ROOM + 30))
        await asyncio.sleep(32)
        await made.accept(2)
        assert await made.invoke() == []
        assert made.billed[0] > 2
        assert await working == []

    play(story)


def test_message_that_came_back_is_not_offered() -> None:
    async def story(clock: VirtualClock) -> None:
        offers = MemoryOffers()
        made = Function(clock, Timed([100.0, 2.0]), offers=offers)
        working = await made.work(1, 30)
        returned = await made.accept(2)
        await made.queue.receive(1, 0, 0)
        assert await made.invoke() == []
        assert (await made.status(returned), offers.made) == ("done", 1)
        assert await working == []

    play(story)


def test_message_of_a_killed_taker_comes_back_and_is_answered_once() -> None:
    async def story(clock: VirtualClock) -> None:
        made = Function(clock, Timed([10_000.0, 10_000.0, 1.0, 1.0]), offers=MemoryOffers())
        survivor = made.worker
        store, queue = Mortal(made.made.store), Mortal(made.queue)
        made.worker = worker_over(survivor, store=store, queue=queue)  # type: ignore[arg-type]
        made.reached = queue  # type: ignore[assignment]
        first = await made.accept(1)
        doomed = asyncio.create_task(made.invoke())
        await asyncio.sleep(5)
        made.worker, made.reached = survivor, made.queue
        taken = await made.accept(2)
        assert await made.invoke() == ["m2"]
        await asyncio.sleep(30)
        assert [await made.status(run) for run in (first, taken)] == ["running", "running"]
        store.killed = queue.killed = True
        await asyncio.sleep(130)
        assert await made.invoke() == []
        assert [await made.status(run) for run in (first, taken)] == ["done", "done"]
        assert (made.made.posted, made.waiting()) == (["Hello.", "Hello."], {})
        doomed.cancel()

    play(story)


def test_new_workers_at_the_same_time_process_each_message_once() -> None:
    async def story(clock: VirtualClock) -> None:
        made = Function(clock, Timed([1.0] * 3), offers=MemoryOffers())
        workers: list[asyncio.Task[list[str]]] = []
        for number in (1, 2, 3):
            await made.accept(number)
            workers.append(asyncio.create_task(made.invoke()))
            await asyncio.sleep(0.1)
        await asyncio.gather(*workers)
        assert len(made.made.posted) == 3
        assert made.waiting() == {}

    play(story)


ERRORS = pytest.mark.parametrize("error", [TemporaryError("SQS is busy"), ConfigError("not allowed")])


@ERRORS
@pytest.mark.parametrize("succeed", [0, 1])
def test_worker_that_cannot_offer_processes_its_messages_itself(error: Exception, succeed: int) -> None:
    async def story(clock: VirtualClock) -> None:
        offers = MemoryOffers()
        offers.fails = [*[None] * succeed, error, error]
        made = Function(clock, Timed([0.5]), offers=offers)
        run = await made.accept(1)
        assert await made.invoke() == []
        assert (await made.status(run), made.made.posted, made.waiting()) == ("done", ["Hello."], {})

    play(story)


@ERRORS
def test_message_with_a_failed_offer_is_processed_and_the_other_one_passed_on(error: Exception) -> None:
    async def story(clock: VirtualClock) -> None:
        offers = MemoryOffers()
        made = Function(clock, Timed([100.0, 1.0, 1.0]), offers=offers)
        working = await made.work(1, 30)
        runs = [await made.accept(number) for number in (2, 3)]
        offers.fails = [error]
        assert len(await made.invoke()) == 1
        await asyncio.sleep(2)
        assert {await made.status(run) for run in runs} == {"done"}
        assert await working == []
        assert (len(made.made.posted), made.waiting()) == (3, {})

    play(story)


def test_worker_that_takes_a_copy_of_its_own_offer_keeps_the_message() -> None:
    async def story(clock: VirtualClock) -> None:
        offers = MemoryOffers()
        made = Function(clock, Timed([10_000.0]), offers=offers)
        # The offer is sent, and cannot be taken back.
        offers.fails = [None, TemporaryError("busy"), TemporaryError("busy")]
        run = await made.accept(1)
        assert await made.invoke() == []
        assert offers.offered == []
        # The run was cut off at the deadline, and its new message is there.
        assert set(made.waiting()) == {run}

    play(story)


def test_worker_takes_back_all_its_offers_though_one_request_returns_one() -> None:
    async def story(clock: VirtualClock) -> None:
        offers = MemoryOffers()
        offers.most = 1
        made = Function(clock, Timed([0.5, 0.5, 0.5]), offers=offers)
        runs = [await made.accept(number) for number in (1, 2, 3)]
        assert await made.invoke() == []
        assert {await made.status(run) for run in runs} == {"done"}
        assert made.waiting() == {}

    play(story)


def test_offer_of_another_new_worker_is_left_to_the_worker_at_work() -> None:
    async def story(clock: VirtualClock) -> None:
        model = Timed([100.0, 1.0, 1.0])
        offers = MemoryOffers()
        made = Function(clock, model, offers=offers)
        working = await made.work(1, 30)
        first = await made.accept(2)
        passing = asyncio.create_task(made.invoke())
        # The first new worker still waits for its own offer when the second one offers, and gets that offer.
        await asyncio.sleep(HEAD_START + LAST_LOOK / 2)
        offers.newest_first = True
        second = await made.accept(3)
        assert await made.invoke() == ["m3"]
        assert await passing == ["m2"]
        await asyncio.sleep(3)
        assert [await made.status(run) for run in (first, second)] == ["done", "done"]
        # One worker asked the model, and the two others ended without it.
        assert len(model.asked_at) == 3
        assert max(made.billed) < HEAD_START + 2 * LAST_LOOK + 1
        assert await working == []

    play(story)


@pytest.mark.parametrize("seed", range(5))
def test_new_workers_at_the_same_time_find_their_offers_in_any_order(seed: int) -> None:
    async def story(clock: VirtualClock) -> None:
        offers = MemoryOffers()
        offers.chance = random.Random(seed)
        model = Timed([30.0] * 20)
        made = Function(clock, model, slots=1, offers=offers)
        working = [await made.work(number, 0) for number in range(20)]
        assert await asyncio.gather(*working) == [[]] * 20
        # No message waits for another worker, which has no free slot before half a minute is over.
        assert max(model.asked_at) < HEAD_START + 1

    play(story)


def test_worker_of_a_message_that_came_back_takes_no_other_conversation() -> None:
    async def story(clock: VirtualClock) -> None:
        made = Function(clock, Timed([50.0, 1.0]), offers=MemoryOffers())
        await made.accept(1)
        await made.queue.receive(1, 0, 0)
        working = asyncio.create_task(made.invoke())
        await asyncio.sleep(10)
        await made.accept(2)
        assert await made.invoke() == []
        assert made.billed[0] < 3
        assert await working == []

    play(story)


@ERRORS
def test_worker_without_answers_to_its_offers_receives_from_the_queue(error: Exception) -> None:
    async def story(clock: VirtualClock) -> None:
        offers = MemoryOffers()
        made = Function(clock, Timed([60.0, 1.0]), offers=offers)
        working = await made.work(1, 10)
        offers.fails = [error] * 100
        await asyncio.sleep(5)
        second = await made.accept(2)
        await asyncio.sleep(5)
        assert await made.status(second) == "done"
        assert await working == []

    play(story)


def test_backlog_for_which_lambda_begins_no_worker_is_received_without_a_pause() -> None:
    async def story(clock: VirtualClock) -> None:
        model = Timed([30.0, *[2.0] * 4])
        made = Function(clock, model, slots=2, offers=MemoryOffers())
        working = await made.work(0, 1)
        backlog = [await made.accept(number) for number in range(1, 5)]
        assert await working == []
        assert {await made.status(run) for run in backlog} == {"done"}
        # The first look waits for offers, and the further ones do not.
        assert model.asked_at[-1] - model.asked_at[1] == pytest.approx(3 * 2.0, abs=0.1)

    play(story)


def test_messages_of_a_new_worker_without_settings_come_back_in_half_a_minute() -> None:
    async def story(clock: VirtualClock) -> None:
        made = Function(clock, Timed([1.0]), offers=MemoryOffers())
        made.refuses = [TemporaryError("Parameter Store is busy")]
        run = await made.accept(1)
        with pytest.raises(TemporaryError):
            await made.invoke()
        assert made.waiting() == {run: pytest.approx(PARKED, abs=1)}
        await asyncio.sleep(PARKED)
        assert await made.invoke() == []
        assert await made.status(run) == "done"

    play(story)


ARRIVAL = st.tuples(st.floats(0, 200), st.floats(0.01, 100))


@given(arrivals=st.lists(ARRIVAL, min_size=1, max_size=12), slots=st.integers(1, 4))
def test_each_message_is_always_answered_once(arrivals: Sequence[tuple[float, float]], slots: int) -> None:
    async def story(clock: VirtualClock) -> None:
        made = Function(clock, Timed([seconds for _, seconds in arrivals]), slots=slots, offers=MemoryOffers())

        async def arrive(number: int, at: float) -> str:
            await asyncio.sleep(at)
            run = await made.accept(number)
            await made.invoke()
            return run

        runs = await asyncio.gather(*(arrive(number, at) for number, (at, _) in enumerate(arrivals)))
        assert {await made.status(run) for run in runs} == {"done"}
        assert len(made.made.posted) == len(arrivals)
        assert made.waiting() == {}

    play(story)
