"""A script decides: what it gets, what it cannot do, and how its run ends."""

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
from support.engine.memory_run import Room, Said, no_answer, room

pytestmark = pytest.mark.anyio

HEAD = "from gofer.coordinator import Run, ToolFailed\n\nasync def coordinate(run: Run):\n"


def scripted(body: str, **fields: object) -> Room:
    """A room with a script of these lines, and tools of each kind."""
    made = room()
    made.script = HEAD + "\n".join(f"    {line}" for line in body.strip("\n").split("\n"))
    for name, value in fields.items():
        setattr(made, name, value)
    made.tool("look", "read")
    made.tool("note", "keyed")
    made.tool("mail", "blind")
    return made


async def test_a_script_calls_tools_and_returns_the_answer() -> None:
    made = scripted('found = await run.call("look", text="a")\nreturn f"found {found[\'text\']}"')
    assert await made.play() == Ending("done", "found a")
    assert made.acted == ["look:a"]
    (call,) = [item.entry for item in await made.journal() if isinstance(item.entry, ToolCall)]
    assert (call.tool, call.arguments) == ("look", {"text": "a"})
    assert "/" not in call.call


async def test_a_script_that_has_nothing_to_say_is_done() -> None:
    assert (await scripted("return None").play()).status == "done"


async def test_a_script_sees_what_started_it_and_cannot_change_it() -> None:
    made = scripted(
        'run.event.place["ts"] = "changed"\nreturn f"{run.event.kind} {run.event.place[\'ts\']} {len(run.files)}"'
    )
    assert (await made.play()).answer == "slack.mention 1795262400.000100 0"


async def test_a_tool_gives_scripts_a_value_of_its_own_that_is_theirs_to_change() -> None:
    async def list_two(call: Call, said: Said) -> Result:
        return Result("two things", "read", {"count": 2}, value=[{"name": "a"}, {"name": "b"}])

    made = scripted(
        'for _ in range(2):\n    items = await run.call("list")\n    items.pop()["name"] = ""\nreturn items[0]["name"]'
    )
    made.tool("list", "read", list_two)
    assert (await made.play()).answer == "a"
    made.acted.clear()
    assert (await made.play("another")).answer == "a"
    assert made.acted == []


async def test_a_value_that_is_too_large_is_an_error_of_its_call() -> None:
    async def flood(call: Call, said: Said) -> Result:
        return Result("much", "read", value=["x" * 1_000_000] * 3)

    made = scripted('try:\n    await run.call("flood")\nexcept ToolFailed as e: return e.code')
    made.tool("flood", "read", flood)
    assert (await made.play()).answer == "too_large"


async def test_a_refusal_of_a_tool_can_be_caught_and_has_its_code() -> None:
    async def refuse(call: Call, said: Said) -> Result:
        raise ToolError("There is no such channel.", code="channel_not_found")

    made = scripted('try:\n    await run.call("refuse")\nexcept ToolFailed as e:\n    return f"{e.code}: {e.text}"')
    made.tool("refuse", "read", refuse)
    assert (await made.play()).answer == "channel_not_found: There is no such channel."


async def test_a_refusal_that_is_not_caught_ends_the_run_with_the_line_of_the_script() -> None:
    made = scripted('await run.call("look")\nawait run.call("nothing_like_it")')
    ending = await made.play()
    assert (ending.status, ending.reason) == ("failed", "coordinators/s.py:5: nothing_like_it failed (refused)")
    assert (
        "There is no tool 'nothing_like_it' here. The tools of this workflow: look, note, mail." in ending.script_error
    )


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("return 1 / 0", "coordinators/s.py:4 failed with ZeroDivisionError"),
        ("def deeper(): return deeper()\nreturn deeper()", "coordinators/s.py:4 failed with RecursionError"),
        ("class Odd(BaseException): pass\nraise Odd", "coordinators/s.py:5 failed with Odd"),
        ("import asyncio\nraise asyncio.CancelledError", "coordinators/s.py cancelled itself"),
        ("raise SystemExit(3)", "coordinators/s.py:4 called exit"),
        ("return {}", "coordinators/s.py returned a dict instead of text or None"),
        ('return "x" * 300_000', "coordinators/s.py returned 300000 characters, and an answer has at most 200000"),
        ('await run.call("look", text={1})', "coordinators/s.py:4 failed with TypeError"),
        ('await run.call("look", text="x" * 300_000)', "coordinators/s.py:4 failed with ValueError"),
        ("async def f(): raise SystemExit\nawait run.gather(f())", "coordinators/s.py:5 failed with RuntimeError"),
    ],
)
async def test_what_is_wrong_with_a_script_ends_the_run_in_one_sentence(body: str, reason: str) -> None:
    ending = await scripted(body).play()
    assert (ending.status, ending.reason) == ("failed", reason)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("def coordinate(run): pass", "coordinators/s.py has no `async def coordinate(run)`"),
        ("import there_is_no_such_module", "coordinators/s.py:1 failed with ModuleNotFoundError"),
        ("from coordinators.gone import x", "coordinators/s.py:1 failed with ModuleNotFoundError"),
    ],
)
async def test_a_script_that_cannot_begin_ends_the_run_in_one_sentence(text: str, reason: str) -> None:
    made = room()
    made.script = text
    assert (await made.play()).reason == reason


