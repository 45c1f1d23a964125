"""The look-ups of one reading: the names of the people, bots, channels and groups that its messages refer to."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence

from gofer.sources.slack.api import SlackApi, SlackRefusal
from gofer.sources.slack.names import Names
from gofer.sources.slack.places import is_private
from gofer.sources.slack.scopes import Method
from gofer.tools.definition import Call
from gofer.values.canonical_json import as_list, as_object, as_text

Fields = Mapping[str, object]

NAMING: Sequence[Method] = ("users.info", "bots.info", "usergroups.list", "conversations.info")
"""The methods of `look_up`."""
PEOPLE = 100
"""The most people that are looked up for one reading. Further people are shown by their ids."""
OTHERS = 50
"""The most channels, and the most bots, that are looked up for one reading."""


async def look_up(api: SlackApi, call: Call, ids: Iterable[str], messages: Sequence[Fields] = ()) -> Names:
    """Return the names of people, bots, channels and groups. What Slack does not name keeps its id.

    Names that the messages bring for their authors, and those in `call.run.names`, cost no request. Each other id costs
    one, and all groups together cost one.
    """
    brought = {one: name for one, name in _brought(messages) if one and name}
    authors = {as_text(message.get("bot_id")) for message in messages if not message.get("user")}
    wanted = sorted({*ids, *authors} - brought.keys() - {""})
    kinds: Sequence[tuple[str, int, _Read]] = (("UW", PEOPLE, _person), ("B", OTHERS, _bot), ("CGD", OTHERS, _channel))
    asked = {one: read for first, most, read in kinds for one in _beginning(wanted, first)[:most]}
    found = await asyncio.gather(*(_name(api, call, one, read) for one, read in asked.items()))
    groups = await _groups(api, call, _beginning(wanted, "S"))
    looked_up = {one: name for one, name in zip(asked, found, strict=True) if name}
    # The user of an app of a connected company may have no other name.
    own = {as_text(message.get("user")): _own_name(message) for message in messages if _own_name(message)}
    return Names({**own, **looked_up, **groups, **brought})


_Read = Callable[[SlackApi, Call, str], Awaitable[str]]


def _beginning(ids: Sequence[str], first: str) -> Sequence[str]:
    return [one for one in ids if one[0] in first]


def _brought(messages: Sequence[Fields]) -> Iterator[tuple[str, str]]:
    """Yield the names that Slack sends with messages: those of people of connected companies, and those of bots."""
    for message in messages:
        profile = as_object(message.get("user_profile"))
        yield as_text(message.get("user")), name_of({**profile, "profile": profile})
        yield as_text(message.get("bot_id")), _own_name(message)


def _own_name(message: Fields) -> str:
    """Return the name of an app, or the one that it chose for a message; empty for a message of a person."""
    return as_text(as_object(message.get("bot_profile")).get("name")) or as_text(message.get("username"))


async def _name(api: SlackApi, call: Call, one: str, read: _Read) -> str:
    key = _key(one)
    if key not in call.run.names:
        try:
            call.run.names[key] = await read(api, call, one)
        except SlackRefusal:
            return ""
    return call.run.names[key]


async def _person(api: SlackApi, call: Call, user: str) -> str:
    return name_of(as_object((await api.read(call, "users.info", user=user)).get("user")))


async def _bot(api: SlackApi, call: Call, bot: str) -> str:
    return as_text(as_object((await api.read(call, "bots.info", bot=bot)).get("bot")).get("name"))


async def _channel(api: SlackApi, call: Call, channel: str) -> str:
    """Return the name of a channel; empty for a private one, of which not all readers of the answer may know."""
    info = as_object((await api.read(call, "conversations.info", channel=channel)).get("channel"))
    if is_private(info) and channel != call.place.get("channel"):
        return ""
    return as_text(info.get("name"))


async def _groups(api: SlackApi, call: Call, groups: Sequence[str]) -> Mapping[str, str]:
    names = call.run.names
    if any(_key(group) not in names for group in groups):
        try:
            listed = as_list((await api.read(call, "usergroups.list", include_disabled="true")).get("usergroups"))
        except SlackRefusal:
            listed: list[object] = []
        handles = {as_text(group.get("id")): as_text(group.get("handle")) for group in map(as_object, listed)}
        names.update({_key(group): handle for group, handle in handles.items() if group in groups})
    return {group: names[_key(group)] for group in groups if names.get(_key(group))}


def note_name(call: Call, user: str, person: Fields) -> None:
    """Keep the name of a person for the texts of later calls of the run."""
    call.run.names[_key(user)] = name_of(person)


def name_of(person: Fields) -> str:
    """Return the name of a person as Slack's app shows it; empty if Slack does not show the person."""
    profile = as_object(person.get("profile"))
    shown = as_text(profile.get("display_name")) or as_text(person.get("real_name"))
    return shown or as_text(profile.get("real_name")) or as_text(person.get("name"))


def _key(one: str) -> str:
    return f"slack:{one}"
