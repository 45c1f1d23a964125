"""A plan, its reminder at the end of every call, and the one gate for every way to end."""

import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.engine.finish_gate import plan_objection, with_needs
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
from support.engine.memory_run import PROVENANCE, Room, coordinate, room, says
from support.models.served import served

pytestmark = pytest.mark.anyio
STATUSES: Sequence[TodoStatus] = ("pending", "in_progress", "completed", "blocked")


def planned(made: Room, plan: Plan = "optional", output: object = None, tools: Sequence[str] = ()) -> Bundle:
    made.tools |= {tool.name: tool for tool in bind_all(PLAN_TOOLS, None)}
    base = {"description": "d", "owner": "#o", "when": ["slack.mention"], "tools": [*tools]}
    workflow = Workflow.model_validate({**base, "plan": plan, "limits": made.limits, "output": output})
    return Bundle(Loaded("answer-here", workflow, "You are a test.", "p.md", served("m")), [])


async def work(made: Room, plan: Plan = "optional", output: object = None, tools: Sequence[str] = ()) -> Ending:
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


def tails(made: Room) -> list[str]:
    return [json.loads(body)["messages"][-1]["content"] for body in made.model.requests]


async def results(made: Room) -> list[ToolResult]:
    return [recorded.entry for recorded in await made.journal() if isinstance(recorded.entry, ToolResult)]


