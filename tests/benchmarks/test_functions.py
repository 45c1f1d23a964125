"""What does Lambda bill for: cold starts of ingress and worker, and a run among others that wait for their models?

All of it on the real runtime client. Times are CPU of whole processes where a process begins, since that is what a small
share of a core makes long; and wall time where something waits.
"""

import asyncio
import json
import resource
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path
from statistics import median

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from lambda_stage import package, stage

pytestmark = pytest.mark.anyio

ROUNDS = 5
LIBRARIES = sysconfig.get_paths()["purelib"]
SECONDS = 2.0
"""How long the model takes to answer."""
IN_FLIGHT = (1, 5, 10)
GB = 2.0
"""Of memory that the worker has in template.yaml."""
USD_PER_GB_SECOND = 0.0000133334
"""Lambda on arm64 in Frankfurt, as its price list has it in 2026-11."""

Start = Callable[[], object]


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return package(tmp_path_factory.mktemp("package") / "task")


def cpu_ms(program: str, path: str) -> float:
    """CPU of a process of its own that runs a program, user and system."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    clean = {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", "AWS_REGION": "eu-central-1"}
    subprocess.run([sys.executable, "-S", "-s", "-c", program], check=True, env=clean)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000


def without_bytecode(code: Path, folder: Path) -> Path:
    """The same package and its libraries as `sam build` alone leaves them: every cold start compiles."""
    shutil.copytree(code, folder / "task", ignore=shutil.ignore_patterns("__pycache__"))
    return folder / "task"


def test_cold_starts(code: Path, tmp_path: Path) -> None:
    bare = without_bytecode(code, tmp_path)
    programs = {
        "python -S -c pass": ("pass", code),
        "import boto3": ("import boto3", code),
        "import openai": ("import openai", code),
        "ingress": ("import gofer.bootstrap.functions.door", code),
        "ingress, Gofer without bytecode": ("import gofer.bootstrap.functions.door", bare),
        "worker": ("import gofer.bootstrap.functions.worker", code),
        "worker, Gofer without bytecode": ("import gofer.bootstrap.functions.worker", bare),
        "schedule": ("import gofer.bootstrap.functions.schedule", code),
        "dashboard": ("import gofer.bootstrap.functions.dashboard", code),
    }
    measured: dict[str, list[float]] = {name: [] for name in programs}
    for _ in range(ROUNDS):
        for name, (program, where) in programs.items():
            measured[name].append(cpu_ms(program, f"{where}:{LIBRARIES}"))
    boto3, openai = (median(measured[f"import {name}"]) for name in ("boto3", "openai"))
    print(f"\nCPU of a process that loads a function, median of {ROUNDS}; ratio to `import boto3`, to `import openai`")
    for name, times in measured.items():
        took = median(times)
        print(f"  {name:34} {took:7.0f} ms  {took / boto3:5.2f}  {took / openai:5.2f}")
    assert median(measured["ingress"]) < boto3


async def test_cold_start_to_the_first_answer_on_the_runtime_client(code: Path) -> None:
    inits: dict[str, list[float]] = {"slack": [], "worker": []}
    firsts: dict[str, list[float]] = {"slack": [], "worker": []}
    async with stage(code, model(0.0)) as made:
        for _ in range(ROUNDS):
            for name in inits:
                made.host.retire(name)
            await made.ask("@Gofer hello")
            await made.work()
            while await made.poll():
                pass
        for name, outcome in made.host.outcomes:
            if outcome.cold and name in inits:
                inits[name].append(outcome.init_seconds)
                firsts[name].append(outcome.seconds)
    print(f"\ncold starts on the runtime client, wall, median of {len(inits['worker'])} (ms)")
    for name, found in inits.items():
        print(f"  {name:8} init {median(found) * 1000:6.0f}  first answer {median(firsts[name]) * 1000:6.0f}")


def model(seconds: float) -> Starlette:
    """A model that thinks for a while and then says one thing."""

    async def complete(request: Request) -> Response:
        json.loads(await request.body())
        await asyncio.sleep(seconds)
        message = {"role": "assistant", "content": "Here you are."}
        usage = {"prompt_tokens": 1_000, "completion_tokens": 10}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        return JSONResponse({"id": "x", "object": "chat.completion", "model": "m", "choices": [choice], "usage": usage})

    return Starlette(routes=[Route("/v1/chat/completions", complete, methods=["POST"])])


async def test_billed_milliseconds_of_a_run_among_others(code: Path) -> None:
    billed: dict[int, float] = {}
    async with stage(code, model(SECONDS)) as made:
        # Warm: what a cold start costs is told above.
        await made.ask("@Gofer hello")
        await made.work()
        while await made.poll():
            pass
        ended = 1
        for runs in IN_FLIGHT:
            made.batches.clear()
            for _ in range(runs):
                await made.ask("@Gofer hello")
            ended += runs
            await made.work(runs=ended)
            while await made.poll():
                pass
            billed[runs] = sum(outcome.seconds for _, outcome in made.batches if outcome) * 1000 / runs
    print(f"\nbilled milliseconds of a run with one model call of {SECONDS:.0f} s, by conversations in flight")
    for runs, took in billed.items():
        usd = took / 1000 * GB * USD_PER_GB_SECOND * 1_000_000
        print(
            f"  {runs:3}: {took:6.0f} ms  {took / billed[1]:.2f} of one alone  {usd:6.2f} USD of Lambda per million runs"
        )
    assert billed[10] < billed[1] / 2
