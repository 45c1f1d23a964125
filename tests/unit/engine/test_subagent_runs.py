"""Subagent runs: their tools, limits and answers, and the usage that counts for the run that asked."""

from dataclasses import replace

import pytest

from gofer.engine.loop import Ending
from gofer.files.child import Children
from gofer.journal.entries import LlmResponse, RunAccepted, RunFinished, SubagentFinished, SubagentStarted, ToolResult
from gofer.models.language_model import Answer
from gofer.projections import progress, workspace
from gofer.tools.declare import bind_all
from gofer.tools.definition import Call
from gofer.tools.definition import ToolResult as Given
from gofer.tools.files.tools import TOOLS as FILE_TOOLS
from gofer.values.errors import TemporaryError
from gofer.values.messages import Media
from gofer.workflows.schema import Limits
from support.engine.memory_run import Said, says
from support.engine.subagent_runs import Asked, RunWithSubagents, run_with_subagents

pytestmark = pytest.mark.anyio


def hand_over(name: str, prompt: str, *files: str) -> tuple[str, dict[str, object] | str]:
    return ("subagent", {"agent_name": name, "prompt": prompt, "files": list(files)})


async def test_subagent_uses_a_tool_of_the_run_and_the_answer_comes_back() -> None:
    def think(asked: Asked) -> Answer:
        match asked.system, asked.turn:
            case "You are looker.", 0:
                assert asked.prompt == "what stands there?"
                return says("", ("look", {"text": "there"}))
            case "You are looker.", 1:
                assert asked.said[-1] == "look did there"
                return says("a tree stands there")
            case _, 0:
                return says("", hand_over("looker", "what stands there?"))
            case _:
                assert asked.said[-1] == "a tree stands there"
                return says("It is a tree.")

    made = run_with_subagents(think)
    made.tool("look", "read")
    made.subagent("looker", tools=["look"])
    assert (await made.resume()).answer == "It is a tree."
    assert made.acted == ["look:there"]
    (journal,) = (await made.subagent_journals()).values()
    assert isinstance(journal[0].entry, RunAccepted)
    assert journal[0].entry.parent == "run1"
    assert isinstance(journal[-2].entry, RunFinished)
    # Its two model calls and its one tool call count for the run.
    done = progress.project(await made.journal())
    assert (done.llm_calls, done.tool_calls, done.asking) == (4, 2, {})
    assert done.usage.input_tokens == 40


def asking(*below: Answer, to: str = "helper", files: tuple[str, ...] = ()) -> RunWithSubagents:
    """Return a run whose model asks a subagent with these answers, and then repeats the result."""

    def think(asked: Asked) -> Answer:
        if asked.system.startswith("You are a test."):
            return says(asked.said[-1]) if asked.turn else says("", hand_over(to, "help", *files))
        return below[min(asked.turn, len(below) - 1)]

    made = run_with_subagents(think)
    made.tool("look", "read")
    made.tool("post", "keyed")
    return made


async def test_subagent_has_only_tools_that_are_listed_and_granted_to_the_run() -> None:
    made = asking(says("", ("post", {"text": "x"})), says("done"))
    made.subagent("helper", tools=["look", "erase_everything"])
    made.subagent("all", tools="inherit")
    assert (await made.resume()).answer == "done"
    assert made.acted == []
    (first, *_) = [asked for asked in made.many.asked if asked.system == "You are helper."]
    assert first.tools == {"look", "finish", *(tool.name for tool in bind_all(FILE_TOOLS, Children()))}
    inheriting = asking(says("done"), to="all")
    inheriting.subagent("all", tools="inherit")
    await inheriting.resume()
    (only,) = [asked for asked in inheriting.many.asked if asked.system == "You are all."]
    assert only.tools == first.tools | {"post"}


async def test_subagent_without_tools_is_a_one_shot_subagent_in_the_journal_of_the_run() -> None:
    made = asking(says("yes"))
    made.subagent("helper")
    assert (await made.resume()).answer == "yes"
    assert await made.subagent_journals() == {}
    (asked,) = [asked for asked in made.many.asked if asked.system == "You are helper."]
    assert (asked.tools, asked.said) == (frozenset(), [])
    assert progress.project(await made.journal()).llm_calls == 3


