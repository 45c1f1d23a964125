"""Slack channels as places: known without a lookup, or looked up for the requester."""

from dataclasses import replace

import pytest

from gofer.sources.part_values import Known, OwnCall, Standpoint
from gofer.sources.slack.places import PLACES
from gofer.sources.workflow_files import DestinationsForm as Destinations
from gofer.tools.places import Place
from gofer.values.errors import ToolError
from gofer.values.events import Actor, Event

HOME, ADA = "C0DEPLOY0", "U0ADA0000"
SEEN_FROM = Standpoint(HOME, ADA, Destinations(slack=("#random",)))
RANDOM = Place("slack", "channel", "random", "channel")


def test_slack_place_of_the_request_or_the_requester_needs_no_lookup() -> None:
    assert PLACES.look(Place("slack", "channel", HOME), SEEN_FROM) == Known(home=True)
    assert PLACES.look(Place("slack", "person", ADA), SEEN_FROM) == Known(own=True)
    assert PLACES.look(Place("slack", "person", "U0OTHER00"), SEEN_FROM) == Known()
    assert PLACES.look(Place("slack", "person", ""), replace(SEEN_FROM, asker="")) == Known()


def test_slack_place_in_another_channel_is_looked_up_for_the_requester() -> None:
    asked = {"channel": "random", "listed": ["#random"]}
    assert PLACES.look(RANDOM, SEEN_FROM) == OwnCall("slack_find_place", {**asked, "asker": ADA})
    assert PLACES.look(RANDOM, replace(SEEN_FROM, asker="")) == OwnCall("slack_find_place", asked)


def test_slack_place_lookup_says_how_the_run_may_use_the_channel() -> None:
    found = {"id": "C0RANDOM0", "name": "random", "public": True, "member": True, "listed": True, "own": False}
    known = Known("C0RANDOM0", "#random", listed=True, public=True, member=True)
    assert PLACES.found(RANDOM, SEEN_FROM, found) == known
    assert PLACES.found(RANDOM, replace(SEEN_FROM, home="C0RANDOM0"), found) == replace(known, home=True)
    everywhere = replace(SEEN_FROM, writes=Destinations(slack=("public",)))
    assert PLACES.found(RANDOM, everywhere, {**found, "listed": False}) == known


def test_slack_place_with_an_unknown_channel_name_is_refused() -> None:
    with pytest.raises(ToolError, match="channel_not_found"):
        PLACES.found(RANDOM, SEEN_FROM, {"id": "", "name": ""})
    assert PLACES.found(Place("slack", "channel", "C0HIDDEN0"), SEEN_FROM, {"id": ""}) == Known()


@pytest.mark.parametrize(("channel", "own"), [("D0ADA0000", True), (HOME, False)])
def test_slack_answer_in_a_direct_message_is_read_by_the_requester_only(channel: str, own: bool) -> None:
    event = Event("slack", "slack.direct", ("1",), "slack:1", Actor(ADA), "", {"channel": channel})
    assert (PLACES.home(event), PLACES.is_own(event)) == (channel, own)
