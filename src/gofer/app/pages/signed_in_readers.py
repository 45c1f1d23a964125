"""The readers of the pages on AWS. The system of the sign-in decides at each request what a person may see."""

from collections.abc import Callable
from dataclasses import dataclass
from html import escape

from starlette.requests import Request
from typing_extensions import override

from gofer.app.pages.readers import Readers
from gofer.app.pages.sessions import Sessions
from gofer.runtime.run_reader import Reader
from gofer.sources.serving import Members, PageRefused
from gofer.values.errors import BadRequest
from gofer.values.events import Event
from gofer.workflows.load import Loaded

SIGN_OUT = "/sign-out"
TOKEN = "token"  # noqa: S105 (the name of a field)
"""The field of the sign-out form."""


@dataclass(frozen=True, slots=True)
class SignedInReaders(Readers):
    """The people who signed in.

    A full member sees a private run from a place that the member is in, and a run on a private repository as a member
    of the place that owns the workflow. Every full member reads a prompt or a script, unless its workflow listens in
    private places only. `became_private` raises PageRefused, all other refusals hide the page.
    """

    sessions: Sessions
    members: Members
    report: Callable[[PageRefused], None]
    """Called with each refusal that hides something from a reader."""
    is_ours: Callable[[Request], bool]
    """Returns whether the browser names no other site as the origin of a form."""

    @override
    def reader(self, request: Request) -> Reader:
        return SignedInReader(self, request)

    @override
    async def reads(self, request: Request, loaded: Loaded) -> bool:
        try:
            private = await self.members.private_places(loaded)
        except PageRefused as error:
            self.report(error)
            return False
        if private is None:
            return True
        for place in private:
            if await self.is_in(request, place):
                return True
        return False

    @override
    def footer(self, request: Request) -> str:
        session = self.sessions.read(request)
        if session is None:
            return ""
        token = self.sessions.form_token(session)
        return (
            f'<form method="post" action="{SIGN_OUT}"><input type="hidden" name="{TOKEN}" value="{escape(token)}">'
            "<p><button>Sign out</button></form>"
        )

    @override
    def person(self, request: Request) -> str:
        session = self.sessions.read(request)
        if session is None:
            return ""
        return session.user

    @override
    def form_token(self, request: Request) -> str:
        session = self.sessions.read(request)
        if session is None:
            return ""
        return self.sessions.form_token(session)

    @override
    def wrote(self, request: Request, token: str) -> bool:
        session = self.sessions.read(request)
        return session is not None and self.is_ours(request) and self.sessions.wrote(session, token)

    async def is_in(self, request: Request, place: str) -> bool:
        """Return whether the reader is a full member and in a place now. False if the system does not answer."""
        user = await self._member(request)
        try:
            return bool(user) and await self.members.is_in(place, user)
        except PageRefused as error:
            self.report(error)
            return False

    async def is_actor(self, request: Request, event: Event) -> bool:
        """Return whether the reader is a full member and wrote a direct message, the only person in its place."""
        user = await self._member(request)
        return bool(user) and user == event.actor.id

    async def _member(self, request: Request) -> str:
        """Return the id of a reader who is a full member now, and otherwise, or without an answer, an empty text."""
        session = self.sessions.read(request)
        if session is None:
            return ""
        try:
            await self.members.check_member(session.user, session.team)
        except PageRefused as error:
            self.report(error)
            return ""
        except BadRequest:
            return ""
        return session.user


@dataclass(frozen=True, slots=True)
class SignedInReader(Reader):
    """The person who sent one request."""

    readers: SignedInReaders
    request: Request

    @override
    async def sees(self, event: Event) -> bool:
        members = self.readers.members
        place = members.place(event)
        if members.is_direct(place):
            return await self.readers.is_actor(self.request, event)
        return bool(place) and await self.readers.is_in(self.request, place)

    @override
    async def became_private(self, event: Event) -> bool:
        members = self.readers.members
        place = members.place(event)
        return bool(place) and await members.is_private(place)

    @override
    async def sees_repository(self, loaded: Loaded | None) -> bool:
        if loaded is None:
            return False
        try:
            place = await self.readers.members.place_of_owner(loaded.workflow.owner)
        except PageRefused as error:
            self.readers.report(error)
            return False
        return bool(place) and await self.readers.is_in(self.request, place)
