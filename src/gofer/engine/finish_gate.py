"""The one gate for every way to end a run: an answer without calls, and `finish`."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from gofer.engine.gates import Refused
from gofer.journal.entries import MessageReceived
from gofer.journal.workspace_entries import BOOKKEEPING, FINISH, Todo
from gofer.models.answer_text import written_call
from gofer.projections.conversation import Conversation, Flaw
from gofer.projections.workspace import Workspace
from gofer.tools.plan import line, open_items
from gofer.values.canonical_json import as_object
from gofer.values.messages import ToolAsk, arguments
from gofer.workflows.output import problems, read_answer
from gofer.workflows.schema import Workflow

UNFIT = "unfit"
"""Code of an end with an answer that has not the form its workflow asks for."""
REMARKS: Mapping[Flaw, str] = {
    "empty": "[Gofer, by code] Your last answer was empty. Answer in words, or call a tool.",
    "cut": "[Gofer, by code] Your last answer was cut off at the limit of one answer. Write a shorter one.",
}
"""What a model is told right after an answer that leaves nothing to go on with."""
WRITTEN = (
    "[Gofer, by code] Your last answer holds a call{call} as text. It was not carried out, and people did not see it. "
    "Ask for tools in tool_calls, or answer in words."
)
"""What a model is told of a call that it wrote as text."""
_ANEW = "Answer with the whole object, corrected, and nothing else; or call a tool for what is missing."
_GO_ON = (
    "Do them, and say so with todo_update; an item that only a person can help with is blocked, with what it needs. "
    "Then answer."
)


def premature(workspace: Workspace, workflow: Workflow) -> str:
    """Why it is too early to end, for the model; empty when it is not."""
    if workflow.plan == "required" and not workspace.plan:
        return "[Gofer, by code] Not finished: this work needs a plan. Write it with todo_write, and follow it."
    if left := open_items(workspace.plan):
        listed = "\n".join(line(todo) for todo in left)
        return f"[Gofer, by code] Not finished: your plan has open items:\n{listed}\n{_GO_ON}"
    return ""


def unfit(answer: str, schema: Mapping[str, object]) -> str:
    """What a model is told of an answer that has not the form its workflow asks for; empty when it has."""
    try:
        wrong = problems(schema, read_answer(answer))
    except ValueError as error:
        wrong = [f"it is {error}"]
    listed = "\n".join(f"- {problem}" for problem in wrong)
    return listed and f"[Gofer, by code] Your answer is not valid under the schema of the output:\n{listed}\n{_ANEW}"


def remark(
    conversation: Conversation, workspace: Workspace, workflow: Workflow, offered: Collection[str]
) -> MessageReceived | None:
    """What the model is told of its last answer by code; None when the run can go on from it, or end with it."""
    if conversation.flaw == "cut" and written_call(conversation.answer, ()) is not None:
        return MessageReceived(WRITTEN.format(call=""), code="call_as_text")
    if not conversation.answered:
        said = REMARKS.get(conversation.flaw, "")
        return MessageReceived(said) if said else None
    if against := objection(conversation.answer, workspace, workflow, offered):
        return MessageReceived(against.text, code=against.code)
    return None


@dataclass(frozen=True, slots=True)
class Objection:
    """Why a run may not end with an answer."""

    text: str
    """For the model."""
    code: Literal["", "premature", "call_as_text"] = ""


def objection(answer: str, workspace: Workspace, workflow: Workflow, offered: Collection[str]) -> Objection | None:
    """What stands against ending with an answer; `offered` are the tools by name."""
    schema = as_object(workflow.output)
    wrong = ""
    if schema:
        wrong = unfit(answer, schema)
    # An answer for a program may have the form of a call.
    if (not schema or wrong) and (call := written_call(answer, offered)) is not None:
        return Objection(WRITTEN.format(call=f" of {call}" * bool(call)), "call_as_text")
    if said := premature(workspace, workflow):
        return Objection(said, "premature")
    if wrong:
        return Objection(wrong)
    return None


def finishing(
    call: str,
    ask: ToolAsk,
    conversation: Conversation,
    workspace: Workspace,
    workflow: Workflow,
    offered: Collection[str],
) -> Refused | None:
    """Refuse a `finish` that comes too early, or beside calls of which the model has not seen the results."""
    if ask.tool != FINISH:
        return None
    if len(conversation.asks) > 1:
        return Refused(call, "Not finished: other calls stand beside it. Look at their results, and call finish alone.")
    try:
        answer = arguments(ask.arguments).get("answer")
    except ValueError:
        return None  # told where its arguments are read
    if against := objection(str(answer), workspace, workflow, offered):
        return Refused(call, against.text, code=against.code or UNFIT)
    return None


def unplanned(call: str, ask: ToolAsk, workspace: Workspace, workflow: Workflow) -> Refused | None:
    """Whether a call comes before the plan that its workflow asks for."""
    if workflow.plan != "required" or workspace.plan or ask.tool in BOOKKEEPING:
        return None
    return Refused(
        call, f"Not called: this work needs a plan. Write it with todo_write first, then call {ask.tool[:64]}."
    )


def with_needs(answer: str, plan: Sequence[Todo]) -> str:
    """An answer and, where something is blocked, what is needed from the person."""
    needs = [f"- {todo.description}: {todo.needs}" for todo in plan if todo.status == "blocked"]
    return "\n".join([answer, "", "**Needed from you to go on:**", *needs]) if needs else answer
