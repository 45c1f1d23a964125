"""The section of a system prompt about plans: when to write one, and how to keep it."""

from gofer.workflows.schema import Plan

_REQUIRED = "Before anything else, write your plan with `todo_write`; other tools refuse until there is one."
_OPTIONAL = "For work of three or more steps, first write your plan with `todo_write`; for less, none is needed."
_KEPT = (
    "One item is `in_progress` at a time, and `todo_update` marks each as soon as it is done. You can answer only when "
    "every item is `completed` or `blocked`. An item is `blocked` when only a person can help; `needs` says with what."
)


def planning(plan: Plan) -> str:
    """Return the section on plans of a workflow's system prompt; empty where there is none."""
    match plan:
        case "off":
            return ""
        case "required":
            return f"# Your plan\n\n{_REQUIRED} {_KEPT}"
        case "optional":
            return f"# Your plan\n\n{_OPTIONAL} {_KEPT}"
