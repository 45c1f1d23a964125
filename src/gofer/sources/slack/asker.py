"""The person of Slack behind an event, and the user groups that `who` names."""

import re
from collections.abc import Sequence

from gofer.sources.part_values import Details, OwnCall, Person
from gofer.sources.source import Groups, People
from gofer.values.canonical_json import as_list
from gofer.values.events import Event

_UNSEEN = frozenset({"user_not_found", "user_not_visible"})
_ID = re.compile(r"[UW][A-Z0-9]{6,40}")


def _look_up(event: Event) -> OwnCall | None:
    if not _ID.fullmatch(event.actor.id):
        return None
    return OwnCall("slack_get_user", {"name": event.actor.id})


def _person(event: Event, details: Details) -> Person:
    kind = str(details.get("kind", ""))
    team = str(details.get("team", ""))
    if kind in ("member", "guest") and team != event.place.get("team"):
        # A person whom Slack does not place in this workspace counts as one from elsewhere.
        kind = "external"
    return Person(
        id=event.actor.id,
        kind=kind,
        handle=str(details.get("handle", "")),
        name=str(details.get("name", "")),
        zone=str(details.get("zone", "")),
    )


def _group(handle: str) -> OwnCall:
    return OwnCall("slack_get_group", {"handle": handle})


def _members(details: Details) -> Sequence[object]:
    return as_list(details.get("members"))


PEOPLE = People(_look_up, _person, _UNSEEN, tools=("slack_get_user",))
GROUPS = Groups(_group, _members, _UNSEEN, tools=("slack_get_group",))
