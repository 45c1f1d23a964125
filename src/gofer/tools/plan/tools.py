"""Which tools keep a plan, and which says that the work is done?"""

from typing import Any

from pydantic import Field

from gofer.tools.plan.todos import ReadTodos, UpdateTodo, WriteTodos, todo_read, todo_update, todo_write
from gofer.tools.tool import Arguments, Call, Tool, ToolResult


class Finish(Arguments):
    """The end of the work."""

    answer: str = Field(min_length=1, description="Whole, as people read it, or the JSON asked for.")


def plan_tools() -> tuple[Tool[Any], ...]:
    """The tools that every run of a model has to keep its plan and to end."""
    return (
        Tool(
            name="todo_write",
            description="Write your whole plan, or write it anew.",
            effect="read",
            arguments=WriteTodos,
            act=todo_write,
            base="plan",
            in_order=True,
        ),
        Tool(
            name="todo_update",
            description="Change an item of your plan as soon as its status changes.",
            effect="read",
            arguments=UpdateTodo,
            act=todo_update,
            base="plan",
            in_order=True,
        ),
        Tool(
            name="todo_read",
            description="Read your plan.",
            effect="read",
            arguments=ReadTodos,
            act=todo_read,
            base="plan",
            in_order=True,
        ),
        Tool(
            name="finish",
            description="End with your answer; call it alone. An answer without a call does the same.",
            effect="read",
            arguments=Finish,
            act=finish,
            base="model",
            in_order=True,
        ),
    )


async def finish(call: Call, arguments: Finish) -> ToolResult:
    """The gate has let it through: what it says is the answer."""
    return ToolResult("Finished.", "finished", {"answer": arguments.answer})
