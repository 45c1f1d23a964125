"""The GitHub receiver: signatures, and deliveries translated to events."""

import hashlib
import hmac
import json
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.sources.github.receiver import EVENTS as PUBLISHED
from gofer.sources.github.receiver import TEXT_LIMIT, GitHubReceiver, of_private_repository, sign
from gofer.sources.receiver import Handshake, Ignored, RawRequest
from gofer.values.errors import BadRequest
from gofer.values.events import NOBODY, Actor, Event
from gofer.values.secret import Secret
from support.stand_ins import NOON

EVENTS = Path(__file__).parents[3] / "events"
SECRET = Secret("It's a Secret to Everybody")
RECEIVER = GitHubReceiver((SECRET,), frozenset({"gofer-machine"}))
BODY = b"Hello, World!"
FORM = ("Content-Type", "application/x-www-form-urlencoded")
NAMES = {
    "issue_comment": "issue_comment",
    "issues": "issue_labeled",
    "pull_request": "pull_request_merged",
    "pull_request_review": "review",
    "push": "push",
    "ping": "ping",
}
Change = Callable[[dict], object]


def request(*headers: tuple[str, str], body: bytes = BODY) -> RawRequest:
    return RawRequest("POST", "/github/webhook", headers, body)


def refused(asked: RawRequest, receiver: GitHubReceiver = RECEIVER) -> bool:
    with pytest.raises(BadRequest) as error:
        receiver.verify(asked, NOON)
    return error.value.status == 401


def payload(name: str) -> dict:
    return json.loads((EVENTS / f"github_{NAMES[name]}.json").read_text())


def translated(name: str, body: object, *headers: tuple[str, str]) -> object:
    return RECEIVER.translate(request(("X-GitHub-Event", name), *headers, body=json.dumps(body).encode()))


def happened(name: str, change: Change | None = None) -> Event:
    body = payload(name)
    if change:
        change(body)
    event = translated(name, body)
    assert isinstance(event, Event), event
    return event


def test_github_signature_matches_the_published_example() -> None:
    assert sign(SECRET, BODY) == "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
    assert sign(SECRET, BODY)[7:] == hmac.new(SECRET.reveal().encode(), BODY, hashlib.sha256).hexdigest()


def test_github_receiver_accepts_both_secrets_of_a_rotation() -> None:
    new = Secret("the next one")
    old_request = request(("X-Hub-Signature-256", sign(SECRET, BODY)))
    GitHubReceiver((new, SECRET)).verify(old_request, NOON)
    assert refused(old_request, GitHubReceiver((new,)))
    assert refused(old_request, GitHubReceiver(()))


@pytest.mark.parametrize(
    "headers",
    [
        [],
        [("X-Hub-Signature", "sha1=" + hmac.new(SECRET.reveal().encode(), BODY, "sha1").hexdigest())],
        [("X-Hub-Signature-256", "")],
        [("X-Hub-Signature-256", sign(SECRET, BODY).upper())],
        [("X-Hub-Signature-256", sign(SECRET, BODY)[7:])],
        [("X-Hub-Signature-256", sign(SECRET, BODY) + "0")],
        [("X-Hub-Signature-256", "sha256=é" + sign(SECRET, BODY)[8:])],
        [("X-Hub-Signature-256", f"{sign(SECRET, BODY)},{sign(SECRET, BODY)}")],
        [("X-Hub-Signature-256", sign(SECRET, BODY))] * 2,
        [("X-Hub-Signature-256", sign(SECRET, BODY + b" "))],
    ],
)
def test_github_receiver_refuses_wrong_missing_doubled_and_malformed_signatures(headers: list[tuple[str, str]]) -> None:
    assert refused(request(*headers))


@given(st.lists(st.tuples(st.sampled_from(["x-hub-signature-256", "X-HUB-SIGNATURE-256"]), st.text())), st.binary())
def test_github_receiver_refuses_any_other_signature_header(headers: list[tuple[str, str]], body: bytes) -> None:
    assert refused(request(*headers, body=body))


def test_github_merge_becomes_an_event() -> None:
    body = payload("pull_request")
    assert happened("pull_request") == Event(
        source="github",
        kind="github.pull_request",
        identity=("pull_request", "closed", str(body["pull_request"]["id"]), "2026-11-21T12:03:00Z", ""),
        conversation="github:acme/app:7",
        actor=Actor("sam"),
        text="Pay three times\n\nAs asked.",
        place={"repository": "acme/app", "number": "7", "url": "https://github.com/acme/app/pull/7"},
        private=False,
        facts={
            "action": ["closed", "merged"],
            "repository": "acme/app",
            "labels": ["money"],
            "draft": False,
            "base": "main",
            "author": "ada",
        },
    )


