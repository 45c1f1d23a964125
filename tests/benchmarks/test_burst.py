"""Mentions from signed deliveries to answers, in virtual time (`burst.py` says what is real and what is modelled)."""

from burst import Load, Outcome, burst

MEAN = 58.0
"""Seconds of a run on average."""
HEADER = (
    "most    | waiting in the queue, s | accepted to ended, s, last | billed | USD a million\n"
    "workers |   p50    p95    max     |    p50     p95    run      | s a run| without tokens"
)


def test_burst_of_ten_thousand_mentions_a_minute_is_answered_whole() -> None:
    mentions = 10_000
    print(f"\n{mentions:,} mentions in a minute, each delivered twice, runs of {MEAN:.0f} s on average\n{HEADER}")
    outcome = burst(Load(mentions, 60.0, MEAN, workers=1_000))
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
    print(f"\n{each_day:,} runs a day, {runs} of them, by WorkerConcurrency\n{HEADER}")
    costs: dict[str, float] = {}
    for name, workers, slots, offers in (
        ("2 workers", 2, 10, True),
        ("5 workers", 5, 10, True),
        ("20 workers", 20, 10, True),
        ("20 workers that offer nothing", 20, 10, False),
        ("20 workers that process only their batches", 20, 1, False),
    ):
        outcome = burst(Load(runs, runs * 86_400 / each_day, MEAN, workers, slots, offers))
        print(f"at most {name}")
        told(outcome)
        whole(outcome, runs)
        costs[name] = outcome.usd_per_million()
    assert costs["20 workers"] < costs["20 workers that offer nothing"] / 2


def test_burst_model_shows_the_costs_of_a_busy_day() -> None:
    runs = 900
    each_day = 100_000
    print(f"\n{each_day:,} runs a day, {runs} of them, at most 100 workers\n{HEADER}")
    outcome = burst(Load(runs, runs * 86_400 / each_day, MEAN, workers=100))
    told(outcome)
    whole(outcome, runs)


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