async def test_the_plan_stands_at_the_end_of_every_call_with_the_exact_next_call() -> None:
    made = room(
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


async def test_every_change_gives_the_whole_plan() -> None:
    made = room(
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
async def test_whoever_ends_too_early_is_told_what_is_open_by_name(early: object) -> None:
    made = room(
        says("", writes(todo("1"))),
        early,  # type: ignore[arg-type]
        says("", ("todo_update", {"id": "1", "status": "completed"})),
        says("", ("finish", {"answer": "now I am"})),
    )
    assert (await work(made)).answer == "now I am"
    told = json.loads(made.model.requests[2])["messages"][-2]["content"]
    assert "your plan has open items:\n[ ] 1 Do 1" in told


@pytest.mark.parametrize("way", ["text", "finish"])
async def test_three_early_ends_in_a_row_end_the_run_with_what_it_has(way: str) -> None:
    end = says("I am done") if way == "text" else says("so far", ("finish", {"answer": "I am done"}))
    made = room(says("", writes(todo("1"))), end, end, end)
    ending = await work(made)
    assert (ending.status, ending.reason) == (
        "limited",
        "stopped after 3 answers in a row that came before the plan was done; use another model",
    )


async def test_a_typed_answer_that_came_too_early_is_shown_as_text() -> None:
    end = says('{"size": 3}')
    made = room(says("", writes(todo("1"))), end, end, end)
    schema = {"type": "object", "properties": {"size": {"type": "integer"}}}
    ending = await work(made, output=schema)
    assert (ending.status, ending.answer) == ("limited", "- **Size:** 3")


async def test_work_in_between_begins_the_count_anew() -> None:
    early = says("I am done")
    look = says("", ("todo_read", {}))
    made = room(says("", writes(todo("1"))), early, early, look, early, early, look, early, early, early)
    made.limits = Limits(llm_calls=30)
    assert (await work(made)).status == "limited"
    assert made.model.answers == []


async def test_what_is_blocked_may_end_and_the_person_is_told_what_it_needs() -> None:
    made = room(says("", writes(todo("1", "blocked", "the key of the room"))), says("I looked."))
    ending = await work(made)
    assert ending.status == "done"
    assert ending.answer == "I looked.\n\n**Needed from you to go on:**\n- Do 1: the key of the room"


async def test_what_is_blocked_is_told_below_an_answer_for_programs_too() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    made = room(says("", writes(todo("1", "blocked", "the key of the room"))), says('{"n": 7}'))
    ending = await work(made, output=schema)
    assert ending.output == {"n": 7}
    assert ending.answer.endswith("\n\n**Needed from you to go on:**\n- Do 1: the key of the room")


async def test_a_required_plan_comes_before_every_other_call_and_every_end() -> None:
    made = room(
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


async def test_without_plans_there_are_no_tools_for_them() -> None:
    made = room()
    bundle = planned(made, "off")
    granted = (await made.step()).services.granted(bundle.loaded.workflow)
    assert set(granted) == {"finish"}


async def test_finish_stands_alone_in_its_turn() -> None:
    made = room(says("", ("todo_read", {}), ("finish", {"answer": "x"})), says("", ("finish", {"answer": "y"})))
    assert (await work(made)).answer == "y"


async def test_finish_gives_the_value_a_program_asks_for_or_hears_what_is_wrong_with_it() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    made = room(says("", ("finish", {"answer": "seven"})), says("", ("finish", {"answer": '{"n": 7}'})))
    assert (await work(made, output=schema)).output == {"n": 7}
    assert "does not fit the schema" in json.loads(made.model.requests[1])["messages"][-2]["content"]


async def test_three_values_of_the_wrong_form_end_the_run_for_what_is_wrong_with_them() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    made = room(*[says("", ("finish", {"answer": f"seven {n}"})) for n in range(3)])
    ending = await work(made, output=schema)
    assert (ending.status, "did not fit the `output` schema" in ending.reason) == ("failed", True)


@pytest.mark.parametrize(
    ("todos", "said"),
    [
        ([todo("1"), todo("1")], "id of its own"),
        ([todo("1", "in_progress"), todo("2", "in_progress")], "Only one item"),
        ([todo("1", "blocked")], "what is needed"),
    ],
)
async def test_a_plan_that_cannot_be_followed_is_refused(todos: list[dict[str, object]], said: str) -> None:
    made = room(says("", writes(*todos)), says("done"))
    assert (await work(made)).status == "done"
    assert said in (await results(made))[0].text


async def test_items_are_numbered_where_a_model_gives_no_id_and_numbers_count_as_ids() -> None:
    plan = [{"id": 2, "description": "b"}, {"description": "a"}, {"description": "c"}, {"id": "x", "description": "d"}]
    finished = ("todo_update", {"id": 2, "status": "completed"})
    made = room(says("", ("todo_write", {"todos": plan})), says("", finished), *[says("too early")] * 3)
    await work(made)
    wrote, updated = (await results(made))[:2]
    assert wrote.text.replace(" ← CURRENT", "").splitlines() == ["[ ] 2 b", "[ ] 3 a", "[ ] 4 c", "[ ] x d"]
    assert updated.text.startswith("[x] 2 b")


async def test_an_update_of_an_unknown_item_names_the_known_ones() -> None:
    made = room(
        says("", writes(todo("a", "completed"))),
        says("", ("todo_update", {"id": "b", "status": "completed"})),
        says("done"),
    )
    await work(made)
    assert "no item 'b'. Its items: a" in (await results(made))[1].text


async def test_keeping_the_plan_costs_no_tool_calls_and_reading_it_is_never_refused() -> None:
    reads = [says("", ("todo_read", {})) for _ in range(4)]
    made = room(says("", writes(todo("1", "completed"))), *reads, says("done"))
    made.limits = Limits(tool_calls=0)
    assert (await work(made)).status == "done"
    assert {result.status for result in await results(made)} == {"ok"}


async def test_a_plan_survives_its_worker() -> None:
    made = room(says("", writes(todo("1", "in_progress"))))
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
def test_no_run_ends_with_open_items_and_every_other_may(plan: list[Todo]) -> None:
    workflow = Workflow(description="d", owner="#o", when=("slack.mention",))
    said = plan_objection(Workspace(plan=tuple(plan)), workflow)
    assert bool(said) == bool(open_items(plan)) == (current(plan) is not None)
    assert all(item.id in said for item in open_items(plan))


@given(st.lists(todos, min_size=1, max_size=6))
def test_a_plan_is_shown_in_as_many_lines_as_it_has_items_with_one_current_at_most(plan: list[Todo]) -> None:
    lines = shown(plan).splitlines()
    assert [line[:3] for line in lines] == [MARKS[item.status] for item in plan]
    assert sum(line.endswith("← CURRENT") for line in lines) <= 1
    assert with_needs("answer", plan).startswith("answer")
