"""Tools for a workspace's directory: looking up a person by name, and the members of a user group."""

import difflib
import re
from collections.abc import Mapping, Sequence

from pydantic import Field

from gofer.sources.part_values import Details, OwnCall, Person
from gofer.sources.slack.api import SlackApi, SlackRefusal, next_cursor
from gofer.sources.slack.look_ups import look_up, name_of, note_name
from gofer.sources.slack.names import MOCK_USER, PAGE, one_line
from gofer.sources.slack.scopes import scopes
from gofer.sources.source import Groups, People
from gofer.tools.declare import tool
from gofer.tools.definition import Arguments, Call, ToolResult
from gofer.tools.mock_ids import NAME, code
from gofer.values.canonical_json import as_list, as_object, as_text
from gofer.values.errors import ToolError
from gofer.values.events import Event

_ID = re.compile(r"(?:<?@)?([UW][A-Z0-9]{6,})(?:\|[^<>]*)?>?")
_PAGES = 20
"""The most pages of people that are read."""
_MOST_LISTED = 8
"""The most people that are listed when several have the same name."""

User = Mapping[str, object]


class GetUser(Arguments):
    """The person to look up."""

    name: str = Field(min_length=1, max_length=200, description="Their name as shown in a thread, such as @Ada.")


@tool(
    effect="read",
    scopes=scopes("users.info", "users.list"),
    everyday="who is this person, colleague, employee, teammate, profile, local time",
)
async def slack_get_user(api: SlackApi, call: Call, arguments: GetUser) -> ToolResult:
    """Look up one person: real name, title, time zone, whether bot, guest or deactivated. Not needed for the authors of
    a thread you were shown.
    """
    if by_id := _ID.fullmatch(arguments.name.strip()):
        # Admission decides by this answer, so it is never an earlier one.
        found = as_object((await api.read(call, "users.info", user=by_id[1])).get("user"))
        note_name(call, by_id[1], found)
        return _people_result([found], "that id")
    people = await _all_people(api, call)
    sought = one_line(arguments.name).lstrip("@").casefold()
    found = [person for person in people if sought in _names(person)]
    if found:
        return _people_result(found, f"“{one_line(arguments.name)}”")
    return _not_found(arguments.name, sought, people)


async def _all_people(api: SlackApi, call: Call) -> Sequence[User]:
    pages = [page async for page in api.pages(call, "users.list", _PAGES, limit=PAGE, cursor="")]
    if not next_cursor(pages[-1]):
        return [as_object(member) for page in pages for member in as_list(page.get("members"))]
    raise ToolError("This workspace has too many people to search by name; use the id of a person in a thread.")


@slack_get_user.mock
def _mock_user(call: Call, arguments: GetUser) -> ToolResult:
    """Return a member of the workspace with the requested name."""
    name = one_line(arguments.name).lstrip("@")
    found: Mapping[str, object] = {
        "id": f"U{code(arguments)}",
        "name": name.casefold().replace(" ", "."),
        "real_name": name,
        "profile": {"display_name": name},
        "team_id": call.place.get("team", ""),
        "tz": "Etc/UTC",
    }
    return _people_result([found], f"“{name}”")


def _people_result(found: Sequence[User], asked: str) -> ToolResult:
    """Return the only person with a name, or a list of all of them. Gofer never guesses among several.

    Details: the number of people found and, if it is one, the kind, handle, name, team and time zone.
    """
    count = len(found)
    if count == 1:
        return ToolResult(_described(found[0]), "looked up a person", {"found": 1, **_for_code(found[0])})
    lines = [f"- {_described(person)}" for person in found[:_MOST_LISTED]]
    more = [f"- and {count - _MOST_LISTED} more"] if count > _MOST_LISTED else []
    text = "\n".join([f"{count} people are called {asked}; ask which one is meant:", *lines, *more])
    return ToolResult(text, f"found {count} people of one name", {"found": count})


def _not_found(name: str, sought: str, people: Sequence[User]) -> ToolResult:
    known = {known: one_line(name_of(person)) for person in people for known in _names(person)}
    near = [known[match] for match in difflib.get_close_matches(sought, known, n=_MOST_LISTED, cutoff=0.6)]
    near += [shown for spelled, shown in known.items() if sought in spelled.split()]
    similar = ", ".join(dict.fromkeys(near[:_MOST_LISTED]))
    hint = ""
    if similar:
        hint = f" Similar names: {similar}."
    return ToolResult(f"No person here is called “{one_line(name)}”.{hint}", "found no person", {"found": 0})


def _names(person: User) -> set[str]:
    profile = as_object(person.get("profile"))
    names = (person.get("name"), person.get("real_name"), profile.get("real_name"), profile.get("display_name"))
    return {one_line(as_text(name)).casefold() for name in names if name}


