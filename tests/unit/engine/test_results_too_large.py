"""What a tool gives that is larger than anything is kept: one sentence, at once, and the run goes on."""

import json
import tracemalloc

import pytest

from gofer.engine.own_step import OwnStep
from gofer.engine.permitted_call import Permitted
from gofer.engine.run_files import FILE_LIMIT
from gofer.journal.entries import ToolResult
from gofer.tools.definition import Call
from gofer.tools.definition import ToolResult as Result
from support.engine.memory_run import PROVENANCE, Room, Said, at_work, room, says

pytestmark = pytest.mark.anyio


def flooded(text: str) -> Room:
    made = room(says("done"))

    async def flood(call: Call, said: Said) -> Result:
        return Result(text, "a lot")

    made.tool("look", "read", flood)
    made.tool("post", "keyed", flood)
    return made


async def ask(step: OwnStep, call: str, tool: str) -> ToolResult:
    declared = step.services.tools[tool]
    outcome = await at_work(step).call(Permitted(call, declared, declared.parse({})), PROVENANCE)
    assert isinstance(outcome, ToolResult)
    return outcome


async def test_more_than_a_file_may_hold_is_refused_before_it_is_read() -> None:
    # Parsing this takes many times its size in memory.
    step = await flooded("[" + "0," * (FILE_LIMIT // 2) + "0]").step()
    tracemalloc.start()
    told = await ask(step, "1.0", "look")
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < FILE_LIMIT
    assert told.text == "look returned 64,000,003 characters, and at most 64,000,000 are kept; ask for less."
    assert told.details == {"code": "too_large"}
    assert step.workspace.files == {}


async def test_what_took_effect_is_known_although_what_it_said_is_not_kept() -> None:
    step = await flooded("x" * (FILE_LIMIT + 1)).step()
    told = await ask(step, "1.0", "post")
    assert told.status == "ok"
    assert "further characters could not be kept" in told.text


async def test_a_result_of_megabytes_is_a_file_with_its_outline() -> None:
    records = [{"id": at, "title": "some words"} for at in range(50_000)]
    step = await flooded(json.dumps({"items": records})).step()
    told = await ask(step, "1.0", "look")
    about, part = told.text.split("\npartial_data:\n")
    assert json.loads(about)["is_truncated"]
    assert json.loads(part)["items"][-1] == "… 49,998 more, 50,000 in all"
    assert json.loads(about)["json_id"] in step.workspace.files
