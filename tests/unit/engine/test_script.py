"""Script coordinators: their interface, their limits, and how their runs end."""

import asyncio

import pytest

from gofer.engine.loop import Ending
from gofer.engine.owned_run import Deadline
from gofer.journal import inbox
from gofer.journal.entries import RunCancelled, ToolCall, ToolResult, ValueRecorded
from gofer.tools.definition import Call
from gofer.tools.definition import ToolResult as Result
from gofer.values.errors import Cancelled, OutOfTime, ToolError
from gofer.workflows.schema import Limits
from support.engine.memory_run import MemoryRun, Said, memory_run, no_answer

pytestmark = pytest.mark.anyio

HEAD = "from gofer.coordinator import Run, ToolFailed\n\nasync def coordinate(run: Run):\n"


def scripted(body: str, **fields: object) -> MemoryRun:
    """Return a run with a script of these lines and a tool of each effect."""
    made = memory_run()
    made.script = HEAD + "\n".join(f"    {line}" for line in body.strip("\n").split("\n"))
    for name, value in fields.items():
        setattr(made, name, value)
    made.tool("look", "read")
    made.tool("note", "keyed")
    made.tool("mail", "blind")
    return made


async def test_script_calls_tools_and_returns_the_answer() -> None:
    made = scripted('found = await run.call("look", text="a")\nreturn f"found {found[\'text\']}"')
    assert await made.run_script() == Ending("done", "found a")
    assert made.acted == ["look:a"]
    (call,) = [item.entry for item in await made.journal() if isinstance(item.entry, ToolCall)]
    assert (call.tool, call.arguments) == ("look", {"text": "a"})
    assert "/" not in call.call


async def test_script_without_an_answer_is_done() -> None:
    assert (await scripted("return None").run_script()).status == "done"


async def test_script_cannot_change_the_event() -> None:
    made = scripted(
        'run.event.place["ts"] = "changed"\nreturn f"{run.event.kind} {run.event.place[\'ts\']} {len(run.files)}"'
    )
    assert (await made.run_script()).answer == "slack.mention 1795262400.000100 0"


async def test_script_gets_a_mutable_copy_of_a_tool_value() -> None:
    async def list_two(call: Call, said: Said) -> Result:
        return Result("two things", "read", {"count": 2}, value=[{"name": "a"}, {"name": "b"}])

    made = scripted(
        'for _ in range(2):\n    items = await run.call("list")\n    items.pop()["name"] = ""\nreturn items[0]["name"]'
    )
    made.tool("list", "read", list_two)
    assert (await made.run_script()).answer == "a"
    made.acted.clear()
    assert (await made.run_script("another")).answer == "a"
    assert made.acted == []


async def test_tool_value_too_large_for_a_script_is_an_error() -> None:
    async def flood(call: Call, said: Said) -> Result:
        return Result("much", "read", value=["x" * 1_000_000] * 3)

    made = scripted('try:\n    await run.call("flood")\nexcept ToolFailed as e: return e.code')
    made.tool("flood", "read", flood)
    assert (await made.run_script()).answer == "too_large"


async def test_tool_error_can_be_caught_by_a_script_with_the_code() -> None:
    async def refuse(call: Call, said: Said) -> Result:
        raise ToolError("There is no such channel.", code="channel_not_found")

    made = scripted('try:\n    await run.call("refuse")\nexcept ToolFailed as e:\n    return f"{e.code}: {e.text}"')
    made.tool("refuse", "read", refuse)
    assert (await made.run_script()).answer == "channel_not_found: There is no such channel."


async def test_uncaught_tool_failure_ends_the_run_with_the_script_line() -> None:
    made = scripted('await run.call("look")\nawait run.call("nothing_like_it")')
    ending = await made.run_script()
    assert (ending.status, ending.reason) == ("failed", "coordinators/s.py:5: nothing_like_it failed (refused)")
    assert (
        "There is no tool 'nothing_like_it' here. The tools of this workflow: look, note, mail." in ending.script_error
    )


