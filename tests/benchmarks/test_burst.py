"""Mentions from signed deliveries to answers, in virtual time (`burst.py` says what is real and what is modelled)."""

from burst import Load, Outcome, burst

MEAN = 58.0
"""Seconds of a run on average."""
HEADER = (
    "most    | waiting in the queue, s | accepted to ended, s, last | billed | USD a million\n"
    "workers |   p50    p95    max     |    p50     p95    run      | s a run| without tokens"
)


def test_burst_of_ten_thousand_mentions_a_minute_is_answered_whole() -> None:
    # A quarter of the minute and of the workers, which is the same load for each worker.
    mentions = 2_500
    print(f"\n{mentions:,} mentions in 15 s, each delivered twice, runs of {MEAN:.0f} s on average\n{HEADER}")
    outcome = burst(Load(mentions, 15.0, MEAN, workers=250))
    told(outcome)
    whole(outcome, mentions)


def test_burst_larger_than_the_workers_waits_its_turn() -> None:
    mentions = 1_000
    print(f"\n{mentions:,} mentions in six seconds, the same rate, for 20 workers\n{HEADER}")
    outcome = burst(Load(mentions, 6.0, MEAN, workers=20))
    told(outcome)
    whole(outcome, mentions)


def test_burst_model_shows_the_costs_of_a_steady_day() -> None:
    runs = 400
    each_day = 10_000
    print(f"\n{each_day:,} runs a day, {runs} of them, by WorkerConcurrency and conversations of a worker\n{HEADER}")
    costs: dict[tuple[int, int], float] = {}
    for workers, slots in ((2, 10), (5, 10), (20, 10), (20, 1)):
        outcome = burst(Load(runs, runs * 86_400 / each_day, MEAN, workers, slots))
        print(f"at most {workers} workers; ", "receiving" if slots > 1 else "only batches")
        told(outcome)
        whole(outcome, runs)
        costs[workers, slots] = outcome.usd_per_million()
    assert costs[2, 10] < costs[20, 1] / 2


def told(outcome: Outcome) -> None:
    """Print the figures of an outcome."""
    print(f"  {outcome.line()}")
    sent, received = outcome.requests["send"], outcome.requests["receive"]
    print(f"        {outcome.deliveries:,} deliveries, {sent:,} messages sent, {received:,} receives,", end=" ")
    print(f"{outcome.invocations:,} invocations of the worker")


def whole(outcome: Outcome, mentions: int) -> None:
    """Assert that every mention was accepted and answered once."""
    assert outcome.accepted == outcome.ended == outcome.answers == mentions
    assert (outcome.unfinished, outcome.dead) == (0, 0)
