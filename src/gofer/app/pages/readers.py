"""Who reads what on the pages: the question that each page asks, and its answer where readers are unknown."""

from typing import Protocol

from starlette.requests import Request

from gofer.values.events import Event
from gofer.workflows.load import Loaded


class Readers(Protocol):
    """The people who open pages. Each method may raise TemporaryError where it cannot be known."""

    async def sees(self, request: Request, event: Event) -> bool:
        """Return whether a reader may see the run of a private event."""
        ...

    async def became_private(self, event: Event) -> bool:
        """Return whether the place of a public event is private by now."""
        ...

    async def sees_repository(self, request: Request, loaded: Loaded | None) -> bool:
        """Return whether a reader may see the run of a workflow on a repository that is not known to be public."""
        ...

    async def reads(self, request: Request, loaded: Loaded) -> bool:
        """Return whether a reader may see the prompt or the script of a workflow."""
        ...

    def footer(self, request: Request) -> str:
        """Return the HTML that ends each page."""
        ...


class LocalReaders:
    """The readers of one machine: only who works on it opens its pages, and no name of theirs is known."""

    async def sees(self, request: Request, event: Event) -> bool:
        """See Readers.sees."""
        return False

    async def became_private(self, event: Event) -> bool:
        """See Readers.became_private: without a reader's name the answer would change nothing."""
        return False

    async def sees_repository(self, request: Request, loaded: Loaded | None) -> bool:
        """See Readers.sees_repository: the operator reads what Gofer's token reads."""
        return True

    async def reads(self, request: Request, loaded: Loaded) -> bool:
        """See Readers.reads: the files are on the same machine."""
        return True

    def footer(self, request: Request) -> str:
        """See Readers.footer."""
        return ""