FIFTH_LINE = "coordinators/s.py:5"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("return 1 / 0", "coordinators/s.py:4 failed with ZeroDivisionError"),
        ("def deeper(): return deeper()\nreturn deeper()", "coordinators/s.py:4 failed with RecursionError"),
        ("class Odd(BaseException): pass\nraise Odd", "coordinators/s.py:5 failed with Odd"),
        ("import asyncio\nraise asyncio.CancelledError", "coordinators/s.py cancelled itself"),
        ("raise SystemExit(3)", "coordinators/s.py:4 called exit"),
        ("raise KeyboardInterrupt", "coordinators/s.py:4 failed with KeyboardInterrupt"),
        ("return {}", "coordinators/s.py returned a dict instead of text or None"),
        ('return "x" * 300_000', "coordinators/s.py returned 300000 characters, and an answer has at most 200000"),
        ('await run.call("look", text={1})', "coordinators/s.py:4 failed with TypeError"),
        ('await run.call("look", text="x" * 300_000)', "coordinators/s.py:4 failed with ValueError"),
        ("async def f(): raise SystemExit\nawait run.gather(f())", "coordinators/s.py:5 failed with RuntimeError"),
        (
            "async def f(): raise KeyboardInterrupt\nawait run.gather(f())",
            "coordinators/s.py:5 failed with RuntimeError",
        ),
    ],
)
async def test_script_error_ends_the_run_with_one_sentence(body: str, reason: str) -> None:
    ending = await scripted(body).run_script()
    assert (ending.status, ending.reason) == ("failed", reason)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("def coordinate(run): pass", "coordinators/s.py has no `async def coordinate(run)`"),
        ("import there_is_no_such_module", "coordinators/s.py:1 failed with ModuleNotFoundError"),
        ("from coordinators.gone import x", "coordinators/s.py:1 failed with ModuleNotFoundError"),
    ],
)
async def test_script_that_cannot_start_ends_the_run_with_one_sentence(text: str, reason: str) -> None:
    made = memory_run()
    made.script = text
    assert (await made.run_script()).reason == reason


async def test_script_imports_other_modules_with_separate_state_per_run() -> None:
    made = scripted("counting.seen.append(1)\nreturn f'{len(seen)} {Pair(1, 2)}'")
    made.script = "from coordinators import counting\nfrom coordinators.counting import Pair, seen\n" + made.script
    made.modules["counting"] = (
        "from __future__ import annotations\nfrom dataclasses import dataclass\nseen = []\n\n"
        "@dataclass\nclass Pair:\n    one: int\n    two: int\n"
    )
    assert [(await made.run_script()).answer for _ in range(2)] == ["1 Pair(one=1, two=2)"] * 2


@pytest.mark.parametrize("catch", ["Exception", "BaseException"])
async def test_limit_ends_the_run_despite_exception_handlers_of_the_script(catch: str) -> None:
    made = scripted(
        'for n in range(9):\n    try:\n        await run.call("note", text=str(n))\n'
        f'    except {catch}: pass\nreturn "all"',
        limits=Limits(tool_calls=3),
    )
    assert await made.run_script() == Ending("limited", reason="stopped at 3 tool calls")
    assert made.acted == ["note:0", "note:1", "note:2"]


async def test_concurrent_script_branches_share_the_limit_of_tool_calls() -> None:
    made = scripted('await run.gather(*[run.call("note", text=str(n)) for n in range(9)])', limits=Limits(tool_calls=4))
    assert (await made.run_script()).reason == "stopped at 4 tool calls"
    assert len(made.acted) == 4


async def test_endless_refused_calls_of_a_script_end_the_run() -> None:
    made = scripted('while True:\n    try:\n        await run.call("no")\n    except ToolFailed: pass')
    assert (await made.run_script()).reason == "stopped at 20 tool calls"


