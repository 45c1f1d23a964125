import pytest

from gofer.engine.own_step import PurposeCall
from gofer.journal import purposes
from gofer.journal.entries import ToolCall, ToolResult
from gofer.sources.part_values import OwnCall
from support.engine.memory_run import PROVENANCE, MemoryRun, memory_run

pytestmark = pytest.mark.anyio
ASKED = OwnCall("post", {"text": "it"})


def with_a_tool() -> MemoryRun:
    made = memory_run()
    made.tool("post", "blind")
    return made


async def intent(made: MemoryRun) -> ToolCall:
    (found,) = [one.entry for one in await made.journal() if isinstance(one.entry, ToolCall)]
    return found


@pytest.mark.parametrize(
    "call", ["1.0", "12.3", "0:post:0f1e2d3c4b5a:1", "0.1-2:post:0f1e2d3c4b5a:1", "1/1", "answer", "answer/", "/1", ""]
)
def test_call_id_of_a_model_or_script_is_refused_for_a_purpose_call(call: str) -> None:
    with pytest.raises(ValueError, match="<purpose>/<n>"):
        PurposeCall(call, ASKED)


@pytest.mark.parametrize(
    "call",
    [
        purposes.ANSWER,
        purposes.STATUS_DELETED,
        purposes.QUESTION.format("call", "1.0", 2),
        f"{purposes.PRELOAD}/file_1",
        purposes.DECISION.format("leaving", "0:a:b:1"),
    ],
)
async def test_purpose_call_happens_once(call: str) -> None:
    made = with_a_tool()
    step = await made.step()
    first = await step.call(PurposeCall(call, ASKED), PROVENANCE)
    assert isinstance(first, ToolResult)
    assert await step.call(PurposeCall(call, ASKED), PROVENANCE) == first
    assert made.acted == ["post:it"]


@pytest.mark.parametrize("recorded", [True, False])
async def test_arguments_that_follow_from_the_journal_are_not_recorded_again(recorded: bool) -> None:
    made = with_a_tool()
    step = await made.step()
    await step.call(PurposeCall("answer/1", ASKED, recorded=recorded), PROVENANCE)
    await step.commit()
    assert (await intent(made)).arguments == ({"text": "it"} if recorded else None)