async def test_subagent_limit_is_a_share_of_the_calls_left_and_usage_counts_for_the_run() -> None:
    made = asking(says("", ("look", {"text": "a"})), says("Half.", ("look", {"text": "b"})), says("never"))
    made.limits = Limits(llm_calls=5)
    made.subagent("helper", tools=["look"])
    ending = await made.resume()
    # Of the four calls left, the subagent may use two.
    stopped = "The subagent helper did not finish: stopped after 2 model calls."
    assert ending.answer == f"{stopped} Its result so far:\n\nHalf."
    (started,) = [one.entry for one in await made.journal() if isinstance(one.entry, SubagentStarted)]
    assert started.reserved is not None
    assert started.reserved.llm_calls == 2
    assert progress.project(await made.journal()).llm_calls == 4


async def test_largest_request_of_a_run_includes_subagents() -> None:
    made = asking(says("", ("look", {"text": "a"}), tokens=900), says("done", tokens=400))
    made.subagent("helper", tools=["look"])
    await made.resume()
    assert progress.project(await made.journal()).largest == {"m": 901}


async def test_subagent_is_not_asked_when_only_one_model_call_is_left() -> None:
    made = asking(says("never"))
    made.limits = Limits(llm_calls=2)
    made.subagent("helper", tools=["look"])
    assert (await made.resume()).answer.startswith("The subagent was not asked: stopped after 2 model calls.")


@pytest.mark.parametrize(
    ("to", "files", "said"),
    [
        ("helpr", (), "There is no subagent 'helpr'. There are: helper."),
        ("helper", ("file_1",), "There is no file 'file_1'. The files of this run: none."),
    ],
)
async def test_unknown_subagent_or_file_is_refused_with_the_known_names(
    to: str, files: tuple[str, ...], said: str
) -> None:
    made = asking(says("never"), to=to, files=files)
    made.subagent("helper", tools=["look"])
    assert (await made.resume()).answer == said


async def test_subagent_gets_files_by_id_and_returns_a_long_answer_as_a_file() -> None:
    report = "\n".join(f"line {n} of what was found" for n in range(4_000))

    def think(asked: Asked) -> Answer:
        files = [word.strip('",') for word in " ".join(asked.said).split() if word.startswith('"result_')]
        match asked.system, asked.turn:
            case "You are reader.", 0:
                return says("", ("file_read", {"file": asked.prompt, "start_line": 7, "end_line": 7}))
            case "You are reader.", _:
                assert "line 6 of what was found" in asked.said[-1]
                return says(report.replace("line", "LINE"))
            case _, 0:
                return says("", ("look", {"text": "all"}))
            case _, 1:
                return says("", hand_over("reader", files[0], files[0]))
            case _:
                return says(files[-1])

    made = run_with_subagents(think)

    async def all_of_it(call: object, said: object) -> object:
        return Given(report, "looked")

    made.tool("look", "read", all_of_it)  # type: ignore[arg-type]
    made.subagent("reader", tools=[])
    answer = (await made.resume()).answer
    held = workspace.project(await made.journal()).files
    assert held[answer].added.origin == "subagent reader"
    assert len(held) == 2
    # Neither text was ever in the window of the run.
    results = [one.entry for one in await made.journal() if isinstance(one.entry, ToolResult)]
    assert all(len(result.text) < 10_000 for result in results)


async def test_subagents_nest_at_most_three_deep() -> None:
    def think(asked: Asked) -> Answer:
        offered = "subagent" in asked.tools
        if asked.turn == 0 and offered:
            return says("", hand_over("again", "deeper"))
        return says(f"{asked.said[-1]}." if asked.turn else "bottom")

    made = run_with_subagents(think)
    made.subagent("again", tools=[], subagents=["again"])
    made.limits = Limits(llm_calls=200)
    assert (await made.resume()).answer == "bottom..."
    assert max(call.count(">") for call in await made.subagent_journals()) == 2


