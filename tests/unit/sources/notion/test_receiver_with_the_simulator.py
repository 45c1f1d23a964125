"""Deliveries of the simulated Notion through the receiver, and status conditions that match once per change."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from gofer.sources.notion.get_page import details
from gofer.sources.notion.receiver import NotionReceiver
from gofer.sources.notion.status_memory import Seen, judge
from gofer.sources.receiver import Ignored, RawRequest, Registration
from gofer.values.errors import BadRequest
from gofer.values.events import Event
from gofer.values.secret import Secret
from gofer_simulators.notion.api_request import ApiRequest
from gofer_simulators.notion.delivery import Pace
from gofer_simulators.notion.pages import get_page as page_object
from gofer_simulators.notion.simulator import NotionSimulator
from support.stand_ins import NOON
from support.vendors.notion import ADA, CACHE, INTRO, RFCS, SAM, SOURCE, SPACE, with_receiver

URL = "http://gofer/notion/webhook"


class Gofer:
    """A receiver with the memory of one `notion.status` condition."""

    def __init__(self) -> None:
        self.waiting = False
        self.receiver = NotionReceiver((Secret("secret_simulated"),), registration=lambda: self.waiting)
        self.got: list[Any] = []
        self.notion: NotionSimulator | None = None
        self.seen: Seen | None = None
        self.identities: set[tuple[str, ...]] = set()
        self.fired: list[str | None] = []

    def __call__(self, body: bytes, headers: Mapping[str, str]) -> int:
        request = RawRequest("POST", "/notion/webhook", list(headers.items()), body)
        try:
            self.receiver.verify(request, NOON)
            self.got.append(self.receiver.translate(request))
        except BadRequest as error:
            return error.status
        if isinstance(self.got[-1], Event) and self.got[-1].identity not in self.identities:
            self._admit(self.got[-1])
        return 200

    def _admit(self, event: Event) -> None:
        self.identities.add(event.identity)
        assert self.notion
        page = details(page_object(self.notion.workspace, ApiRequest({"id": event.place["page"]}, {}, {})))
        status = page["properties"]["Status"]
        listed = event.facts.get("properties", [])
        verdict = judge(self.seen, listed, status["id"], status["value"], by_bot=event.actor.kind == "bot")
        self.seen = verdict.remember or self.seen
        self.fired += [status["value"]] if verdict.fires else []


def play(story: Callable[[NotionSimulator, Gofer], Awaitable[None]], pace: Pace | None = None) -> Gofer:
    gofer = Gofer()

    async def with_notion(notion: NotionSimulator) -> None:
        gofer.notion = notion
        await story(notion, gofer)

    with_receiver(gofer, with_notion, pace or Pace(gap_factor=0.0))
    return gofer


def test_notion_registration_succeeds_only_while_the_window_is_open() -> None:
    async def story(notion: NotionSimulator, gofer: Gofer) -> None:
        gofer.receiver = replace(gofer.receiver, secrets=())
        assert await notion.register(URL) == 200
        gofer.waiting = True
        assert await notion.register(URL) == 200
        closed, taken = gofer.got
        assert isinstance(closed, Ignored)
        assert isinstance(taken, Registration)
        assert notion.confirm(taken.token.reveal())

    play(story)


def test_notion_acts_of_people_become_events_of_their_page() -> None:
    async def story(notion: NotionSimulator, gofer: Gofer) -> None:
        notion.subscribe(URL)
        notion.people.create_page("RFCs", "New", by=ADA)
        notion.people.write("Cache", "More", by=SAM)
        notion.people.comment("Cache", "Why?", by=SAM, block=INTRO)
        notion.people.write("Cache", "Written", by="Gofer")

    got = play(story).got
    events = {one.kind: one for one in got if isinstance(one, Event)}
    assert set(events) == {"notion.page_created", "notion.content_updated", "notion.commented"}
    assert [one.reason for one in got if isinstance(one, Ignored)] == ["only bots did it"]
    comment = events["notion.commented"]
    assert comment.conversation == f"notion:{SPACE}:{CACHE}"
    assert comment.place["block"] == INTRO
    assert comment.actor.id == SAM
    assert {RFCS, SOURCE.replace("-", "")} <= {*events["notion.content_updated"].facts["database_id"]}


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("times", [1, 3])
def test_notion_status_matches_once_for_late_repeated_and_reordered_events(reverse: bool, times: int) -> None:
    async def story(notion: NotionSimulator, gofer: Gofer) -> None:
        gofer.seen = Seen("Draft")
        notion.subscribe(URL)
        notion.hold()
        notion.people.set_status("Cache", "Ready for review", by=ADA)
        notion.people.set_status("Cache", "Done", by=SAM)
        notion.people.set_values("Cache", {"Effort": 1}, by=ADA)
        notion.release(reverse=reverse, times=times)

    assert play(story).fired == ["Done"]


def test_notion_status_matches_separate_changes_and_not_a_grouped_change_undone() -> None:
    async def story(notion: NotionSimulator, gofer: Gofer) -> None:
        notion.subscribe(URL)
        for status in ("Ready for review", "Done", "Draft"):
            notion.people.set_status("Cache", status, by=ADA)
            await notion.settled()

    assert play(story).fired == ["Ready for review", "Done", "Draft"]
    assert play(story, Pace(window=60, gap_factor=0.0)).fired == ["Ready for review", "Done", "Draft"]

    async def there_and_back(notion: NotionSimulator, gofer: Gofer) -> None:
        gofer.seen = Seen("Draft")
        notion.subscribe(URL)
        notion.people.set_status("Cache", "Done", by=ADA)
        notion.people.set_status("Cache", "Draft", by=ADA)

    async def back_by_gofer(notion: NotionSimulator, gofer: Gofer) -> None:
        notion.subscribe(URL)
        for status, by in (("Ready for review", ADA), ("Draft", "Gofer"), ("Ready for review", ADA)):
            notion.people.set_status("Cache", status, by=by)
            await notion.settled()

    assert play(back_by_gofer).fired == ["Ready for review", "Ready for review"]
    gathered = play(there_and_back, Pace(window=60, gap_factor=0.0))
    assert (len(gathered.got), gathered.fired) == (1, [])
