"""The difference of two runs: what counts, where they part, and what followed."""

import asyncio
from dataclasses import replace

import pytest
from hypothesis import given

from gofer.journal.entries import Recorded
from gofer.models.language_model import Answer
from gofer.projections.comparison.diff_text import COUNTED, WIDTH, diff_json, diff_lines
from gofer.projections.comparison.run_diff import RunDiff, run_diff
from gofer.projections.prompted_run import PromptedRun
from gofer.projections.requests.context import snapshots
from gofer.tools.definition import Call, ToolResult
from support.engine.memory_run import MemoryRun, Said, memory_run, says
from support.engine.prompted_runs import prompted
from support.engine.subagent_runs import Asked, run_with_subagents
from support.journal.generated_journals import journals

pytestmark = pytest.mark.anyio


def looking(*answers: Answer | Exception, results: str = "found {}") -> MemoryRun:
    made = memory_run(*answers)

    async def look(call: Call, said: Said) -> ToolResult:
        # The call for `b` ends before an earlier call for `a`, if both are made together.
        await asyncio.sleep({"a": 0.01}.get(said.text, 0))
        return ToolResult(results.format(said.text), "looked")

    made.tool("look", "read", look)
    return made


async def ran(made: MemoryRun) -> PromptedRun:
    await made.run()
    return await prompted(made)


def look(text: str) -> tuple[str, dict[str, object] | str]:
    return "look", {"text": text}


async def test_runs_that_differ_in_times_and_owners_only_are_equal() -> None:
    first = await ran(looking(says("", look("a")), says("done")))
    later = [replace(one, at=one.at + 5_000, owner="another") for one in first.entries]
    diff = run_diff(first, PromptedRun("run2", later, first.bundle))
    assert diff.is_equal
    (line,) = diff_lines(diff)
    assert line == f"The runs are equal: {diff.equal_entries} entries mean the same. {COUNTED}"


async def test_first_difference_of_two_runs_is_the_answer_that_asks_for_another_call() -> None:
    first = await ran(looking(says("", look("a")), says("", look("b")), says("done")))
    second = await ran(looking(says("", look("a")), says("", look("c")), says("", look("d")), says("done")))
    diff = run_diff(first, second)
    assert diff.first is not None
    assert diff.first.first is not None
    assert diff.first.first.kind == "llm.response"
    assert diff.first.fields == {
        "calls": ([{"tool": "look", "arguments": {"text": "b"}}], [{"tool": "look", "arguments": {"text": "c"}}])
    }
    assert diff.followed is not None
    assert [[call.id for call in after.calls] for after in diff.followed] == [["2.0"], ["2.0", "3.0"]]
    assert diff.prompt is not None
    assert diff.prompt.requests == (2, 2)
    assert diff.prompt.is_exact


async def test_other_order_of_calls_made_together_is_no_difference() -> None:
    made = looking(says("", look("a"), look("b")), says("done"))
    quick = memory_run(says("", look("a"), look("b")), says("done"))

    async def answer(call: Call, said: Said) -> ToolResult:
        return ToolResult(f"found {said.text}", "looked")

    quick.tool("look", "read", answer)
    assert run_diff(await ran(made), await ran(quick)).is_equal


async def test_generated_ids_of_files_and_writes_are_no_difference() -> None:
    def filing(key: str) -> MemoryRun:
        made = memory_run(says("", ("file", {"text": "x"})), says(f"Filed {key}."))

        async def act(call: Call, said: Said) -> ToolResult:
            return ToolResult(f"Filed as {key}.", "filed", {"key": key})

        made.tool("file", "keyed", act)
        return made

    assert run_diff(await ran(filing("OPS-101")), await ran(filing("OPS-102"))).is_equal


async def test_id_that_a_read_returned_is_a_difference() -> None:
    first = await ran(looking(says("", look("a")), says("done"), results="OPS-101"))
    second = await ran(looking(says("", look("a")), says("done"), results="OPS-102"))
    diff = run_diff(first, second)
    assert diff.first is not None
    assert diff.first.fields == {"text": ("OPS-101", "OPS-102")}


