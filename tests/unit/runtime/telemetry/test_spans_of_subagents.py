"""Exported spans of subagents: calls below their agent, and usage counted once."""

from collections.abc import Mapping, Sequence

import pytest

from gofer.app.http import SharedHttp, http_client
from gofer.journal import entries as e
from gofer.journal.entries import Recorded, SubagentStarted
from gofer.journal.log import read_journal
from gofer.models.language_model import Answer
from gofer.runtime.telemetry.exported_span import Exported
from gofer.runtime.telemetry.exporter import Exporter
from gofer.stores.memory.queue import MemoryQueue
from gofer.stores.one_place import Stores
from gofer.values.errors import ConfigError
from gofer.values.proxies import DIRECT
from gofer.values.secret import Secret
from support.engine.memory_run import says
from support.engine.subagent_runs import Asked, RunWithSubagents, run_with_subagents
from support.http.otlp_collector import collector

pytestmark = pytest.mark.anyio
ASK = ("subagent", {"agent_name": "reader", "prompt": "the lilac plan"})
DEEPER = ("subagent", {"agent_name": "deeper", "prompt": "the lilac plan"})


def think(asked: Asked) -> Answer:
    match asked.system, asked.turn:
        case "You are reader.", 0:
            return says("", ("look", {"text": "lilac"}), DEEPER)
        case "You are deeper.", _:
            return says("deep lilac")
        case "You are reader.", _:
            return says("all lilac")
        case _, 0:
            return says("", ASK, ("subagent", {**ASK[1], "prompt": "another lilac plan"}))
        case _:
            return says("Done.")


async def worked(*, private: bool = False) -> RunWithSubagents:
    """Run two concurrent `reader` subagents that each ask a `deeper` one."""
    memory_run = run_with_subagents(think)
    memory_run.tool("look", "read")
    memory_run.subagent("deeper", tools=[])
    memory_run.subagent("reader", tools="inherit", subagents=["deeper"])
    memory_run.listed = ("reader",)
    step = await memory_run.owned_step()
    step.note(e.RunStarted("b" * 64, private))
    await step.commit()
    assert (await memory_run.resume()).answer == "Done."
    step = await memory_run.step("me")
    step.note(e.RunFinished("done"))
    await step.commit()
    return memory_run


async def spans_of(memory_run: RunWithSubagents, *, full: bool = False) -> Sequence[Exported]:
    async with http_client(DIRECT) as client:
        return await Exporter("http://127.0.0.1:9", {}, {}, SharedHttp(client), full).read(
            "run1", Stores(memory_run.store, memory_run.blobs, MemoryQueue(memory_run.clock))
        )


def below(spans: Sequence[Exported], parent: bytes) -> list[Exported]:
    return [span for span in spans if span.parent == parent]


async def test_calls_of_a_subagent_are_exported_below_the_subagent_span() -> None:
    spans = await spans_of(await worked())
    assert len({span.trace for span in spans}) == 1
    assert len({span.id for span in spans}) == len(spans)
    root, readers = spans[0], [span for span in spans if span.name == "invoke_agent reader"]
    assert [span.parent for span in readers] == [root.id, root.id]
    for reader in readers:
        names = [span.name for span in below(spans, reader.id)]
        assert names == ["chat m", "execute_tool look", "invoke_agent deeper", "chat m"]
        (deeper,) = [span for span in below(spans, reader.id) if span.name == "invoke_agent deeper"]
        assert [span.name for span in below(spans, deeper.id)] == ["chat m"]
        assert reader.start <= deeper.start <= deeper.end <= reader.end
    assert all(span.parent in {other.id for other in spans} for span in spans[1:])


async def test_exported_span_names_the_run_and_the_journal_entry() -> None:
    memory_run = await worked()
    spans = await spans_of(memory_run)
    for span in spans[1:]:
        run, address = str(span.attributes["gofer.run.id"]), str(span.attributes["gofer.entry"])
        journal = await read_journal(run, memory_run.store, memory_run.blobs)
        assert address in {recorded.address for recorded in journal}
    (first, *_) = [span for span in spans if span.name == "invoke_agent reader"]
    assert (first.attributes["gen_ai.operation.name"], first.attributes["gen_ai.agent.name"]) == (
        "invoke_agent",
        "reader",
    )
    (chat, look, deeper, _) = below(spans, first.id)
    assert chat.attributes["gofer.run.id"] == look.attributes["gofer.run.id"] == first.attributes["gofer.subagent.run"]
    assert (chat.attributes["gen_ai.agent.name"], chat.client) == ("reader", True)
    assert deeper.attributes["gofer.run.id"] == chat.attributes["gofer.run.id"]
    assert deeper.attributes["gofer.subagent.run"] != chat.attributes["gofer.run.id"]


async def test_exported_tokens_are_counted_once_and_subagent_spans_hold_totals() -> None:
    memory_run = await worked()
    spans = await spans_of(memory_run)
    asked = [span for span in spans if "gen_ai.usage.input_tokens" in span.attributes]
    assert {span.attributes["gen_ai.operation.name"] for span in asked} == {"chat"}
    assert len(asked) == len(memory_run.many.asked)
    total = sum(_count(span.attributes, "gen_ai.usage.input_tokens") for span in asked)
    assert spans[0].attributes["gofer.usage.input_tokens"] == total
    (reader, *_) = [span for span in spans if span.name == "invoke_agent reader"]
    assert _count(reader.attributes, "gofer.usage.input_tokens") == 3 * total // len(asked)
    assert (reader.attributes["gofer.llm_calls"], reader.attributes["gofer.tool_calls"]) == (3, 2)


async def test_content_of_subagents_is_exported_only_in_full_mode() -> None:
    memory_run = await worked()
    assert "lilac" not in repr(await spans_of(memory_run))
    full = await spans_of(memory_run, full=True)
    assert "deep lilac" in repr([span for span in full if span.attributes["gen_ai.agent.name"] == "reader"])
    (look, *_) = [span for span in full if span.name == "execute_tool look"]
    assert look.attributes["gen_ai.tool.call.arguments"] == '{"text": "lilac"}'


async def test_subagents_of_a_private_run_are_not_exported() -> None:
    memory_run = await worked(private=True)
    with pytest.raises(ConfigError, match="private"):
        await spans_of(memory_run, full=True)
    with collector() as there:
        async with http_client(DIRECT) as client:
            exporter = Exporter(f"{there.url}/v1/traces", {"k": Secret("k")}, {}, SharedHttp(client), full=True)
            await exporter.export("run1", Stores(memory_run.store, memory_run.blobs, MemoryQueue(memory_run.clock)))
        assert there.requests == []


async def test_unreadable_subagent_is_exported_as_one_span_with_usage() -> None:
    memory_run = await worked()
    for run in await runs_of(memory_run):
        frames = memory_run.store._frames[run]
        frames[1] = frames[1][:-1] + bytes([frames[1][-1] ^ 1])
    spans = await spans_of(memory_run)
    (reader, *_) = [span for span in spans if span.name == "invoke_agent reader"]
    assert below(spans, reader.id) == []
    assert _count(reader.attributes, "gen_ai.usage.input_tokens") > 0


async def runs_of(memory_run: RunWithSubagents) -> set[str]:
    journal: Sequence[Recorded] = await read_journal("run1", memory_run.store, memory_run.blobs)
    return {one.entry.run for one in journal if isinstance(one.entry, SubagentStarted)}


def _count(attributes: Mapping[str, object], name: str) -> int:
    count = attributes[name]
    assert isinstance(count, int)
    return count
