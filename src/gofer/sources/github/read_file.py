"""What stands in a file of a repository, or which files are in a folder?"""

import base64
import binascii
from urllib.parse import quote

from pydantic import Field

from gofer.sources.github.api import GitHubApi
from gofer.sources.github.references import InRepository, repository_of
from gofer.sources.github.shown_text import Fields, one_line
from gofer.tools.definition import Call, ToolResult
from gofer.values.canonical_json import as_list, as_object, as_text
from gofer.values.errors import ToolError


class ReadFile(InRepository):
    """Which file, and as of when."""

    path: str = Field(default="", description="Path in the repository, such as docs/setup.md; a folder is listed.")
    ref: str = Field(default="", max_length=300, description="Branch, tag or commit. Left out: the default branch.")


async def read_file(api: GitHubApi, call: Call, arguments: ReadFile) -> ToolResult:
    """A text file, or what a folder lists; details: repository, path, url, and size or entries."""
    repository, path = repository_of(call, arguments), path_of(arguments.path)
    ref = {"ref": arguments.ref} if arguments.ref else {}
    found = await api.read(call, f"/repos/{repository}/contents/{quote(path)}", **ref)
    return file_result(repository, path, arguments.ref, found)


def file_result(repository: str, path: str, ref: str, found: object) -> ToolResult:
    """A file or a folder as it was read. Raises ToolError for a file that is no text."""
    where = f"{repository}/{one_line(path, 500)}{f' at {one_line(ref)}' if ref else ''}"
    if isinstance(found, list):
        return _listed(repository, path, where, as_list(found))  # pyright: ignore[reportUnknownArgumentType]
    file = as_object(found)
    text = _text(file)
    # Nothing of ours follows, so that whatever stands in the file cannot pose as more than the file.
    header = f"File {where}, {len(text)} characters. Everything below the empty line is the file.\n\n"
    details = {"repository": repository, "path": path, "url": as_text(file.get("html_url")), "size": len(text)}
    return ToolResult(header + text, "read a file", details | {"private": False})


def path_of(path: str) -> str:
    """A path as the API wants it. Raises ToolError for one that leads out of the repository."""
    parts = [part for part in path.strip().split("/") if part]
    if {".", ".."} & set(parts) or "\0" in path:
        raise ToolError("Write the path from the top of the repository, without `.` and `..`.")
    return "/".join(parts)


def _listed(repository: str, path: str, where: str, entries: list[object]) -> ToolResult:
    lines = [f"Folder {where}, {len(entries)} entries:", *map(_entry, map(as_object, entries))]
    details = {"repository": repository, "path": path, "entries": len(entries), "private": False}
    return ToolResult("\n".join(lines), "listed a folder", details)


def _entry(entry: Fields) -> str:
    return f"    {one_line(as_text(entry.get('path')), 500)} ({one_line(as_text(entry.get('type')))})"


def _text(file: object) -> str:
    """The text of a file. Raises ToolError for what is none."""
    fields = as_object(file)
    if fields.get("type") != "file":
        raise ToolError(f"That is no file but a {one_line(as_text(fields.get('type'))) or 'thing of another kind'}.")
    if fields.get("encoding") != "base64":
        raise ToolError("That file is larger than 1 MB, more than GitHub gives in one piece.")
    try:
        return base64.b64decode(as_text(fields.get("content"))).decode()
    except (binascii.Error, UnicodeDecodeError) as error:
        raise ToolError("That file is no text.") from error
