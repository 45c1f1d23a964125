"""The tool that reads a file of a repository or lists a folder."""

import base64
import binascii
from urllib.parse import quote

from pydantic import Field

from gofer.sources.github.api import GitHubApi
from gofer.sources.github.references import InRepository, check_readable, repository_of, with_readers
from gofer.sources.github.shown_text import Fields, one_line
from gofer.tools.declare import tool
from gofer.tools.definition import Call, ToolResult
from gofer.values.canonical_json import as_list, as_object, as_text
from gofer.values.errors import ToolError


class ReadFile(InRepository):
    """The file or folder, and its version."""

    path: str = Field(default="", description="Path in the repository, such as docs/setup.md; a folder is listed.")
    ref: str = Field(
        default="",
        max_length=300,
        description="Branch, tag, commit, or refs/pull/7/head for a pull request. Left out: the default branch.",
    )


@tool(effect="read", everyday="source code, repo, config, show me the code, readme, directory")
async def github_read_file(api: GitHubApi, call: Call, arguments: ReadFile) -> ToolResult:
    """Read a text file of a repository, or list a folder."""
    repository = repository_of(call, arguments)
    path = path_of(arguments.path)
    await check_readable(api, call, repository)
    ref = {"ref": arguments.ref} if arguments.ref else {}
    found = await api.read(call, f"/repos/{repository}/contents/{quote(path)}", **ref)
    return with_readers(_result(repository, path, arguments.ref, found), call, repository)


@github_read_file.mock
def _mock(call: Call, arguments: ReadFile) -> ToolResult:
    """Return a file with one line, or a folder with one file."""
    repository = repository_of(call, arguments)
    path = path_of(arguments.path)
    if not path:
        folder: list[Fields] = [{"path": "README.md", "type": "file"}]
        return with_readers(_result(repository, path, arguments.ref, folder), call, repository)
    url = f"https://github.com/{repository}/blob/main/{path}"
    content = base64.b64encode(b"Something to read.\n").decode()
    file: Fields = {"type": "file", "encoding": "base64", "content": content, "html_url": url}
    return with_readers(_result(repository, path, arguments.ref, file), call, repository)


def _result(repository: str, path: str, ref: str, found: object) -> ToolResult:
    """Return a file or folder. Details: repository, path, url, and size or entries.

    Raises ToolError for a file that is not text.
    """
    where = f"{repository}/{one_line(path, 500)}{f' at {one_line(ref)}' if ref else ''}"
    if isinstance(found, list):
        return _listed(repository, path, where, as_list(found))  # pyright: ignore[reportUnknownArgumentType]
    file = as_object(found)
    text = _text(file)
    # No line by Gofer follows the file, so no text in the file can imitate one.
    header = f"File {where}, {len(text)} characters. Everything below the empty line is the file.\n\n"
    details = {"repository": repository, "path": path, "url": as_text(file.get("html_url")), "size": len(text)}
    return ToolResult(header + text, "read a file", details | {"private": False})


def path_of(path: str) -> str:
    """Return a path in the API's form. Raises ToolError for a path that leads out of the repository."""
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
    """Return the text of a file. Raises ToolError if it is not a text file."""
    fields = as_object(file)
    if fields.get("type") != "file":
        raise ToolError(f"That is not a file but a {one_line(as_text(fields.get('type'))) or 'thing of another kind'}.")
    if fields.get("encoding") != "base64":
        raise ToolError("That file is larger than 1 MB, more than GitHub sends at once.")
    try:
        return base64.b64decode(as_text(fields.get("content"))).decode()
    except (binascii.Error, UnicodeDecodeError) as error:
        raise ToolError("That file is not text.") from error
