"""CPU and bytes of the harness against a bare loop without the transform of the client: ratios of one run.

Run with `make bench`. Nothing here asserts a time; byte counts are exact and are asserted.
"""

import asyncio
import gc
import json
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path

import httpx2
import pytest
from openai import AsyncOpenAI

from gofer.journal.entries import LlmRequest, MessageReceived, RunFinished
from gofer.journal.log import read_journal
from gofer.models.remote import remote_endpoint
from gofer.tools.definition import Call, ToolResult
from gofer.values.outside import SystemClock
from gofer.workflows.bundle import encode_bundle
from gofer.workflows.schema import Limits
from support.engine.memory_run import PROVENANCE, MemoryRun, Said, coordinate, memory_run
from support.http import loopback
from support.stand_ins import any_store

TURNS = 30
ROUNDS = 9
SYSTEM = "You are a test. Look thirty times, then say that you are done."


@asynccontextmanager
async def model_server(turns: int, seconds: float = 0.0) -> AsyncIterator[str]:
    script = Path(__file__).with_name("model_server.py")
    command = [sys.executable, str(script), str(turns), str(seconds)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}/v1"
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


def make_room(result: str) -> MemoryRun:
    made = memory_run()
    made.limits = Limits(llm_calls=1000, tool_calls=1000, tokens=10**9, minutes=60, usd=1e6)
    made.clock = SystemClock()  # type: ignore[assignment]

    async def look(call: Call, said: Said) -> ToolResult:
        return ToolResult(f"{said.text}: {result}", "looked")

    made.tool("look", "read", look)
    return made


async def bare(client: AsyncOpenAI, made: MemoryRun, result: str) -> None:
    """Run the smallest loop over the SDK: append, send, act."""
    messages: list[object] = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": "please"}]
    tools = [tool.schema() for tool in made.tools.values()]
    while True:
        answer = await client.chat.completions.create(
            model="m", messages=[], extra_body={"messages": messages, "tools": tools}
        )
        message = answer.choices[0].message
        if not message.tool_calls:
            return
        messages.append(
            {
                "role": "assistant",
                "content": message.content,
                "tool_calls": [
                    {
                        "id": call.id,
                        "type": "function",
                        "function": {"name": call.function.name, "arguments": call.function.arguments},
                    }
                    for call in message.tool_calls
                ],
            }
        )
        for call in message.tool_calls:
            text = json.loads(call.function.arguments)["text"]
            messages.append({"role": "tool", "tool_call_id": call.id, "content": f"{text}: {result}"})


async def gofer(made: MemoryRun) -> None:
    """Run Gofer once, from the claim to the end."""
    step = await made.step()
    step.note(MessageReceived("please"))
    ending = await coordinate(step, made.bundle(), PROVENANCE)
    step.note(RunFinished(ending.status, ending.reason))
    await step.commit()
    assert (ending.status, ending.answer, step.progress.llm_calls) == ("done", "Done.", TURNS + 1)


async def cpu_ms_per_call(work: Callable[[], Coroutine[None, None, None]]) -> float:
    gc.collect()
    began = time.process_time()
    await work()
    return (time.process_time() - began) * 1000 / (TURNS + 1)


async def measure(base_url: str, folder: Path) -> dict[str, list[float]]:
    """Measure bare, memory and SQLite in turns, so that a busy machine slows all of them."""
    result = "x" * 200
    measured: dict[str, list[float]] = {"bare": [], "memory": [], "sqlite": []}
    async with loopback.client() as http:
        client = AsyncOpenAI(api_key="k", base_url=base_url, http_client=http, max_retries=0)
        for turn in range(ROUNDS + 1):
            for kind, times in measured.items():
                made = make_room(result)
                made.model = remote_endpoint(http, base_url)  # type: ignore[assignment]
                (folder / f"{kind}{turn}").mkdir()
                with any_store("sqlite" if kind == "sqlite" else "memory", folder / f"{kind}{turn}") as store:
                    made.store = store
                    work = (lambda m=made: bare(client, m, result)) if kind == "bare" else (lambda m=made: gofer(m))
                    times.append(await cpu_ms_per_call(work))
    return {kind: times[1:] for kind, times in measured.items()}


