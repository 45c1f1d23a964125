"""The people who open pages: the rule for which reader sees which page, and the readers on one machine."""

from dataclasses import dataclass
from typing import Protocol
from urllib.parse import urlsplit

from starlette.requests import Request
from typing_extensions import override

from gofer.runtime.feedback import OPERATOR_ID
from gofer.runtime.run_reader import Operator, Reader
from gofer.sources.serving import Members, PageRefused
from gofer.values.errors import TemporaryError
from gofer.values.events import Event
from gofer.workflows.load import Loaded


class Readers(Protocol):
    """The people who open pages. Each method may raise TemporaryError if the answer cannot be determined."""

    def reader(self, request: Request) -> Reader:
        """Return the person who sent a request, as a reader of runs."""
        ...

    async def reads(self, request: Request, loaded: Loaded) -> bool:
        """Return whether a reader may see the prompt or the script of a workflow."""
        ...

    def footer(self, request: Request) -> str:
        """Return the HTML that ends each page."""
        ...

    def person(self, request: Request) -> str:
        """Return the id of the person who sent a request."""
        ...

    def form_token(self, request: Request) -> str:
        """Return the token for the forms of a page; empty if they need none."""
        ...

    def wrote(self, request: Request, token: str) -> bool:
        """Return whether a form comes from a page of Gofer, and not from a page of another site."""
        ...


class PlaceUnknown(TemporaryError):
    """The system of a public run did not say whether the place of the run is still public."""


@dataclass(frozen=True, slots=True)
class LocalReader(Operator):
    """The operator before a browser on the machine of a running Gofer, which can ask about places."""

    members: Members

    @override
    async def became_private(self, event: Event) -> bool:
        place = self.members.place(event)
        if not place:
            return False
        try:
            return await self.members.is_private(place)
        except PageRefused as error:
            unknown = "so it is not known whether the channel of this run is still public."
            raise PlaceUnknown(" ".join(filter(None, [f"{error},", unknown, error.remedy]))) from error


@dataclass(frozen=True, slots=True)
class LocalReaders(Readers):
    """The readers on one machine. Only its users can open the pages, and Gofer does not know their names.

    They read prompts and scripts, because these files are on the same machine.
    """

    members: Members | None = None
    """The places of the system in which runs begin; None without a credential for it."""

    @override
    def reader(self, request: Request) -> Reader:
        if self.members is None:
            return Operator()
        return LocalReader(self.members)

    @override
    async def reads(self, request: Request, loaded: Loaded) -> bool:
        return True

    @override
    def footer(self, request: Request) -> str:
        return ""

    @override
    def person(self, request: Request) -> str:
        return OPERATOR_ID

    @override
    def form_token(self, request: Request) -> str:
        return ""

    @override
    def wrote(self, request: Request, token: str) -> bool:
        # Browsers send the origin with each form. Programs send none, and browsers let no site imitate them.
        origin = request.headers.get("origin")
        return origin is None or urlsplit(origin).netloc.lower() == request.headers.get("host", "").lower()
