"""The GitHub receiver: verifies and translates deliveries."""

import hashlib
import hmac
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from urllib.parse import parse_qs

from typing_extensions import override

from gofer.sources.github.event_actions import ACTIONS, LABELED
from gofer.sources.receiver import Handshake, Ignored, RawRequest, Receiver, json_object, lacking, unknown_type
from gofer.sources.vocabulary import Member, Vocabulary
from gofer.values.canonical_json import as_list, as_object, as_text, decode_text, encode
from gofer.values.errors import BadRequest
from gofer.values.events import NOBODY, Actor, Event
from gofer.values.secret import Secret

TEXT_LIMIT = 4_000
"""The most characters of a text that its event holds. A run reads the whole text with a tool."""
FACT_LIMIT = 300
"""The most characters of one word of a fact."""
HUNK_LIMIT = 4_000
"""The most characters of the piece of a diff that an event holds."""
FACTS_LIMIT = 100
"""The most words of one fact."""
_SIGNATURE = re.compile(r"sha256=[0-9a-f]{64}", re.ASCII)
_FULL_NAME = re.compile(r"[\w.-]{1,100}/[\w.-]{1,100}", re.ASCII)
_MARKER = re.compile(r"^<!-- gofer:\S", re.MULTILINE)
"""The marker at the end of Gofer's texts. In a quote of a person it follows a `>` and does not match."""
_WRITES = frozenset({"opened", "created", "submitted", "edited"})
"""The actions that write the text of their subject."""
_BRANCH = "refs/heads/"
_DELETED_ACCOUNT = "ghost"
"""The login under which GitHub shows what accounts did that were deleted."""
_PART_NAMES: Mapping[str, str] = {
    "issue_comment": "comment",
    "pull_request_review_comment": "comment",
    "pull_request_review": "review",
}
"""The part of an event besides its issue or pull request."""

_REVIEW_COMMENT = (
    "path", "line", "start_line", "original_line", "original_start_line", "side", "subject_type", "in_reply_to_id",
)  # fmt: skip
"""The fields of a review comment that tell where it stands."""

Fields = Mapping[str, object]
PUBLIC = "public"
"""The visibility in the place of an event of a public repository."""
_COLLEAGUES = frozenset({"OWNER", "MEMBER", "COLLABORATOR"})
"""GitHub's words for authors that are members. The others, such as CONTRIBUTOR, MANNEQUIN and NONE, are externals."""


def of_private_repository(event: Event) -> bool:
    """Return whether the repository of an event is private, or not known to be public."""
    return event.source == "github" and event.place.get("visibility") != PUBLIC


@dataclass(frozen=True, slots=True)
class GitHubReceiver(Receiver):
    """The receiver of webhooks of repositories, an organisation or an app."""

    secrets: Sequence[Secret]
    """The secret of the webhook and, during a rotation, the previous one."""
    own_logins: frozenset[str] = frozenset()
    """The logins of Gofer's own accounts in lower case. Their acts start nothing."""

    @override
    def verify(self, request: RawRequest, now: float) -> None:
        # GitHub signs no time, so `now` is unused. A repeated delivery is recognized by its identity.
        signature = request.header("x-hub-signature-256") or ""
        if not _SIGNATURE.fullmatch(signature):
            raise BadRequest(401, "The GitHub signature is missing or malformed.", code="signature_missing")
        if not any(hmac.compare_digest(sign(secret, request.body), signature) for secret in self.secrets):
            raise BadRequest(401, "The GitHub signature does not match.", code="signature_mismatch")

    @override
    def translate(self, request: RawRequest) -> Event | Handshake | Ignored:
        body = _payload(request)
        name = request.header("x-github-event") or ""
        actor = _actor(body)
        if not name:
            said = "the header X-GitHub-Event, which tells what happened, is missing or repeated"
            return Ignored("type_missing", said, actor)
        if name == "ping":
            return Handshake("Gofer hears GitHub.")
        translate = EVENTS.reader(name)
        if translate is None:
            return unknown_type("events", name, actor)
        if actor and actor.id.lower() in self.own_logins:
            return Ignored("own_act", "Gofer did it", actor)
        return translate(body, actor)


def sign(secret: Secret, body: bytes) -> str:
    """Return GitHub's signature of a delivery: `sha256=` and the HMAC-SHA256 of the raw body in hex."""
    return "sha256=" + hmac.new(secret.reveal().encode(), body, hashlib.sha256).hexdigest()


