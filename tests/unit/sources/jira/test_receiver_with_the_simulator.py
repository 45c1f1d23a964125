"""Deliveries of the simulated Jira through the Jira receiver, for Cloud and Data Center."""

import pytest

from gofer.sources.jira.receiver import JiraReceiver
from gofer.sources.receiver import Ignored, RawRequest
from gofer.values.errors import BadRequest
from gofer.values.events import Event
from gofer.values.secret import Secret
from gofer_simulators.jira.delivery import Flavour
from gofer_simulators.jira.people import NewIssue
from support.vendors.jira import ADA, OWN, Room, play

URL = "http://gofer/jira/webhook"
RECEIVER = JiraReceiver((Secret("simulated-webhook-secret"),), (OWN, "gofer"), site="acme")


def verdicts(room: Room) -> list[Event | Ignored]:
    found: list[Event | Ignored] = []
    for headers, body in room.receiver.got:
        request = RawRequest("POST", "/jira/webhook", list(headers.items()), body)
        RECEIVER.verify(request, room.clock.now())
        verdict = RECEIVER.translate(request)
        assert isinstance(verdict, Event | Ignored)
        found.append(verdict)
    return found


@pytest.mark.parametrize("flavour", ["cloud", "server"])
def test_jira_receiver_makes_one_event_of_each_act_of_a_person(flavour: Flavour) -> None:
    async def story(room: Room) -> None:
        room.jira.subscribe(URL, flavour)
        people = room.jira.people
        issue = people.create(ADA, NewIssue("OPS", "Bug", "New", labels=("a",)))
        people.move(ADA, issue, "Done")
        people.comment(ADA, room.issue(issue.key), "[~gofer] why?" if flavour == "server" else "@gofer why?")
        people.attach(ADA, room.issue(issue.key), "export.log")
        await room.jira.settled()
        events = {one.kind: one for one in verdicts(room) if isinstance(one, Event)}
        ignored = [one.reason for one in verdicts(room) if isinstance(one, Ignored)]
        assert sorted(events) == ["jira.attachment_added", "jira.commented", "jira.issue_created", "jira.issue_updated"]
        assert ignored == ["Jira delivers comments as separate events", "it does not say which issue it is about"]
        assert {one.conversation for one in events.values()} == {f"jira:acme:{issue.id}"}
        assert len({one.actor for one in events.values()}) == 1
        assert events["jira.issue_updated"].facts["changes"] == ["status: To Do -> Done"]
        assert events["jira.issue_created"].facts == {
            "project": "OPS",
            "type": "Bug",
            "status": "To Do",
            "labels": ["a"],
        }
        assert events["jira.commented"].facts["says"] == "@gofer why?"
        assert events["jira.commented"].private is None
        assert events["jira.attachment_added"].facts["files"] == ["export.log"]

    play(story)


@pytest.mark.parametrize("flavour", ["cloud", "server"])
def test_jira_receiver_ignores_acts_of_gofer(flavour: Flavour) -> None:
    async def story(room: Room) -> None:
        room.jira.subscribe(URL, flavour)
        room.jira.people.create(OWN, NewIssue("OPS", "Bug", "New"))
        room.jira.people.edit(OWN, room.issue(), summary="Other")
        room.jira.people.comment(OWN, room.issue(), "Done")
        room.jira.people.attach(OWN, room.issue(), "answer.md")
        await room.jira.settled()
        assert len(room.receiver.got) == 6
        assert not any(isinstance(one, Event) for one in verdicts(room))

    play(story)


def test_jira_repeated_delivery_becomes_the_same_event() -> None:
    async def story(room: Room) -> None:
        room.jira.subscribe(URL)
        room.receiver.statuses = [503, 503]
        room.jira.people.move(ADA, room.issue(), "Done")
        await room.jira.settled()
        first, second, third = verdicts(room)
        assert first == second == third
        room.jira.people.move(ADA, room.issue(), "To Do")
        await room.jira.settled()
        assert verdicts(room)[3] != first

    play(story)


def test_jira_delivery_signed_with_another_secret_is_refused() -> None:
    async def story(room: Room) -> None:
        room.jira.subscribe(URL)
        await room.jira.deliver({"webhookEvent": "jira:issue_created"})
        headers, body = room.receiver.got[0]
        request = RawRequest("POST", "/jira/webhook", list(headers.items()), body)
        with pytest.raises(BadRequest, match="does not match"):
            JiraReceiver((Secret("another"),)).verify(request, room.clock.now())

    play(story)
