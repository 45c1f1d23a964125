"""Plans, the reminder at the end of every request, and the gate before every end of a run."""

import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.engine.finish_gate import REMARKS, plan_objection, with_needs
from gofer.engine.loop import Ending
from gofer.journal.entries import MessageReceived, ToolResult
from gofer.journal.workspace_entries import Todo, TodoStatus
from gofer.projections.workspace import Workspace
from gofer.sources.workflow_files import WorkflowForm as Workflow
from gofer.tools.declare import bind_all
from gofer.tools.plan import MARKS, current, open_items, shown
from gofer.tools.plan import TOOLS as PLAN_TOOLS
from gofer.workflows.bundle import Bundle
from gofer.workflows.load import Loaded
from gofer.workflows.schema import Limits, Plan
from support.engine.memory_run import PROVENANCE, MemoryRun, coordinate, memory_run, says
from support.models.served import served

pytestmark = pytest.mark.anyio
STATUSES: Sequence[TodoStatus] = ("pending", "in_progress", "completed", "blocked")


def planned(made: MemoryRun, plan: Plan = "optional", output: object = None, tools: Sequence[str] = ()) -> Bundle:
    made.tools |= {tool.name: tool for tool in bind_all(PLAN_TOOLS, None)}
    base = {"description": "d", "owner": "#o", "when": ["slack.mention"], "tools": [*tools]}
    workflow = Workflow.model_validate({**base, "plan": plan, "limits": made.limits, "output": output})
    return Bundle(Loaded("answer-here", workflow, "You are a test.", "p.md", served("m")), [])


async def work(made: MemoryRun, plan: Plan = "optional", output: object = None, tools: Sequence[str] = ()) -> Ending:
    bundle = planned(made, plan, output, tools)
    step = await made.step()
    step.note(MessageReceived("please"))
    ending = await coordinate(step, bundle, PROVENANCE)
    await step.commit()
    return ending


def todo(name: str, status: TodoStatus = "pending", needs: str = "") -> dict[str, object]:
    return {"id": name, "description": f"Do {name}", "status": status, **({"needs": needs} if needs else {})}


def writes(*todos: dict[str, object]) -> tuple[str, dict[str, object]]:
    return "todo_write", {"todos": list(todos)}


def tails(made: MemoryRun) -> list[str]:
    return [json.loads(body)["messages"][-1]["content"] for body in made.model.requests]


async def results(made: MemoryRun) -> list[ToolResult]:
    return [recorded.entry for recorded in await made.journal() if isinstance(recorded.entry, ToolResult)]


def test_remarks_after_empty_and_cut_answers_name_the_next_step() -> None:
    begin = "[Gofer, by code] Your last answer was"
    assert {
        "empty": f"{begin} empty. Answer in words, or call a tool.",
        "cut": f"{begin} cut off at the limit of one answer. Write a shorter one.",
    } == REMARKS


async def test_plan_is_shown_at_the_end_of_every_request_with_the_exact_next_call() -> None:
    made = memory_run(
        says("", writes(todo("1"), todo("2"))),
        says("", ("todo_update", {"id": "1", "status": "in_progress"})),
        says(
            "", ("todo_update", {"id": "1", "status": "completed"}), ("todo_update", {"id": "2", "status": "completed"})
        ),
        says("all done"),
    )
    assert (await work(made)).answer == "all done"
    empty, written, begun, over = tails(made)
    assert "plan" not in empty
    assert "[ ] 1 Do 1 ← CURRENT\n[ ] 2 Do 2" in written
    assert 'before you begin 1, call todo_update(id="1", status="in_progress")' in written
    assert "[~] 1 Do 1 ← CURRENT" in begun
    assert 'call todo_update(id="1", status="completed"); 1 more to do after it' in begun
    assert "[x] 1 Do 1\n[x] 2 Do 2\nREMINDER: nothing is left to do" in over


async def test_plan_tools_return_the_whole_plan() -> None:
    made = memory_run(
        says("", writes(todo("1"), todo("2", "completed"))),
        says("", ("todo_read", {})),
        says("x"),
        says("x"),
        says("x"),
    )
    await work(made)
    texts = [result.text for result in await results(made)]
    assert texts[:2] == ["[ ] 1 Do 1 ← CURRENT\n[x] 2 Do 2"] * 2


