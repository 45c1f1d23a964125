"""The tools for plans, the tool `finish`, and the text of a plan."""

from collections import Counter
from collections.abc import Sequence
from itertools import count
from typing import Annotated

from pydantic import BeforeValidator, Field

from gofer.journal.workspace_entries import PlanUpdated, Todo, TodoStatus
from gofer.tools.declare import tool
from gofer.tools.definition import Arguments, Call, ToolResult
from gofer.values.errors import ToolError

ITEMS = 50
"""The most items of one plan."""
MARKS: dict[TodoStatus, str] = {"completed": "[x]", "in_progress": "[~]", "pending": "[ ]", "blocked": "[!]"}
CURRENT = " ← CURRENT"
"""The mark after the current item."""
_DESCRIPTION = Field(min_length=1, max_length=300)
_NEEDS = Field(default="", max_length=300)


def _as_text(value: object) -> object:
    """Return a whole number as text, because models number the items of a plan."""
    if type(value) is int:
        return str(value)
    return value


_Id = Annotated[str, BeforeValidator(_as_text)]


class Item(Arguments):
    """One item of a plan."""

    id: _Id = Field(default="", pattern=r"^[A-Za-z0-9._-]{0,20}$")
    description: str = _DESCRIPTION
    status: TodoStatus = "pending"
    needs: str = _NEEDS


class WriteTodos(Arguments):
    """A whole plan."""

    todos: list[Item] = Field(min_length=1, max_length=ITEMS)


class UpdateTodo(Arguments):
    """A change of one item."""

    id: _Id
    status: TodoStatus | None = None
    description: str = Field(default="", max_length=300)
    needs: str = _NEEDS


class ReadTodos(Arguments):
    """No arguments."""


@tool(effect="read", base="plan", in_order=True)
async def todo_write(call: Call, arguments: WriteTodos) -> ToolResult:
    """Write your whole plan, or write it anew."""
    return _changed(_written(arguments))


@tool(effect="read", base="plan", in_order=True)
async def todo_update(call: Call, arguments: UpdateTodo) -> ToolResult:
    """Change an item of your plan as soon as its status changes."""
    plan = call.run.workspace.plan
    if arguments.id not in {todo.id for todo in plan}:
        known = ", ".join(todo.id for todo in plan) or "none; write a plan with todo_write first"
        raise ToolError(f"The plan has no item {arguments.id[:20]!r}. Its items: {known}.")
    return _changed(_with_update(plan, arguments))


@tool(effect="read", base="plan", in_order=True)
async def todo_read(call: Call, arguments: ReadTodos) -> ToolResult:
    """Read your plan."""
    plan = call.run.workspace.plan
    text = shown(plan) or "There is no plan yet; write one with todo_write."
    return ToolResult(text, _counted(plan))


def plan_after(arguments: Arguments, plan: tuple[Todo, ...]) -> tuple[Todo, ...] | None:
    """Return the plan after a call with these arguments; None for a call that writes no plan."""
    match arguments:
        case WriteTodos():
            return _written(arguments)
        case UpdateTodo(id=changed) if changed in {todo.id for todo in plan}:
            return _with_update(plan, arguments)
        case _:
            return None


def _written(plan: WriteTodos) -> tuple[Todo, ...]:
    # A model may restore an earlier plan with its statuses.
    ids = _numbered([item.id for item in plan.todos])
    items = zip(ids, plan.todos, strict=True)
    return tuple(Todo(own, item.description, item.status, item.needs) for own, item in items)


def _with_update(plan: tuple[Todo, ...], change: UpdateTodo) -> tuple[Todo, ...]:
    return tuple(_updated(todo, change) if todo.id == change.id else todo for todo in plan)


def _numbered(ids: Sequence[str]) -> Sequence[str]:
    """Return the ids of a plan. An item without an id gets its position, or the next free number."""
    taken = set(ids)
    numbered: list[str] = []
    for place, given in enumerate(ids, 1):
        own = given or next(str(number) for number in count(place) if str(number) not in taken)
        taken.add(own)
        numbered.append(own)
    return numbered


def _updated(todo: Todo, change: UpdateTodo) -> Todo:
    status = change.status or todo.status
    needs = ""
    if status == "blocked":
        needs = change.needs or todo.needs
    return Todo(todo.id, change.description or todo.description, status, needs)


def _changed(plan: tuple[Todo, ...]) -> ToolResult:
    """Return the new plan. Raises ToolError for duplicate ids, several items in progress, or a missing `needs`."""
    if twice := [name for name, times in Counter(todo.id for todo in plan).items() if times > 1]:
        raise ToolError(f"Two items have the id {twice[0]!r}; give every item a different id.")
    in_progress = [todo.id for todo in plan if todo.status == "in_progress"]
    if len(in_progress) > 1:
        raise ToolError(
            f"Only one item may be in_progress, but several are: {', '.join(in_progress)}. Finish one first."
        )
    for todo in plan:
        if todo.status == "blocked" and not todo.needs.strip():
            raise ToolError(f"Item {todo.id!r} is blocked; say in `needs` what is needed from the person.")
    return ToolResult(shown(plan), _counted(plan), facts=(PlanUpdated(plan),))


def shown(plan: Sequence[Todo]) -> str:
    """Return the plan as text for the model: a line for each item, with a mark at the current one."""
    now = current(plan)
    return "\n".join(f"{line(todo)}{CURRENT if todo is now else ''}" for todo in plan)


def line(todo: Todo) -> str:
    """Return the line of an item, such as `[~] 2 Compare the numbers`."""
    needs = ""
    if todo.needs:
        needs = f" (needs: {' '.join(todo.needs.split())})"
    return f"{MARKS[todo.status]} {todo.id} {' '.join(todo.description.split())}{needs}"


def current(plan: Sequence[Todo]) -> Todo | None:
    """Return the item in progress, or the next pending item; None if there is neither."""
    in_progress = [todo for todo in plan if todo.status == "in_progress"]
    return next(iter(in_progress or [todo for todo in plan if todo.status == "pending"]), None)


def open_items(plan: Sequence[Todo]) -> Sequence[Todo]:
    """Return the items that are neither completed nor blocked."""
    return [todo for todo in plan if todo.status in ("pending", "in_progress")]


def _counted(plan: Sequence[Todo]) -> str:
    counts = Counter(todo.status for todo in plan)
    return ", ".join(f"{count} {status}" for status, count in counts.items()) or "no plan"


class Finish(Arguments):
    """The end of the work."""

    answer: str = Field(min_length=1, description="Whole, as people read it, or the JSON asked for.")


@tool(effect="read", base="model", in_order=True)
async def finish(call: Call, arguments: Finish) -> ToolResult:
    """End with your answer; call it alone. An answer without a call does the same."""
    # The finish gate has already accepted the answer.
    return ToolResult("Finished.", "finished", {"answer": arguments.answer})


TOOLS = (todo_write, todo_update, todo_read, finish)
"""The tools of every run of a model for its plan and its answer."""