async def test_endless_recorded_values_of_a_script_end_the_run() -> None:
    assert (await scripted("while True: run.now()").run_script()).reason.startswith("stopped after 1000 recorded times")


async def test_script_that_waits_forever_is_stopped_at_the_time_limit() -> None:
    made = scripted("import asyncio\nawait asyncio.Event().wait()", limits=Limits(minutes=0.001))
    playing = asyncio.create_task(made.run_script())
    await asyncio.sleep(0)
    made.clock.advance(60)
    assert (await playing).reason == "stopped after 0.001 minutes"


async def test_clock_and_random_values_of_a_script_are_recorded_for_replay() -> None:
    made = scripted('return f"{run.now():%H:%M:%S} {run.random().random()} {run.random().choice(range(1000))}"')
    first = await made.run_script()
    made.clock.advance(3600)
    assert first.answer.startswith("12:00:00 ")
    assert await made.run_script("another") == first
    values = [item.entry for item in await made.journal() if isinstance(item.entry, ValueRecorded)]
    assert len(values) == 3


async def test_unknown_outcome_is_raised_to_the_script_and_blocks_the_tool() -> None:
    made = scripted(
        'codes = []\nfor _ in range(2):\n    try:\n        await run.call("page", text="x")\n'
        '    except ToolFailed as e: codes.append(e.code)\nreturn " ".join(codes)'
    )
    made.tool("page", "blind", no_answer)
    assert (await made.run_script()).answer == "unknown refused"
    assert (await made.run_script("another")).answer == "unknown refused"
    assert made.acted == ["page:x"]


async def test_cancelled_run_makes_no_further_tool_call_of_a_script() -> None:
    made = scripted('try:\n    await run.call("note", text="a")\nexcept Exception: pass\nreturn "done"')
    step = await made.step()
    await step.commit()
    await inbox.put(made.store, "run1", "c1", RunCancelled("Ada"))
    with pytest.raises(Cancelled, match="Ada"):
        await made.run_script("another")
    assert made.acted == []


async def test_worker_at_the_deadline_leaves_the_script_and_the_next_worker_resumes() -> None:
    made = scripted('for n in range(3):\n    await run.call("look", text=str(n))\nreturn "done"')

    async def slow(call: Call, said: Said) -> Result:
        assert made.deadline
        made.deadline.end()
        return Result("", "")

    made.tool("look", "read", slow)
    for owner in range(2):
        made.deadline = Deadline(made.clock)
        with pytest.raises(OutOfTime):
            await made.run_script(f"owner{owner}")
    made.deadline = Deadline(made.clock)
    assert (await made.run_script("last")).answer == "done"
    assert made.acted == ["look:0", "look:1", "look:2"]


async def test_script_answer_is_checked_against_the_output_schema() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    assert (await scripted("return '{\"n\": 3}'", output=schema).run_script()).output == {"n": 3}
    ending = await scripted("return '{}'", output=schema).run_script()
    assert ending.status == "failed"
    assert ending.reason == "coordinators/s.py returned an answer that does not fit the output schema"
    assert "'n' is a required property" in ending.script_error


async def test_removed_script_ends_the_run() -> None:
    made = scripted("return None")
    bundle = made.bundle()
    made.script = ""
    ending = await made.run_script(bundle=bundle)
    gone = "it was removed, or the deploy that adds it has not happened yet"
    assert ending.reason == f"there is no script coordinators/s.py: {gone}"


async def test_refused_call_of_a_script_is_journaled() -> None:
    made = scripted('try:\n    await run.call("look", wrong=1)\nexcept ToolFailed as e: return e.code')
    assert (await made.run_script()).answer == "refused"
    (refused,) = [item.entry for item in await made.journal() if isinstance(item.entry, ToolResult)]
    assert (refused.status, "there is no wrong." in refused.text) == ("refused", True)