def _payload(request: RawRequest) -> Fields:
    """Return the JSON of a delivery, which may be in a form. Raises BadRequest(400)."""
    media_type = (request.header("content-type") or "").partition(";")[0].strip().lower()
    if media_type != "application/x-www-form-urlencoded":
        return json_object(request.body)
    text = decode_text(request.body)
    if not text.strip():
        raise BadRequest(400, "The body is empty.", code="body_empty")
    try:
        values = parse_qs(text, errors="strict", max_num_fields=10).get("payload", [])
    except ValueError as error:
        raise BadRequest(400, "The body is not a form in UTF-8.", code="body_not_form") from error
    if len(values) != 1:
        raise BadRequest(400, "The form has no field `payload`, or several.", code="form_without_payload")
    return json_object(values[0].encode())


def _event(name: str, kind: str, body: Fields, actor: Actor | None) -> Event | Ignored:
    """Return the event `name` of GitHub on an issue or pull request, or on its comments and reviews."""
    thing = as_object(body.get("pull_request")) or as_object(body.get("issue"))
    said = as_object(body.get("review" if name == "pull_request_review" else "comment"))
    about = thing if name in ("pull_request", "issues") else said
    action = as_text(body.get("action"))
    repository = _repository(body)
    number = _number(thing.get("number"))
    identity = (name, action, _id(about.get("id")), _moment(action, about, thing), _subject(body))
    needed: dict[str, object] = {"an action": action, "a valid name of a repository": repository}
    if thing and about:
        needed |= {"a valid number": number, "an id": identity[2], "a time": identity[3]}
    else:
        needed |= {"an issue or a pull request": thing, f"the {_PART_NAMES.get(name, 'subject')}": about or not thing}
    if missing := lacking(needed):
        return Ignored("incomplete", missing, actor)
    if _is_own_text(action, about):
        return Ignored("own_act", "Gofer wrote it", actor)
    return Event(
        source="github",
        kind=kind,
        identity=identity,
        conversation=f"github:{repository}:{number}",
        actor=_author(actor or NOBODY, about),
        text=_text(about)[:TEXT_LIMIT],
        place=_place(name, repository, number, thing, said) | _visibility(body),
        private=False,
        facts=_facts(_actions(name, body, thing), repository, thing, about),
    )


def _push(body: Fields, actor: Actor | None) -> Event | Ignored:
    ref = as_text(body.get("ref"))
    repository = _repository(body)
    described = as_object(body.get("repository"))
    before = as_text(body.get("before"))[:FACT_LIMIT]
    after = as_text(body.get("after"))[:FACT_LIMIT]
    needed = {
        "a ref": ref,
        "a valid name of a repository": repository,
        "an id of the repository": _id(described.get("id")),
        "the commit before": before,
        "the commit after": after,
    }
    if missing := lacking(needed):
        return Ignored("incomplete", missing, actor)
    if not ref.startswith(_BRANCH):
        return Ignored("not_a_branch", "it pushes a tag or another ref, not a branch", actor)
    if body.get("deleted") is True:
        return Ignored("not_a_branch", "it deletes a branch", actor)
    branch = ref.removeprefix(_BRANCH)[:FACT_LIMIT]
    # Two forced pushes back and forth have the same commits, so the identity also needs the time.
    moment = _id(described.get("pushed_at"))
    messages = [as_text(as_object(commit).get("message")) for commit in as_list(body.get("commits"))]
    place = {"repository": repository, "ref": ref[:FACT_LIMIT], "sha": after, "url": _url(body.get("compare"))}
    return Event(
        source="github",
        kind="github.push",
        identity=("push", _id(described.get("id")), ref, before, after, moment),
        conversation=f"github:{repository}:{ref[:FACT_LIMIT]}",
        actor=actor or NOBODY,
        text="\n\n".join(filter(None, messages))[:TEXT_LIMIT],
        place={name: value for name, value in place.items() if value} | _visibility(body),
        private=False,
        facts=_pushed_facts(repository, branch, body, actor),
    )


def _pushed_facts(repository: str, branch: str, body: Fields, actor: Actor | None) -> dict[str, object]:
    facts: dict[str, object] = {"repository": repository, "branch": branch}
    facts |= {name: True for name in ("created", "forced") if body.get(name) is True}
    if author := actor.id if actor else as_text(as_object(body.get("pusher")).get("name"))[:FACT_LIMIT]:
        facts["author"] = author
    return facts


