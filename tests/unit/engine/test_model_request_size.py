"""Requests with images: they have many bytes and few tokens, and stay below the size limits of providers."""

import asyncio
import io
import json
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from gofer.engine import model_request
from gofer.files.document import BYTES
from gofer.journal.entries import LlmResponse, MessageReceived, Recorded
from gofer.journal.workspace_entries import ContextCompacted
from gofer.models.language_model import Answer
from gofer.projections import conversation
from gofer.projections.requests.request_parts import RequestWeights
from gofer.tools.definition import Call, NewFile, ToolResult
from gofer.tools.files.documents import PDF_BYTES
from gofer.values.messages import Media, Usage
from support.engine.long_run import Messages, compactions, is_asked_to_sum_up, run
from support.engine.memory_run import ListModel, MemoryRun, Said, memory_run, says
from support.processes.jobs_in_this_process import InThisProcess
from support.property_examples import examples

LARGEST = 4 * -(-max(BYTES, PDF_BYTES) // 3)
"""Base64 characters of the largest image or PDF that one call of a built-in tool shows."""
pytestmark = pytest.mark.anyio
REFUSED = 20_000_000
"""Bytes of a request that some providers refuse."""


def gallery() -> MemoryRun:
    """Return a run whose tool `look` shows images, given as `<name> <characters of base64>`, separated by commas."""
    made = memory_run()

    async def look(call: Call, said: Said) -> ToolResult:
        shown = [one.split() for one in said.text.split(",")]
        media = tuple(Media(f"file_{name}", "image/png", "A" * int(size)) for name, size in shown)
        return ToolResult(f"{said.text} follows.", "an image", media=media)

    made.tool("look", "read", look)
    return made


@dataclass
class Looker:
    """A model that looks at the given images turn by turn, and counts 1,000 tokens for each."""

    turns: Sequence[Sequence[str]]
    at: int = 0
    bodies: list[bytes] = field(default_factory=list)

    async def ask(self, body: bytes, timeout: float) -> Answer:
        self.bodies.append(body)
        messages: Messages = json.loads(body)["messages"]
        images = shown(messages)
        count = Usage((len(body) - sum(map(len, images))) // 4 + 1_000 * len(images), 10, 0)
        return Answer(*self._said(messages), "stop", "m", count)

    def _said(self, messages: Messages) -> tuple[str, Any]:
        if is_asked_to_sum_up(messages):
            return "The images showed " + "word " * 400, ()
        if self.at >= len(self.turns):
            return "done", ()
        self.at += 1
        answer = says("", *(("look", {"text": text}) for text in self.turns[self.at - 1]))
        return "", answer.asks


def shown(messages: Messages) -> list[str]:
    """Return the URL of every image of a request, in order."""
    pieces = [piece for one in messages if isinstance(one["content"], list) for piece in one["content"]]
    return [piece["image_url"]["url"] for piece in pieces if piece["type"] == "image_url"]


def bytes_of(url: str) -> int:
    return len(url.partition(",")[2])


async def look(*turns: Sequence[str], window: int = 48_000) -> tuple[MemoryRun, Looker]:
    made, model = gallery(), Looker(turns)
    ending = await run(made, model, window)  # type: ignore[arg-type]
    assert (ending.status, ending.answer) == ("done", "done")
    return made, model


async def test_images_leave_the_window_before_the_request_exceeds_the_size_of_providers() -> None:
    made, model = await look(*([f"{n} 3000000"] for n in range(13)))
    assert max(map(len, model.bodies)) < REFUSED
    folded = await compactions(made)
    assert 2 < len(folded) < 5
    # Each image was in view right after it was asked for.
    asked = [json.loads(body)["messages"] for body in model.bodies]
    talk = [one for one in asked if not is_asked_to_sum_up(one)]
    assert all(shown(one) for one in talk[1:])
    # The summary is longer than the few words between images, and is kept all the same.
    assert {one.by for one in folded} == {"model"}


async def test_images_that_left_the_window_are_named_with_the_turn_until_shown_again() -> None:
    turns = [[f"{n} 3000000"] for n in range(6)]
    _, model = await look(*turns, ["1 3000000"], *([f"{n} 3000000"] for n in range(6, 11)))
    named = [re.findall(r"do not see them any more: (.*?); load_file", body.decode()) for body in model.bodies]
    first = next(one for one in named if one)
    assert first[0].startswith("file_0 (turn 1), file_1 (turn 2), file_2 (turn 3)")
    last = named[-1][0]
    assert "file_1 (turn 7)" in last
    assert "file_1 (turn 2)" not in last


async def test_images_of_one_turn_too_large_together_are_reported_as_not_shown() -> None:
    _, model = await look([f"{n} 4000000" for n in range(6)], ["again 4000000"])
    results = [one["content"] for one in json.loads(model.bodies[1])["messages"] if one["role"] == "tool"]
    assert all(f"file_{n} is not shown" in one and "in a later turn" in one for n, one in enumerate(results))
    assert shown(json.loads(model.bodies[1])["messages"]) == []
    (image,) = shown(json.loads(model.bodies[-1])["messages"])
    assert len(image) > 4_000_000


def photograph(number: int) -> bytes:
    """Return an image with the grain of a photograph, which makes it large as a PNG."""
    size = (1_000, 1_000)
    grain = Image.frombytes("RGB", size, random.Random(number).randbytes(3 * size[0] * size[1]))
    plain = Image.merge("RGB", [Image.radial_gradient("L").resize(size)] * 3)
    made = io.BytesIO()
    Image.blend(plain, grain, 0.1).save(made, "PNG", compress_level=1)
    return made.getvalue()


async def test_ten_photographs_loaded_at_once_are_scaled_to_fit_together() -> None:
    made = gallery()
    photographs = [NewFile(f"{n}.png", "image/png", photograph(n), "Slack") for n in range(10)]
    assert sum(len(one.content or b"") for one in photographs) * 4 / 3 > model_request.MOST_BYTES

    async def find(call: Call, said: Said) -> ToolResult:
        return ToolResult("found", "found", files=photographs)

    made.tool("find", "read", find)
    model = ListModel(
        [
            says("", ("find", {})),
            says("", *(("load_file", {"file": one.id}) for one in photographs)),
            says("done"),
        ]
    )
    children = InThisProcess()
    ending = await run(made, model, 48_000, tools=("look", "find"), children=children)  # type: ignore[arg-type]
    assert ending.answer == "done"
    body = model.requests[-1]
    assert len(shown(json.loads(body)["messages"])) == 10
    assert len(body) < model_request.MOST_BYTES


async def test_images_of_one_call_are_shown_up_to_the_space_left() -> None:
    _, model = await look([",".join(f"{n} 4000000" for n in range(6))])
    messages = json.loads(model.bodies[-1])["messages"]
    assert len(shown(messages)) == 3
    (result,) = (one["content"] for one in messages if one["role"] == "tool")
    assert re.findall(r"file_(\d) is not shown", result) == ["3", "4", "5"]


async def test_turn_that_fills_a_request_leaves_with_the_next_compaction() -> None:
    full = ",".join(f"{n} 2500000" for n in range(7))
    made, model = await look([full], ["7 2000000"], ["8 2000000"])
    assert len(await compactions(made)) == 1
    assert [len(shown(json.loads(body)["messages"])) for body in model.bodies] == [0, 6, 6, 0, 1]


async def test_request_has_at_most_a_hundred_images() -> None:
    _, model = await look(*([f"{n} 1000"] for n in range(300)), window=2_000_000)
    counts = [len(shown(json.loads(body)["messages"])) for body in model.bodies]
    assert 50 < max(counts) <= 100


def test_image_that_left_with_the_first_message_is_named_with_that_message() -> None:
    entries = [
        MessageReceived("see", media=(Media("file_1", "image/png", "AAAA"),)),
        LlmResponse("I saw.", (), "stop", "m", Usage(), None, 1),
        MessageReceived("and?", "i1"),
        ContextCompacted("what was", "history_1", 0, 2, (1, 1), "model"),
    ]
    state = conversation.project(Recorded(n, 0, n, "me", entry) for n, entry in enumerate(entries, 1))
    assert "do not see them any more: file_1 (the first message); load_file" in state.parts[0].decode()
    assert (state.seen, model_request.sizes(state)) == ([], [len(part) for part in state.parts])


def test_shown_images_count_as_files_in_the_token_estimate() -> None:
    seen = MessageReceived("see", media=(Media("file_1", "image/png", "AAAA"),))
    assert RequestWeights("", ()).weigh(conversation.project([Recorded(1, 0, 0, "me", seen)])).roles["files"] > 1_000


one_call = st.lists(st.integers(1, LARGEST), min_size=1, max_size=3).map(
    lambda sizes: ",".join(f"{size} {size}" for size in sizes)
)
stories = st.lists(st.lists(one_call, min_size=1, max_size=4), min_size=1, max_size=8)


@given(stories)
@examples(0.3)
def test_no_request_with_images_is_too_large_and_only_compaction_changes_the_prefix(
    story: list[list[str]],
) -> None:
    async def play() -> None:
        made, model = await look(*story)
        assert max(map(len, model.bodies)) < model_request.MOST_BYTES
        talk = [body for body in model.bodies if not is_asked_to_sum_up(json.loads(body)["messages"])]
        for turn, (calls, after) in enumerate(zip(story, talk[1:], strict=True)):
            if len(calls) == 1 and "," not in calls[0]:
                # A single image of a built-in tool is always shown.
                assert int(calls[0].split()[1]) in map(bytes_of, shown(json.loads(after)["messages"])), turn
        begun = sum(not other.startswith(one[: one.rindex(b',{"content":')]) for one, other in pairwise(talk))
        assert begun == len(await compactions(made))

    asyncio.run(play())
