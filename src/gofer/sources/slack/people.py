"""The look-ups of the pages in Slack: full members, members of channels, and private channels."""

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
"""Members or channels in the answer to one request."""
_PAGES = 20
"""The most pages of one list that are read."""
_FLAGS = ("deleted", "is_bot", "is_restricted", "is_ultra_restricted")
"""The flags that Slack sends for every person. For a full member, all are present and false."""
_STRANGER = "is_stranger"
"""The flag that Slack sends only for people of other companies."""
_ABSENT = frozenset({"user_not_found", "user_not_visible", "users_not_found"})
_HIDDEN = frozenset({"channel_not_found"})
"""Slack's code for a channel that the bot cannot see. The bot sees every public channel."""
_DIRECT = "D"
"""The prefix of the ids of direct messages. Slack lists their members only for apps with an extra scope."""
_NARROWING = ("channels", "channel_id")
"""The conditions that restrict a trigger to channels."""


@dataclass(frozen=True, slots=True)
class SlackPeople:
    """People and channels of the workspace. Every method raises SlackRefused if Slack does not answer."""

    web: SlackWeb
    _cache: dict[str, str] = field(default_factory=dict[str, str], init=False, repr=False, compare=False)
    """A cache of answers that never change."""

    async def team(self) -> str:
        """Return the id of Gofer's workspace."""
        if "team" not in self._cache:
            self._cache["team"] = await self._team()
        return self._cache["team"]

    async def _team(self) -> str:
        team = as_text((await self.web.ask("auth.test", {})).get("team_id"))
        if not team:
            raise SlackRefused("auth.test", UNSAID)
        return team

    async def check_member(self, user: str, team: str) -> None:
        """Raise BadRequest(403) unless a person is currently a full member of the workspace."""
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
        """Return whether a person is a member of a channel. The bot must be a member too."""
        async for page in self._pages("conversations.members", {"channel": place}):
            if user in as_list(page.get("members")):
                return True
        return False

    async def is_private(self, place: str) -> bool:
        """Return whether a channel is currently private. A channel that the bot cannot see counts as private."""
        try:
            answer = await self.web.ask("conversations.info", {"channel": place})
        except SlackRefused as error:
            if error.code in _HIDDEN:
                return True
            raise
        return is_private(as_object(answer.get("channel")))

    async def place_of_owner(self, owner: str) -> str:
        """Return the id of the channel that an owner names; empty if it names none."""
        if not owner.startswith("#"):
            return ""
        name = owner.removeprefix("#").casefold()
        async for channel in self._channels():
            if as_text(channel.get("name")).casefold() == name:
                return as_text(channel.get("id"))
        return ""

    async def private_places(self, loaded: Loaded) -> Sequence[str] | None:
        """Return the private channels that a workflow is restricted to; None when every member may read about it."""
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
        """Yield the public channels, and the private channels with the bot as a member."""
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
    return BadRequest(403, "Only full members of the workspace may see runs.")


def _listened(loaded: Loaded) -> Sequence[str] | None:
    """Return the channels that a workflow is restricted to, as names, patterns or ids; None if it is not restricted."""
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
