"""The table of what Gofer costs on AWS by runs a day, with all its assumptions.

Requests are counted in one run on the AWS stores, waits and billed seconds come from the queue model, and prices from
aws_prices.json. `make cost` prints the table and writes it into docs/scale.md. With arguments it prints another one.
"""

import argparse
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from aws_cost import PRICES, RUNS, Compute, Work, memory_mb, usd_of, usd_per_million
from queue_model import DAY, Outcome, Workers, batches, poisson, receiving
from serverless_run import RESULT, TURNS, Counted, count
from serverless_run import SECONDS as COUNTED_SECONDS

from gofer.runtime.worker import CONCURRENCY
from support.aws.template import of_type, written

RUNS_A_DAY = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)
TYPICAL = 10_000
"""The runs a day for which the parts are listed."""
LEAST_RUNS = 20_000
HOURS = 1.0
"""The model plays this time, and at least the least number of runs."""
MONTH = 30
"""Days of a month."""
LONG_POLL = 20.0
"""Seconds of one request of the mapping that finds no message."""
LOOKS_A_SECOND = 2.0
"""Requests of a worker with free slots: one that waits a second for offers, and one look at the queue."""
OFFERING = 4
"""Requests for each message that is offered: to offer it, to look for it, to take and to delete the offer."""
POLLERS = 5
"""Requests for messages that the mapping always keeps open."""
PAGE = Path(__file__).parents[2] / "docs" / "scale.md"
BEGIN, END = "<!-- costs, made by `make cost` -->\n", "<!-- end of costs -->\n"
ABOUT = json.loads(Path(__file__).with_name("aws_prices.json").read_text())


@dataclass(frozen=True, slots=True)
class Load:
    """What a company asks of Gofer."""

    runs_a_day: float
    seconds: float = COUNTED_SECONDS
    """The average duration of a run."""
    deliveries: int = 2
    """Deliveries of one mention: Slack may send an `app_mention` and a `message`."""
    most: int = 1_000
    """The most workers at once."""


@dataclass(frozen=True, slots=True)
class Cost:
    """The outcome of one way to take work, with its costs."""

    outcome: Outcome
    parts: Mapping[str, float]
    """USD for a million runs by part."""

    @property
    def million(self) -> float:
        """The USD for a million runs, without what is paid by the month."""
        return sum(self.parts.values())

    def month(self, runs_a_day: float) -> float:
        """Return the USD of a month, with the alarms and the requests of the mapping."""
        return self.million * runs_a_day * MONTH / RUNS + fixed()


def fixed() -> float:
    """Return the USD of a month without runs."""
    polls = POLLERS / LONG_POLL * DAY * MONTH
    return alarm_metrics() * PRICES["alarm_metric_month"] + polls * PRICES["sqs_request"]


def alarm_metrics() -> int:
    """Return how many metrics the alarms of template.yaml watch."""
    alarms = of_type(written(), "AWS::CloudWatch::Alarm").values()
    return sum(max(1, sum("MetricStat" in one for one in alarm.get("Metrics", []))) for alarm in alarms)


def costs(load: Load, counted: Counted) -> tuple[Cost, Cost]:
    """Return the costs of batches and of receiving workers."""
    runs = poisson(load.runs_a_day, _played(load), load.seconds)
    workers = Workers(most=load.most)
    return (
        _cost(batches(runs, workers), load, counted, own_polls=False),
        _cost(receiving(runs, workers), load, counted, own_polls=True),
    )


def _played(load: Load) -> int:
    return max(LEAST_RUNS, int(load.runs_a_day * HOURS / 24))


