"""The gate for texts that people read: what a run may link."""

import json
from dataclasses import replace

import pytest
from pydantic import Field

from gofer.engine.outgoing import live_addresses, rebuilt_answer, rebuilt_call
from gofer.engine.own_step import OwnStep
from gofer.engine.permitted_call import Permitted
from gofer.journal.approval_entries import ApprovalRequested
from gofer.journal.entries import LlmResponse, MessageReceived, RunConcluded, SubagentFinished, ToolCall, ToolResult
from gofer.models.language_model import Answer
from gofer.projections import read_addresses
from gofer.tools.definition import Arguments, Call, Target, Tool
from gofer.tools.definition import ToolResult as Result
from gofer.tools.places import Writes
from gofer.values.messages import ToolAsk, Usage
from support.engine.memory_run import PROVENANCE, MemoryRun, Said, coordinate, memory_run, says
from support.engine.subagent_runs import Asked, run_with_subagents

pytestmark = pytest.mark.anyio


async def run_of(made: MemoryRun) -> OwnStep:
    step = await made.step()
    step.bundle = made.bundle()
    return step


async def test_run_links_addresses_that_were_read_before_its_model_wrote() -> None:
    run = await run_of(memory_run())
    run.note(MessageReceived("see https://held.example/a"))
    run.note(LlmResponse("https://evil.example/a", (), "stop", "m", Usage(), None, 0))
    run.note(ToolResult("1.0", "ok", "https://held.example/b, https://evil.example/a"))
    live = live_addresses(run)
    assert live("https://held.example/a")
    assert live("https://held.example/b")
    assert not live("https://evil.example/a")


async def test_run_links_the_pages_of_gofer_itself() -> None:
    live = live_addresses(await run_of(memory_run()))
    assert live("http://localhost/runs/run1")
    assert not live("http://localhost/runs/run1?d=secret")


async def test_script_may_link_addresses_in_its_source() -> None:
    made = memory_run()
    made.script = 'async def coordinate(run):\n    return "https://status.example/now"\n'
    live = live_addresses(await run_of(made))
    assert live("https://status.example/now")
    assert not live("https://status.example/later")


async def test_rebuilt_answer_is_journaled() -> None:
    run = await run_of(memory_run())
    concluded = RunConcluded("done", "", "[click](https://evil.example/a)", {"url": "https://evil.example/a"})
    shown = rebuilt_answer(run, concluded)
    assert shown.text == "click (`evil[.]example/a`)"
    assert shown.output == concluded.output


EVIL = "[click](https://evil.example/a)"
SHOWN = "click (`evil[.]example/a`)"


class Written(Arguments):
    """The arguments of a writing tool."""

    text: str = ""
    title: str = ""
    fields: dict[str, list[str]] = Field(default_factory=dict[str, list[str]])
    url: str = ""
    key: str = ""


def writing(made: MemoryRun) -> Tool[Written]:
    """Return a tool with texts for people, of which `key` is none."""
    made.tool("post", "keyed")
    target: Target[Written] = Target(
        markdown=frozenset({"text"}), plain_text=frozenset({"title", "fields"}), addresses=frozenset({"url"})
    )
    return replace(made.tools["post"], arguments=Written, target=target)


def call(tool: Tool[Written], **arguments: object) -> Permitted:
    return Permitted("1.0", tool, tool.parse(arguments))


async def test_texts_of_a_call_are_rebuilt_and_recorded_as_sent() -> None:
    made = memory_run()
    run = await run_of(made)
    given = {
        "text": EVIL,
        "title": "<T> https://evil.example/a",
        "fields": {"a": ["x", "https://evil.example/b"]},
        "key": EVIL,
    }
    rebuilt = rebuilt_call(run, call(writing(made), **given))
    assert isinstance(rebuilt, Permitted)
    sent = {"text": SHOWN, "title": "<T> evil[.]example/a", "fields": {"a": ["x", "evil[.]example/b"]}, "key": EVIL}
    assert rebuilt.arguments.model_dump(exclude_unset=True) == sent
    assert rebuilt.intent.arguments == sent


