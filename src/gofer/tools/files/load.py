"""How does a whole file come into the window, images included?"""

import base64
from functools import partial
from typing import Any

from pydantic import Field

from gofer.errors import ToolError
from gofer.files.child import Children
from gofer.files.document import LOOKED_AT, pages_of
from gofer.files.image import BYTES, fitted
from gofer.files.kind import IMAGES, kind_of
from gofer.files.tokens import estimate
from gofer.journal.workspace import FileRead
from gofer.messages import Media
from gofer.tools.files.text import held, held_text, lines_of
from gofer.tools.tool import Arguments, Call, Tool, ToolResult

WHOLE_TOKENS = 20_000
"""Tokens of a text that is loaded at most."""
PDF = "application/pdf"
PDF_BYTES = 4_000_000
"""Bytes of a PDF that a model looks at at most."""
TIMEOUT = 30.0


class LoadFile(Arguments):
    """Which file."""

    file: str = Field(description="Id of the file.")


def load_tools(children: Children) -> tuple[Tool[Any], ...]:
    """`load_file`."""
    return (
        Tool(
            name="load_file",
            description="Bring a whole file into the conversation: a short text, or an image or a PDF of up to "
            f"{LOOKED_AT} pages to look at. For anything longer: file_regex, file_read, extract_file.",
            effect="read",
            arguments=LoadFile,
            act=partial(load_file, children),
            timeout=TIMEOUT,
            base="model",
        ),
    )


async def load_file(children: Children, call: Call, arguments: LoadFile) -> ToolResult:
    """The text, or an image or a PDF to look at beside a line that announces it."""
    name = held(call, arguments.file).added.name
    content = await call.files.content(arguments.file)
    # By what it is: a type is what somebody else said of it.
    kind = kind_of(content, name)
    if kind.name in IMAGES:
        image = await fitted(children, content, most=min(BYTES, call.look_bytes * 3 // 4))
        return _to_look_at(
            arguments.file, name, len(content), Media(arguments.file, image.media_type, _text(image.data))
        )
    if kind.name == "pdf":
        if len(content) > PDF_BYTES:
            raise ToolError(f"{arguments.file} is too large a PDF to look at; use extract_file to get its text.")
        if len(content) > call.look_bytes * 3 // 4:
            raise ToolError(
                f"{arguments.file} has no room beside what is looked at already; use extract_file to get its text, or "
                "load it in a later turn, by itself."
            )
        if (pages := await pages_of(children, content)) > LOOKED_AT:
            raise ToolError(f"{arguments.file} has {pages:,} pages, too many to look at; use extract_file.")
        return _to_look_at(arguments.file, name, len(content), Media(arguments.file, PDF, _text(content), pages))
    found = await held_text(call, arguments.file)
    text = found.text
    # What is longer than a result may be would become another file, and only its beginning would be seen.
    if (tokens := estimate(text)) > (most := min(WHOLE_TOKENS, call.whole_tokens * 9 // 10)):
        raise ToolError(
            f"{arguments.file} has about {tokens} tokens, and at most {most} can be loaded; use file_regex to find the "
            "place and file_read with start_line and end_line to read it."
        )
    lines = len(lines_of(text))
    shown = FileRead(arguments.file, "lines", 1, lines)
    told = f"{text or '(an empty file)'}{found.said}"
    return ToolResult(f"{arguments.file} {name!r}:\n{told}", f"{lines} lines", value=text, facts=(shown,))


def _to_look_at(file: str, name: str, size: int, media: Media) -> ToolResult:
    whole = FileRead(file, "bytes", 0, size)
    return ToolResult(f"{file} {name!r} follows.", "something to look at", facts=(whole,), media=(media,))


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()