def _cost(outcome: Outcome, load: Load, counted: Counted, *, own_polls: bool) -> Cost:
    compute = Compute(
        outcome.billed * 1_000,
        memory_mb("WorkerFunction"),
        outcome.invocations,
        ingress_mb=memory_mb("SlackFunction"),
    )
    parts = dict(usd_per_million(counted.run, compute))
    parts["ingress"] *= load.deliveries
    # The second delivery finds the claim of the first one: a conditional write that fails, and a read.
    repeated = PRICES["dynamodb_write_unit"] + PRICES["dynamodb_read_unit"]
    parts["repeated deliveries"] = (load.deliveries - 1) * repeated * RUNS
    if own_polls:
        parts["SQS"] += (outcome.billed * LOOKS_A_SECOND + OFFERING) * PRICES["sqs_request"] * RUNS
    parts["deletion"] = usd_of(counted.retention)
    return Cost(outcome, parts)


def table(loads: Sequence[Load], counted: Counted) -> Iterator[str]:
    """Yield the lines of the table, in Markdown."""
    yield "| runs a day | | USD a million | of it worker | USD a month | wait p50, p95 (s) | workers at once |"
    yield "|---|---|---|---|---|---|---|"
    for load in loads:
        for name, cost in zip(("batches", "receiving"), costs(load, counted), strict=True):
            yield _row(name, load, cost)


def _row(name: str, load: Load, cost: Cost) -> str:
    outcome = cost.outcome
    cells = (
        f"{load.runs_a_day:,.0f}",
        name,
        f"{cost.million:,.0f}",
        f"{cost.parts['worker']:,.0f}",
        f"{cost.month(load.runs_a_day):,.0f}",
        f"{outcome.wait(50):,.1f}, {outcome.wait(95):,.1f}",
        _peak(outcome, load),
    )
    return f"| {' | '.join(cells)} |"


def _peak(outcome: Outcome, load: Load) -> str:
    if outcome.peak == load.most:
        return f"{load.most:,}, all of them"
    return f"{outcome.peak:,}"


def parts(load: Load, counted: Counted) -> Iterator[str]:
    """Yield the parts of the costs of one load, in Markdown."""
    both = costs(load, counted)
    yield f"| USD for a million runs at {load.runs_a_day:,.0f} a day | batches | receiving |"
    yield "|---|---|---|"
    for name in both[0].parts:
        yield f"| {name} | {both[0].parts[name]:,.1f} | {both[1].parts[name]:,.1f} |"


def placements(load: Load) -> Iterator[str]:
    """Yield what a million runs cost the worker by which of the workers with a free slot takes a message."""
    runs = poisson(load.runs_a_day, _played(load), load.seconds)
    price = memory_mb("WorkerFunction") / 1_024 * PRICES["lambda_gb_second_arm64"] * RUNS
    workers = Workers(most=load.most)
    free = replace(workers, passing=0.0)
    oldest = "the oldest worker with a free slot, and it costs nothing to pass it on"
    yield f"| who takes a message, at {load.runs_a_day:,.0f} runs a day | USD a million for the worker |"
    yield "|---|---|"
    for name, way in (
        (oldest, replace(free, oldest_first=True)),
        ("a worker at random, and it costs nothing to pass it on", free),
        (f"a worker at random, and {workers.passing:.2f} s of a new one pass it on (as above)", workers),
    ):
        yield f"| {name} | {receiving(runs, way).billed * price:,.0f} |"


@dataclass(frozen=True, slots=True)
class Machine:
    """One machine that runs `gofer serve`."""

    name: str
    processors: float
    """Processors that it may use all day."""

    def month(self, runs_a_day: float, counted: Counted) -> float:
        """Return the USD of a month, with its public address and a disk of twice the journals of a month."""
        hours = PRICES[f"{self.name}_hour"] + PRICES["public_address_hour"]
        disk = DISK_GB + 2 * counted.run.stored_gb * runs_a_day * MONTH
        return hours * 24 * MONTH + disk * PRICES["disk_gb_month"]


