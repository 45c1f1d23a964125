"""What does a file of the run hold, when it is not a tool that asks? Fetched once, as a call of the run's own."""

from gofer.engine.own_step import OwnStep, PurposeCall
from gofer.journal.entries import ToolResult
from gofer.journal.workspace_entries import FileAdded
from gofer.sources.part_values import OwnCall
from gofer.tools.definition import Provenance
from gofer.values.canonical_json import as_object, as_text
from gofer.values.errors import ToolError


async def content_of(step: OwnStep, added: FileAdded, provenance: Provenance, purpose: str) -> bytes:
    """The content of a file, fetched first where it stands elsewhere; `purpose` names the call that does it.

    Raises ToolError when it cannot be had, TemporaryError, Cancelled, OutOfTime.
    """
    if not added.body:
        source = added.source or {}
        tool = as_text(source.get("tool"))
        arguments = as_object(source.get("arguments"))
        if tool not in step.services.tools:
            raise ToolError("Nothing here knows how to fetch it.", code="gone")
        asked = PurposeCall(f"{purpose}/{added.file}", OwnCall(tool, arguments), longest=0.0)
        match await step.call(asked, provenance):
            case ToolResult(status="ok"):
                added = step.workspace.files[added.file].added
            case outcome:
                raise ToolError(outcome.text)
    return await step.files.content(added)
