"""Billed time on Lambda: cold starts of ingress and worker, and runs that share a worker.

All of it on the real runtime client. Where a process begins it is CPU of the whole process, since that is what a small
share of a core makes long; where something waits, wall time.
"""

import asyncio
import json
import resource
import subprocess
import sys
import sysconfig
from pathlib import Path
from statistics import median

import pytest
from aws_cost import AIM, Compute, memory_mb, usd_of, usd_per_million
from serverless_run import Counted, count
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from support.aws.lambda_stage import Code, stage, together

pytestmark = pytest.mark.anyio

ROUNDS = 5
LIBRARIES = sysconfig.get_paths()["purelib"]
SECONDS = 2.0
"""Seconds until the model answers."""
IN_FLIGHT = (1, 5, 10)


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Code:
    return together(tmp_path_factory.mktemp("package") / "task")


@pytest.fixture(scope="module")
def code(everything: Code) -> Path:
    return everything.packages["worker"]


RECEIVER = "import gofer.app.functions.receiver"
WORKER = "import gofer.app.functions.worker"
CLIENTS = "import boto3; s = boto3.Session(); [s.client(n) for n in ('dynamodb', 'sqs', 's3', 'ssm')]"
PROGRAMS = {
    "python -S -c pass": "pass",
    "import boto3": "import boto3",
    "boto3 and four clients": CLIENTS,
    "import openai": "import openai",
    "ingress": RECEIVER,
    "worker": WORKER,
    "schedule": "import gofer.app.functions.schedule",
    "dashboard": "import gofer.app.functions.dashboard",
}


def run(program: str, code: Path, **environment: str) -> str:
    """Return the output of a program in a clean process that has the package's libraries."""
    clean = {"PYTHONPATH": f"{code}:{LIBRARIES}", "AWS_REGION": "eu-central-1", **environment}
    clean |= {"AWS_DEFAULT_REGION": "eu-central-1"}
    command = [sys.executable, "-S", "-s", "-c", program]
    return subprocess.run(command, check=True, env=clean, capture_output=True, text=True).stdout


def cpu_ms(program: str, code: Path, **environment: str) -> float:
    """Return the CPU milliseconds of a new process that runs a program, user and system."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run(program, code, PYTHONDONTWRITEBYTECODE="1", **environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000


def only_python_compiled(code: Path, cache: Path) -> str:
    """Return a bytecode cache of Python's own modules only, as Lambda has it for a package without bytecode."""
    tell = "import sys; print('\\n'.join(n for n in sys.modules if n.partition('.')[0] in sys.stdlib_module_names))"
    names = {name for program in PROGRAMS.values() for name in run(f"{program}\n{tell}", code).split()}
    wanted = ", ".join(sorted(names - {"__main__"}))
    run(f"import {wanted}", code, PYTHONPYCACHEPREFIX=str(cache))
    return str(cache)


def test_cold_start_cpu_of_ingress_stays_below_boto3_with_four_clients(code: Path, tmp_path: Path) -> None:
    bare = only_python_compiled(code, tmp_path)
    with_bytecode: dict[str, list[float]] = {name: [] for name in PROGRAMS}
    without: dict[str, list[float]] = {name: [] for name in PROGRAMS}
    for _ in range(ROUNDS):
        for name, program in PROGRAMS.items():
            with_bytecode[name].append(cpu_ms(program, code))
            without[name].append(cpu_ms(program, code, PYTHONPYCACHEPREFIX=bare))
    boto3, openai = (median(with_bytecode[f"import {name}"]) for name in ("boto3", "openai"))
    print(f"\nCPU of a process that loads a function, median of {ROUNDS}: with bytecode, and ratios")
    print("to `import boto3` and `import openai`; without bytecode, and the ratio to that with it")
    for name, times in with_bytecode.items():
        took, bare_took = median(times), median(without[name])
        ratios = f"{took / boto3:5.2f} {took / openai:5.2f}"
        print(f"  {name:24} {took:6.0f} ms {ratios}   {bare_took:6.0f} ms {bare_took / took:5.2f}")
    assert median(with_bytecode["ingress"]) < median(with_bytecode["boto3 and four clients"])


async def test_cold_start_time_to_the_first_answer_on_the_runtime_client(everything: Code) -> None:
    inits: dict[str, list[float]] = {"slack": [], "worker": []}
    firsts: dict[str, list[float]] = {"slack": [], "worker": []}
    async with stage(everything, model(0.0)) as made:
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
    """Return a model that gives one answer after this time."""

    async def complete(request: Request) -> Response:
        json.loads(await request.body())
        await asyncio.sleep(seconds)
        message = {"role": "assistant", "content": "Here you are."}
        usage = {"prompt_tokens": 1_000, "completion_tokens": 10}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        return JSONResponse({"id": "x", "object": "chat.completion", "model": "m", "choices": [choice], "usage": usage})

    return Starlette(routes=[Route("/v1/chat/completions", complete, methods=["POST"])])


@pytest.fixture(scope="module")
def counted() -> Counted:
    """Return all requests of one run to the stores."""
    return count()


async def test_billed_time_and_usd_of_a_run_fall_with_runs_in_flight(everything: Code, counted: Counted) -> None:
    billed: dict[int, float] = {}
    async with stage(everything, model(SECONDS)) as made:
        # Warm: the test above measures cold starts.
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
        peak = max(made.host.peak_mb("worker"))
    worker, receiver = memory_mb("WorkerFunction"), memory_mb("SlackFunction")
    print(f"\na run with a model call of {SECONDS:.0f} s, by conversations in flight: billed time, and USD for")
    print(f"a million of them with {worker} MB, of which {peak:.0f} were needed; requests are those of a longer run")
    for runs, took in billed.items():
        parts = usd_per_million(counted.run, Compute(took, worker, 1 / runs, ingress_mb=receiver))
        usd = sum(parts.values()) + usd_of(counted.retention)
        shared = f"{took:6.0f} ms  {took / billed[1]:.2f} of one alone"
        print(f"  {runs:3}: {shared}  {usd:6.0f} USD, {parts['worker']:.0f} of it for the worker")
    assert billed[10] < billed[1] / 2
    assert usd < AIM
    assert peak < worker
