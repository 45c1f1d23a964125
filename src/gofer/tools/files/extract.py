"""The tool that makes a text of a document, for models to read and search."""

from pydantic import Field

from gofer.files.child import Children
from gofer.files.completeness import Wanted, incomplete, of_file, together
from gofer.files.declared_type import charset_of, guessed
from gofer.files.document import Document, Member, extract, member_of
from gofer.files.kind import kind_of
from gofer.files.tokens import estimate
from gofer.tools.declare import tool
from gofer.tools.definition import Arguments, Call, NewFile, ToolResult
from gofer.values.missing import Missing

TIMEOUT = 120.0
"""Seconds for one of these: other documents of the same turn may be read before it."""
SHORT = 2_000
"""Tokens of a text that is shown at once beside becoming a file."""


class ExtractFile(Arguments):
    """A document, and the part of it that is wanted."""

    file: str
    first_page: int | None = Field(default=None, ge=1)
    last_page: int | None = Field(default=None, ge=1)
    first_row: int | None = Field(default=None, ge=1)
    sheet: str = ""
    member: str = Field(default="", description="Path in an archive.")
    encoding: str = Field(default="", description="Instead of a guess.")


@tool(effect="read", timeout=TIMEOUT, base="all")
async def extract_file(children: Children, call: Call, arguments: ExtractFile) -> ToolResult:
    """Get the text of a PDF, Office document, web page, e-mail or archive as a new file to search."""
    # A short text is shown as well; `value` is the id of the new file.
    content = await call.files.content(arguments.file)
    added = call.files.added(arguments.file)
    if arguments.member:
        member = await member_of(children, content, arguments.member, name=added.name)
        return _taken(arguments, member, added.missing)
    wanted = Wanted(
        first_page=arguments.first_page or 1,
        last_page=arguments.last_page or 0,
        first_row=arguments.first_row or 1,
        sheet=arguments.sheet,
    )
    document = await extract(
        children,
        content,
        name=added.name,
        wanted=wanted,
        encoding=arguments.encoding,
        declared=charset_of(added.media_type),
    )
    made = NewFile(
        f"{added.name}{_part(arguments)}.txt",
        "text/plain",
        document.text.encode(),
        f"the text of {arguments.file}",
        prefix="text",
        missing=together([added.missing, of_file(document.missing, arguments.file)]),
    )
    told = _told(document, made, arguments.file, call.whole_tokens)
    summary = f"text of {_lines(document)} lines"
    if made.missing:
        summary = f"{summary}, incomplete"
    return ToolResult(told, summary, value=made.id, files=(made,))


def _part(arguments: ExtractFile) -> str:
    """Return the part that is asked for as its name has it, as ` (first_page 2001)`; empty for all of it."""
    asked = arguments.model_dump(exclude_defaults=True, exclude={"file", "encoding"})
    if not asked:
        return ""
    return f" ({', '.join(f'{name} {value}' for name, value in asked.items())})"


def _lines(document: Document) -> int:
    return document.text.count("\n") + 1


def _told(document: Document, made: NewFile, file: str, whole_tokens: int) -> str:
    """Return what the model reads of the new file, and a short text as well."""
    tokens = estimate(document.text)
    size = f"{_lines(document)} lines, about {tokens} tokens"
    sentences = [
        f"The text of {file} ({document.kind.title}) is {made.id}: {size}.",
        *document.notes,
        incomplete(made.missing, made.id),
    ]
    told = " ".join(filter(None, sentences))
    if tokens <= min(SHORT, whole_tokens // 2):
        return f"{told}\n\n{document.text}"
    return told


def _taken(arguments: ExtractFile, member: Member, missing: tuple[Missing, ...]) -> ToolResult:
    """Return the file of an archive as a file of the run, which lacks what the archive lacks. `value` is its id."""
    kind = kind_of(member.data, member.name)
    origin = f"{arguments.member} of {arguments.file}"
    made = NewFile(member.name, guessed(member.name) or kind.media_type, member.data, origin, missing=missing)
    size = f"{len(member.data):,} bytes"
    sentences = [
        f"{arguments.member!r} of {arguments.file} is now {made.id} {member.name!r}, {kind.title} of {size}.",
        incomplete(missing, made.id),
    ]
    told = " ".join(filter(None, sentences))
    return ToolResult(told, f"a member of {size}", value=made.id, files=(made,))
