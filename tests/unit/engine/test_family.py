"""The limit `most` of a tool, counted over a run with its subagents, also after crashes."""

import asyncio
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gofer.engine.model_order import Parked
from gofer.journal.coordination import InboxItem
from gofer.journal.entries import Recorded, ToolCall, ToolResult
from gofer.models.language_model import Answer
from gofer.stores.memory.journal import MemoryStore
from gofer.tools.definition import Call
from gofer.tools.definition import ToolResult as Result
from gofer.values.errors import ToolError
from gofer.workflows.bundle import encode_bundle, read_bundle
from support.engine.memory_run import Said, says
from support.engine.mortal_store import Crashed, MortalStore
from support.engine.subagent_runs import Asked, RunWithSubagents, run_with_subagents

pytestmark = pytest.mark.anyio
NO_MORE = (
    "Not called: the rule `most` lets a run call post 3 times, and this run did. Tell the asker what is left to do. "
    "The owner of the workflow can allow more: `tools: [{post: {most: 6}}]`."
)


def posts(*texts: str) -> Answer:
    return says("", *(("post", {"text": text}) for text in texts))


def family_of(*turns: Sequence[str], below: Sequence[str] = (), most: int | None = None) -> RunWithSubagents:
    """Return a run that posts these texts turn by turn, after it asked two subagents that post the texts `below`."""

    def think(asked: Asked) -> Answer:
        if asked.system != "You are a test.":
            return says("done") if asked.turn else posts(*below)
        if below and not asked.turn:
            return says("", *(("subagent", {"agent_name": "poster", "prompt": one}) for one in ("a", "b")))
        turn = asked.turn - bool(below)
        return posts(*turns[turn]) if turn < len(turns) else says("Done.")

    made = run_with_subagents(think)
    made.tool("post", "keyed")
    made.subagent("poster", tools="inherit")
    made.limits = made.limits.model_copy(update={"llm_calls": 60, "tool_calls": 60, "minutes": 60.0})
    if most is not None:
        made.more = {"tools": [{"post": {"most": most}}]}
    return made


async def all_entries(made: RunWithSubagents) -> Sequence[Recorded]:
    below = await made.subagent_journals()
    return [one for journal in (await made.journal(), *below.values()) for one in journal]


async def refusals(made: RunWithSubagents) -> list[str]:
    results = [one.entry for one in await all_entries(made) if isinstance(one.entry, ToolResult)]
    return [one.text for one in results if one.status == "refused"]


async def test_model_calls_a_writing_tool_three_times_and_reads_why_not_more_often() -> None:
    made = family_of(["1", "2"], ["3", "4"], ["5"])
    assert (await made.resume()).answer == "Done."
    assert made.acted == ["post:1", "post:2", "post:3"]
    assert await refusals(made) == [NO_MORE, NO_MORE]


async def test_workflow_file_allows_more_calls_of_a_tool() -> None:
    made = family_of(["1", "2", "3", "4"], ["5", "6"], most=5)
    await made.resume()
    assert made.acted == [f"post:{text}" for text in "12345"]
    assert len(await refusals(made)) == 1


async def test_read_is_made_as_often_as_the_model_asks() -> None:
    made = run_with_subagents(lambda asked: says("Done.") if asked.turn else says("", *_looks(5)))
    made.tool("look", "read")
    await made.resume()
    assert len(made.acted) == 5


def _looks(number: int) -> Sequence[tuple[str, dict[str, object] | str]]:
    return [("look", {"text": str(one)}) for one in range(number)]


async def test_calls_of_subagents_at_work_at_the_same_time_count_for_the_run() -> None:
    made = family_of(["last"], below=["1", "2"])
    await made.resume()
    assert len(made.acted) == 3
    assert await refusals(made) == [NO_MORE, NO_MORE]


