"""The members of a Notion workspace: the people whom Notion lists. It lists no guests."""

from collections.abc import Mapping

from pydantic import Field

from gofer.sources.notion.api import NotionApi
from gofer.sources.notion.ids import find_id
from gofer.sources.part_values import Details, OwnCall, Person
from gofer.sources.source import People
from gofer.tools.declare import tool
from gofer.tools.definition import Arguments, Call, ToolResult
from gofer.values.canonical_json import as_text
from gofer.values.events import Event

_PAGES = 100
"""The most pages of a hundred people that are read."""
_KEPT: Mapping[bool, float] = {True: 600.0, False: 60.0}
"""For how many seconds a process knows that a person is a member, or is none."""


class FindMember(Arguments):
    """The person to look for."""

    person: str = Field(description="Id of the person.")


@tool(effect="read", internal=True, timeout=90.0, scopes=frozenset({"read user information"}))
async def notion_find_member(api: NotionApi, call: Call, arguments: FindMember) -> ToolResult:
    """Look up whether a person is a member of the workspace."""
    sought = find_id(arguments.person) or arguments.person
    if _known(api, call, sought) is None:
        # Notion names a guest by id like a member, so only the list tells them apart.
        async for user in api.listed(call, "users", _PAGES):
            listed = find_id(as_text(user.get("id")))
            if listed and user.get("type") == "person":
                _note(api, call, listed, is_member=True)
            if listed == sought:
                break
    if _known(api, call, sought) is None:
        _note(api, call, sought, is_member=False)
    return _member_result(is_member=_known(api, call, sought) is True)


def _known(api: NotionApi, call: Call, person: str) -> bool | None:
    """Return whether a person is a member; None if that must be looked up."""
    is_member, until = api.members.get(person, (False, 0.0))
    if until < call.clock.now():
        return None
    return is_member


def _note(api: NotionApi, call: Call, person: str, *, is_member: bool) -> None:
    api.members[person] = (is_member, call.clock.now() + _KEPT[is_member])


@notion_find_member.mock
def _mock_member(arguments: FindMember) -> ToolResult:
    """Return a member."""
    return _member_result(is_member=True)


def _member_result(*, is_member: bool) -> ToolResult:
    """Return whether a person is a member. Details: `member`."""
    return ToolResult("Found.", "looked up a person", {"member": is_member})


def _look_up(event: Event) -> OwnCall | Person:
    person = event.place.get("person")
    if person is None:
        # An earlier version translated the event, and its runs took each person for a member.
        return Person(event.actor.id, "member")
    return OwnCall("notion_find_member", {"person": person})


def _person(event: Event, details: Details) -> Person:
    if details.get("member") is True:
        return Person(event.actor.id, "member")
    return Person(event.actor.id)


PEOPLE = People(_look_up, _person, frozenset(), tools=("notion_find_member",))