def test_harness_cpu_per_model_call_against_a_bare_loop(tmp_path: Path) -> None:
    async def play() -> dict[str, list[float]]:
        async with model_server(TURNS) as base_url:
            return await measure(base_url, tmp_path)

    measured = asyncio.run(play())
    floor = statistics.median(measured["bare"])
    print(f"\nharness CPU per model call, {TURNS} turns, median of {ROUNDS} (ms; ratio to the bare loop)")
    for kind, aim in (("bare", ""), ("memory", "aim 1.6"), ("sqlite", "aim 3.2")):
        median, best = statistics.median(measured[kind]), min(measured[kind])
        print(f"  {kind:8} {median:6.3f}  best {best:6.3f}  ratio {median / floor:5.2f}  {aim}")


@pytest.mark.parametrize("result_bytes", [200, 1_000, 4_000])
def test_journal_bytes_per_turn_do_not_grow_with_the_run(result_bytes: int) -> None:
    ratios: dict[int, float] = {}
    per_turn: dict[int, float] = {}
    for turns in (30, 200):
        journal, content = asyncio.run(bytes_of_a_run(turns, result_bytes))
        ratios[turns], per_turn[turns] = journal / content, journal / turns
    print(f"\njournal bytes / unique content, results of {result_bytes} bytes (aim 1.3)")
    print("  " + "  ".join(f"{turns} turns: {ratio:.2f}" for turns, ratio in ratios.items()))
    assert per_turn[200] <= per_turn[30] * 1.02, "the journal grows faster than the run"


async def bytes_of_a_run(turns: int, result_bytes: int) -> tuple[int, int]:
    """Return the bytes of all frames, and of their unique content."""
    made = make_room("x" * result_bytes)
    async with model_server(turns) as base_url, loopback.client() as http:
        made.model = remote_endpoint(http, base_url)  # type: ignore[assignment]
        step = await made.step()
        step.note(MessageReceived("please"))
        await coordinate(step, made.bundle(), PROVENANCE)
        await step.commit()
    stored = sum(len(frame) for frame in await made.store.frames("run1"))
    entries = [item.entry for item in await read_journal("run1", made.store, made.blobs)]
    tails = "".join(entry.tail for entry in entries if isinstance(entry, LlmRequest))
    content = b"".join(step.conversation.parts) + tails.encode()
    bundle = encode_bundle(made.bundle())
    return stored + len(bundle), len(content) + len(bundle)


def test_consecutive_prompts_share_all_bytes_before_the_tail() -> None:
    bodies = asyncio.run(prompts_of_a_run())
    shared = [common(one, other) / len(one) for one, other in pairwise(bodies)]
    tails = [len(body) - body.rindex(b',{"content":"[Gofer') for body in bodies]
    print(f"\nbytes of a prompt that the next repeats, {len(bodies)} prompts: {min(shared):.3f} to {max(shared):.3f}")
    print(f"  all but the tail, {max(tails)} bytes at most")
    for (one, other), tail in zip(pairwise(bodies), tails, strict=False):
        assert common(one, other) >= len(one) - tail


async def prompts_of_a_run() -> list[bytes]:
    made = make_room("x" * 200)
    seen: list[bytes] = []

    async def keep(request: httpx2.Request) -> None:
        seen.append(await request.aread())

    async with (
        model_server(TURNS) as base_url,
        httpx2.AsyncClient(event_hooks={"request": [keep]}) as http,
    ):
        made.model = remote_endpoint(http, base_url)  # type: ignore[assignment]
        await gofer(made)
    return seen


def common(one: bytes, other: bytes) -> int:
    """Return the length of the common prefix of two prompts."""
    length = min(len(one), len(other))
    return next((i for i in range(length) if one[i] != other[i]), length)
