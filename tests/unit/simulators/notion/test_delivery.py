"""Deliveries of the simulated Notion: signed, grouped, without contents, late, repeated and out of order."""

import hashlib
import hmac
import json
from collections.abc import Mapping
from typing import Any

import pytest

from gofer_simulators.notion.api_request import NotionRefusal
from gofer_simulators.notion.delivery import Pace
from gofer_simulators.notion.simulator import NotionSimulator
from support.vendors.notion import ADA, CACHE, HIDDEN, INTRO, RFCS, SAM, SOURCE, with_receiver

URL = "http://gofer/notion/webhook"
AT_ONCE = Pace(gap_factor=0.0)


class Receiver:
    """An endpoint that keeps deliveries and refuses the first ones."""

    def __init__(self, failures: int = 0) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.failures = failures

    def __call__(self, body: bytes, headers: Mapping[str, str]) -> int:
        signed = "sha256=" + hmac.new(b"secret_simulated", body, hashlib.sha256).hexdigest()
        assert headers["X-Notion-Signature"] == signed
        self.bodies.append(json.loads(body))
        self.failures -= 1
        return 500 if self.failures >= 0 else 200


def test_simulated_notion_verifies_a_url_before_events_without_contents() -> None:
    receiver = Receiver()

    async def story(notion: NotionSimulator) -> None:
        assert await notion.register(URL) == 200
        notion.people.set_status("Cache", "Done", by="Ada Byron")
        assert receiver.bodies == [{"verification_token": "secret_simulated"}]
        assert not notion.confirm("guessed")
        assert notion.confirm("secret_simulated")
        notion.people.set_status("Cache", "Ready for review", by="Ada Byron")

    with_receiver(receiver, story, AT_ONCE)
    event = receiver.bodies[1]
    assert (event["type"], event["entity"]) == ("page.properties_updated", {"id": CACHE, "type": "page"})
    assert event["data"] == {
        "parent": {"id": RFCS, "type": "database", "data_source_id": SOURCE},
        "updated_properties": ["St%3D1"],
    }
    assert event["authors"] == [{"id": ADA, "type": "person"}]
    assert "Ready" not in json.dumps(event)


def test_simulated_notion_groups_changes_of_a_window_with_all_authors() -> None:
    receiver = Receiver()

    async def story(notion: NotionSimulator) -> None:
        notion.subscribe(URL)
        notion.people.set_status("Cache", "Done", by=ADA)
        notion.people.set_values("Cache", {"Effort": 5}, by=SAM)
        notion.people.comment("Cache", "One", by=ADA)
        notion.people.comment("Cache", "Two", by=ADA, block=INTRO)
        await notion.settled()

    with_receiver(receiver, story, Pace(window=60.0, gap_factor=0.0))
    changes = [one for one in receiver.bodies if one["type"] == "page.properties_updated"]
    comments = [one for one in receiver.bodies if one["type"] == "comment.created"]
    assert [len(one["data"]["updated_properties"]) for one in changes] == [2]
    assert [author["id"] for author in changes[0]["authors"]] == [ADA, SAM]
    assert [one["data"]["parent"]["type"] for one in comments] == ["page", "block"]
    assert all(one["data"]["page_id"] == CACHE for one in comments)


def test_simulated_notion_sends_the_event_when_the_window_ends() -> None:
    receiver = Receiver()

    async def story(notion: NotionSimulator) -> None:
        notion.subscribe(URL)
        page = notion.people.create_page("RFCs", "New", by=ADA, markdown="Hello")
        notion.people.write(page.id, "More", by=ADA)

    with_receiver(receiver, story, Pace(window=0.01, gap_factor=0.0))
    assert sorted(one["type"] for one in receiver.bodies) == ["page.content_updated", "page.created"]


def test_simulated_notion_sends_no_event_for_hidden_pages_or_refused_changes() -> None:
    receiver = Receiver()

    async def story(notion: NotionSimulator) -> None:
        notion.subscribe(URL)
        notion.people.write(HIDDEN, "x", by=ADA)
        notion.people.comment(HIDDEN, "x", by=ADA)
        notion.people.set_status("Cache", "Draft", by=ADA)
        with pytest.raises(NotionRefusal):
            notion.people.set_status("Cache", "Nope", by=ADA)

    with_receiver(receiver, story, AT_ONCE)
    assert receiver.bodies == []


def test_simulated_notion_sends_a_refused_event_eight_times_and_counts_attempts() -> None:
    receiver = Receiver(failures=99)

    async def story(notion: NotionSimulator) -> None:
        notion.subscribe(URL)
        notion.people.set_status("Cache", "Done", by=ADA)

    with_receiver(receiver, story, AT_ONCE)
    assert [one["attempt_number"] for one in receiver.bodies] == list(range(1, 9))
    assert len({(one["id"], one["timestamp"]) for one in receiver.bodies}) == 1


def test_simulated_notion_holds_repeats_and_reorders_events_on_request() -> None:
    receiver = Receiver()

    async def story(notion: NotionSimulator) -> None:
        notion.subscribe(URL)
        notion.hold()
        notion.people.set_status("Cache", "Done", by=ADA)
        notion.people.set_status("Cache", "Draft", by=ADA)
        await notion.settled()
        assert receiver.bodies == []
        notion.release(reverse=True, times=2)
        await notion.settled()
        assert await notion.deliver(notion.events[0], attempt_number=5) == 200

    with_receiver(receiver, story, AT_ONCE)
    assert [one["attempt_number"] for one in receiver.bodies] == [1, 2, 1, 2, 5]
    stamps = [one["timestamp"] for one in receiver.bodies]
    assert stamps[0] == stamps[1] > stamps[2] == stamps[3] == stamps[4]
