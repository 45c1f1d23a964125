"""Results above the file limit: they are refused or cut at once, and the run continues."""

import json
import tracemalloc

import pytest

from gofer.engine.own_step import OwnStep
from gofer.engine.permitted_call import Permitted
from gofer.engine.run_files import FILE_LIMIT
from gofer.journal.entries import ToolResult
from gofer.tools.definition import Call
from gofer.tools.definition import ToolResult as Result
from support.engine.memory_run import PROVENANCE, MemoryRun, Said, at_work, memory_run, says

pytestmark = pytest.mark.anyio


def flooded(text: str) -> MemoryRun:
    made = memory_run(says("done"))

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


async def test_result_above_the_file_limit_is_refused_before_parsing() -> None:
    # Parsing this takes many times its size in memory.
    step = await flooded("[" + "0," * (FILE_LIMIT // 2) + "0]").step()
    tracemalloc.start()
    result = await ask(step, "1.0", "look")
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < FILE_LIMIT
    assert result.text == "look returned 64,000,003 characters, and at most 64,000,000 are kept; ask for less."
    assert result.details == {"code": "too_large"}
    assert step.workspace.files == {}


async def test_write_is_recorded_as_ok_although_the_result_is_too_large_to_keep() -> None:
    step = await flooded("x" * (FILE_LIMIT + 1)).step()
    result = await ask(step, "1.0", "post")
    assert result.status == "ok"
    assert "further characters could not be kept" in result.text


async def test_result_of_megabytes_becomes_a_file_with_an_outline() -> None:
    records = [{"id": at, "title": "some words"} for at in range(50_000)]
    step = await flooded(json.dumps({"items": records})).step()
    result = await ask(step, "1.0", "look")
    about, part = result.text.split("\npartial_data:\n")
    assert json.loads(about)["is_truncated"]
    assert json.loads(part)["items"][-1] == "… 49,998 more, 50,000 in all"
    assert json.loads(about)["json_id"] in step.workspace.files