async def test_failed_calls_count_and_refused_ones_do_not() -> None:
    made = family_of(["never"], ["3"], most=2)

    async def refuse(call: Call, said: Said) -> Result:
        raise ToolError("There is no such channel.")

    made.tool("post", "keyed", refuse)
    answers = made.many.think

    def think(asked: Asked) -> Answer:
        answer = answers(asked)
        if asked.turn:
            return answer
        return says("", ("post", {"txt": "0"}), ("post", {"text": "1"}), ("post", {"text": "2"}))

    made.many.think = think
    await made.resume()
    assert made.acted == ["post:1", "post:2"]


SCRIPT = """
async def coordinate(run):
    for text in "12345":
        await run.call("post", text=text)
    return await run.subagent("poster", "a")
"""


async def test_script_calls_without_a_limit_and_its_subagents_have_their_own() -> None:
    made = family_of(below=["6", "7", "8", "9"])
    made.script = SCRIPT
    assert (await made.resume()).answer == "done"
    assert made.acted == [f"post:{text}" for text in "12345678"]
    assert await refusals(made) == [NO_MORE]


class SlowStore(MemoryStore):
    """A store during whose answers other branches go on."""

    async def items(self, run: str) -> Sequence[InboxItem]:
        await asyncio.sleep(0)
        return await super().items(run)


async def test_script_keeps_the_limit_that_its_file_names_over_all_branches() -> None:
    made = family_of(most=3)
    made.store = SlowStore()
    made.script = """
    async def coordinate(run):
        async def post(text):
            try:
                await run.call("post", text=text)
            except Exception as error:
                return str(error)
        return str(await run.gather(*(post(text) for text in "12345")))
    """
    ending = await made.resume()
    assert len(made.acted) == 3
    assert ending.answer.count("the rule `most`") == 2


async def test_run_from_before_the_limit_has_none() -> None:
    made = family_of([*"12345"])
    before = encode_bundle(made.bundle()).replace(b'"most":3,', b"")
    bundle = read_bundle(before, type(made.bundle().loaded.workflow))
    made.bundle = lambda: bundle
    await made.resume()
    assert len(made.acted) == 5


def test_bundle_without_writing_tools_has_no_word_of_the_limit() -> None:
    made = run_with_subagents(lambda asked: says(""))
    made.tool("look", "read")
    assert b'"most"' not in encode_bundle(made.bundle())


@settings(max_examples=60, deadline=None)
@given(
    turns=st.lists(st.integers(1, 4), max_size=3),
    below=st.integers(0, 3),
    most=st.integers(1, 4),
    crashes=st.lists(st.integers(1, 12), max_size=4),
    after=st.booleans(),
)
def test_counted_calls_never_exceed_the_limit_in_any_order_of_entries_and_crashes(
    turns: list[int], below: int, most: int, crashes: list[int], after: bool
) -> None:
    asyncio.run(_check_count(turns, below, most, crashes, after=after))


async def _check_count(turns: list[int], below: int, most: int, crashes: list[int], *, after: bool) -> None:
    texts = [[f"{turn}.{one}" for one in range(number)] for turn, number in enumerate(turns)]
    made = family_of(*texts, below=[f"below {one}" for one in range(below)], most=most)
    made.store = MortalStore(0, after=after)
    for owner in range(40):
        made.store.mortal(crashes[owner] if owner < len(crashes) else 0)
        try:
            await made.resume(f"owner{owner}")
            break
        except Crashed:
            pass
        except Parked as parked:
            made.clock.advance(max(1.0, parked.entry.until / 1000 - made.clock.now()))
    begun = {(one.entry.call, id(journal)) for journal in await _journals(made) for one in journal if _posts(one)}
    assert len(begun) == min(most, sum(turns) + 2 * below)
    assert len(made.marked) <= most


async def _journals(made: RunWithSubagents) -> Sequence[Sequence[Recorded]]:
    return [await made.journal(), *(await made.subagent_journals()).values()]


def _posts(one: Recorded) -> bool:
    return isinstance(one.entry, ToolCall) and one.entry.tool == "post"
