from gofer.values.visible import Visible
from gofer_simulators.visible import visible_in

DEPLOYS = "/slack/channels/deploys/messages/1.0"
BUTTONS = {"type": "actions", "elements": [{"type": "button", "text": {"type": "plain_text", "text": "Approve"}}]}


def test_new_message_is_seen_with_its_files_buttons_and_reactions() -> None:
    message = {"text": "Hi", "files": [{"name": "a.csv"}], "blocks": [BUTTONS], "reactions": {"eyes": ["U1"]}}
    kinds = [(seen.kind, seen.text) for seen in visible_in({"added": {DEPLOYS: message}})]
    assert kinds == [("message", "Hi"), ("file", "a.csv"), ("button", "Approve"), ("reaction", "eyes")]


def test_changes_of_messages_are_seen_as_edits_buttons_and_reactions() -> None:
    changes = {
        "added": {f"{DEPLOYS}/reactions/tada": ["U1"], f"{DEPLOYS}/blocks": [BUTTONS]},
        "changed": {
            f"{DEPLOYS}/text": {"before": "a", "after": "b"},
            f"{DEPLOYS}/edited_ts": {"before": "1", "after": "2"},
        },
    }
    assert visible_in(changes) == [
        Visible("reaction", DEPLOYS, "tada"),
        Visible("button", DEPLOYS, "Approve"),
        Visible("edit", DEPLOYS, "b"),
    ]


def test_issues_comments_and_pages_are_seen_by_their_texts() -> None:
    added = {
        "/jira/PAY-1": {"summary": "Refund twice", "description": "Ann paid twice."},
        "/jira/PAY-1/comments/2": {"author": "a", "body": "Yes."},
        "/notion/0d1f": {"title": "RFC", "markdown": "# Why"},
        "/notion/0d1f/comments/x": {"text": "Why?"},
        "/github/repositories/acme~1shop/issues/3": {"title": "Broken"},
        "/github/repositories/acme~1shop/pulls/4/comments/5": {"body": "Nice."},
        "/jira/PAY-1/labels/0": "urgent",
    }
    assert [(seen.kind, seen.text) for seen in visible_in({"added": added})] == [
        ("issue", "Refund twice\nAnn paid twice."),
        ("comment", "Yes."),
        ("page", "RFC\n# Why"),
        ("comment", "Why?"),
        ("issue", "Broken"),
        ("comment", "Nice."),
    ]