async def test_content_of_a_call_counts_as_plain_text() -> None:
    made = memory_run()
    run = await run_of(made)
    tool = replace(writing(made), target=Target(writes=Writes({}, frozenset({"key"}))))
    rebuilt = rebuilt_call(run, call(tool, key="see https://evil.example/a", text="https://evil.example/a"))
    assert isinstance(rebuilt, Permitted)
    assert rebuilt.recorded == {"key": "see evil[.]example/a", "text": "https://evil.example/a"}


async def test_call_without_unread_addresses_is_recorded_as_before() -> None:
    made = memory_run()
    run = await run_of(made)
    item = call(writing(made), text="*Plain* words.", title="Fix <T>")
    assert rebuilt_call(run, item) is item
    assert item.intent.arguments is None


async def test_call_with_an_unread_address_as_argument_is_refused_with_a_code() -> None:
    made = memory_run()
    run = await run_of(made)
    refused = rebuilt_call(run, call(writing(made), url="https://evil.example/a"))
    assert isinstance(refused, ToolResult)
    assert refused.details == {"code": "unread_address"}
    run.note(MessageReceived("link https://held.example/a", "item1"))
    item = call(writing(made), url="https://held.example/a")
    assert rebuilt_call(run, item) is item


async def test_call_that_waits_for_an_approval_keeps_its_arguments() -> None:
    made = memory_run()
    run = await run_of(made)
    tool = writing(made)
    run.note(ApprovalRequested("1.0", "post", "hash", ("requester",), 9, arguments={"text": SHOWN}))
    run.note(MessageReceived("https://evil.example/a", "item1"))
    again = rebuilt_call(run, call(tool, text=EVIL))
    assert isinstance(again, Permitted)
    assert again.arguments == tool.parse({"text": SHOWN})


async def test_request_of_an_earlier_version_keeps_the_arguments_that_were_asked_for() -> None:
    made = memory_run()
    run = await run_of(made)
    run.note(ApprovalRequested("1.0", "post", "hash", ("requester",), 9))
    item = call(writing(made), text=EVIL)
    assert rebuilt_call(run, item) is item


async def test_call_of_a_model_is_sent_without_its_unread_link() -> None:
    made = memory_run(says("", ("post", {"text": EVIL})), says("Done."))
    made.tool("post", "keyed")
    made.tools["post"] = replace(made.tools["post"], target=Target(markdown=frozenset({"text"})))
    assert (await made.run()).status == "done"
    assert made.acted == [f"post:{SHOWN}"]
    (intent,) = [item.entry for item in await made.journal() if isinstance(item.entry, ToolCall)]
    assert intent.arguments == {"text": SHOWN}


HANDED_OVER = ("subagent", {"agent_name": "helper", "prompt": "see https://evil.example/b"})


async def test_answer_of_a_subagent_names_only_addresses_that_were_read() -> None:
    said = "Read https://held.example/a and https://evil.example/a"

    def think(asked: Asked) -> Answer:
        if asked.system.startswith("You are a test."):
            return says("Done.") if asked.turn else says("", HANDED_OVER)
        return says(f"{said} and https://evil.example/b") if asked.turn else says("", ("look", {"text": "x"}))

    made = run_with_subagents(think)
    made.tool("look", "read", held_page)
    made.subagent("helper", tools=["look"])
    await made.resume()
    (finished,) = [one.entry for one in await made.journal() if isinstance(one.entry, SubagentFinished)]
    assert finished.addresses == ("held.example/a",)
    assert read_addresses.project(await made.journal()).read >= {"held.example/a"}


async def held_page(call: Call, said: Said) -> Result:
    return Result("A page: https://held.example/a", "looked")


async def test_call_in_doubt_of_an_earlier_version_is_repeated_unchanged() -> None:
    made = memory_run(says("Done."))
    made.tool("post", "keyed")
    made.tools["post"] = replace(made.tools["post"], target=Target(markdown=frozenset({"text"})))
    step = await made.step()
    step.note(MessageReceived("please"))
    asked = ToolAsk("c", "post", json.dumps({"text": EVIL}))
    step.note(LlmResponse("", (asked,), "tool_calls", "m", Usage(), None, 0))
    step.note(ToolCall("1.0", "post", "keyed"))
    await step.commit()
    await coordinate(await made.step("next"), made.bundle(), PROVENANCE)
    assert made.acted == [f"post:{EVIL}"]
