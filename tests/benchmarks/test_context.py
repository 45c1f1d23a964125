"""Bytes of the prompts of a run, against a loop that sends all results on every call."""

import asyncio
import json
from collections.abc import Sequence
from itertools import pairwise

import pytest

from gofer.files.child import Children
from gofer.journal.entries import MessageReceived
from gofer.models.language_model import Answer
from gofer.sources.workflow_files import WorkflowForm as Workflow
from gofer.tools.declare import bind_all
from gofer.tools.definition import Call, ToolResult
from gofer.tools.files.tools import TOOLS as FILE_TOOLS
from gofer.values.messages import Usage
from gofer.workflows.bundle import Bundle
from gofer.workflows.load import Loaded
from gofer.workflows.schema import Context, Limits
from support.engine.memory_run import PROVENANCE, MemoryRun, Said, coordinate, memory_run, says
from support.models.served import served

ROW = {"experiment": "a", "accuracy": 0.913, "notes": "converged after a while, nothing unusual to report here"}


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
    made.tools |= {tool.name: tool for tool in bind_all(FILE_TOOLS, Children())}
    limits = Limits(llm_calls=2_000, tool_calls=5_000, tokens=10**9, usd=10**6, minutes=600)
    fields = {"description": "d", "owner": "#o", "when": ["slack.mention"], "tools": ["look"]}
    workflow = Workflow.model_validate({**fields, "limits": limits, "context": Context()})
    bundle = Bundle(
        Loaded("a", workflow, "You look.", "p.md", served("m")), [tool.schema() for tool in made.tools.values()]
    )
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


def shared(bodies: Sequence[bytes]) -> float:
    """Return the share of prompt bytes that equal those of the previous prompt at the same place."""
    same = sum(common(one, other) for one, other in pairwise(bodies))
    return same / sum(map(len, bodies[1:]))


def common(one: bytes, other: bytes) -> int:
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[:middle] == other[:middle] else (low, middle - 1)
    return low


def kept(bodies: Sequence[bytes]) -> float:
    """Return the average share of a prompt that the next one repeats from its first byte."""
    return sum(common(one, other) / len(one) for one, other in pairwise(bodies)) / (len(bodies) - 1)


@pytest.mark.parametrize(
    ("name", "results", "most", "most_weighted"),
    [
        ("a tool returns 2 MB, ten further turns", [json.dumps([ROW] * 18_000), *["short"] * 10], 80_000, 14_500),
        (
            "200 turns with 4 kB each",
            [f"{n} " + "what was found, in words. " * 155 for n in range(200)],
            20_000_000,
            3_500_000,
        ),
    ],
)
def test_prompt_bytes_stay_far_below_a_loop_that_sends_all_results(
    name: str, results: list[str], most: int, most_weighted: int
) -> None:
    bodies = asyncio.run(sent(results))
    mine, all_of_it = sum(map(len, bodies)), everything(results)
    print(f"\n{name}: {mine:,} bytes in {len(bodies)} calls; sending everything {all_of_it:,}")
    weighted = mine - 0.9 * shared(bodies) * mine
    print(f"  weighted with a prompt cache {weighted:,.0f} bytes (new ones, and a tenth of those seen before)")
    print(f"  ratio {mine / all_of_it:.4f}; shared with the call before {shared(bodies):.3f}")
    print(f"  largest prompt {max(map(len, bodies)):,} bytes; {kept(bodies):.3f} of each is repeated by the next")
    assert (mine <= most, weighted <= most_weighted) == (True, True)