@pytest.mark.parametrize(
    ("action", "merged", "fact"),
    [
        ("closed", True, ["closed", "merged"]),
        ("closed", False, ["closed"]),
        ("closed", "true", ["closed"]),
        ("opened", True, ["opened"]),
        ("labeled", True, ["labeled", "labeled money"]),
    ],
)
def test_github_action_merged_needs_closed_and_the_merged_flag(action: str, merged: object, fact: list[str]) -> None:
    def change(body: dict) -> None:
        body["action"] = action
        body["pull_request"]["merged"] = merged

    assert happened("pull_request", change).facts["action"] == fact


@pytest.mark.parametrize(
    ("association", "kind"),
    [
        ("OWNER", "person"),
        ("MEMBER", "person"),
        ("COLLABORATOR", "person"),
        ("CONTRIBUTOR", "external"),
        ("FIRST_TIME_CONTRIBUTOR", "external"),
        ("FIRST_TIMER", "external"),
        ("MANNEQUIN", "external"),
        ("NONE", "external"),
        (None, "external"),
    ],
)
def test_github_author_is_a_member_only_by_published_associations(association: object, kind: str) -> None:
    wrote = happened("issue_comment", lambda body: body["comment"].update(author_association=association))
    assert wrote.actor == Actor("ada", kind)
    # Only people with rights in the repository put labels on issues of others.
    labeled = happened("issues", lambda body: body["issue"].update(author_association=association))
    assert labeled.actor == Actor("ada")


def test_github_event_kinds_have_their_conversation_place_and_facts() -> None:
    found = {name: happened(name) for name in NAMES if name != "ping"}
    assert {name: (event.kind, event.conversation) for name, event in found.items()} == {
        "issue_comment": ("github.comment", "github:acme/app:8"),
        "issues": ("github.issue", "github:acme/app:8"),
        "pull_request": ("github.pull_request", "github:acme/app:7"),
        "pull_request_review": ("github.review", "github:acme/app:7"),
        "push": ("github.push", "github:acme/app:refs/heads/main"),
    }
    comment, push = found["issue_comment"], found["push"]
    assert comment.place["url"].endswith(f"#issuecomment-{comment.place['comment']}")
    assert (comment.text, comment.facts["author"], comment.facts["labels"]) == ("Since when?", "ada", ["bug"])
    assert push.facts == {"repository": "acme/app", "branch": "main", "author": "sam"}
    assert push.text == "Pay three times (#7)"
    assert found["pull_request_review"].facts["base"] == "main"
    assert all(event.private is False for event in found.values())


@pytest.mark.parametrize("name", sorted(set(NAMES) - {"ping"}))
@pytest.mark.parametrize(("said", "private"), [(False, False), (True, True), (None, True), ("no", True)])
def test_github_repository_not_declared_public_counts_as_private(name: str, said: object, private: bool) -> None:
    event = happened(name, lambda body: body["repository"].update(private=said))
    assert of_private_repository(event) is private


def test_github_comment_on_a_changed_line_becomes_a_comment_event() -> None:
    review, comment = payload("pull_request_review"), payload("issue_comment")["comment"]
    body = {**review, "action": "created", "comment": comment}
    del body["review"]
    event = translated("pull_request_review_comment", body)
    assert isinstance(event, Event)
    assert (event.kind, event.conversation, event.text) == ("github.comment", "github:acme/app:7", "Since when?")


def test_github_form_delivery_becomes_the_same_event_as_json() -> None:
    body = payload("issues")
    body["issue"]["title"] = "Ünder & = %41 🚀"
    text = json.dumps(body, ensure_ascii=False)
    for form in (urlencode({"payload": text}), f"payload={quote(text, safe='')}"):
        raw = form.encode()
        assert RECEIVER.translate(request(("X-GitHub-Event", "issues"), FORM, body=raw)) == translated("issues", body)
        RECEIVER.verify(request(FORM, ("X-Hub-Signature-256", sign(SECRET, raw)), body=raw), NOON)


@pytest.mark.parametrize(
    "raw", [b"", b"payload=", b"payload={}&payload={}", b"payload=[]", b"payload=%ff", b"\xff", b"other={}", b"a&" * 50]
)
def test_github_form_without_exactly_one_payload_is_a_bad_request(raw: bytes) -> None:
    with pytest.raises(BadRequest) as error:
        RECEIVER.translate(request(("X-GitHub-Event", "issues"), FORM, body=raw))
    assert error.value.status == 400


