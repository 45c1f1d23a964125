"""The queue model behind the cost table of docs/scale.md."""

from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from queue_model import Outcome, Run, Workers, batches, poisson, receiving

RUNS = st.lists(st.tuples(st.floats(0, 100), st.floats(0.1, 840)), min_size=1, max_size=60).map(
    lambda drawn: [Run(at, seconds) for at, (_, seconds) in zip(sorted(at for at, _ in drawn), drawn, strict=True)]
)
Play = Callable[[Sequence[Run], Workers], Outcome]
WAYS = pytest.mark.parametrize("play", [batches, receiving])


def test_single_run_of_a_batch_waits_for_the_window_and_pays_its_seconds() -> None:
    outcome = batches([Run(5.0, 58.0)], Workers())
    assert (outcome.billed, outcome.invocations, outcome.peak) == (58.0, 1.0, 1)
    assert outcome.waits == [1.0]


def test_single_run_of_a_receiving_worker_waits_for_takers_and_pays_for_the_wait() -> None:
    outcome = receiving([Run(5.0, 58.0)], Workers())
    assert (outcome.billed, outcome.invocations, outcome.peak) == (58.25, 1.0, 1)
    assert outcome.waits == [0.25]


@WAYS
def test_ten_runs_of_one_second_share_a_worker(play: Play) -> None:
    outcome = play([Run(n / 10, 58.0) for n in range(10)], Workers())
    assert outcome.peak == 1
    assert outcome.billed < 6.0 + 1.25


def test_run_that_arrives_later_waits_for_no_batch_to_end() -> None:
    runs = [Run(0.0, 60.0), Run(30.0, 60.0)]
    assert batches(runs, Workers()).billed == 60.0
    assert receiving(runs, Workers()).waits == [0.0, 0.25]
    assert receiving(runs, Workers()).billed == pytest.approx((90.0 + 1.25) / 2)


def test_worker_takes_no_run_in_the_last_300_seconds() -> None:
    chain = [Run(n * 50.0, 60.0) for n in range(20)]
    ended = 950.0 + 60.0
    second = receiving(chain, Workers(life=840, room=300, passing=0.0, head_start=0.0))
    # The first worker takes runs until 540 s, of which the last one ends at 560 s.
    assert second.billed * 20 == pytest.approx(560.0 + ended - 550.0)
    assert receiving(chain, Workers(life=1_500, room=300, passing=0.0, head_start=0.0)).billed * 20 == ended


def test_each_passed_message_is_paid_for() -> None:
    runs = [Run(float(n), 30.0) for n in range(10)]
    free = receiving(runs, Workers(passing=0.0))
    paid = receiving(runs, Workers(passing=1.25))
    assert paid.billed - free.billed == pytest.approx(9 * 1.25 / 10)
    assert paid.invocations == 1.0


def test_oldest_worker_first_needs_fewer_seconds_than_one_at_random() -> None:
    runs = poisson(100_000, 20_000, 58.0)
    assert receiving(runs, Workers(oldest_first=True)).billed < receiving(runs, Workers()).billed


def test_runs_wait_in_order_when_all_slots_are_taken() -> None:
    runs = [Run(0.0, 100.0), Run(1.0, 100.0), Run(2.0, 100.0)]
    workers = Workers(most=1, slots=1, window=0.0, head_start=0.0, room=0.0)
    assert receiving(runs, workers).waits == [0.0, 99.0, 198.0]
    assert batches(runs, workers).waits == [0.0, 99.0, 198.0]


@WAYS
@given(runs=RUNS, most=st.integers(1, 4), slots=st.integers(1, 4))
def test_every_run_begins_and_no_slot_is_used_twice(play: Play, runs: list[Run], most: int, slots: int) -> None:
    outcome = play(runs, Workers(most=most, slots=slots))
    assert len(outcome.waits) == len(runs)
    assert outcome.waits[0] >= 0
    assert outcome.peak <= most
    assert outcome.billed * len(runs) * slots >= sum(run.seconds for run in runs) * (1 - 1e-9)


@given(runs=RUNS, slots=st.integers(1, 4))
def test_oldest_worker_first_costs_the_same_as_a_plain_search_for_a_free_slot(runs: list[Run], slots: int) -> None:
    workers = Workers(most=1_000, slots=slots, head_start=0.0, passing=0.0, oldest_first=True)
    assert receiving(runs, workers).billed * len(runs) == pytest.approx(searched(runs, workers))


def searched(runs: list[Run], workers: Workers) -> float:
    """Return the billed seconds of enough workers, found by looking at every worker for every run."""
    awake: list[tuple[float, list[float]]] = []
    for run in runs:
        fitting = [
            ends
            for started, ends in awake
            if max(ends) > run.at
            and sum(end > run.at for end in ends) < workers.slots
            and run.at - started < workers.life - workers.room
        ]
        if not fitting:
            awake.append((run.at, []))
            fitting = [awake[-1][1]]
        fitting[0].append(run.at + run.seconds)
    return sum(max(ends) - started for started, ends in awake)


def test_same_seed_gives_the_same_runs_and_another_seed_others() -> None:
    assert poisson(1_000, 50, 58.0) == poisson(1_000, 50, 58.0)
    assert poisson(1_000, 50, 58.0) != poisson(1_000, 50, 58.0, seed=8)


def test_runs_arrive_and_last_as_asked_on_average() -> None:
    runs = poisson(86_400, 20_000, 58.0)
    assert runs[-1].at / len(runs) == pytest.approx(1.0, rel=0.03)
    assert sum(run.seconds for run in runs) / len(runs) == pytest.approx(58.0, rel=0.03)