def _actions(name: str, body: Fields, thing: Fields) -> list[str]:
    """Return GitHub's action, then `merged` for a merge, or the action with the label that was added later."""
    action = as_text(body.get("action"))[:FACT_LIMIT]
    if name == "pull_request" and action == "closed" and thing.get("merged") is True:
        return [action, "merged"]
    # The labels of a new issue come as events of their own, although opening it was one act.
    if action != LABELED or thing.get("created_at") == thing.get("updated_at"):
        return [action]
    added = [body["label"]] if body.get("label") else as_list(thing.get("labels"))
    return [action, *(f"{LABELED} {label}" for label in _labels(added))]


def _labels(labels: object) -> list[str]:
    names = [as_text(as_object(label).get("name"))[:FACT_LIMIT] for label in as_list(labels)]
    return [label for label in names if label][:FACTS_LIMIT]


def _facts(actions: list[str], repository: str, thing: Fields, about: Fields) -> dict[str, object]:
    """Return the facts for conditions, without facts that the delivery does not contain."""
    facts: dict[str, object] = {"action": actions, "repository": repository}
    if isinstance(thing.get("labels"), list):
        facts["labels"] = _labels(thing.get("labels"))
    if isinstance(draft := thing.get("draft"), bool):
        facts["draft"] = draft
    if base := as_text(as_object(thing.get("base")).get("ref"))[:FACT_LIMIT]:
        facts["base"] = base
    if author := as_text(as_object(about.get("user")).get("login"))[:FACT_LIMIT]:
        facts["author"] = author
    if about.get("path"):
        facts["review_comment"] = _review_comment(about)
    return facts


def _review_comment(comment: Fields) -> dict[str, object]:
    """Return where a review comment stands, with the end of its piece of the diff, which is nearest to its line."""
    kept: dict[str, object] = {}
    for name in _REVIEW_COMMENT:
        value = comment.get(name)
        if isinstance(value, int):
            kept[name] = value
        elif text := as_text(value)[:FACT_LIMIT]:
            kept[name] = text
    hunk = as_text(comment.get("diff_hunk"))
    cut = f"[{len(hunk) - HUNK_LIMIT} earlier characters are left out.]\n" if len(hunk) > HUNK_LIMIT else ""
    return {**kept, "diff_hunk": f"{cut}{hunk[-HUNK_LIMIT:]}"}


def _place(name: str, repository: str, number: str, thing: Fields, said: Fields) -> dict[str, str]:
    is_pull = name == "pull_request_review_comment" or bool(thing.get("pull_request"))
    thread = _id(said.get("in_reply_to_id")) or _id(said.get("id"))
    place = {
        "repository": repository,
        "number": number,
        "url": _url(said.get("html_url")) or _url(thing.get("html_url")),
        "comment": _id(said.get("id")),
        "is_pull": "true" if is_pull else "",
        # A reply in a review thread is addressed by the comment that began it.
        "thread": thread if name == "pull_request_review_comment" else "",
    }
    return {name: value for name, value in place.items() if value}


def _visibility(body: Fields) -> dict[str, str]:
    """Return the visibility of a public repository; empty for a private one, or if GitHub does not tell."""
    if as_object(body.get("repository")).get("private") is False:
        return {"visibility": PUBLIC}
    return {}


def _moment(action: str, about: Fields, thing: Fields) -> str:
    """Return the time of an event in the delivery's form. An edited review has the time of its pull request."""
    moment = as_text(about.get("updated_at"))
    if not moment and action == "submitted":
        moment = as_text(about.get("submitted_at"))
    elif not moment:
        moment = as_text(thing.get("updated_at"))
    return moment[:FACT_LIMIT]


def _subject(body: Fields) -> str:
    """Return the part that distinguishes acts on one object in the same second: a label, person, commit or change."""
    if changes := as_object(body.get("changes")):
        return hashlib.sha256(encode(changes)).hexdigest()[:16]
    for name in ("label", "assignee", "requested_reviewer", "requested_team", "milestone"):
        if subject := _id(as_object(body.get(name)).get("id")):
            return f"{name} {subject}"
    return as_text(body.get("after"))[:FACT_LIMIT]


def _is_own_text(action: str, about: Fields) -> bool:
    """Return whether Gofer wrote the text in this act. Labels that were set with a new issue belong to the same act."""
    created = as_text(about.get("created_at"))
    updated = as_text(about.get("updated_at"))
    wrote = action in _WRITES or bool(created and created == updated)
    return wrote and _MARKER.search(as_text(about.get("body"))) is not None


def _text(about: Fields) -> str:
    return "\n\n".join(filter(None, (as_text(about.get("title")), as_text(about.get("body")))))


