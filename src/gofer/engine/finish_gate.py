"""The gate for both ways to end a run: an answer without calls, and the tool `finish`."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from gofer.engine.gates import Refused
from gofer.engine.owned_run import OwnedRun
from gofer.journal.entries import MessageReceived
from gofer.journal.workspace_entries import BOOKKEEPING, FINISH, Todo
from gofer.models.call_forms import Offered, written_call
from gofer.projections.conversation import Flaw
from gofer.projections.workspace import Workspace
from gofer.tools.plan import line, open_items
from gofer.values.canonical_json import as_object
from gofer.values.messages import ToolAsk, arguments
from gofer.workflows.output import problems, read_answer
from gofer.workflows.schema import Workflow

UNFIT = "unfit"
"""Code of an answer that does not have the form that its workflow requires."""
REMARKS: Mapping[Flaw, str] = {
    "empty": "[Gofer, by code] Your last answer was empty. Answer in words, or call a tool.",
    "cut": "[Gofer, by code] Your last answer was cut off at the limit of one answer. Write a shorter one.",
}
"""Messages to the model after an empty or cut answer."""
CALL_AS_TEXT = (
    "[Gofer, by code] Your last answer has a call{call} written as text. Gofer did not carry it out, and people did "
    "not see it. Call tools in tool_calls, or answer in words."
)
"""The message to a model that wrote a call as text."""
_ANSWER_AGAIN = "Answer with the whole corrected object and nothing else{or_call}."
_OR_CALL = ", or call a tool to get missing data"
_FINISH_PLAN = (
    "Do them, and record that with todo_update. Mark an item that needs a person as blocked, and say what it needs. "
    "Then answer."
)
_UNMET = (
    "[Gofer, by code] Not finished: this work is done when a call of {tools} has succeeded, and none has. Make the "
    "call now. If it must not or cannot be made, answer again and say why in one sentence, for the person who looks "
    "after this."
)


def plan_objection(workspace: Workspace, workflow: Workflow) -> str:
    """Return the message to a model that ends before its plan is done; empty when the run may end."""
    if workflow.plan == "required" and not workspace.plan:
        return "[Gofer, by code] Not finished: this work needs a plan. Write it with todo_write, and follow it."
    if left := open_items(workspace.plan):
        listed = "\n".join(line(todo) for todo in left)
        return f"[Gofer, by code] Not finished: your plan has open items:\n{listed}\n{_FINISH_PLAN}"
    return ""


def form_objection(answer: str, schema: Mapping[str, object], *, has_tools: bool = True) -> str:
    """Return the message about an answer that does not fit the output schema; empty when the answer fits."""
    try:
        found = problems(schema, read_answer(answer))
    except ValueError as error:
        found = [f"it is {error}"]
    if not found:
        return ""
    listed = "\n".join(f"- {problem}" for problem in found)
    again = _ANSWER_AGAIN.format(or_call=_OR_CALL if has_tools else "")
    return f"[Gofer, by code] Your answer does not fit the schema of the output:\n{listed}\n{again}"


def is_unmet(workflow: Workflow, settled: Collection[str]) -> bool:
    """Return whether none of the tools that a workflow requires is among those that the run has settled."""
    return bool(workflow.requires) and not set(workflow.requires) & set(settled)


def remark(own: OwnedRun, workflow: Workflow, offered: Offered) -> MessageReceived | None:
    """Return the message of code about the model's last answer; None when the run can continue or end with it."""
    conversation = own.conversation
    if conversation.flaw == "cut" and (problem := _call_as_text(conversation.answer, offered)):
        return MessageReceived(problem.text, code=problem.code)
    if not conversation.answered:
        text = REMARKS.get(conversation.flaw)
        if text is None:
            return None
        return MessageReceived(text)
    if problem := objection(conversation.answer, own, workflow, offered):
        return MessageReceived(problem.text, code=problem.code)
    return None


@dataclass(frozen=True, slots=True)
class Objection:
    """The reason why a run may not end with an answer."""

    text: str
    """For the model."""
    code: Literal["", "premature", "unmet", "call_as_text"] = ""


def objection(answer: str, own: OwnedRun, workflow: Workflow, offered: Offered) -> Objection | None:
    """Return the objection to ending with an answer, or None; `offered` are the tools of the run."""
    schema = as_object(workflow.output)
    form_problem = ""
    if schema:
        form_problem = form_objection(answer, schema)
    # An answer that fits the output schema may look like a call.
    if (not schema or form_problem) and (problem := _call_as_text(answer, offered)):
        return problem
    if plan_problem := plan_objection(own.workspace, workflow):
        return Objection(plan_problem, "premature")
    if form_problem:
        return Objection(form_problem)
    if not own.conversation.sent_back and is_unmet(workflow, own.checks.calls.settled):
        return Objection(_UNMET.format(tools=" or ".join(workflow.requires)), "unmet")
    return None


def _call_as_text(answer: str, offered: Offered) -> Objection | None:
    call = written_call(answer, offered)
    if call is None:
        return None
    named = f" of {call}" if call else ""
    return Objection(CALL_AS_TEXT.format(call=named), "call_as_text")


def early_finish(call: str, ask: ToolAsk, own: OwnedRun, workflow: Workflow, offered: Offered) -> Refused | None:
    """Refuse a `finish` that comes too early, or beside calls with results that the model has not seen."""
    if ask.tool != FINISH:
        return None
    if len(own.conversation.asks) > 1:
        text = "Not finished: this turn has other calls. Read their results first, then call finish alone."
        return Refused(call, text, code="not_alone")
    try:
        answer = arguments(ask.arguments).get("answer")
    except ValueError:
        return None  # the gate `permission` refuses these arguments
    if problem := objection(str(answer), own, workflow, offered):
        return Refused(call, problem.text, code=problem.code or UNFIT)
    return None


def missing_plan(call: str, ask: ToolAsk, workspace: Workspace, workflow: Workflow) -> Refused | None:
    """Refuse a call that comes before the plan that its workflow requires."""
    if workflow.plan != "required" or workspace.plan or ask.tool in BOOKKEEPING:
        return None
    text = f"Not called: this work needs a plan. Write it with todo_write first, then call {ask.tool[:64]}."
    return Refused(call, text, code="no_plan")


def with_needs(answer: str, plan: Sequence[Todo]) -> str:
    """Return the answer, followed by the needs of the plan's blocked items."""
    needs = [f"- {todo.description}: {todo.needs}" for todo in plan if todo.status == "blocked"]
    if not needs:
        return answer
    return "\n".join([answer, "", "**Needed from you to go on:**", *needs])
