"""How the tools of a run get its files."""

from typing import Protocol

from typing_extensions import override

from gofer.journal.workspace_entries import FileAdded
from gofer.values.errors import ToolError


class Files(Protocol):
    """The access to a run's files."""

    async def content(self, file: str) -> bytes:
        """Return the content of a file, after fetching it if it is stored in another system.

        Raises ToolError when the run has no such file or it is deleted, TemporaryError when the system did not answer.
        """
        ...

    def added(self, file: str) -> FileAdded:
        """Return the entry of a file. After `content`, it includes what the fetch found.

        Raises ToolError when the run has no such file.
        """
        ...


class NoFiles(Files):
    """A run without files."""

    @override
    async def content(self, file: str) -> bytes:
        raise _no_file(file)

    @override
    def added(self, file: str) -> FileAdded:
        raise _no_file(file)


def _no_file(file: str) -> ToolError:
    return ToolError(f"There is no file {file[:64]!r}; this run has none.", code="no_such_file")