def test_github_redelivery_has_the_same_identity_also_through_another_hook() -> None:
    body = payload("pull_request") | {"installation": {"id": 5}, "organization": {"login": "acme"}}
    again = translated("pull_request", body, ("X-GitHub-Delivery", "another"))
    assert isinstance(again, Event)
    assert again.identity == happened("pull_request").identity


def edited(**changes: object) -> Change:
    return lambda body: body.update(action="edited", changes=changes)


def pushed_at(body: dict) -> None:
    body["repository"]["pushed_at"] += 1


def another_label(body: dict) -> None:
    body["label"] |= {"id": 5, "name": "later"}


def reopened_later(body: dict) -> None:
    body["pull_request"]["updated_at"] = "2026-11-21T12:09:00Z"


@pytest.mark.parametrize(
    ("name", "one", "other"),
    [
        ("issues", None, another_label),
        ("issues", edited(title={"from": "a"}), edited(body={"from": "b"})),
        ("issues", None, lambda body: body.update(action="unlabeled")),
        ("pull_request", None, reopened_later),
        (
            "pull_request",
            lambda body: body.update(action="review_requested", requested_reviewer={"id": 1}),
            lambda body: body.update(action="review_requested", requested_reviewer={"id": 2}),
        ),
        (
            "pull_request",
            lambda body: body.update(action="synchronize", before="a" * 40, after="b" * 40),
            lambda body: body.update(action="synchronize", before="b" * 40, after="c" * 40),
        ),
        ("pull_request_review", None, lambda body: body["review"].update(id=6)),
        ("pull_request_review", edited(body={"from": "a"}), edited(body={"from": "b"})),
        ("push", None, pushed_at),
        ("push", None, lambda body: body.update(after="c" * 40)),
        ("issue_comment", None, lambda body: body["comment"].update(id=6)),
    ],
)
def test_github_acts_of_the_same_second_have_different_identities(name: str, one: Change | None, other: Change) -> None:
    assert happened(name, one).identity != happened(name, other).identity


def test_github_ping_becomes_a_handshake() -> None:
    assert isinstance(translated("ping", payload("ping")), Handshake)


def ours(key: str) -> Change:
    return lambda body: body[key].update(body="Done.\n\n<!-- gofer:run1/act/1 -->")


def born(body: dict) -> None:
    ours("issue")(body)
    body["issue"]["created_at"] = body["issue"]["updated_at"]


@pytest.mark.parametrize(
    ("name", "change", "reason"),
    [
        ("issue_comment", ours("comment"), "Gofer wrote it"),
        ("pull_request_review", ours("review"), "Gofer wrote it"),
        ("issues", lambda body: (ours("issue")(body), body.update(action="opened")), "Gofer wrote it"),
        ("issues", born, "Gofer wrote it"),
        ("issues", lambda body: body["sender"].update(login="Gofer-Machine"), "Gofer did it"),
        ("star", lambda body: None, "'star'"),
        ("", lambda body: None, "X-GitHub-Event"),
        ("issues", lambda body: body.pop("issue"), "lacks"),
        ("issues", lambda body: body["issue"].update(updated_at=None), "lacks"),
        ("issues", lambda body: body["issue"].update(number=True), "lacks"),
        ("issues", lambda body: body["repository"].update(full_name="../../user"), "lacks"),
        ("push", lambda body: body.update(ref="refs/tags/v1"), "a tag"),
        ("push", lambda body: body.update(deleted=True), "deletes a branch"),
        ("push", lambda body: body.update(after=None), "lacks"),
    ],
)
def test_delivery_that_starts_no_run_is_ignored_with_a_reason(name: str, change: Change, reason: str) -> None:
    body = payload(name if name in NAMES else "issues")
    change(body)
    verdict = translated(name, body)
    assert isinstance(verdict, Ignored)
    assert reason in verdict.reason


def test_github_acts_of_people_on_texts_of_gofer_become_events() -> None:
    assert happened("issues", ours("issue")).facts["action"] == ["labeled", "labeled urgent"]
    quoted = happened("issue_comment", lambda body: body["comment"].update(body="> <!-- gofer:run1 -->\n\nWhy?"))
    assert quoted.text.endswith("Why?")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("sender", [None, {}, {"login": "ghost", "id": 10137, "type": "User"}])
def test_event_of_a_deleted_account_names_no_person(name: str, sender: object) -> None:
    if name != "ping":
        assert happened(name, lambda body: body.update(sender=sender)).actor == NOBODY


