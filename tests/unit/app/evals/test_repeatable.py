import asyncio

import pytest

from gofer.app.evals.repeatable import Seed, VirtualClock

pytestmark = pytest.mark.anyio


async def test_sleep_moves_both_clocks_and_takes_no_time() -> None:
    clock = VirtualClock(1_000.0)
    async with asyncio.timeout(1):
        await clock.sleep(3_600.0)
    assert (clock.now(), clock.monotonic()) == (4_600.0, 3_600.0)


def test_duration_of_an_answer_changes_no_time_of_day() -> None:
    clock = VirtualClock(1_000.0)
    clock.spend(2.5)
    clock.advance(-5.0)
    assert (clock.now(), clock.monotonic()) == (1_000.0, 2.5)


def test_seed_draws_the_same_values_for_a_case_and_others_for_other_cases() -> None:
    seeds = [Seed("a", "one"), Seed("a", "one"), Seed("a", "two"), Seed("b", "one")]
    drawn = [(seed.new_id(), seed.new_key(), seed.installation_key().current.reveal()) for seed in seeds]
    assert drawn[0] == drawn[1]
    assert len(set(drawn)) == 3
    assert seeds[0].new_id() != drawn[0][0]
    assert {len(key) for _, key, _ in drawn} == {64}
