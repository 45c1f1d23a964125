"""What Slack says of people and channels to the pages: who is a full member, who is in a channel, which are private."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field

from gofer.sources.slack.page_requests import UNSAID, SlackRefused, SlackWeb
from gofer.sources.slack.places import is_private
from gofer.values.canonical_json import as_list, as_object, as_text
from gofer.values.errors import BadRequest
from gofer.values.events import Event
from gofer.workflows.load import Loaded
from gofer.workflows.routes import fits
from gofer.workflows.when import Where

_PER_PAGE = 999
"""Members or channels that one request tells of."""
_PAGES = 20
"""Pages of one list that are read at most."""
_FLAGS = ("deleted", "is_bot", "is_restricted", "is_ultra_restricted")
"""What Slack says of every person; a full member has all of them, and none is true."""
_STRANGER = "is_stranger"
"""What Slack says of people of other companies alone."""
_ABSENT = frozenset({"user_not_found", "user_not_visible", "users_not_found"})
_HIDDEN = frozenset({"channel_not_found"})
"""What Slack answers of a channel that the bot cannot see; the bot sees every public one."""
_DIRECT = "D"
"""How ids of direct messages begin; who is in there Slack says only to apps that may list them."""
_NARROWING = ("channels", "channel_id")
"""Conditions that narrow a trigger to channels."""


@dataclass(frozen=True, slots=True)
class SlackPeople:
    """People and channels of the workspace; every method raises SlackRefused when Slack does not say."""

    web: SlackWeb
    _said: dict[str, str] = field(default_factory=dict[str, str], init=False, repr=False, compare=False)
    """What never changes, once Slack said it."""

    async def team(self) -> str:
        """Return the id of the workspace that Gofer is in."""
        if "team" not in self._said:
            self._said["team"] = await self._team()
        return self._said["team"]

    async def _team(self) -> str:
        team = as_text((await self.web.ask("auth.test", {})).get("team_id"))
        if not team:
            raise SlackRefused("auth.test", UNSAID)
        return team

    async def check_member(self, user: str, team: str) -> None:
        """Raise BadRequest(403) unless a person is a full member of the workspace now."""
        try:
            about = as_object((await self.web.ask("users.info", {"user": user})).get("user"))
        except SlackRefused as error:
            if error.code in _ABSENT:
                raise _not_a_member() from error
            raise
        of = as_text(about.get("team_id"))
        elsewhere = of not in ("", team)
        if elsewhere or any(about.get(flag) is True for flag in (*_FLAGS, _STRANGER)):
            raise _not_a_member()
        if as_text(about.get("id")) != user or not of or any(about.get(flag) is not False for flag in _FLAGS):
            raise SlackRefused("users.info", UNSAID)

    def place(self, event: Event) -> str:
        """Return the channel of an event; empty for an event of another system."""
        if event.source == "slack":
            return event.place.get("channel", "")
        return ""

    def is_direct(self, place: str) -> bool:
        """Return whether a channel is a direct message."""
        return place.startswith(_DIRECT)

    async def is_in(self, place: str, user: str) -> bool:
        """Return whether a person is in a channel that the bot is in too."""
        async for page in self._pages("conversations.members", {"channel": place}):
            if user in as_list(page.get("members")):
                return True
        return False

    async def is_private(self, place: str) -> bool:
        """Return whether a channel is private by now; one that the bot cannot see counts as private."""
        try:
            answer = await self.web.ask("conversations.info", {"channel": place})
        except SlackRefused as error:
            if error.code in _HIDDEN:
                return True
            raise
        return is_private(as_object(answer.get("channel")))

    async def place_of_owner(self, owner: str) -> str:
        """Return the id of the channel that an owner names; empty where there is none."""
        if not owner.startswith("#"):
            return ""
        name = owner.removeprefix("#").casefold()
        async for channel in self._channels():
            if as_text(channel.get("name")).casefold() == name:
                return as_text(channel.get("id"))
        return ""

    async def private_places(self, loaded: Loaded) -> Sequence[str] | None:
        """Return the private channels in which alone a workflow listens; None where every member may read it."""
        narrowed = _listened(loaded)
        if narrowed is None:
            return None
        private: list[str] = []
        async for channel in self._channels():
            names = [as_text(channel.get(field)) for field in ("id", "name")]
            if not any(fits(pattern, name) for pattern in narrowed for name in names):
                continue
            if not is_private(channel):
                return None
            private.append(names[0])
        return private

    async def _channels(self) -> AsyncIterator[Mapping[str, object]]:
        """Yield the public channels, and the private ones that the bot is in."""
        asked = {"types": "public_channel,private_channel", "exclude_archived": "true"}
        async for page in self._pages("conversations.list", asked):
            for channel in as_list(page.get("channels")):
                yield as_object(channel)

    async def _pages(self, method: str, asked: Mapping[str, str]) -> AsyncIterator[Mapping[str, object]]:
        cursor = {}
        for _ in range(_PAGES):
            page = await self.web.ask(method, {**asked, "limit": str(_PER_PAGE), **cursor})
            yield page
            following = as_text(as_object(page.get("response_metadata")).get("next_cursor"))
            if not following:
                return
            cursor = {"cursor": following}
        raise SlackRefused(method, "too_many_pages")


def _not_a_member() -> BadRequest:
    return BadRequest(403, "Only full members of the workspace see runs.")


def _listened(loaded: Loaded) -> Sequence[str] | None:
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
    return [word for fact in _NARROWING for word in where.get(fact, ())]