def test_comment_on_a_pull_request_has_the_place_of_a_pull_request() -> None:
    on_issue = happened("issue_comment", lambda body: body["issue"].pop("pull_request", None))
    assert "is_pull" not in on_issue.place
    on_pull = happened("issue_comment", lambda body: body["issue"].update(pull_request={"url": "x"}))
    assert on_pull.place["is_pull"] == "true"
    assert "thread" not in on_pull.place


@pytest.mark.parametrize(("answered", "thread"), [(None, "501"), (400, "400")])
def test_review_comment_event_has_lines_diff_and_thread(answered: int | None, thread: str) -> None:
    body = payload("pull_request_review")
    comment = {"path": "src/pay.py", "line": 12, "start_line": None, "side": "RIGHT", "diff_hunk": f"@@\n{'-x' * 3000}"}
    comment |= {"id": 501, "in_reply_to_id": answered, "body": "Is this safe?", "updated_at": "2026-11-21T12:00:00Z"}
    event = translated("pull_request_review_comment", body | {"action": "created", "comment": comment})
    assert isinstance(event, Event)
    assert (event.place["comment"], event.place["thread"], event.place["is_pull"]) == ("501", thread, "true")
    stands = event.facts["review_comment"]
    assert isinstance(stands, dict)
    assert (stands["path"], stands["line"], stands.get("in_reply_to_id")) == ("src/pay.py", 12, answered)
    # The end of the piece is nearest to the line.
    assert stands["diff_hunk"].startswith("[2003 earlier characters are left out.]\n")
    assert stands["diff_hunk"].endswith("-x")


@pytest.mark.parametrize(
    ("sender", "kind"),
    [
        ({"type": "Bot"}, "bot"),
        ({"login": "renovate[bot]"}, "bot"),
        ({}, "person"),
        ({"type": "Organization"}, "person"),
    ],
)
def test_github_actor_is_a_bot_by_type_or_login_suffix(sender: dict, kind: str) -> None:
    assert happened("issues", lambda body: body["sender"].update(sender)).actor.kind == kind


def test_github_event_keeps_the_text_up_to_the_limit() -> None:
    event = happened("issues", lambda body: body["issue"].update(body="x" * 900_000))
    assert len(event.text) == TEXT_LIMIT


FIELDS = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters())
    | st.just("\ud800"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(st.data())
def test_github_receiver_translates_any_payload_without_an_exception(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(NAMES)))
    body = payload(name)
    parts = [body, *(value for value in body.values() if isinstance(value, dict))]
    for part in parts:
        for key in data.draw(st.lists(st.sampled_from(sorted(part)), max_size=3)):
            part[key] = data.draw(FIELDS)
        for key in data.draw(st.lists(st.sampled_from(sorted(part)), max_size=2)):
            part.pop(key, None)
    verdict = translated(data.draw(st.sampled_from([*PUBLISHED.members, name, "ping", ""])), body)
    assert isinstance(verdict, Event | Handshake | Ignored)
    if isinstance(verdict, Event):
        assert all(isinstance(value, str) and value for value in verdict.place.values())
        assert all(isinstance(value, str | bool | list) for value in verdict.facts.values())
        json.dumps([verdict.text, verdict.identity, verdict.facts], ensure_ascii=False).encode()


@given(st.binary(), st.sampled_from([[], [FORM], [("content-type", "text/plain")], [FORM, FORM]]))
def test_github_receiver_answers_any_body_with_ignored_or_bad_request(
    body: bytes, headers: list[tuple[str, str]]
) -> None:
    assert verdict_or_status(request(("X-GitHub-Event", "issues"), *headers, body=body)) in (400, "ignored")


def verdict_or_status(asked: RawRequest) -> int | str:
    try:
        return "ignored" if isinstance(RECEIVER.translate(asked), Ignored) else "used"
    except BadRequest as error:
        return error.status


@pytest.mark.parametrize("number", ["12x", "12", -1, 0, True, 10**9, 1.5, None])
def test_github_issue_without_a_valid_number_starts_no_run(number: object) -> None:
    body = {
        "action": "opened",
        "sender": {"login": "ada"},
        "repository": {"full_name": "acme/shop"},
        "issue": {"number": number, "id": 1, "updated_at": "2026-11-21T12:00:00Z"},
    }
    headers = (("x-github-event", "issues"), ("content-type", "application/json"))
    request = RawRequest("POST", "/github/webhook", headers, json.dumps(body).encode())
    assert isinstance(GitHubReceiver(()).translate(request), Ignored)
