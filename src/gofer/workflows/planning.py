"""What does a system prompt say of plans? When to write one, how to keep it, and a worked example."""

from gofer.workflows.schema import Plan

_REQUIRED = "Before anything else, write your plan with `todo_write`; other tools refuse until there is one."
_OPTIONAL = "For work of three or more steps, first write your plan with `todo_write`; for less, none is needed."
_EXAMPLE = """\
Keep it true: one item is `in_progress` at a time, and each is marked as soon as it is done. The plan stands at the
end of the conversation on every turn. You can answer only when every item is `completed` or `blocked`. An item is
`blocked` when only a person can help; `needs` says with what.

An example. Asked "Which of our three runbooks mention the old host, and can someone remove it?":

1. `todo_write(todos=[{"id": "1", "description": "Read the three runbooks"}, {"id": "2", "description": "List the \
lines with the old host"}, {"id": "3", "description": "Have the host removed"}])`
2. `todo_update(id="1", status="in_progress")`, then the reading itself, then
   `todo_update(id="1", status="completed")`; the same for 2.
3. No tool removes a host: `todo_update(id="3", status="blocked", needs="Somebody with access to DNS removes it")`
4. The answer: the lines that were found, and what is needed."""


def planning(plan: Plan) -> str:
    """The section on plans of a workflow's system prompt; empty where there is none."""
    match plan:
        case "off":
            return ""
        case "required":
            return f"# Your plan\n\n{_REQUIRED} {_EXAMPLE}"
        case "optional":
            return f"# Your plan\n\n{_OPTIONAL} {_EXAMPLE}"
