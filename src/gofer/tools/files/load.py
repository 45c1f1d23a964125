"""How does a whole file come into the window, images included?"""

import base64
from functools import partial
from typing import Any

from pydantic import Field

from gofer.errors import ToolError
from gofer.files.child import Children
from gofer.files.document import LOOKED_AT, pages_of
from gofer.files.image import fitted
from gofer.files.tokens import estimate
from gofer.journal.workspace import FileRead
from gofer.messages import Media
from gofer.tools.files.text import held, lines_of, text_of
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
            description="Bring a whole file of this run into the conversation: a short text, or an image to look at. "
            "Prefer file_read and file_regex for anything longer.",
            effect="read",
            arguments=LoadFile,
            act=partial(load_file, children),
            timeout=TIMEOUT,
            base="model",
        ),
    )


async def load_file(children: Children, call: Call, arguments: LoadFile) -> ToolResult:
    """The text, or an image or a PDF to look at beside a line that announces it."""
    added = held(call, arguments.file).added
    if added.media_type.startswith("image/"):
        content = await call.files.content(arguments.file)
        image = await fitted(children, content)
        return _to_look_at(arguments.file, added.name, len(content), image.media_type, image.data)
    if added.media_type == PDF:
        content = await call.files.content(arguments.file)
        if len(content) > PDF_BYTES:
            raise ToolError(f"{arguments.file} is too large a PDF to look at; use extract_file to get its text.")
        if (pages := await pages_of(children, content)) > LOOKED_AT:
            raise ToolError(f"{arguments.file} has {pages:,} pages, too many to look at; use extract_file.")
        return _to_look_at(arguments.file, added.name, len(content), PDF, content)
    text = await text_of(call, arguments.file)
    if (tokens := estimate(text)) > WHOLE_TOKENS:
        raise ToolError(
            f"{arguments.file} has about {tokens} tokens, too many to load; use file_regex to find the place and "
            "file_read with start_line and end_line to read it."
        )
    lines = len(lines_of(text))
    shown = FileRead(arguments.file, "lines", 1, lines)
    return ToolResult(f"{arguments.file} {added.name!r}:\n{text}", f"{lines} lines", value=text, facts=(shown,))


def _to_look_at(file: str, name: str, size: int, media_type: str, data: bytes) -> ToolResult:
    media = Media(file, media_type, base64.b64encode(data).decode())
    whole = FileRead(file, "bytes", 0, size)
    return ToolResult(f"{file} {name!r} follows.", "something to look at", facts=(whole,), media=(media,))
