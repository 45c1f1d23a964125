"""Deliveries of the simulated Jira, signed and retried after a refusal, and documents in its format."""

import hashlib
import hmac
import json

import pytest

from gofer_simulators.jira.adf import mistake_in_document
from gofer_simulators.jira.people import NewIssue
from support.vendors.jira import ADA, BEN, Room, document, paragraph, play

URL = "http://gofer/jira/webhook"


def test_simulated_jira_delivers_changes_in_version_2_with_a_signature() -> None:
    async def story(room: Room) -> None:
        room.jira.subscribe(URL)
        issue = room.jira.people.create(
            ADA, NewIssue("OPS", "Bug", "New", document(paragraph("one"), paragraph("two")))
        )
        room.jira.people.move(BEN, issue, "Done")
        await room.jira.settled()
        created, moved = room.receiver.told()
        assert (created["webhookEvent"], created["issue"]["fields"]["description"]) == (
            "jira:issue_created",
            "one\ntwo",
        )
        assert created["issue"]["self"] == f"https://acme.atlassian.net/rest/api/2/{issue.id}"
        assert moved["user"]["accountId"] == BEN
        (item,) = moved["changelog"]["items"]
        assert (item["field"], item["fromString"], item["toString"]) == ("status", "To Do", "Done")
        headers, body = room.receiver.got[0]
        expected = hmac.new(b"simulated-webhook-secret", body, hashlib.sha256).hexdigest()
        assert headers["x-hub-signature"] == f"sha256={expected}"
        assert headers["x-atlassian-webhook-flow"] == "Primary"
        assert "x-atlassian-webhook-retry" not in headers

    play(story)


def test_simulated_jira_sends_two_deliveries_for_a_comment_and_for_a_file() -> None:
    async def story(room: Room) -> None:
        room.jira.subscribe(URL)
        room.jira.people.comment(ADA, room.issue(), "Look")
        room.jira.people.attach(ADA, room.issue(), "export.log")
        await room.jira.settled()
        told = {body["webhookEvent"]: body for body in room.receiver.told()}
        assert len(room.receiver.got) == 4
        assert told["comment_created"]["comment"]["body"] == "Look"
        assert sorted(told["comment_created"]["issue"]["fields"])[-1] == "summary"
        assert "security" not in told["comment_created"]["issue"]["fields"]
        assert "issue" not in told["attachment_created"]
        (item,) = told["jira:issue_updated"]["changelog"]["items"]
        assert (item["field"], item["toString"]) == ("Attachment", "export.log")

    play(story)


def test_simulated_jira_data_center_names_people_by_key_without_delivery_identifiers() -> None:
    async def story(room: Room) -> None:
        room.jira.subscribe(URL, "server")
        room.jira.people.edit(ADA, room.issue(), summary="Other")
        room.jira.people.comment(ADA, room.issue(), "Look")
        await room.jira.settled()
        headers, _ = room.receiver.got[0]
        assert not any(name.startswith("x-atlassian") for name in headers)
        told = {body["webhookEvent"]: body for body in room.receiver.told()}
        assert {"key", "name"} <= set(told["jira:issue_updated"]["user"])
        assert "issue" not in told["comment_created"]
        assert f"/issue/{room.issue().id}/comment/" in told["comment_created"]["comment"]["self"]
        assert "accountId" not in json.dumps(room.receiver.told())

    play(story)


@pytest.mark.parametrize(("statuses", "attempts"), [([500, 429, 503], 4), ([404], 1), ([503] * 9, 6), ([], 1)])
def test_simulated_jira_retries_a_refused_delivery_under_the_same_identifier(
    statuses: list[int], attempts: int
) -> None:
    async def story(room: Room) -> None:
        room.jira.subscribe(URL)
        room.receiver.statuses = statuses
        room.jira.people.edit(ADA, room.issue(), summary="Other")
        await room.jira.settled()
        assert len(room.receiver.got) == len(room.jira.sent) == attempts
        assert len({headers["x-atlassian-webhook-identifier"] for headers, _ in room.receiver.got}) == 1
        assert len({body for _, body in room.receiver.got}) == 1
        retries = [headers.get("x-atlassian-webhook-retry") for headers, _ in room.receiver.got]
        assert retries == [None, "1", "2", "3", "4", "5"][:attempts]

    play(story)