@pytest.mark.parametrize("early", [says("I am done"), says("", ("finish", {"answer": "I am done"}))])
async def test_early_end_is_refused_with_the_open_plan_items(early: object) -> None:
    made = memory_run(
        says("", writes(todo("1"))),
        early,  # type: ignore[arg-type]
        says("", ("todo_update", {"id": "1", "status": "completed"})),
        says("", ("finish", {"answer": "now I am"})),
    )
    assert (await work(made)).answer == "now I am"
    refusal = json.loads(made.model.requests[2])["messages"][-2]["content"]
    assert "your plan has open items:\n[ ] 1 Do 1" in refusal


@pytest.mark.parametrize("way", ["text", "finish"])
async def test_three_early_ends_in_a_row_stop_the_run_as_limited(way: str) -> None:
    end = says("I am done") if way == "text" else says("so far", ("finish", {"answer": "I am done"}))
    made = memory_run(says("", writes(todo("1"))), end, end, end)
    ending = await work(made)
    assert (ending.status, ending.reason) == (
        "limited",
        "stopped after 3 answers in a row that came before the plan was done; use another model",
    )


async def test_typed_answer_that_came_before_the_plan_was_done_is_shown_as_text() -> None:
    end = says('{"size": 3}')
    made = memory_run(says("", writes(todo("1"))), end, end, end)
    schema = {"type": "object", "properties": {"size": {"type": "integer"}}}
    ending = await work(made, output=schema)
    assert (ending.status, ending.answer) == ("limited", "- **Size:** 3")


async def test_tool_call_between_early_ends_restarts_the_count() -> None:
    early = says("I am done")
    look = says("", ("todo_read", {}))
    made = memory_run(says("", writes(todo("1"))), early, early, look, early, early, look, early, early, early)
    made.limits = Limits(llm_calls=30)
    assert (await work(made)).status == "limited"
    assert made.model.answers == []


async def test_blocked_plan_items_allow_the_end_and_are_listed_to_the_person() -> None:
    made = memory_run(says("", writes(todo("1", "blocked", "the key of the room"))), says("I looked."))
    ending = await work(made)
    assert ending.status == "done"
    assert ending.answer == "I looked.\n\n**Needed from you to go on:**\n- Do 1: the key of the room"


async def test_blocked_plan_items_are_listed_below_a_typed_answer() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    made = memory_run(says("", writes(todo("1", "blocked", "the key of the room"))), says('{"n": 7}'))
    ending = await work(made, output=schema)
    assert ending.output == {"n": 7}
    assert ending.answer.endswith("\n\n**Needed from you to go on:**\n- Do 1: the key of the room")


async def test_required_plan_comes_before_every_other_call_and_every_end() -> None:
    made = memory_run(
        says("straight away"),
        says("", ("read", {"text": "a"})),
        says("", writes(todo("1", "completed"))),
        says("", ("read", {"text": "a"})),
        says("answer"),
    )
    made.tool("read", "read")
    assert (await work(made, "required", tools=["read"])).answer == "answer"
    assert made.acted == ["read:a"]
    requests = [json.loads(body)["messages"][-2]["content"] for body in made.model.requests]
    assert "this work needs a plan" in requests[1]
    assert requests[2].endswith("Write it with todo_write first, then call read.")


async def test_workflow_without_plans_has_no_plan_tools() -> None:
    made = memory_run()
    bundle = planned(made, "off")
    granted = (await made.step()).services.granted(bundle.loaded.workflow)
    assert set(granted) == {"finish"}


async def test_finish_beside_other_calls_does_not_end_the_run() -> None:
    made = memory_run(says("", ("todo_read", {}), ("finish", {"answer": "x"})), says("", ("finish", {"answer": "y"})))
    assert (await work(made)).answer == "y"
    refused = next(result for result in await results(made) if result.call == "1.1")
    assert (refused.status, "Read their results first, then call finish alone." in refused.text) == ("refused", True)
    assert json.loads(made.model.requests[1])["messages"][-2]["content"] == refused.text


