"""How does a whole file come into the window, images included?"""

import base64
from typing import Any

from pydantic import Field

from gofer.errors import ToolError
from gofer.files.tokens import estimate
from gofer.journal.workspace import FileRead
from gofer.messages import Media
from gofer.tools.files.text import held, lines_of, text_of
from gofer.tools.tool import Arguments, Call, Tool, ToolResult

WHOLE_TOKENS = 20_000
"""Tokens of a text that is loaded at most."""
IMAGE_BYTES = 4_000_000
"""Bytes of an image that is loaded at most; larger ones are made smaller before they come here."""


class LoadFile(Arguments):
    """Which file."""

    file: str = Field(description="Id of the file.")


def load_tools() -> tuple[Tool[Any], ...]:
    """`load_file`."""
    return (
        Tool(
            name="load_file",
            description="Bring a whole file of this run into the conversation: a short text, or an image to look at. "
            "Prefer file_read and file_regex for anything longer.",
            effect="read",
            arguments=LoadFile,
            act=load_file,
            base="model",
        ),
    )


async def load_file(call: Call, arguments: LoadFile) -> ToolResult:
    """The text, or an image beside a line that announces it."""
    added = held(call, arguments.file).added
    if added.media_type.startswith("image/"):
        content = await call.files.content(arguments.file)
        if len(content) > IMAGE_BYTES:
            raise ToolError(f"{arguments.file} is too large an image to look at: {len(content)} bytes.")
        image = Media(arguments.file, added.media_type, base64.b64encode(content).decode())
        whole = FileRead(arguments.file, "bytes", 0, len(content))
        text = f"{arguments.file} {added.name!r} follows as an image."
        return ToolResult(text, "an image", facts=(whole,), media=(image,))
    text = await text_of(call, arguments.file)
    if (tokens := estimate(text)) > WHOLE_TOKENS:
        raise ToolError(
            f"{arguments.file} has about {tokens} tokens, too many to load; use file_regex to find the place and "
            "file_read with start_line and end_line to read it."
        )
    lines = len(lines_of(text))
    shown = FileRead(arguments.file, "lines", 1, lines)
    return ToolResult(f"{arguments.file} {added.name!r}:\n{text}", f"{lines} lines", value=text, facts=(shown,))