MACHINES = (Machine("t4g.small", 0.4), Machine("m7g.medium", 1.0))
DISK_GB = 20
PROCESSOR_SECONDS = 0.03
"""Seconds of a processor for a run of one machine. `make bench` counts 0.019 for a mention with one question to the
model (`-k load`), and 0.024 for a run with five (`-k table`)."""
SLOTS = (CONCURRENCY, 128, 256, 512, 999)
"""Values of GOFER_CONCURRENCY; the first is the default, and the last is the most."""
WORKERS = (5, 10, 20, 50, 100, 200, 500, 1_000)
"""Values of `WorkerConcurrency`; the first is the default."""
LONGEST_WAIT = 5.0
"""The most seconds that 95 of 100 runs may wait for their beginning."""
COMPARED = (100, 300, 1_000, 10_000, 50_000, 100_000, 300_000, 1_000_000)


def payers(counted: Counted) -> Iterator[str]:
    """Yield what a month costs on one machine and on AWS, each with the least concurrency that suffices."""
    concurrency = ("machine | `GOFER_CONCURRENCY`", "AWS: `WorkerConcurrency`")
    yield f"| runs a day | {' | USD a month | '.join(concurrency)} | USD a month | cheaper |"
    yield "|---|---|---|---|---|---|---|"
    for runs_a_day in COMPARED:
        machine, slots = machine_for(Load(runs_a_day))
        workers, cost = stack_for(Load(runs_a_day), counted)
        usd = cost.month(runs_a_day)
        alone = machine.month(runs_a_day, counted)
        cheaper = "machine" if alone < usd else "AWS"
        cells = (
            f"{runs_a_day:,}",
            machine.name,
            f"{slots}",
            f"{alone:,.0f}",
            f"{workers:,}",
            f"{usd:,.0f}",
            cheaper,
        )
        yield f"| {' | '.join(cells)} |"
    yield ""
    yield f"From {even(counted):,} runs a day on, the smallest machine is cheaper than AWS."


def machine_for(load: Load) -> tuple[Machine, int]:
    """Return the smallest machine for a load, and the least conversations at once with which few runs wait."""
    busy = load.runs_a_day / DAY * PROCESSOR_SECONDS
    machine = next(one for one in MACHINES if busy <= one.processors)
    runs = poisson(load.runs_a_day, _played(load), load.seconds)
    # A machine is one worker that never ends.
    alone = Workers(most=1, head_start=0.0, passing=0.0, life=math.inf, room=0.0)
    waits = ((slots, receiving(runs, replace(alone, slots=slots)).wait(95)) for slots in SLOTS)
    return machine, next(slots for slots, wait in waits if wait <= LONGEST_WAIT)


def stack_for(load: Load, counted: Counted) -> tuple[int, Cost]:
    """Return the least workers with which few runs wait, and what they cost."""
    tried = ((most, costs(replace(load, most=most), counted)[1]) for most in WORKERS)
    return next((most, cost) for most, cost in tried if cost.outcome.wait(95) <= LONGEST_WAIT)


def even(counted: Counted) -> int:
    """Return from how many runs a day on the smallest machine is cheaper, in steps of ten."""
    smallest = MACHINES[0]
    return next(
        runs
        for runs in range(10, RUNS, 10)
        if stack_for(Load(runs), counted)[1].month(runs) > smallest.month(runs, counted)
    )