async def test_prompt_difference_is_shown_by_role_in_lines() -> None:
    first = await ran(looking(says("", look("a")), says("done"), results="one\ntwo\n{}"))
    second = await ran(looking(says("", look("a")), says("over"), results="one\ntwo\n{}"))
    changed = {**second.bundle, "system": "You are a test.\nBe brief."}
    diff = run_diff(first, replace(second, bundle=changed))
    assert diff.bundle == ['system: "You are a test.", then "You are a test.\\nBe brief."']
    assert diff.prompt is not None
    (system,) = [role for role in diff.prompt.roles if role.role == "system"]
    assert [block.lines for block in system.blocks] == [[" You are a test.", "+Be brief."]]
    assert not diff.prompt.is_exact


async def test_tokens_of_a_prompt_equal_the_tokens_of_its_context_snapshot() -> None:
    first = await ran(looking(says("", look("a")), says("", look("b")), says("done")))
    second = await ran(looking(says("", look("a")), says("", look("c")), says("done")))
    diff = run_diff(first, second)
    assert diff.prompt is not None
    roles = snapshots(first.entries, first.system, first.tools)[diff.prompt.requests[0] - 1].roles
    tokens = {role.role: role.tokens[0] for role in diff.prompt.roles}
    assert (tokens["system"], tokens["tools"]) == (roles["system"], roles["tools"])
    assert tokens["first message"] + tokens["history"] == roles["history"]
    assert sum(tokens.values()) == sum(roles.values())


async def test_calls_that_followed_have_their_summary_or_the_code_of_their_refusal() -> None:
    first = await ran(looking(says("", look("a")), says("done")))
    second = await ran(looking(says("", ("look", {"wrong": 1})), says("done")))
    shown = list(diff_lines(run_diff(first, second)))
    assert any(line.startswith("    -1.0 look ok, ") and line.endswith(": looked") for line in shown)
    assert any(line.startswith("    +1.0 look refused, ") and line.endswith(": broken") for line in shown)


async def test_difference_within_a_subagent_run_is_shown_below_its_call() -> None:
    async def delegated(found: str) -> PromptedRun:
        def think(asked: Asked) -> Answer:
            match asked.system, asked.turn:
                case "You are looker.", 0:
                    return says("", look(found))
                case "You are looker.", _:
                    return says("a tree")
                case _, 0:
                    return says("", ("subagent", {"agent_name": "looker", "prompt": "look there"}))
                case _:
                    return says("It is a tree.")

        made = run_with_subagents(think)
        made.tool("look", "read")
        made.subagent("looker", tools=["look"])
        await made.resume()
        return await prompted(made)

    diff = run_diff(await delegated("here"), await delegated("there"))
    assert diff.first is None
    assert not diff.is_equal
    (below,) = diff.subagents.values()
    assert below.first is not None
    assert below.first.fields["calls"][1] == [{"tool": "look", "arguments": {"text": "there"}}]
    assert "Subagent looker (1.0)" in list(diff_lines(diff))
    assert run_diff(await delegated("here"), await delegated("here")).is_equal


@given(journal=journals())
def test_each_generated_journal_equals_itself(journal: list[Recorded]) -> None:
    run = PromptedRun("run1", journal, {})
    assert run_diff(run, run).is_equal


@given(first=journals(), second=journals())
def test_difference_of_any_two_journals_is_printable_and_bounded(first: list[Recorded], second: list[Recorded]) -> None:
    diff: RunDiff = run_diff(PromptedRun("run1", first, {}), PromptedRun("run2", second, {}))
    lines = list(diff_lines(diff))
    assert max(map(len, lines)) <= WIDTH
    assert all(line.replace("\t", "").isprintable() for line in lines)
    assert diff_json(diff)["equal"] == diff.is_equal