async def test_a_script_uses_its_neighbours_and_every_run_has_its_own() -> None:
    made = scripted("counting.seen.append(1)\nreturn f'{len(seen)} {Pair(1, 2)}'")
    made.script = "from coordinators import counting\nfrom coordinators.counting import Pair, seen\n" + made.script
    made.modules["counting"] = (
        "from __future__ import annotations\nfrom dataclasses import dataclass\nseen = []\n\n"
        "@dataclass\nclass Pair:\n    one: int\n    two: int\n"
    )
    assert [(await made.play()).answer for _ in range(2)] == ["1 Pair(one=1, two=2)"] * 2


@pytest.mark.parametrize("catch", ["Exception", "BaseException"])
async def test_a_limit_ends_the_run_whatever_the_script_catches(catch: str) -> None:
    made = scripted(
        'for n in range(9):\n    try:\n        await run.call("note", text=str(n))\n'
        f'    except {catch}: pass\nreturn "all"',
        limits=Limits(tool_calls=3),
    )
    assert await made.play() == Ending("limited", reason="stopped at 3 tool calls")
    assert made.acted == ["note:0", "note:1", "note:2"]


async def test_branches_that_run_at_once_share_the_limit() -> None:
    made = scripted('await run.gather(*[run.call("note", text=str(n)) for n in range(9)])', limits=Limits(tool_calls=4))
    assert (await made.play()).reason == "stopped at 4 tool calls"
    assert len(made.acted) == 4


async def test_calls_that_are_refused_for_ever_end_the_run() -> None:
    made = scripted('while True:\n    try:\n        await run.call("no")\n    except ToolFailed: pass')
    assert (await made.play()).reason == "stopped at 20 tool calls"


async def test_values_without_end_end_the_run() -> None:
    assert (await scripted("while True: run.now()").play()).reason.startswith("stopped after 1000 recorded times")


async def test_a_script_that_waits_for_nothing_is_over_with_its_minutes() -> None:
    made = scripted("import asyncio\nawait asyncio.Event().wait()", limits=Limits(minutes=0.001))
    playing = asyncio.create_task(made.play())
    await asyncio.sleep(0)
    made.clock.advance(60)
    assert (await playing).reason == "stopped after 0.001 minutes"


async def test_the_clock_and_chance_are_told_once() -> None:
    made = scripted('return f"{run.now():%H:%M:%S} {run.random().random()} {run.random().choice(range(1000))}"')
    first = await made.play()
    made.clock.advance(3600)
    assert first.answer.startswith("12:00:00 ")
    assert await made.play("another") == first
    values = [item.entry for item in await made.journal() if isinstance(item.entry, ValueRecorded)]
    assert len(values) == 3


async def test_what_nobody_can_tell_about_is_told_the_script_and_locked() -> None:
    made = scripted(
        'codes = []\nfor _ in range(2):\n    try:\n        await run.call("page", text="x")\n'
        '    except ToolFailed as e: codes.append(e.code)\nreturn " ".join(codes)'
    )
    made.tool("page", "blind", no_answer)
    assert (await made.play()).answer == "unknown refused"
    assert (await made.play("another")).answer == "unknown refused"
    assert made.acted == ["page:x"]


async def test_a_cancel_lets_nothing_new_begin() -> None:
    made = scripted('try:\n    await run.call("note", text="a")\nexcept Exception: pass\nreturn "done"')
    step = await made.step()
    await step.commit()
    await inbox.put(made.store, "run1", "c1", RunCancelled("Ada"))
    with pytest.raises(Cancelled, match="Ada"):
        await made.play("another")
    assert made.acted == []


async def test_a_worker_without_time_leaves_and_the_next_one_goes_on() -> None:
    made = scripted('for n in range(3):\n    await run.call("look", text=str(n))\nreturn "done"')

    async def slow(call: Call, said: Said) -> Result:
        assert made.deadline
        made.deadline.end()
        return Result("", "")

    made.tool("look", "read", slow)
    for owner in range(2):
        made.deadline = Deadline(made.clock)
        with pytest.raises(OutOfTime):
            await made.play(f"owner{owner}")
    made.deadline = Deadline(made.clock)
    assert (await made.play("last")).answer == "done"
    assert made.acted == ["look:0", "look:1", "look:2"]


async def test_an_answer_has_the_form_the_workflow_asks_for() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    assert (await scripted("return '{\"n\": 3}'", output=schema).play()).output == {"n": 3}
    ending = await scripted("return '{}'", output=schema).play()
    assert ending.status == "failed"
    assert ending.reason == "coordinators/s.py returned an answer that does not fit the output schema"
    assert "'n' is a required property" in ending.script_error


async def test_a_script_that_is_gone_ends_the_run() -> None:
    made = scripted("return None")
    bundle = made.bundle()
    made.script = ""
    ending = await made.play(bundle=bundle)
    gone = "it was removed, or the deploy that adds it has not happened yet"
    assert ending.reason == f"there is no script coordinators/s.py: {gone}"


async def test_a_refused_call_has_its_place_in_the_journal() -> None:
    made = scripted('try:\n    await run.call("look", wrong=1)\nexcept ToolFailed as e: return e.code')
    assert (await made.play()).answer == "refused"
    (refused,) = [item.entry for item in await made.journal() if isinstance(item.entry, ToolResult)]
    assert (refused.status, "there is no wrong." in refused.text) == ("refused", True)
