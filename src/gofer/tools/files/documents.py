"""The tools for documents: `extract_file` returns the text of a file, `load_file` shows a file to the model."""

import base64

from pydantic import Field

from gofer.files.child import Children
from gofer.files.completeness import AGAIN, LOOKED_AT, Wanted, incomplete, numbered, of_file, together
from gofer.files.document import (
    BYTES,
    EACH,
    EDGE,
    Document,
    Member,
    PageImages,
    extract,
    fitted,
    images_of,
    member_of,
    pages_of,
)
from gofer.files.kind import IMAGES, charset_of, guessed, kind_of
from gofer.journal.workspace_entries import FileRead
from gofer.tools.declare import tool
from gofer.tools.definition import Arguments, Call, NewFile, ToolResult
from gofer.tools.files.text import held, held_text, lines_of
from gofer.values.errors import ToolError
from gofer.values.messages import Media
from gofer.values.missing import Missing
from gofer.values.tokens import estimate

TIMEOUT = 120.0
"""The timeout of these tools in seconds. It includes waiting for other documents of the same turn."""
SHORT = 2_000
"""The most tokens of a text that the result also contains."""


class ExtractFile(Arguments):
    """A document and the part to extract."""

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
    # The result also contains a short text; `value` is the id of the new file.
    content = await call.run.files.content(arguments.file)
    added = call.run.files.added(arguments.file)
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
    told = _told(document, made, arguments.file, call.run.whole_tokens)
    summary = f"text of {_lines(document)} lines"
    if made.missing:
        summary = f"{summary}, incomplete"
    return ToolResult(told, summary, value=made.id, files=(made,))


def _part(arguments: ExtractFile) -> str:
    """Return the requested part for the name of the new file, such as ` (first_page 2001)`; empty for all of it."""
    asked = arguments.model_dump(exclude_defaults=True, exclude={"file", "encoding"})
    if not asked:
        return ""
    return f" ({', '.join(f'{name} {value}' for name, value in asked.items())})"


def _lines(document: Document) -> int:
    return document.text.count("\n") + 1


def _told(document: Document, made: NewFile, file: str, whole_tokens: int) -> str:
    """Return the message for the model about the new file, with the text itself if it is short."""
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
    """Return a member of an archive as a file of the run, with the archive's missing parts. `value` is its id."""
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


WHOLE_TOKENS = 20_000
"""The most tokens of a text that `load_file` shows."""
CHARACTERS = 99_000
"""The most characters of a text that `load_file` shows, so that the result with its first line is not cut."""
PDF = "application/pdf"
PDF_BYTES = 4_000_000
"""The most bytes of a PDF that a model sees whole."""


class LoadFile(Arguments):
    """A file, and for a PDF the pages to show as images."""

    file: str
    first_page: int | None = Field(default=None, ge=1, description="Of a PDF: as images.")
    last_page: int | None = Field(default=None, ge=1)