def test_simulated_jira_sends_no_delivery_without_a_subscription() -> None:
    async def story(room: Room) -> None:
        room.jira.people.edit(ADA, room.issue(), summary="Other")
        with pytest.raises(ValueError, match="subscribe"):
            await room.jira.deliver({})
        room.jira.subscribe(URL)
        assert [await room.jira.deliver({"a": 1}), await room.jira.deliver({"a": 1}, retry=1)] == [200, 200]
        assert len({headers["x-atlassian-webhook-identifier"] for headers, _ in room.receiver.got}) == 1
        with pytest.raises(ValueError, match="no user"):
            room.jira.people.edit("nobody", room.issue(), summary="x")

    play(story)


def text(value: str, *marks: dict[str, object]) -> dict[str, object]:
    return {"type": "paragraph", "content": [{"type": "text", "text": value, "marks": list(marks)}]}


ITEM = {"type": "listItem", "content": [paragraph("x")]}
CELL = {"type": "tableCell", "content": [paragraph()]}
HEADING = {"type": "heading", "attrs": {"level": 1}}


@pytest.mark.parametrize(
    "content",
    [
        [],
        [paragraph("x"), {"type": "rule"}, {"type": "paragraph"}],
        [{"type": "heading", "attrs": {"level": 6}, "content": []}],
        [{"type": "orderedList", "attrs": {"order": 3}, "content": [ITEM]}],
        [{"type": "bulletList", "content": [{"type": "listItem", "content": [paragraph("x"), {"type": "codeBlock"}]}]}],
        [
            {
                "type": "table",
                "content": [{"type": "tableRow", "content": [{"type": "tableCell", "content": [paragraph()]}]}],
            }
        ],
        [text("x", {"type": "code"}, {"type": "link", "attrs": {"href": "https://a"}})],
        [text("x", {"type": "strong"}, {"type": "textColor", "attrs": {"color": "#00ff00"}})],
        [{"type": "panel", "attrs": {"panelType": "info"}, "content": [paragraph("x")]}],
    ],
)
def test_simulated_jira_accepts_valid_documents(content: list[object]) -> None:
    assert mistake_in_document(document(*content)) == ""


@pytest.mark.parametrize(
    "content",
    [
        [paragraph("")],
        ["text"],
        [{"type": "text", "text": "x"}],
        [{"type": "heading", "content": []}],
        [{"type": "heading", "attrs": {"level": 7}}],
        [{"type": "bulletList", "content": []}],
        [{"type": "bulletList", "content": [paragraph("x")]}],
        [
            {
                "type": "bulletList",
                "content": [{"type": "listItem", "content": [{"type": "heading", "attrs": {"level": 1}}]}],
            }
        ],
        [{"type": "blockquote", "content": [{"type": "heading", "attrs": {"level": 1}}]}],
        [{"type": "codeBlock", "content": [text("x")["content"][0] | {"marks": [{"type": "em"}]}]}],  # type: ignore[index]
        [text("x", {"type": "code"}, {"type": "strong"})],
        [text("x", {"type": "strong"}, {"type": "strong"})],
        [text("x", {"type": "link"})],
        [text("x", {"type": "blink"})],
        [{"type": "paragraph", "color": "red"}],
        [{"type": "paragraph", "attrs": {"color": "red"}}],
        [{"type": "panel", "attrs": {"panelType": "loud"}, "content": [paragraph("x")]}],
        [{"type": "taskList", "content": []}],
        [{"type": "marquee"}],
    ],
)
def test_simulated_jira_refuses_invalid_documents(content: list[object]) -> None:
    assert mistake_in_document(document(*content)) != ""


def test_simulated_jira_refuses_values_that_are_no_document() -> None:
    for value in ("text", None, {}, {"type": "doc"}, document() | {"version": 2}, document() | {"extra": 1}):
        assert mistake_in_document(value) != ""
