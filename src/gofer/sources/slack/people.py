"""What Slack says of people and channels to the pages: who is a full member, who is in a channel, which are private."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field

from gofer.sources.slack.page_requests import UNSAID, SlackRefused, SlackWeb
from gofer.sources.slack.places import is_private
from gofer.values.canonical_json import as_list, as_object, as_text
from gofer.values.errors import BadRequest

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

    async def is_in(self, channel: str, user: str) -> bool:
        """Return whether a person is in a channel that the bot is in too."""
        async for page in self._pages("conversations.members", {"channel": channel}):
            if user in as_list(page.get("members")):
                return True
        return False

    async def is_private(self, channel: str) -> bool:
        """Return whether a channel is private by now; one that the bot cannot see counts as private."""
        try:
            answer = await self.web.ask("conversations.info", {"channel": channel})
        except SlackRefused as error:
            if error.code in _HIDDEN:
                return True
            raise
        return is_private(as_object(answer.get("channel")))

    async def channels(self) -> AsyncIterator[Mapping[str, object]]:
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