@tool(effect="read", timeout=TIMEOUT, base="model")
async def load_file(children: Children, call: Call, arguments: LoadFile) -> ToolResult:
    """Look at an image or a PDF of up to 10 pages, or read a short text whole."""
    name = held(call, arguments.file).added.name
    content = await call.run.files.content(arguments.file)
    # The kind comes from the content, because the declared type may be wrong.
    kind = kind_of(content, name)
    if kind.name in IMAGES:
        image = await fitted(children, content, most=min(BYTES, call.run.look_bytes * 3 // 4))
        return _to_look_at(
            arguments.file,
            name,
            len(content),
            Media(file=arguments.file, media_type=image.media_type, data=_text(image.data)),
        )
    if kind.name == "pdf":
        if arguments.first_page is None and arguments.last_page is None:
            return await _pdf(children, call, arguments.file, content)
        return await _pages(children, call, arguments, content)
    if arguments.first_page is not None or arguments.last_page is not None:
        raise ToolError(f"{arguments.file} is {kind.title}, which has no pages; leave first_page and last_page out.")
    found = await held_text(call, arguments.file)
    text = found.text
    # A longer result would become another file, and the model would see only its beginning.
    _refuse_long(arguments.file, text, min(WHOLE_TOKENS, call.run.whole_tokens * 9 // 10))
    lines = len(lines_of(text))
    shown = FileRead(arguments.file, "lines", 1, lines)
    told = f"{text or '(an empty file)'}{found.said}"
    return ToolResult(f"{arguments.file} {name!r}:\n{told}", f"{lines} lines", value=text, facts=(shown,))


def _refuse_long(file: str, text: str, most: int) -> None:
    """Raise ToolError for a text that is too long for one result, with its length and the limit."""
    tokens = estimate(text)
    has = ""
    if tokens > most:
        has = f"about {tokens:,} tokens, and at most {most:,} tokens"
    elif len(text) > CHARACTERS:
        has = f"{len(text):,} characters, and at most {CHARACTERS:,} characters"
    if has:
        raise ToolError(
            f"{file} has {has} can be loaded now; use file_regex to find the place and file_read with start_line and "
            "end_line to read it."
        )


async def _pdf(children: Children, call: Call, file: str, content: bytes) -> ToolResult:
    """Return a whole PDF for the model. Raises ToolError for a PDF that is too large, too long or damaged."""
    instead = (
        f"use extract_file to get its text, or look at up to {LOOKED_AT} pages as images with "
        f'load_file(file="{file}", first_page=1, last_page={LOOKED_AT})'
    )
    if len(content) > PDF_BYTES:
        has = f"is a PDF of {len(content):,} bytes, and at most {PDF_BYTES:,} can be looked at whole"
        raise ToolError(f"{file} {has}; {instead}.")
    if len(content) > (room := call.run.look_bytes * 3 // 4):
        has = f"has {len(content):,} bytes, and the files already shown leave room for {room:,}"
        raise ToolError(f"{file} {has}; {instead}, in a later turn and without other files.")
    if (pages := await pages_of(children, content)) > LOOKED_AT:
        raise ToolError(f"{file} has {pages:,} pages, and at most {LOOKED_AT} can be looked at whole; {instead}.")
    name = held(call, file).added.name
    return _to_look_at(file, name, len(content), Media(file=file, media_type=PDF, data=_text(content), pages=pages))


async def _pages(children: Children, call: Call, arguments: LoadFile, content: bytes) -> ToolResult:
    """Return some pages of a PDF as images. Raises ToolError."""
    file = arguments.file
    # Each image may use at least as many bytes as its fixed cost.
    pages = min(LOOKED_AT, max(1, call.run.look_bytes // (2 * EACH)))
    most = (call.run.look_bytes - pages * EACH) * 3 // 4
    first = arguments.first_page or 1
    last = arguments.last_page or 0
    drawn = await images_of(children, content, first, last, pages=pages, edge=EDGE, most=most)
    sentences = [f"{file} {held(call, file).added.name!r}: {_named(drawn)}."]
    if drawn.damaged:
        sentences.append(f"Not shown, because damaged: {numbered('page', drawn.damaged)}; {AGAIN}.")
    if drawn.last < min(last or drawn.of, drawn.of):
        sentences.append(f'Go on with load_file(file="{file}", first_page={drawn.last + 1}).')
    media = tuple(Media(file=file, media_type="image/jpeg", data=_text(image)) for image in drawn.images)
    shown = FileRead(file, "pages", drawn.first, drawn.last)
    return ToolResult(" ".join(sentences), f"{len(media)} pages to look at", facts=(shown,), media=media)


def _named(drawn: PageImages) -> str:
    pages = numbered("page", range(drawn.first, drawn.last + 1))
    return f"next come, as images, {pages} of {drawn.of:,}"


def _to_look_at(file: str, name: str, size: int, media: Media) -> ToolResult:
    whole = FileRead(file, "bytes", 0, size)
    return ToolResult(f"{file} {name!r} follows.", "something to look at", facts=(whole,), media=(media,))


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()
