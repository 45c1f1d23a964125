"""What does a file of the run hold, when it is not a tool that asks? Fetched once, as a call of the run's own."""

from gofer.engine.step import Permitted, Step
from gofer.journal.entries import ToolResult
from gofer.journal.workspace_entries import FileAdded
from gofer.tools.definition import Provenance
from gofer.values.canonical_json import as_object, as_text
from gofer.values.errors import ToolError


async def content_of(step: Step, added: FileAdded, provenance: Provenance, purpose: str) -> bytes:
    """The content of a file, fetched first where it stands elsewhere; `purpose` names the call that does it.

    Raises ToolError when it cannot be had, TemporaryError, Cancelled, OutOfTime.
    """
    if not added.body:
        source = added.source or {}
        tool, arguments = step.services.tools.get(as_text(source.get("tool"))), as_object(source.get("arguments"))
        if tool is None:
            raise ToolError("Nothing here knows how to fetch it.", code="gone")
        asked = Permitted(f"{purpose}/{added.file}", tool, tool.parse(arguments), arguments, longest=0.0)
        match await step.call(asked, provenance):
            case ToolResult(status="ok"):
                added = step.workspace.files[added.file].added
            case outcome:
                raise ToolError(outcome.text)
    return await step.shelf.content(added)