async def test_script_asks_subagents_concurrently_and_replays_the_answers() -> None:
    made = asking(says("", ("look", {"text": "a"})), says("looked"))
    made.script = """
from gofer.coordinator import ToolFailed
async def coordinate(run):
    both = await run.gather(run.subagent("helper", "one"), run.subagent("helper", "two"))
    try:
        await run.subagent("helper", "three", files=["nothing"])
    except ToolFailed as e:
        both.append(f"{e.code}: {e.text}")
    return ", ".join(both)
"""
    made.subagent("helper", tools=["look"])
    done = Ending("done", "looked, looked, refused: The run has no file 'nothing'.")
    assert await made.resume() == done
    asked = len(made.many.asked)
    assert await made.resume("another") == done
    assert len(made.many.asked) == asked == 4


async def test_script_that_drops_a_writing_subagent_has_diverged() -> None:
    made = asking(says("", ("post", {"text": "a"})), says("posted"))
    made.subagent("helper", tools=["post"])
    made.script = 'async def coordinate(run):\n    return await run.subagent("helper", "one")\n'
    assert (await made.resume()).answer == "posted"
    made.script = 'async def coordinate(run):\n    return await run.subagent("helper", "two")\n'
    ending = await made.resume("another")
    assert ending.status == "needs_attention"
    assert "asks for subagent.helper, and the journal has subagent.helper with other prompt instead" in ending.reason
    assert made.acted == ["post:a"]


async def test_subagent_with_an_output_schema_returns_json() -> None:
    made = asking(says("a bug"), says('{"kind": "bug"}'))
    schema = {"type": "object", "properties": {"kind": {"enum": ["bug"]}}, "required": ["kind"]}
    made.subagent("helper", tools=["look"], output=schema)
    assert (await made.resume()).answer == '{"kind":"bug"}'
    (finished,) = [one.entry for one in await made.journal() if isinstance(one.entry, SubagentFinished)]
    assert (finished.status, finished.llm_calls) == ("ok", 2)


async def test_known_cost_of_a_subagent_counts_although_another_call_is_unpriced() -> None:
    made = asking(says("", ("look", {"text": "x"})), replace(says("done"), model="unpriced"))
    made.subagent("helper", tools=["look"])
    assert (await made.resume()).answer == "done"
    (below,) = (await made.subagent_journals()).values()
    known = progress.project(below).spent_usd
    run = progress.project(await made.journal())
    own = sum(one.entry.cost_usd or 0 for one in await made.journal() if isinstance(one.entry, LlmResponse))
    assert known > 0
    assert (run.cost_usd, run.spent_usd) == (None, pytest.approx(own + known))


async def test_unknown_outcome_in_a_subagent_blocks_the_tool_in_the_run() -> None:
    def think(asked: Asked) -> Answer:
        match asked.system, asked.turn:
            case "You are helper.", 0:
                return says("", ("shout", {"text": "x"}))
            case "You are helper.", _:
                return says("unsure")
            case _, 0:
                return says("", hand_over("helper", "shout"))
            case _, 1:
                return says("", ("shout", {"text": "x"}))
            case _:
                return says(asked.said[-1])

    made = run_with_subagents(think)

    async def silent(call: object, said: object) -> object:
        raise TemporaryError("no answer")

    made.tool("shout", "blind", silent)  # type: ignore[arg-type]
    made.subagent("helper", tools=["shout"])
    assert "an earlier shout may have happened" in (await made.resume()).answer
    assert made.acted == ["shout:x"]


async def test_image_is_not_shown_to_a_subagent_without_vision() -> None:
    def think(asked: Asked) -> Answer:
        match asked.system, asked.turn:
            case "You are looker.", 0:
                return says("", ("look", {"text": "there"}))
            case "You are looker.", _:
                seen.append(asked)
                return says("I see nothing")
            case _, 0:
                return says("", hand_over("looker", "what stands there?"))
            case _:
                return says("done")

    async def look(call: Call, said: Said) -> Given:
        return Given("a picture", "a picture", media=(Media("file_1", "image/png", "AAAA"),))

    seen: list[Asked] = []
    made = run_with_subagents(think)
    made.tool("look", "read", look)
    made.subagent("looker", tools=["look"])
    await made.resume()
    (asked,) = seen
    assert b"image_url" not in asked.body
    assert "file_1 is an image that you cannot see" in asked.said[-1]
