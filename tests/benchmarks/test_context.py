"""Bytes of the prompts of a run, against a loop that sends all results on every call."""

import asyncio
import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from gofer.app.settings import read_settings
from gofer.app.toolbox import build_tools
from gofer.engine.services import new_bundle
from gofer.journal.entries import MessageReceived
from gofer.models.language_model import Answer
from gofer.sources.workflow_files import WorkflowForm as Workflow
from gofer.tools.definition import Call, ToolResult
from gofer.values.messages import Usage
from gofer.workflows.load import Loaded
from gofer.workflows.prompt_sections import planning
from gofer.workflows.schema import Context, Limits
from support.engine.memory_run import PROVENANCE, MemoryRun, Said, coordinate, memory_run, says
from support.models.served import served

PREAMBLE = Path(__file__).parents[2] / "agents" / "preamble.md"
ROW = {"experiment": "a", "accuracy": 0.913, "notes": "converged after a while, nothing unusual to report here"}


SHORT = ["short"] * 10


class Counting:
    """A model that calls `look` this often, then answers; it counts four bytes as a token."""

    def __init__(self, looks: int) -> None:
        self.left, self.bodies = looks, list[bytes]()

    async def ask(self, body: bytes, timeout: float) -> Answer:
        self.bodies.append(body)
        summing = b"too long for its window" in body[-3_000:]
        self.left -= not summing
        answer = says("What was needed.") if summing else says("done")
        if not summing and self.left >= 0:
            answer = says("", ("look", {"text": str(self.left)}))
        return Answer(answer.text, answer.asks, answer.finish, "m", Usage(len(body) // 4, 20, 0))


async def sent(results: Sequence[str]) -> list[bytes]:
    """Return the bodies that a run sends when its calls give these results, one in each turn."""
    made: MemoryRun = memory_run()
    model, given = Counting(len(results)), iter(results)
    made.model = model  # type: ignore[assignment]

    async def look(call: Call, said: Said) -> ToolResult:
        return ToolResult(next(given), "looked")

    made.tool("look", "read", look)
    made.tools |= build_tools(read_settings({}))
    limits = Limits(llm_calls=2_000, tool_calls=5_000, tokens=10**9, usd=10**6, minutes=600)
    fields = {"description": "d", "owner": "#o", "when": ["slack.mention"], "tools": ["look"]}
    workflow = Workflow.model_validate({**fields, "limits": limits, "context": Context()})
    system = f"{PREAMBLE.read_text()}\n{planning(workflow.plan)}\n\nYou look."
    loaded = Loaded("a", workflow, system, "p.md", served("m"))
    bundle = new_bundle(made.tools, loaded)
    step = await made.step()
    step.note(MessageReceived("please"))
    await coordinate(step, bundle, PROVENANCE)
    return model.bodies


def everything(results: Sequence[str]) -> int:
    """Return the bytes of a loop that appends each result and sends all of them again on every call."""
    total, history = 0, 0
    for result in [*results, ""]:
        total += history
        history += len(json.dumps(result))
    return total


def kept(bodies: Sequence[bytes]) -> float:
    """Return the share of all prompt bytes that the next prompt repeats from its first byte."""
    return repeated(bodies) / sum(map(len, bodies[:-1]))


def repeated(bodies: Sequence[bytes]) -> int:
    """Return the bytes that equal those of the previous prompt at the same place, so that a cache can serve them."""
    return sum(common(one, other) for one, other in pairwise(bodies))


def tools_of(body: bytes) -> bytes:
    """Return the bytes of the tool definitions in a prompt."""
    return body[body.index(b'"tools":') : body.index(b'"messages":')]


def common(one: bytes, other: bytes) -> int:
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[:middle] == other[:middle] else (low, middle - 1)
    return low


def kept_by_prompt(bodies: Sequence[bytes]) -> float:
    """Return the average share of a prompt that the next one repeats from its first byte."""
    return sum(common(one, other) / len(one) for one, other in pairwise(bodies)) / (len(bodies) - 1)


@pytest.mark.parametrize(
    ("name", "results", "most", "most_weighted"),
    [
        ("a tool returns 2 MB of JSON, ten further turns", [json.dumps([ROW] * 18_000), *SHORT], 100_000, 22_000),
        ("a tool returns 2 MB of text, ten further turns", ["what was found.\n" * 125_000, *SHORT], 140_000, 29_000),
        (
            "200 turns with 4 kB each",
            [f"{n} " + "what was found, in words. " * 155 for n in range(200)],
            20_000_000,
            2_900_000,
        ),
    ],
)
def test_prompt_bytes_stay_far_below_a_loop_that_sends_all_results(
    name: str, results: list[str], most: int, most_weighted: int
) -> None:
    bodies = asyncio.run(sent(results))
    mine, all_of_it = sum(map(len, bodies)), everything(results)
    print(f"\n{name}: {mine:,} bytes in {len(bodies)} calls; sending everything {all_of_it:,}")
    seen = repeated(bodies)
    weighted = mine - 0.9 * seen
    print(f"  weighted with a prompt cache {weighted:,.0f} bytes (new ones, and a tenth of those seen before)")
    tools = [len(tools_of(body)) for body in bodies]
    print(f"  tools {sum(tools):,} bytes, the same {tools[0]:,} in each")
    print(f"  ratio {mine / all_of_it:.4f}; largest prompt {max(map(len, bodies)):,} bytes")
    print(f"  kept prefix {kept(bodies):.3f} of all bytes, {kept_by_prompt(bodies):.3f} of a prompt on average")
    assert (mine <= most, weighted <= most_weighted) == (True, True)
