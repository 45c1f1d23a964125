"""The text of a workflow's file, and the mistakes that any text can have: its encoding, and template placeholders."""

import errno
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from gofer.workflows.mistake import START, Mistake, Place

SIZE_LIMIT = 100_000
"""The largest file that Gofer reads, in bytes; real workflows and prompts stay under 20,000."""


_MARKS = re.compile(r"\$?\{\{[^{}\n]{1,200}\}\}|\{%[^{}\n]{1,200}%\}|<%[^%\n]{1,200}%>|\$\{[A-Za-z_][^{}\n]{0,200}\}")
_SECRET = re.compile(r"secret|token|password|api_?key|\benv\b|\bvars\b|\$\{[A-Z0-9_]+\}", re.IGNORECASE)


class NotRegular(OSError):
    """A pipe, a socket or a device in the place of a file. Its bytes may never come, or never end."""


def is_there(file: Path) -> bool:
    """Return whether there is a file, or a pipe or a device in its place. Raises OSError, and ValueError."""
    return file.exists() and not file.is_dir()


def read_bytes(file: Path, limit: int = -1) -> bytes:
    """Return the bytes of a file, at most `limit` of them. Raises OSError, and ValueError for an impossible name."""
    with open(file, "rb", opener=_open_at_once) as opened:
        if not stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
            raise NotRegular(errno.EINVAL, "it is a pipe or a device", str(file))
        return opened.read(limit)


def _open_at_once(path: str, flags: int) -> int:
    """Open a file without waiting for the writer of a pipe."""
    return os.open(path, flags | os.O_NONBLOCK)


def read_text(file: Path) -> tuple[str | None, list[Mistake]]:
    """Return the text of a file without its byte order mark, or None if it cannot be read, and its mistakes."""
    try:
        raw = read_bytes(file, SIZE_LIMIT + 1)
    except NotRegular:
        message = "The file is a pipe or a device, not a regular file."
        return None, [Mistake(file, START, "unreadable-file", message, "Put a regular file in its place.")]
    except (OSError, ValueError):
        # ValueError: the name contains a zero byte.
        return None, [Mistake(file, START, "unreadable-file", "The file cannot be read.", "Create it or correct it.")]
    if len(raw) > SIZE_LIMIT:
        message = f"The file is larger than {SIZE_LIMIT} bytes."
        return None, [Mistake(file, START, "too-large", message, "Shorten it.")]
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        message = f"Byte {error.start + 1} of the file is not UTF-8."
        place = after(raw[: error.start].decode(errors="replace"))
        return None, [Mistake(file, place, "not-utf-8", message, "Save the file as UTF-8 text.")]
    if not text.startswith("\ufeff"):
        return text, []
    message = "The file begins with a byte order mark, which no editor shows."
    return text[1:], [Mistake(file, START, "byte-order-mark", message, "Save it as UTF-8 without one.")]


def after(before: str) -> Place:
    """Return the place right after a text that begins the file."""
    return Place(before.count("\n") + 1, len(before) - before.rfind("\n"))


def templates(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield each template placeholder: its index in the text, what is wrong, and what to do instead."""
    for found in _MARKS.finditer(text):
        mark = found[0]
        message = f"`{mark[:80]}` is not filled in, because prompts and workflow files are not templates."
        if _SECRET.search(mark):
            yield (
                found.start(),
                message,
                "Remove it; secrets are settings of the deployment and never belong in a text.",
            )
        else:
            yield (
                found.start(),
                message,
                "Describe the value in words, or put the placeholder in backticks if it is an example.",
            )