def assumptions(load: Load, counted: Counted) -> Iterator[str]:
    """Yield each assumption of the table."""
    run = counted.run
    deletion = counted.retention
    workers = Workers(most=load.most)
    calls = sum(map(len, TURNS))
    yield "Runs arrive as a Poisson process, at night too. Real days have peaks, which need more workers at once."
    yield (
        f"A run takes {load.seconds:.0f} s on average, exponentially distributed, at most {workers.life:.0f} s. "
        f"The model plays {LEAST_RUNS:,} runs, or an hour if that is more, with fixed seeds."
    )
    yield (
        f"A worker has {memory_mb('WorkerFunction'):,} MB and {workers.slots} slots. There are at most "
        f"{workers.most:,} at once. For batches the mapping waits up to {workers.window:.0f} s until one is full. "
        "Cold starts are not counted."
    )
    yield (
        "Each message begins a receiving worker, which offers it to those with a free slot and more than "
        f"{workers.room:.0f} s of their {workers.life:.0f} s left. One of them takes it at random, and the new worker "
        f"ends after {workers.passing:.2f} s. If there is none, the new worker begins it after "
        f"{workers.head_start:.2f} s. A worker ends when it has no conversation."
    )
    yield (
        f"A run has {len(TURNS) + 1} questions to the model, and {calls} tool calls with {RESULT:,} characters of "
        "English each; its thread and its answer are as long. "
        f"Counted in a warm process, in a run of {COUNTED_SECONDS:.0f} s: {counted.frames} rows of its journal, "
        f"{_units(run)}, {run.gets:.0f} gets in S3, {run.messages:.0f} requests to SQS."
    )
    yield f"Deletion after 30 days, also counted: {_units(deletion)}."
    yield (
        f"A mention arrives {load.deliveries} times. A delivery takes {Compute(0, 0).ingress_milliseconds:.0f} ms of "
        f"a receiver with {memory_mb('SlackFunction'):,} MB. A repeated one takes a write and a read unit."
    )
    yield (f"A run logs {Compute(0, 0).log_kb:.0f} kB. A journal stays for a month. The size of bodies is not counted.")
    yield (
        f"A month has {MONTH} days. Without runs it costs {fixed():.2f} USD: {alarm_metrics()} metrics of alarms, and "
        f"{POLLERS} open requests for messages. Metrics that runs write are not counted."
    )
    yield (
        f"One machine takes {PROCESSOR_SECONDS} s of a processor for a run. It costs an address, {DISK_GB} GB of disk "
        f"and twice the journals of a month. Of 100 runs, 95 wait at most {LONGEST_WAIT:.0f} s. While it is "
        "away, senders deliver again, and no other machine answers. More than 900 runs at once were not tried."
    )
    yield f"Prices: {ABOUT['what']}, of {ABOUT['date']}. Tokens of models and data transfer are not counted."


def _units(work: Work) -> str:
    return f"{work.writes:.0f} write and {work.reads:.0f} read units in DynamoDB, {work.puts:.0f} puts and lists in S3"


def main() -> None:
    """Print the table for the loads of docs/scale.md, or for one load."""
    parser = argparse.ArgumentParser(
        prog="make cost ARGS=…", description="Print what Gofer costs on AWS by runs a day."
    )
    parser.add_argument("--runs-a-day", type=float, metavar="N", help="one number of runs a day (default: the table)")
    parser.add_argument("--seconds", type=float, default=COUNTED_SECONDS, metavar="S", help="seconds of a run")
    parser.add_argument("--deliveries", type=int, default=2, metavar="N", help="deliveries of one mention (default 2)")
    parser.add_argument("--workers", type=int, default=1_000, metavar="N", help="the most workers (WorkerConcurrency)")
    given = parser.parse_args()
    if given.runs_a_day is None:
        text = page(shipped_loads())
        write(text)
    else:
        text = page([Load(given.runs_a_day, given.seconds, given.deliveries, given.workers)])
    print(text, end="")


def shipped_loads() -> list[Load]:
    """Return the loads of docs/scale.md."""
    return [Load(runs) for runs in RUNS_A_DAY]


def page(loads: Sequence[Load]) -> str:
    """Return the table with its parts and its assumptions, in Markdown."""
    counted = count()
    typical = min(loads, key=lambda load: abs(load.runs_a_day - TYPICAL))
    made = (table(loads, counted), parts(typical, counted), placements(typical), payers(counted))
    tables = ("\n".join(lines) for lines in made)
    listed = "\n".join(f"- {line}" for line in assumptions(typical, counted))
    return "\n\n".join([*tables, f"Assumptions:\n\n{listed}"]) + "\n"


def write(text: str) -> None:
    """Put the text between the markers of the page."""
    before, rest = PAGE.read_text().split(BEGIN)
    after = rest.split(END)[1]
    PAGE.write_text(f"{before}{BEGIN}{text}{END}{after}")


if __name__ == "__main__":
    main()
