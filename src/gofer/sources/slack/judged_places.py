"""The channels of Slack as places of calls: what is known of one, seen from the run that asks."""

from gofer.sources.listed_places import entry
from gofer.sources.part_values import Details, Known, OwnCall, Standpoint
from gofer.sources.slack.approvals import is_direct
from gofer.sources.slack.places import HIDDEN
from gofer.sources.slack.read_thread import ID
from gofer.sources.source import Places
from gofer.tools.places import Place
from gofer.values.canonical_json import as_text
from gofer.values.events import Event


def _home(event: Event) -> str:
    return event.place.get("channel", "")


def _look(place: Place, seen_from: Standpoint) -> Known | OwnCall:
    if place.kind == "person":
        return Known(own=bool(seen_from.asker) and place.name == seen_from.asker)
    if seen_from.home and place.name == seen_from.home:
        return Known(home=True)
    asked: dict[str, object] = {"channel": place.name, "listed": list(seen_from.writes.one_by_one("slack"))}
    if seen_from.asker:
        asked["asker"] = seen_from.asker
    return OwnCall("slack_find_place", asked)


def _found(place: Place, seen_from: Standpoint, details: Details) -> Known:
    channel = as_text(details.get("id"))
    public = details.get("public") is True
    if not channel and not ID.fullmatch(place.name):
        # A name of no place cannot be asked about either: another channel may get it before the call is made.
        raise HIDDEN
    return Known(
        channel,
        "#" * bool(details.get("name")) + as_text(details.get("name")),
        home=bool(seen_from.home) and channel == seen_from.home,
        listed=details.get("listed") is True or (public and seen_from.writes.lists_all_public("slack")),
        public=public,
        member=details.get("member") is True,
        own=details.get("own") is True,
    )


def _entry(place: Place) -> str:
    if place.kind == "channel":
        return f'slack: ["{place}"]'
    return entry(place)


PLACES = Places(_look, _found, _entry, tools=("slack_find_place",), home=_home, is_own=is_direct, hidden=HIDDEN)
