"""The tool that reads a form of Jira: the fields of a new issue, or of a step to another status."""

from pydantic import Field

from gofer.sources.jira.api import MISSING, JiraApi
from gofer.sources.jira.field_types import FormField, Site
from gofer.sources.jira.form import Form, form_of_new, form_of_step, form_text, steps_to
from gofer.sources.jira.issues import SEES, issue_name, issue_path
from gofer.tools.declare import tool
from gofer.tools.definition import Arguments, Call, ToolResult
from gofer.tools.readable import hidden
from gofer.values.errors import ToolError


class GetForm(Arguments):
    """The form to read: of a new issue, or of a step."""

    project: str = Field(default="", description="For a new issue: key of its project, such as OPS.")
    type: str = Field(default="", description="For a new issue: name of its type, such as Bug.")
    status: str = Field(default="", description="For a move: name of the new status, such as Done.")
    issue: str = Field(default="", description="For a move: key such as OPS-7. Left out: where the request came from.")
    field: str = Field(default="", description="Words of the names of fields, to see only these with more values.")


@tool(
    effect="read",
    scopes=SEES | {"Create Issues", "Transition Issues"},
    everyday="required, mandatory or custom fields, components, versions, options, values of a ticket",
)
async def jira_get_form(api: JiraApi, call: Call, arguments: GetForm) -> ToolResult:
    """Read what Jira asks for in a new issue of a type, or when an issue moves to a status: fields and their values."""
    _check(arguments)
    if arguments.project and not call.readable.holds(arguments.project, private=False):
        raise hidden(MISSING)
    if arguments.status:
        key, now, steps = await steps_to(api, call, issue_path(call, arguments.issue), arguments.status, fields=True)
        if not steps:
            raise ToolError(f"{key} is in {now} already.")
        site = Site(api, call, key.rpartition("-")[0])
        return await _form_result(site, form_of_step(steps[0], key), arguments.field)
    site = Site(api, call, arguments.project.upper())
    return await _form_result(site, await form_of_new(site, arguments.type), arguments.field)


@jira_get_form.mock
def _mock(call: Call, arguments: GetForm) -> ToolResult:
    """Return a form with one field."""
    _check(arguments)
    title = f"{arguments.type or 'Task'} in {arguments.project.upper()}"
    if arguments.status:
        title = f"{issue_name(call, arguments.issue)} on its way to {arguments.status}"
    form = Form(title, [FormField(id="duedate", name="Due date", kind="date")])
    return _result(f"The form of {title}:\n- Due date: a date, as 2026-11-21", form)


def _check(arguments: GetForm) -> None:
    """Raise ToolError unless the arguments say which form."""
    if not (arguments.status or arguments.project):
        raise ToolError("Say the project and the type of a new issue, or the status that an issue is to move to.")


async def _form_result(site: Site, form: Form, words: str) -> ToolResult:
    return _result(await form_text(site, form, words), form)


def _result(text: str, form: Form) -> ToolResult:
    """Return a form. Details: `required`, the names of the required fields."""
    return ToolResult(text, f"read the form of {form.title}", {"required": form.required()})
