"""Slack channels as places: known without a lookup, or looked up for the requester."""

from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from gofer.sources.part_values import Known, OwnCall, Standpoint
from gofer.sources.slack.channels import ReadChannel, slack_read_channel
from gofer.sources.slack.places import PLACES, FindPlace, slack_find_place
from gofer.sources.slack.write import PostMessage, slack_post_message
from gofer.sources.workflow_files import DestinationsForm as Destinations
from gofer.tools.definition import Call
from gofer.tools.places import Place
from gofer.values.errors import ToolError
from gofer.values.events import Actor, Event
from gofer.values.outside import Http, HttpRequest, HttpResponse
from gofer_simulators.slack.simulator import SlackSimulator
from gofer_simulators.slack.workspace import Channel
from support.vendors.slack import API, play

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


@pytest.mark.parametrize(
    ("place", "home"),
    [
        (Place("slack", "channel", HOME, thread="1.0"), HOME),
        (Place("slack", "channel", "D0ADA0000", thread=""), "D0ADA0000"),
    ],
)
def test_slack_place_of_the_request_is_its_thread_or_its_direct_message(place: Place, home: str) -> None:
    assert PLACES.look(place, replace(SEEN_FROM, home=home, thread="1.0")) == Known(home=True)


@pytest.mark.parametrize("thread", ["", "2.0"])
def test_slack_channel_of_the_request_and_its_other_threads_are_looked_up(thread: str) -> None:
    place = Place("slack", "channel", HOME, "channel", thread)
    in_thread = replace(SEEN_FROM, thread="1.0")
    assert isinstance(PLACES.look(place, in_thread), OwnCall)
    found = {"id": HOME, "name": "deploys", "public": True, "member": True}
    assert not PLACES.found(place, in_thread, found).home
    assert PLACES.look(place, replace(in_thread, writes=Destinations(slack=(HOME,)))) == Known(listed=True)


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("tell #random please", True),
        ("tell <#C0RANDOM0|random>", True),
        ("tell <#C0RANDOM0>", True),
        ("as in https://acme.slack.com/archives/C0RANDOM0", True),
        ("as in https://acme.slack.com/archives/C0RANDOM0/p1763709120000100", False),
        ("a random channel", False),
        ("tell #random-talk, #prod-random or a#random", False),
        ("tell <#C0RANDOM01>", False),
    ],
)
def test_slack_channel_is_named_by_a_link_or_its_name_with_the_sign(words: str, named: bool) -> None:
    found = {"id": "C0RANDOM0", "name": "random", "public": True}
    assert PLACES.found(replace(RANDOM, thread=""), replace(SEEN_FROM, words=words), found).named is named
    hidden = {"id": "C0RANDOM0", "name": "random"}
    assert not PLACES.found(RANDOM, replace(SEEN_FROM, words=words), hidden).named


@pytest.mark.parametrize(
    ("link", "thread", "named"),
    [
        ("p1763709120000100", "1763709120.000100", True),
        ("p1763709120000100", "1763709120.000200", False),
        ("p1763709120000200?thread_ts=1763709120.000100&cid=C0RANDOM0", "1763709120.000100", True),
        ("p1763709120000100", "", False),
        ("p1763709120000100", None, True),
    ],
)
def test_link_to_a_slack_message_names_only_the_thread_of_the_message(
    link: str, thread: str | None, named: bool
) -> None:
    found = {"id": "C0RANDOM0", "name": "random", "public": True}
    seen_from = replace(SEEN_FROM, words=f"answer https://acme.slack.com/archives/C0RANDOM0/{link}")
    assert PLACES.found(replace(RANDOM, thread=thread), seen_from, found).named is named


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


SECRET = "C0SECRET0"
MEMBER, OTHER = "U0000001", "U0000002"


class Recorded(Http):
    """HTTP that records the requests."""

    def __init__(self, http: Http) -> None:
        self._http = http
        self.asked: list[str] = []

    async def send(self, request: HttpRequest) -> HttpResponse:
        self.asked.append(request.url.rpartition("/")[2])
        return await self._http.send(request)


def play_in_private(story: Callable[[Call, Recorded], Awaitable[None]]) -> None:
    """Play a story in a workspace with a private channel of which Gofer and one person are members."""

    async def whole(slack: SlackSimulator, call: Call) -> None:
        slack.workspace.put_channel(Channel(SECRET, "ops-private", "group", ("UBOT0000", MEMBER)))
        slack.workspace.put_channel(Channel("C0HIDDEN0", "hidden", "group", (MEMBER,)))
        http = Recorded(call.http)
        await story(replace(call, http=http), http)

    play(whole)


@pytest.mark.parametrize(
    ("asker", "listed", "seen"),
    [
        (MEMBER, (), {"member": True, "listed": False}),
        (OTHER, ("#ops-private",), {"member": False, "listed": True}),
        (OTHER, (SECRET,), {"member": False, "listed": True}),
        ("", ("#ops-private",), {"member": False, "listed": True}),
    ],
)
def test_slack_private_channel_is_found_by_name_for_its_members_and_in_files_that_list_its_name(
    asker: str, listed: tuple[str, ...], seen: dict[str, bool]
) -> None:
    async def story(call: Call, http: Recorded) -> None:
        asked = FindPlace(channel="ops-private", asker=asker, listed=listed)
        found = await slack_find_place.act(API, call, asked)
        assert found.details == {"id": SECRET, "name": "ops-private", "public": False, "own": False, **seen}

    play_in_private(story)


def test_slack_private_channel_of_others_looks_like_a_missing_one_in_result_and_requests() -> None:
    async def story(call: Call, http: Recorded) -> None:
        requests: list[list[str]] = []
        for name in ("ops-private", "hidden", "missing"):
            http.asked.clear()
            found = await slack_find_place.act(API, call, FindPlace(channel=name, asker=OTHER))
            assert found.details == {"id": "", "name": ""}
            requests.append([*http.asked])
        assert requests[0] == requests[1] == requests[2]
        refusals: list[str] = []
        for name in ("ops-private", "hidden", "missing"):
            with pytest.raises(ToolError) as refused:
                await slack_read_channel.act(API, call, ReadChannel(channel=f"#{name}"))
            refusals.append(refused.value.message_to_model)
        said = (
            "Slack refused conversations.info (channel_not_found). Slack knows no such channel, or Gofer may not see "
            "it. Check the name; to a private channel, a member must invite Gofer first."
        )
        assert set(refusals) == {said}

    play_in_private(story)


def test_slack_message_goes_to_a_private_channel_by_its_name() -> None:
    async def story(call: Call, http: Recorded) -> None:
        posted = await slack_post_message.act(
            API, call, PostMessage(channel="#ops-private", text="The backup is done.")
        )
        assert posted.details["channel"] == SECRET
        http.asked.clear()
        await slack_post_message.act(API, call, PostMessage(channel="#deploys", text="The backup is done."))
        assert http.asked == ["conversations.list", "chat.postMessage"]

    play_in_private(story)
