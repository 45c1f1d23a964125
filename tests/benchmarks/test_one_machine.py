"""One table: what Gofer costs on one machine beside the bare client of the SDK that does the same work.

Times are CPU of fresh processes, the least of some rounds, which take turns. Bytes are exact. The bare client keeps
everything in memory, so it has no counterpart to a journal and a database.
"""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import bare_runs
import httpx2
from openai import AsyncOpenAI
from test_context import ROW, Counting, kept, kept_by_prompt
from test_harness import model_server

from gofer.embed import Arguments, Call, Gofer, Tool, ToolResult
from gofer.models.language_model import Answer

START_ROUNDS, MANY_ROUNDS = 5, 3
RUNS, TURNS, SECONDS = 200, 5, 0.05
"""Runs at once, the calls of the tool in each, and how long the model takes for an answer."""
HERE = Path(__file__).parent
WORKFLOW = """description: Looks.
owner: "#it"
when: [slack.mention]
tools: [look]
model: any
limits: {llm_calls: 2000, tool_calls: 5000, tokens: 1000000000, usd: 1000000, minutes: 600}
"""

Found = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table."""

    work: str
    gofer: float
    bare: float | None
    """What the bare client costs; None where it has no counterpart."""
    aim: float
    digits: int

    def line(self) -> str:
        shown = [f"{self.gofer:.{self.digits}f}", "", ""]
        if self.bare is not None:
            shown[1:] = [f"{self.bare:.{self.digits}f}", f"{self.gofer / self.bare:.3g}"]
        return f"  {self.work:58} {shown[0]:>9} {shown[1]:>9} {shown[2]:>9} {self.aim:>8.{self.digits}f}"


def test_table_of_one_machine_beside_the_bare_client(tmp_path: Path) -> None:
    folder = company(tmp_path)
    rows = [*started(folder), *at_once(folder), *asyncio.run(sent(folder)), *asyncio.run(stored(folder))]
    print(f"\n  {'work on one machine':58} {'Gofer':>9} {'bare':>9} {'ratio':>9} {'aim':>8}")
    for row in rows:
        print(row.line())


def company(folder: Path) -> Path:
    """Return a folder with one workflow, which grants the tool that the model calls."""
    made = folder / "company"
    (made / "agents").mkdir(parents=True)
    (made / "agents" / "look.yaml").write_text(WORKFLOW)
    (made / "agents" / "look.md").write_text("You look, and then you are done.\n")
    return made


def started(folder: Path) -> Iterator[Row]:
    """Yield the rows about a fresh process until its first answer, with one call of the tool."""
    found = asyncio.run(in_turns(folder, turns=1, seconds=0.0, runs=0, rounds=START_ROUNDS))
    for kind in ("memory", "SQLite"):
        yield Row(f"start to first answer, {kind}, CPU s", found[kind]["first_cpu"], found["bare"]["first_cpu"], 0.7, 2)
    for kind in ("memory", "SQLite"):
        yield Row(f"start to first answer, {kind}, peak MB", found[kind]["first_mb"], found["bare"]["first_mb"], 75, 0)


def at_once(folder: Path) -> Iterator[Row]:
    """Yield the rows about many runs at once."""
    found = asyncio.run(in_turns(folder, TURNS, SECONDS, RUNS, MANY_ROUNDS))
    for kind, aim in (("memory", 12), ("SQLite", 14)):
        yield Row(f"{RUNS} runs at once, {kind}, CPU ms a run", found[kind]["run_ms"], found["bare"]["run_ms"], aim, 1)
    for kind in ("memory", "SQLite"):
        yield Row(f"{RUNS} runs at once, {kind}, peak MB", found[kind]["peak_mb"], found["bare"]["peak_mb"], 90, 0)


async def in_turns(folder: Path, turns: int, seconds: float, runs: int, rounds: int) -> dict[str, Found]:
    """Return the least of each figure of some rounds, by kind of process."""
    found: dict[str, list[Found]] = {"bare": [], "memory": [], "SQLite": []}
    async with model_server(turns, seconds) as url:
        for turn in range(rounds):
            found["bare"].append(program("bare_runs.py", url, runs))
            found["memory"].append(program("embedded_runs.py", folder, "memory", url, runs))
            state = folder.parent / f"state{runs}-{turn}"
            found["SQLite"].append(program("embedded_runs.py", folder, state, url, runs))
    return {kind: {name: min(one[name] for one in all_of) for name in all_of[0]} for kind, all_of in found.items()}


def program(script: str, *words: object) -> Found:
    """Run a program in a fresh process, and return what it found."""
    command = [sys.executable, str(HERE / script), *map(str, words)]
    # Without bytecode each start would compile all libraries.
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout)


async def sent(folder: Path) -> Sequence[Row]:
    """Return the rows about the bytes of prompts, with the tools that each run of Gofer has."""
    large = [json.dumps([ROW] * 18_000), *["short"] * 10]
    long = [f"{turn} " + "what was found, in words. " * 155 for turn in range(200)]
    gofer_large, bare_large = await gofer_bodies(folder, large), await bare_bodies(large)
    gofer_long, bare_long = await gofer_bodies(folder, long), await bare_bodies(long)
    return [
        Row("a result of 2 MB and ten more turns, MB sent", megabytes(gofer_large), megabytes(bare_large), 0.07, 3),
        Row("200 turns of 4 kB through 48,000 tokens, kept prefix", kept(gofer_long), kept(bare_long), 0.96, 3),
        Row("the same, average of the prompts", kept_by_prompt(gofer_long), kept_by_prompt(bare_long), 0.96, 3),
        Row("the same, MB sent", megabytes(gofer_long), megabytes(bare_long), 20, 1),
    ]


def megabytes(bodies: Sequence[bytes]) -> float:
    return sum(map(len, bodies)) / 1e6


async def gofer_bodies(folder: Path, results: Sequence[str]) -> Sequence[bytes]:
    model = Counting(len(results))
    async with Gofer(folder, tools=[looking(iter(results))], model=model) as gofer:
        run = await gofer.run("look", "please")
        assert run.status == "done", run.reason
    return model.bodies


class Said(Arguments):
    """The argument of the tool."""

    text: str


def looking(results: Iterator[str]) -> Tool[Said]:
    """Return the tool, which gives one result after the other."""

    async def look(call: Call, said: Said) -> ToolResult:
        return ToolResult(next(results), "looked")

    return Tool("look", "Looks.", "read", Said, look)


async def bare_bodies(results: Sequence[str]) -> Sequence[bytes]:
    model = Counting(len(results))
    given = iter(results)

    async def answer(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, json=completion(await model.ask(await request.aread(), 0.0)))

    async with httpx2.AsyncClient(transport=httpx2.MockTransport(answer)) as http:
        client = AsyncOpenAI(api_key="k", base_url="http://model", http_client=http)
        assert await bare_runs.run(client, lambda _: next(given)) == "done"
    return model.bodies


def completion(answer: Answer) -> dict[str, object]:
    """Return an answer of the model as Chat Completions writes it."""
    calls = [
        {"id": ask.id, "type": "function", "function": {"name": ask.tool, "arguments": ask.arguments}}
        for ask in answer.asks
    ]
    message = {"role": "assistant", "content": answer.text, "tool_calls": calls or None}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    return {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}


async def stored(folder: Path) -> Sequence[Row]:
    """Return the rows about what a run leaves: its journal, and the files of a new installation after one run."""
    state = folder.parent / "new"
    text = "".join(path.read_text() for path in sorted((HERE.parents[1] / "docs").glob("*.md")))
    results = [text[turn * 4_000 : (turn + 1) * 4_000] for turn in range(20)]
    async with Gofer(folder, store=state, tools=[looking(iter(results))], model=Counting(20)) as gofer:
        run = await gofer.run("look", "please")
        frames = await gofer._program().runner.worker.services.store.frames(run.id)
    new = folder.parent / "newest"
    async with Gofer(folder, store=new, tools=[looking(iter(["short"]))], model=Counting(1)) as gofer:
        await gofer.run("look", "please")
    files = sum((new / name).stat().st_size for name in ("gofer.db", "keys"))
    return [
        Row("journal of 20 calls of 4 kB, kB", sum(map(len, frames)) / 1e3, None, 40, 1),
        Row("database and keys of a new installation, kB", files / 1e3, None, 40, 0),
    ]
