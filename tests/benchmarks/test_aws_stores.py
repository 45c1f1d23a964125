"""Costs of the AWS stores: time per frame relative to SQLite, requests per run, USD per million runs.

moto answers in this process and in Python, so the times are those of Gofer and boto3, not of AWS.
"""

import asyncio
import time
from pathlib import Path

from aws_cost import AIM, ONE_AT_A_TIME, Compute, Work, memory_mb, usd_of, usd_per_million
from serverless_run import SECONDS, count

from gofer.app.functions.schedule import PURGING
from support.aws.moto_server import all_stores
from support.stand_ins import SetClock

FRAMES, SIZE, ROUNDS = 200, 2_000, 5
PURGED_SECONDS = 1_440 * PURGING
"""Seconds a day in which sweeps delete runs."""


async def appended(kind: str, folder: Path) -> float:
    """Return the seconds per frame of sequential writes, the best of some rounds."""
    folder.mkdir()
    best = float("inf")
    with all_stores(kind, folder, SetClock()) as (store, _):
        for turn in range(ROUNDS):
            await store.claim(f"r{turn}", b"one", b"key")
            began = time.perf_counter()
            for n in range(2, FRAMES + 2):
                await store.create(f"r{turn}", n, bytes(SIZE))
            best = min(best, (time.perf_counter() - began) / FRAMES)
    return best


def test_time_of_appending_a_frame_to_each_store(tmp_path: Path) -> None:
    timed = {kind: asyncio.run(appended(kind, tmp_path / kind)) for kind in ("table", "sqlite", "aws")}
    print(f"\na frame of {SIZE:,} bytes, one after the other, best of {ROUNDS}")
    for kind, seconds in timed.items():
        named = {"table": "DynamoDB in memory", "sqlite": "SQLite, durable", "aws": "DynamoDB (moto over HTTP)"}[kind]
        print(f"  {named:26} {seconds * 1e6:8.0f} µs  {seconds / timed['sqlite']:6.1f} times SQLite")


def test_requests_and_usd_of_a_run_stay_below_the_limits() -> None:
    found = count()
    asked = found.requests
    print(f"\none run of {SECONDS:.0f} s, 3 turns and 7 calls, {found.frames} frames, in a warm process")
    print(f"  DynamoDB {asked['DynamoDB requests']:4.0f} requests, {_units(found.run)}")
    for name in sorted(asked):
        if not name.startswith("DynamoDB"):
            print(f"  {name:12} {asked[name]:4.0f}")
    milliseconds = found.milliseconds_of_retention
    print(f"  deleted after 30 days: {_units(found.retention)}, {found.retention.puts:.0f} lists of S3")
    print(f"  {milliseconds:.1f} ms a run at 6 ms a request, so {PURGED_SECONDS / milliseconds * 1e3:,.0f} runs a day")
    retention, worker, receiver = usd_of(found.retention), memory_mb("WorkerFunction"), memory_mb("SlackFunction")
    for in_flight in (1, 5, 10):
        compute = Compute(SECONDS * 1_000 / in_flight, worker, 1 / in_flight, ingress_mb=receiver)
        parts = usd_per_million(found.run, compute)
        total = sum(parts.values()) + retention
        parts = {**parts, "retention": retention}
        said = "  ".join(f"{name} {usd:.0f}" for name, usd in parts.items() if usd >= 1)
        print(f"  {in_flight:2} in flight: {total:5.0f} USD a million ({total / ONE_AT_A_TIME:.2f})  {said}")
    assert asked["DynamoDB requests"] < 150
    assert total < AIM


def _units(work: Work) -> str:
    return f"{work.writes:.0f} write and {work.reads:.1f} read units"
