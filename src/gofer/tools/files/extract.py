"""How does a document become a text that a model can read and search?"""

from functools import partial
from typing import Any

from pydantic import Field

from gofer.files.child import Children
from gofer.files.document import Member, extract, member_of
from gofer.files.kind import kind_of
from gofer.files.said import charset_of, guessed
from gofer.files.size import left_out
from gofer.files.tokens import estimate
from gofer.tools.files.text import held
from gofer.tools.tool import Arguments, Call, NewFile, Tool, ToolResult

TIMEOUT = 40.0
SHORT = 2_000
"""Tokens of a text that is shown at once beside becoming a file."""


class ExtractFile(Arguments):
    """Which document."""

    file: str = Field(description="Id of the file.")
    first_page: int = Field(default=1, ge=1, description="First page of a PDF.")
    member: str = Field(default="", description="Path in an archive.")
    encoding: str = Field(default="", description="Instead of a guess.")


def extract_tools(children: Children) -> tuple[Tool[Any], ...]:
    """`extract_file`."""
    return (
        Tool(
            name="extract_file",
            description="Get the text of a document as a new file, with markers for pages, slides and sheets, or "
            "the files in an archive; then use file_regex and file_read.",
            effect="read",
            arguments=ExtractFile,
            act=partial(extract_file, children),
            timeout=TIMEOUT,
            base="all",
        ),
    )


async def extract_file(children: Children, call: Call, arguments: ExtractFile) -> ToolResult:
    """A new file with the text; a short one is shown as well. `value` is the id of the new file."""
    added = held(call, arguments.file).added
    content = await call.files.content(arguments.file)
    if arguments.member:
        return _taken(arguments, await member_of(children, content, arguments.member, name=added.name))
    document = await extract(
        children,
        content,
        name=added.name,
        first=arguments.first_page,
        encoding=arguments.encoding,
        declared=charset_of(added.media_type),
    )
    origin = f"the text of {arguments.file}"
    made = NewFile(f"{added.name}.txt", "text/plain", document.text.encode(), origin, prefix="text")
    lines, tokens = document.text.count("\n") + 1, estimate(document.text)
    told = f"The text of {arguments.file} ({document.kind.title}) is {made.id}: {lines} lines, about {tokens} tokens."
    note = "".join(f" {said}" for said in (left_out(content), *document.notes) if said)
    short = f"\n\n{document.text}" if tokens <= min(SHORT, call.whole_tokens // 2) else ""
    return ToolResult(f"{told}{note}{short}", f"text of {lines} lines", value=made.id, files=(made,))


def _taken(arguments: ExtractFile, member: Member) -> ToolResult:
    """The file of an archive as a file of the run. `value` is its id."""
    kind = kind_of(member.data, member.name)
    origin = f"{arguments.member} of {arguments.file}"
    made = NewFile(member.name, guessed(member.name) or kind.media_type, member.data, origin)
    size = f"{len(member.data):,} bytes"
    told = f"{arguments.member!r} of {arguments.file} is now {made.id} {member.name!r}, {kind.title} of {size}."
    return ToolResult(told, f"a member of {size}", value=made.id, files=(made,))
