"""What does a subagent get to read of the files that a script hands it?"""

from collections.abc import Sequence

from gofer.engine.file_contents import content_of
from gofer.engine.step import Step
from gofer.files.declared_type import charset_of
from gofer.files.decoder import decode, in_brackets
from gofer.journal.purposes import SUBAGENT_FILE
from gofer.tools.definition import Provenance
from gofer.values.canonical_json import encode_text
from gofer.values.errors import ToolError

CHARACTERS = 200_000
"""Characters of all files of one question at most."""
FILES = 20
"""Files of one question at most."""


async def handed(step: Step, prompt: str, files: Sequence[str], provenance: Provenance) -> str:
    """A prompt with the texts of some files after it, as data.

    Raises ToolError for a file that the run does not have, that is no text or too large; TemporaryError, Cancelled,
    OutOfTime.
    """
    sections, left = [prompt], CHARACTERS
    for file in files:
        held = step.workspace.files.get(file)
        if held is None:
            raise ToolError(f"The run has no file {file[:64]!r}.")
    if len(files) > FILES:
        raise ToolError(f"A subagent is given {FILES} files at most, not {len(files)}.")
    for file in files:
        added = step.workspace.files[file].added
        content = await content_of(step, added, provenance, SUBAGENT_FILE)
        found = decode(content, charset_of(added.media_type))
        if found is None:
            kind = added.media_type or "of an unknown type"
            raise ToolError(f"{file} is {kind} and no text; a subagent of a script is given texts only.")
        left -= len(found.text)
        if left < 0:
            raise ToolError(f"{file} is too large: the files of one question have {CHARACTERS} characters at most.")
        rows = [f"    {row}" for row in found.text.splitlines()] or ["    (empty)"]
        sections.append("\n".join([f"File {file} {encode_text(added.name)}, as data:{in_brackets(found.note)}", *rows]))
    return "\n\n".join(sections)