def _actor(body: Fields) -> Actor | None:
    """Return the person or app; None for an account that was deleted, which GitHub leaves out or calls `ghost`."""
    sender = as_object(body.get("sender"))
    login = as_text(sender.get("login"))[:FACT_LIMIT]
    if login in ("", _DELETED_ACCOUNT):
        return None
    if sender.get("type") == "Bot" or login.endswith("[bot]"):
        return Actor(login, "bot")
    return Actor(login)


def _author(actor: Actor, about: Fields) -> Actor:
    """Return the actor, as `external` if they wrote the object of the event and GitHub counts them to no team.

    Only people with rights in the repository change what others wrote, so the actor is one of them in any other event.
    """
    wrote = as_text(as_object(about.get("user")).get("login")) == actor.id
    if wrote and actor.kind == "person" and as_text(about.get("author_association")) not in _COLLEAGUES:
        return Actor(actor.id, "external")
    return actor


def _repository(body: Fields) -> str:
    name = as_text(as_object(body.get("repository")).get("full_name"))
    if _FULL_NAME.fullmatch(name):
        return name
    return ""


def _id(value: object) -> str:
    """Return an id, given as text or number, as text; empty for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        return ""
    text = as_text(value) if isinstance(value, str) else str(value)
    if len(text) <= FACT_LIMIT:
        return text
    return ""


def _number(value: object) -> str:
    """Return the number of an issue or pull request as text; empty for an invalid number."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 10**9:
        return str(value)
    return ""


def _url(value: object) -> str:
    text = as_text(value)
    if text.startswith(("https://", "http://")) and len(text) <= 2_000:
        return text
    return ""


Translate = Callable[[Fields, Actor | None], Event | Ignored]


def _acts(name: str, kind: str) -> Member[Translate]:
    return Member(f"`{kind}`: {ACTIONS[kind].described}", partial(_event, name, kind))


_PUSHED = "`github.push`: commits on a branch, also a new branch and a forced push, but no tag and no deleted branch"
_UNREAD: Mapping[str, Member[Translate]] = {
    "check_run": Member("a check of a commit, which starts nothing"),
    "check_suite": Member("the checks of a commit, which starts nothing"),
    "code_scanning_alert": Member("an alert of code scanning, which starts nothing"),
    "commit_comment": Member("a comment on a commit outside a pull request, which starts nothing"),
    "create": Member("a new branch or tag, which starts nothing"),
    "delete": Member("a deleted branch or tag, which starts nothing"),
    "dependabot_alert": Member("an alert of Dependabot, which starts nothing"),
    "deployment": Member("a deployment, which starts nothing"),
    "deployment_status": Member("the state of a deployment, which starts nothing"),
    "discussion": Member("a discussion, which starts nothing"),
    "discussion_comment": Member("a comment on a discussion, which starts nothing"),
    "fork": Member("a fork, which starts nothing"),
    "issue_dependencies": Member("an issue that blocks another, which starts nothing"),
    "merge_group": Member("an entry of the merge queue, which starts nothing"),
    "milestone": Member("a milestone, which starts nothing"),
    "projects_v2_item": Member("an item of a project, which starts nothing"),
    "pull_request_review_thread": Member("a review thread that is resolved or opened again, which starts nothing"),
    "release": Member("a release, which starts nothing"),
    "repository_dispatch": Member("an event that a program sends, which starts nothing"),
    "secret_scanning_alert": Member("an alert of secret scanning, which starts nothing"),
    "status": Member("the status of a commit, which starts nothing"),
    "sub_issues": Member("an issue below another, which starts nothing"),
    "workflow_dispatch": Member("a workflow of GitHub Actions that a person starts, which starts nothing"),
    "workflow_job": Member("a job of GitHub Actions, which starts nothing"),
    "workflow_run": Member("a run of GitHub Actions, which starts nothing"),
}
"""Events that start nothing, as every event that is not in the table."""
EVENTS: Vocabulary[Translate] = Vocabulary(
    "event of GitHub",
    "event",
    {
        "pull_request": _acts("pull_request", "github.pull_request"),
        "issues": _acts("issues", "github.issue"),
        "issue_comment": _acts("issue_comment", "github.comment"),
        "pull_request_review_comment": _acts("pull_request_review_comment", "github.comment"),
        "pull_request_review": _acts("pull_request_review", "github.review"),
        "push": Member(_PUSHED, _push),
        **_UNREAD,
    },
    column="what it starts",
)
"""The events on repositories that GitHub publishes. It has more about organisations, their members and packages."""
