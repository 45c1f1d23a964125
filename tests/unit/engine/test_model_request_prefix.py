"""Prefixes of requests: consecutive requests share every byte up to the tail, except after a compaction."""

import asyncio
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from gofer.files.child import Children
from gofer.journal import inbox
from gofer.journal.entries import LlmRequest, MessageReceived, Recorded
from gofer.journal.workspace_entries import ContextCompacted
from gofer.models.language_model import Answer
from gofer.sources.workflow_files import WorkflowForm as Workflow
from gofer.tools.declare import bind_all
from gofer.tools.definition import Call, ToolResult
from gofer.tools.files.tools import TOOLS as FILE_TOOLS
from gofer.tools.plan import TOOLS as PLAN_TOOLS
from gofer.values.messages import Media, Usage
from gofer.workflows.bundle import Bundle
from gofer.workflows.load import Loaded
from gofer.workflows.schema import Context, Limits
from support.engine.memory_run import PROVENANCE, MemoryRun, Said, coordinate, memory_run, says
from support.models.served import served
from support.property_examples import examples

WINDOW = 8_000


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of a generated run."""

    results: Sequence[int]
    """The number of words that each call of the turn returns."""
    plans: bool
    interrupted: bool
    """Whether another worker continues after the turn."""
    spoken: str
    """The message of a person during the turn."""
    shown: bool
    """Whether each call of the turn returns an image too."""


results = st.lists(st.integers(0, 3_000), min_size=1, max_size=3)
turns = st.builds(Turn, results, st.booleans(), st.booleans(), st.sampled_from(["", "by the way"]), st.booleans())


class Stopped(Exception):
    """The worker crashed."""


class Player:
    """A model that plays the turns and counts the tokens of its requests."""

    def __init__(self, story: Sequence[Turn]) -> None:
        self.story, self.at, self.bodies = story, 0, list[bytes]()

    async def ask(self, body: bytes, timeout: float) -> Answer:
        self.bodies.append(body)
        answer = self._answer(json.loads(body)["messages"])
        return Answer(answer.text, answer.asks, answer.finish, "m", Usage(len(body) // 4, 5, 0))

    def _answer(self, messages: Sequence[dict[str, object]]) -> Answer:
        if "too long for its window" in str(messages[-1]["content"]):
            return says("What was needed so far.")
        if self.at >= len(self.story):
            return says("done")
        turn = self.story[self.at]
        self.at += 1
        if turn.interrupted:
            self.at -= 1
            self.story = [*self.story[: self.at], replace(turn, interrupted=False), *self.story[self.at + 1 :]]
            raise Stopped
        plan = [("todo_write", {"todos": [{"id": "1", "description": f"at {self.at}", "status": "completed"}]})]
        looks = [("look", {"text": f"{words} {self.at} {n}"}) for n, words in enumerate(turn.results)]
        return says("", *looks, *(plan if turn.plans else []))


async def play(story: Sequence[Turn]) -> tuple[list[bytes], Sequence[Recorded]]:
    made: MemoryRun = memory_run()
    model = Player(story)
    made.model = model  # type: ignore[assignment]

    async def look(call: Call, said: Said) -> ToolResult:
        turn = model.story[model.at - 1]
        if turn.spoken:
            await inbox.put(made.store, "run1", f"i{model.at}", MessageReceived(turn.spoken))
        media = (Media(f"file_{model.at}", "image/png", "A" * 3_000),) if turn.shown else ()
        return ToolResult(f"{said.text}: " + "word " * int(said.text.split()[0]), "looked", media=media)

    made.tool("look", "read", look)
    made.tools |= {tool.name: tool for tool in (*bind_all(FILE_TOOLS, Children()), *bind_all(PLAN_TOOLS, None))}
    limits = Limits(llm_calls=200, tool_calls=500, tokens=10**9, usd=10**6, minutes=600)
    given_ = {"description": "d", "owner": "#o", "when": ["slack.mention"], "tools": ["look"]}
    workflow = Workflow.model_validate({**given_, "limits": limits, "context": Context(window=WINDOW)})
    bundle = Bundle(Loaded("answer-here", workflow, "You look.", "p.md", served("m")), [])
    step = await made.step()
    step.note(MessageReceived("please"))
    for owner in range(1, 20):
        try:
            await coordinate(step, bundle, PROVENANCE)
            break
        except Stopped:
            step = await made.step(f"owner {owner}")
    await step.commit()
    return model.bodies, await made.journal()


def asked(journal: Sequence[Recorded]) -> list[tuple[LlmRequest, int]]:
    """Return the requests of the conversation, each with the number of compactions before it."""
    found, times = list[tuple[LlmRequest, int]](), 0
    for recorded in journal:
        times += isinstance(recorded.entry, ContextCompacted)
        if isinstance(recorded.entry, LlmRequest):
            found.append((recorded.entry, times))
    return found


@given(st.lists(turns, min_size=2, max_size=10))
@examples(0.7)
def test_consecutive_requests_of_any_run_share_every_byte_up_to_the_tail(story: list[Turn]) -> None:
    bodies, journal = asyncio.run(play(story))
    requests = asked(journal)
    prefixes = [prefix(bodies, request) for request, _ in requests]
    numbered = [(bytes_, times) for bytes_, (_, times) in zip(prefixes, requests, strict=True)]
    for (one, before), (other, after) in pairwise(numbered):
        assert other.startswith(one) or after > before
        # A compaction keeps parameters, tools, the system prompt and the first message.
        fixed = one.index(b'"please"')
        assert other[:fixed] == one[:fixed]
    assert all(len(body) // 4 < WINDOW for body in bodies)


def prefix(bodies: Sequence[bytes], request: LlmRequest) -> bytes:
    """Return the bytes before the tail of the request with this tail and hash."""
    end = request.tail.encode()
    found = {
        body[: -len(end)]
        for body in bodies
        if body.endswith(end) and hashlib.sha256(body[: -len(end)]).hexdigest() == request.prefix_sha256
    }
    (only,) = found
    return only