def _kind(person: User) -> str:
    if person.get("is_bot") is True or person.get("id") == "USLACKBOT":
        return "bot"
    # A person counts as external unless Slack clearly shows a current member of this workspace.
    if person.get("is_stranger") is True or person.get("deleted") is True or not person.get("id"):
        return "external"
    if person.get("is_restricted") is True or person.get("is_ultra_restricted") is True:
        return "guest"
    return "member"


def _for_code(person: User) -> Mapping[str, object]:
    return {
        "kind": _kind(person),
        "handle": one_line(as_text(person.get("name"))),
        "name": one_line(name_of(person)),
        "team": as_text(person.get("team_id")),
        "zone": one_line(as_text(person.get("tz"))),
    }


def _described(person: User) -> str:
    profile = as_object(person.get("profile"))
    real_name = one_line(as_text(person.get("real_name")) or as_text(profile.get("real_name")))
    flags = {
        "a bot": "is_bot",
        "a guest": "is_restricted",
        "a guest of one channel": "is_ultra_restricted",
        "deactivated": "deleted",
    }
    facts = [
        f"handle @{one_line(as_text(person.get('name')))}",
        f"real name {real_name}" if real_name else "",
        one_line(as_text(profile.get("title"))),
        f"time zone {one_line(as_text(person.get('tz')))}" if person.get("tz") else "",
        *(words for words, flag in flags.items() if person.get(flag) is True),
    ]
    return f"@{one_line(name_of(person))}: {'; '.join(filter(None, facts))}"


class GetGroup(Arguments):
    """The user group to look up."""

    handle: str = Field(min_length=1, max_length=200, description="The group's handle, such as @dev-leads.")


@tool(
    effect="read",
    scopes=scopes("usergroups.list", "users.info"),
    everyday="team members, who is on this team, people in a group, squad, handle, on-call",
)
async def slack_get_group(api: SlackApi, call: Call, arguments: GetGroup) -> ToolResult:
    """Look up who is in a team: the members of a user group, such as @dev-leads."""
    sought = one_line(arguments.handle).removeprefix("@").casefold()
    try:
        groups = as_list((await api.read(call, "usergroups.list", include_users="true")).get("usergroups"))
    except SlackRefusal as refused:
        # The workspace's plan has no user groups, so there is no group of that name.
        if refused.code != "plan_upgrade_required":
            raise
        groups: list[object] = []
    for group in map(as_object, groups):
        handle = as_text(group.get("handle"))
        if sought in (handle.casefold(), as_text(group.get("id")).casefold()) and not group.get("date_delete"):
            members = [as_text(user) for user in as_list(group.get("users"))]
            names = await look_up(api, call, members)
            return _group_result(handle, members, list(map(names.of, members)))
    return ToolResult(f"There is no user group @{sought}.", "found no group", {"members": []})


@slack_get_group.mock
def _mock_group(arguments: GetGroup) -> ToolResult:
    """Return a group with one member."""
    return _group_result(one_line(arguments.handle).removeprefix("@").casefold(), [MOCK_USER], [NAME])


def _group_result(handle: str, members: list[str], known: list[str]) -> ToolResult:
    """Return a group with the ids of its members and the known names."""
    text = f"@{handle} has {len(members)} members: {', '.join(known)}."
    return ToolResult(text, f"looked up a group of {len(members)}", {"members": members})


_UNSEEN = frozenset({"user_not_found", "user_not_visible"})
_PERSON = re.compile(r"[UW][A-Z0-9]{6,40}")


def _look_up(event: Event) -> OwnCall | Person:
    if not _PERSON.fullmatch(event.actor.id):
        return Person(event.actor.id)
    return OwnCall("slack_get_user", {"name": event.actor.id})


def _person_of(event: Event, details: Details) -> Person:
    kind = str(details.get("kind", ""))
    team = str(details.get("team", ""))
    if kind in ("member", "guest") and team != event.place.get("team"):
        # A person of another workspace counts as external here.
        kind = "external"
    return Person(
        id=event.actor.id,
        kind=kind,
        handle=str(details.get("handle", "")),
        name=str(details.get("name", "")),
        zone=str(details.get("zone", "")),
    )


def _ask_group(handle: str) -> OwnCall:
    return OwnCall("slack_get_group", {"handle": handle})


def _members_of(details: Details) -> Sequence[object]:
    return as_list(details.get("members"))


PEOPLE = People(_look_up, _person_of, _UNSEEN, tools=("slack_get_user",))
GROUPS = Groups(_ask_group, _members_of, _UNSEEN, tools=("slack_get_group",))
