"""Who reads what on the pages of AWS, by what Slack says at that moment of the person who signed in."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

from starlette.requests import Request

from gofer.app.pages.sessions import Sessions
from gofer.sources.slack.page_requests import SlackRefused
from gofer.sources.slack.people import SlackPeople
from gofer.sources.slack.places import is_private
from gofer.values.canonical_json import as_text
from gofer.values.errors import BadRequest
from gofer.values.events import Event
from gofer.workflows.load import Loaded
from gofer.workflows.routes import fits
from gofer.workflows.when import Where

SIGN_OUT = "/sign-out"
TOKEN = "token"  # noqa: S105 (the name of a field)
"""Field of the form that signs out."""
_DIRECT = "D"
"""How ids of direct messages begin; who is in there Slack says only to apps that may list them."""
_FACTS = ("channels", "channel_id")
"""Conditions that narrow a trigger to channels."""


@dataclass(frozen=True, slots=True)
class SlackReaders:
    """The people who signed in with Slack."""

    sessions: Sessions
    people: SlackPeople
    report: Callable[[SlackRefused], None]
    """Told of each refusal that hides something."""

    async def sees(self, request: Request, event: Event) -> bool:
        """See Readers.sees: full members who are in the channel where it happened."""
        channel = _channel(event)
        if channel.startswith(_DIRECT):
            return await self._is_actor(request, event)
        return bool(channel) and await self._is_in(request, channel)

    async def became_private(self, event: Event) -> bool:
        """See Readers.became_private. Raises SlackRefused."""
        channel = _channel(event)
        return bool(channel) and await self.people.is_private(channel)

    async def sees_repository(self, request: Request, loaded: Loaded | None) -> bool:
        """See Readers.sees_repository: members of the channel that owns the workflow."""
        if loaded is None or not loaded.workflow.owner.startswith("#"):
            return False
        name = loaded.workflow.owner.removeprefix("#").casefold()
        try:
            async for channel in self.people.channels():
                if as_text(channel.get("name")).casefold() == name:
                    return await self._is_in(request, as_text(channel.get("id")))
        except SlackRefused as error:
            self.report(error)
        return False

    async def reads(self, request: Request, loaded: Loaded) -> bool:
        """See Readers.reads: every full member, unless the workflow listens in private channels only."""
        narrowed = listened(loaded)
        if narrowed is None:
            return True
        private: list[str] = []
        try:
            async for channel in self.people.channels():
                names = [as_text(channel.get(field)) for field in ("id", "name")]
                if not any(fits(pattern, name) for pattern in narrowed for name in names):
                    continue
                if not is_private(channel):
                    return True
                private.append(names[0])
        except SlackRefused as error:
            self.report(error)
            return False
        for one in private:
            if await self._is_in(request, one):
                return True
        return False

    def footer(self, request: Request) -> str:
        """See Readers.footer: the form that signs out."""
        session = self.sessions.read(request)
        if session is None:
            return ""
        token = self.sessions.form_token(session)
        return (
            f'<form method="post" action="{SIGN_OUT}"><input type="hidden" name="{TOKEN}" value="{escape(token)}">'
            "<p><button>Sign out</button></form>"
        )

    async def _is_in(self, request: Request, channel: str) -> bool:
        """Return whether the reader is a full member and in a channel now; False where Slack does not say."""
        user = await self._member(request)
        try:
            return bool(user) and await self.people.is_in(channel, user)
        except SlackRefused as error:
            self.report(error)
            return False

    async def _is_actor(self, request: Request, event: Event) -> bool:
        """Return whether the reader is a full member who wrote a direct message: no other person is in there."""
        user = await self._member(request)
        return bool(user) and user == event.actor.id

    async def _member(self, request: Request) -> str:
        """Return the id of a reader who is a full member now; empty for any other, and where Slack does not say."""
        session = self.sessions.read(request)
        if session is None:
            return ""
        try:
            await self.people.check_member(session.user, session.team)
        except SlackRefused as error:
            self.report(error)
            return ""
        except BadRequest:
            return ""
        return session.user


def listened(loaded: Loaded) -> Sequence[str] | None:
    """Return the channels, as names, patterns or ids, that a workflow listens in; None where it does elsewhere too."""
    found: list[str] = []
    for trigger in loaded.workflow.when:
        for _, where in trigger.compiled():
            narrowed = _narrowed(where)
            if not narrowed:
                return None
            found += narrowed
    return found


def _narrowed(where: Where) -> Sequence[str]:
    return [word for fact in _FACTS for word in where.get(fact, ())]


def _channel(event: Event) -> str:
    if event.source == "slack":
        return event.place.get("channel", "")
    return ""