async def test_finish_accepts_a_typed_value_and_refuses_a_malformed_value() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    made = memory_run(says("", ("finish", {"answer": "seven"})), says("", ("finish", {"answer": '{"n": 7}'})))
    assert (await work(made, output=schema)).output == {"n": 7}
    assert "does not fit the schema" in json.loads(made.model.requests[1])["messages"][-2]["content"]


async def test_three_malformed_values_of_finish_fail_the_run() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    made = memory_run(*[says("", ("finish", {"answer": f"seven {n}"})) for n in range(3)])
    ending = await work(made, output=schema)
    assert (ending.status, "did not fit the `output` schema" in ending.reason) == ("failed", True)


@pytest.mark.parametrize(
    ("todos", "said"),
    [
        ([todo("1"), todo("1")], "different id"),
        ([todo("1", "in_progress"), todo("2", "in_progress")], "Only one item"),
        ([todo("1", "blocked")], "what is needed"),
    ],
)
async def test_invalid_plan_is_refused(todos: list[dict[str, object]], said: str) -> None:
    made = memory_run(says("", writes(*todos)), says("done"))
    assert (await work(made)).status == "done"
    assert said in (await results(made))[0].text


async def test_plan_items_without_ids_are_numbered_and_numbers_count_as_ids() -> None:
    plan = [{"id": 2, "description": "b"}, {"description": "a"}, {"description": "c"}, {"id": "x", "description": "d"}]
    finished = ("todo_update", {"id": 2, "status": "completed"})
    made = memory_run(says("", ("todo_write", {"todos": plan})), says("", finished), *[says("too early")] * 3)
    await work(made)
    wrote, updated = (await results(made))[:2]
    assert wrote.text.replace(" ← CURRENT", "").splitlines() == ["[ ] 2 b", "[ ] 3 a", "[ ] 4 c", "[ ] x d"]
    assert updated.text.startswith("[x] 2 b")


async def test_update_of_an_unknown_plan_item_names_the_known_items() -> None:
    made = memory_run(
        says("", writes(todo("a", "completed"))),
        says("", ("todo_update", {"id": "b", "status": "completed"})),
        says("done"),
    )
    await work(made)
    assert "no item 'b'. Its items: a" in (await results(made))[1].text


async def test_plan_calls_cost_no_tool_calls_and_are_never_refused_as_repeated() -> None:
    reads = [says("", ("todo_read", {})) for _ in range(4)]
    made = memory_run(says("", writes(todo("1", "completed"))), *reads, says("done"))
    made.limits = Limits(tool_calls=0)
    assert (await work(made)).status == "done"
    assert {result.status for result in await results(made)} == {"ok"}


async def test_plan_survives_a_crash() -> None:
    made = memory_run(says("", writes(todo("1", "in_progress"))))
    bundle = planned(made)
    step = await made.step()
    step.note(MessageReceived("please"))
    with pytest.raises(IndexError):
        await coordinate(step, bundle, PROVENANCE)
    made.model.answers.extend([says("", ("todo_update", {"id": "1", "status": "completed"})), says("done")])
    assert (await coordinate(await made.step("second"), bundle, PROVENANCE)).answer == "done"
    assert "[~] 1 Do 1 ← CURRENT" in tails(made)[-2]


todos = st.builds(
    Todo, st.text("abc", min_size=1, max_size=2), st.text(min_size=1, max_size=20), st.sampled_from(STATUSES)
)


@given(st.lists(todos, max_size=6))
def test_run_may_end_exactly_when_the_plan_has_no_open_items(plan: list[Todo]) -> None:
    workflow = Workflow(description="d", owner="#o", when=("slack.mention",))
    said = plan_objection(Workspace(plan=tuple(plan)), workflow)
    assert bool(said) == bool(open_items(plan)) == (current(plan) is not None)
    assert all(item.id in said for item in open_items(plan))


@given(st.lists(todos, min_size=1, max_size=6))
def test_plan_is_shown_with_a_line_per_item_and_at_most_one_current_item(plan: list[Todo]) -> None:
    lines = shown(plan).splitlines()
    assert [line[:3] for line in lines] == [MARKS[item.status] for item in plan]
    assert sum(line.endswith("← CURRENT") for line in lines) <= 1
    assert with_needs("answer", plan).startswith("answer")
