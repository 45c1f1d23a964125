"""The files of a run: read from stored bodies or fetched from their source, and new files stored as bodies."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace

from typing_extensions import override

from gofer.engine.services import Services
from gofer.files.completeness import together
from gofer.files.file_names import display
from gofer.files.size_limits import FILE_BYTES
from gofer.journal.log import Journal, read_body
from gofer.journal.workspace_entries import FileAdded
from gofer.projections.workspace import Workspace
from gofer.tools.definition import Call, NewFile
from gofer.tools.file_access import Files
from gofer.values.canonical_json import as_object, as_text
from gofer.values.errors import Corrupt, Gone, ToolError
from gofer.values.missing import Missing

FILE_LIMIT = FILE_BYTES
"""Largest file, in bytes."""
RUN_LIMIT = 200_000_000
"""Bytes of all files of one run together."""
FILES = 500
"""Greatest number of files of one run."""
FETCHES = 4
"""Files of one run that are fetched at the same time; each may be large."""
_REMEMBERED = 64_000_000
"""Bytes of contents that stay in memory between calls."""
_SHOWN = 20
"""File ids that an error lists when a model names an unknown file."""


class RunFiles:
    """The files of one run, with a cache of their contents."""

    def __init__(self, journal: Journal, services: Services, workspace: Workspace) -> None:
        self._journal = journal
        self._services = services
        self._workspace = workspace
        self._contents: dict[str, bytes] = {}
        self._fetching = asyncio.Semaphore(FETCHES)

    async def add(self, files: Sequence[NewFile], *, always: bool = False) -> Sequence[FileAdded]:
        """Store new files; return the journal entry of each.

        Raises ToolError when a limit is exceeded, unless `always` is set.
        """
        room = RUN_LIMIT - self._workspace.bytes_held
        added = list[FileAdded]()
        new = {file.id for file in files} - self._workspace.files.keys()
        if new and not always and len(self._workspace.files) + len(new) > FILES:
            raise ToolError(f"A run has at most {FILES} files, and these would exceed that limit.")
        for file in files:
            entry = FileAdded(
                file=file.id,
                name=display(file.name),
                media_type=file.media_type,
                size=file.size,
                origin=file.origin,
                source=file.source,
                missing=file.missing,
            )
            if file.content is not None:
                room -= len(file.content)
                if not always and (len(file.content) > FILE_LIMIT or room < 0):
                    raise ToolError(f"{file.name} is too large: {len(file.content)} bytes.", code="too_large")
                body = await self._journal.keep(file.content)
                self._remember(body, file.content)
                entry = replace(entry, size=len(file.content), body=body)
            added.append(entry)
        return added

    async def content(self, added: FileAdded) -> bytes:
        """Return the content of a stored file. Raises ToolError when the file is gone, TemporaryError."""
        if (known := self._contents.get(added.body)) is not None:
            return known
        try:
            home = added.run or self._journal.run
            content = await read_body(home, added.body, self._services.store, self._services.blobs)
        except (Corrupt, Gone) as error:
            text = f"{added.file} cannot be read any more. Continue without it, and say that you could not read it."
            raise ToolError(text, code="gone") from error
        self._remember(added.body, content)
        return content

    async def fetch(self, added: FileAdded, call: Call) -> FileAdded:
        """Fetch a file from its source under the identity of a call, and store it. Raises ToolError, TemporaryError."""
        source: Mapping[str, object] = added.source or {}
        tool = self._services.tools.get(as_text(source.get("tool")))
        if tool is None:
            raise ToolError(f"{added.file} cannot be fetched: no installed tool can do that.", code="gone")
        async with self._fetching:
            result = await tool.act(call, tool.parse(as_object(source.get("arguments"))))
            if not result.files or result.files[0].content is None:
                raise ToolError(f"{added.file} cannot be fetched: {result.text}", code="gone")
            (fresh,) = await self.add(result.files[:1])
        return replace(
            added,
            body=fresh.body,
            run="",
            size=fresh.size,
            media_type=fresh.media_type or added.media_type,
            missing=fresh.missing,
        )

    def _remember(self, body: str, content: bytes) -> None:
        self._contents[body] = content
        while len(self._contents) > 1 and sum(map(len, self._contents.values())) > _REMEMBERED:
            del self._contents[next(iter(self._contents))]


class CallFiles(Files):
    """The files of a run for one call; files that the call had to fetch are in `fetched` afterwards.

    A file is fetched under the identity of `call`.
    """

    def __init__(self, files: RunFiles, workspace: Workspace, call: Call) -> None:
        self.fetched: list[FileAdded] = []
        self._read: list[str] = []
        self._files = files
        self._workspace = workspace
        self._call = call

    @override
    async def content(self, file: str) -> bytes:
        added = self.added(file)
        self._read.append(file)
        if not added.body:
            added = await self._fetch(added)
        try:
            return await self._files.content(added)
        except ToolError:
            # The earlier run that fetched the file may have been deleted since. Its source may still have the file.
            if not (added.run and added.source):
                raise
            return await self._files.content(await self._fetch(added))

    @override
    def added(self, file: str) -> FileAdded:
        held = self._workspace.files.get(file)
        if held is None:
            known = ", ".join(list(self._workspace.files)[-_SHOWN:]) or "none"
            raise ToolError(f"There is no file {file[:64]!r}. The files of this run: {known}.", code="no_such_file")
        return next((one for one in self.fetched if one.file == file), held.added)

    @property
    def missing(self) -> tuple[Missing, ...]:
        """The missing parts of all files that the call read, which its results lack as well."""
        return together(self.added(file).missing for file in self._read)

    async def _fetch(self, added: FileAdded) -> FileAdded:
        fetched = await self._files.fetch(added, self._call)
        self.fetched.append(fetched)
        return fetched
