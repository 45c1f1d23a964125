"""The Jira receiver: verifies and translates deliveries.

One receiver serves Jira Cloud and Data Center, whose bodies name people differently and leave out different fields.
"""

import hashlib
import hmac
import re
from collections.abc import Sequence
from dataclasses import dataclass

from typing_extensions import override

from gofer.sources.jira.adf_text import Fields, adf_text
from gofer.sources.receiver import Handshake, Ignored, RawRequest, Receiver, json_object, unknown_type
from gofer.values.canonical_json import as_list, as_object, as_text
from gofer.values.errors import BadRequest
from gofer.values.events import NOBODY, Actor, Event
from gofer.values.secret import Secret

TEXT_LIMIT = 4_000
"""The most characters of a text that an event holds. A run reads the whole issue."""
VALUE_LIMIT = 200
"""The most characters of each side of a change, and of each other fact."""
_ID_LIMIT = 100
_SIGNATURE = re.compile(r"([a-z0-9-]{1,20})=([0-9a-f]{1,128})", re.ASCII)
_COMMENT_OF = re.compile(r"/issue/([^/]{1,100})/comment/", re.ASCII)
_MENTION = re.compile(r"\[~(?:accountid:)?([^\]\s]{1,100})\]", re.IGNORECASE)

_IDS = ("accountId", "key", "name")
"""The fields that identify a person: the first one in Cloud, the others in Data Center."""


@dataclass(frozen=True, slots=True)
class JiraReceiver(Receiver):
    """The receiver of one Jira site's admin webhooks."""

    secrets: Sequence[Secret]
    """The secret of the webhook and, during a rotation, the previous one."""
    own_accounts: Sequence[str] = ()
    """Gofer's own accounts, whose acts start nothing: by accountId, or on Data Center by key or name."""
    site: str = ""
    """The name of the site, which separates the conversations of several sites; may be empty for a single site."""

    @override
    def verify(self, request: RawRequest, now: float) -> None:
        # Jira signs no time, so `now` is unused.
        signature = _SIGNATURE.fullmatch(request.header("x-hub-signature") or "")
        if not signature:
            said = "The Jira signature is missing or malformed; give the webhook a secret."
            raise BadRequest(401, said, code="signature_missing")
        if signature[1] != "sha256":
            raise BadRequest(401, "The Jira signature does not use sha256.", code="signature_method")
        if not any(hmac.compare_digest(sign(secret, request.body), signature[0]) for secret in self.secrets):
            raise BadRequest(401, "The Jira signature does not match.", code="signature_mismatch")

    @override
    def translate(self, request: RawRequest) -> Event | Handshake | Ignored:
        body = json_object(request.body)
        verdict = self._verdict(as_text(body.get("webhookEvent")), body)
        if isinstance(verdict, _Act):
            return verdict.event()
        return verdict

    def _verdict(self, name: str, body: Fields) -> "_Act | Ignored":
        match name:
            case "jira:issue_created":
                return self._checked_act("jira.issue_created", body, as_object(body.get("user")))
            case "jira:issue_updated":
                return self._updated(body)
            case "comment_created":
                return self._act_by_author("jira.commented", "comment", body)
            case "attachment_created":
                return self._act_by_author("jira.attachment_added", "attachment", body)
            case _:
                return unknown_type("events", name, _actor(as_object(body.get("user"))))

    def _act_by_author(self, kind: str, name: str, body: Fields) -> "_Act | Ignored":
        """Return the act of the author of a comment or attachment."""
        part = as_object(body.get(name))
        if not part:
            return Ignored("incomplete", f"it lacks the {name}")
        return self._checked_act(kind, body, as_object(part.get("author")))

    def _updated(self, body: Fields) -> "_Act | Ignored":
        items = _items(body)
        if not items and as_text(body.get("issue_event_type_name")).startswith("issue_comment"):
            actor = _actor(as_object(body.get("user")))
            return Ignored("told_elsewhere", "Jira delivers comments as separate events", actor)
        only_files = bool(items) and all(item.get("field") == "Attachment" and _id(item.get("to")) for item in items)
        kind = "jira.issue_updated"
        if only_files:
            kind = "jira.attachment_added"
        return self._checked_act(kind, body, as_object(body.get("user")))

    def _checked_act(self, kind: str, body: Fields, user: Fields) -> "_Act | Ignored":
        actor = _actor(user)
        happening = _Act(kind, body, actor, self.site, self.own_accounts)
        author = user
        if kind == "jira.issue_created":
            # A delivery without a user may be about an issue of Gofer's, which then is its creator.
            author = user or as_object(happening.fields.get("creator"))
        if any(as_text(author.get(name)) in self.own_accounts for name in _IDS if author.get(name)):
            return Ignored("own_act", "Gofer did it", actor)
        if missing := happening.missing():
            return Ignored("incomplete", f"it does not say which {missing} it is about", actor)
        return happening


def sign(secret: Secret, body: bytes) -> str:
    """Return Jira's signature of a delivery: `sha256=` and the HMAC-SHA256 of the body in hex."""
    return "sha256=" + hmac.new(secret.reveal().encode(), body, hashlib.sha256).hexdigest()


@dataclass(frozen=True, slots=True)
class _Act:
    """An act on an issue."""

    kind: str
    body: Fields
    actor: Actor
    site: str
    own_accounts: Sequence[str]

    def event(self) -> Event:
        return Event(
            source="jira",
            kind=self.kind,
            identity=self._identity(),
            conversation=f"jira:{self.site}:{self.issue_id}",
            actor=self.actor,
            text=self._text()[:TEXT_LIMIT],
            place={name: value for name, value in self._place().items() if value},
            private=self._private(),
            facts=self._facts(),
        )

    def missing(self) -> str:
        """Return the part that the delivery must name and does not; empty when it names all parts."""
        needed = {"jira.commented": "comment", "jira.attachment_added": "attachment"}.get(self.kind)
        if not self.issue_id:
            return "issue"
        if needed and not self._place()[needed]:
            return needed
        return ""

    @property
    def issue(self) -> Fields:
        return as_object(self.body.get("issue"))

    @property
    def fields(self) -> Fields:
        return as_object(self.issue.get("fields"))

    @property
    def comment(self) -> Fields:
        if self.kind == "jira.commented":
            return as_object(self.body.get("comment"))
        return {}

    @property
    def issue_id(self) -> str:
        """Return the id of the issue. Data Center may send a comment without it; then the comment's URL contains it."""
        if own := _id(self.issue.get("id")):
            return own
        named = _COMMENT_OF.search(as_text(self.comment.get("self")))
        if named:
            return named[1]
        return ""

    def _identity(self) -> tuple[str, ...]:
        if self.kind == "jira.attachment_added":
            # Jira delivers a new attachment twice, at different times: as its own event and as a change of the issue.
            return self.kind, self.issue_id, self._attachment()
        part = as_object(self.body.get("changelog"))
        if self.kind == "jira.commented":
            part = self.comment
        return self.kind, self.issue_id, _id(part.get("id")), _id(self.body.get("timestamp"))

    def _attachment(self) -> str:
        own = _id(as_object(self.body.get("attachment")).get("id"))
        return own or next((_id(item.get("to")) for item in _items(self.body)), "")

    def _place(self) -> dict[str, str]:
        place = {"issue": _id(self.issue.get("key")), "issue_id": self.issue_id, "comment": _id(self.comment.get("id"))}
        if self.kind == "jira.attachment_added":
            place["attachment"] = self._attachment()
        if len(self._text()) > TEXT_LIMIT:
            place["cut"] = "true"
        if self.comment.get("jsdPublic") is False:
            # Only agents of a service project see it, and Gofer's account need not be one.
            place["internal"] = "true"
        return place | self._audience()

    def _audience(self) -> dict[str, str]:
        """Return the audience of a restricted comment; empty if everyone who sees the issue may read it."""
        visibility = self.comment.get("visibility")
        if visibility is None:
            return {}
        said = as_object(visibility)
        kind = as_text(said.get("type")) or "role"
        name = as_text(said.get("value"))
        # Jira has no role `unknown`, so it refuses an answer to an unreadable audience instead of showing it to all.
        return {"audience_type": kind, "audience": name or "unknown"}

    def _private(self) -> bool | None:
        """Return whether a security level or an audience restricts the readers; None if the body does not tell."""
        if self.fields.get("security") is not None or self.comment.get("visibility") is not None:
            return True
        # Deliveries of comments lack some fields of the issue, so a security level may be set without being shown.
        if "security" in self.fields:
            return False
        return None

    def _text(self) -> str:
        match self.kind:
            case "jira.commented":
                return self._words(self.comment.get("body"))
            case "jira.issue_created":
                parts = (as_text(self.fields.get("summary")), self._words(self.fields.get("description")))
                return "\n\n".join(part for part in parts if part)
            case "jira.attachment_added":
                return "\n".join(self._files())
            case _:
                return "\n".join(_changes(self.body))

    def _words(self, value: object) -> str:
        """Return a text, which some deliveries hold as a document."""
        if isinstance(value, str):
            return as_text(value)
        return adf_text(value, {own: f"[~accountid:{own}]" for own in self.own_accounts})

    def _files(self) -> list[str]:
        own = as_text(as_object(self.body.get("attachment")).get("filename"))
        names = [own]
        if not own:
            names = [as_text(item.get("toString")) for item in _items(self.body)]
        return [name[:VALUE_LIMIT] for name in names if name]

    def _facts(self) -> dict[str, object]:
        project = as_text(as_object(self.fields.get("project")).get("key"))
        key, _, number = _id(self.issue.get("key")).rpartition("-")
        if not project and number.isdigit():
            project = key
        contained = {
            "project": project,
            "type": as_text(as_object(self.fields.get("issuetype")).get("name")),
            "status": as_text(as_object(self.fields.get("status")).get("name")),
        }
        # Leave out facts that the body does not contain: the run reads missing facts later, but never empty ones.
        facts: dict[str, object] = {name: value[:VALUE_LIMIT] for name, value in contained.items() if value}
        if isinstance(self.fields.get("labels"), list):
            labels = [as_text(label)[:VALUE_LIMIT] for label in as_list(self.fields.get("labels"))]
            facts["labels"] = [label for label in labels if label]
        if self.kind == "jira.issue_updated":
            facts["changes"] = _changes(self.body)
        if self.kind == "jira.commented":
            facts["says"] = _MENTION.sub(self._mentioned, self._text())[:TEXT_LIMIT]
        if self.kind == "jira.attachment_added":
            facts["files"] = self._files()
        return facts

    def _mentioned(self, found: re.Match[str]) -> str:
        """Return a mention of Gofer as `@gofer`, the notation of conditions, and any other mention unchanged."""
        if found[1] not in self.own_accounts:
            return found[0]
        text = found.string
        before = " " * text[: found.start()][-1:].isalnum()
        after = " " * text[found.end() :][:1].isalnum()
        return f"{before}@gofer{after}"


def _items(body: Fields) -> list[Fields]:
    return [as_object(item) for item in as_list(as_object(body.get("changelog")).get("items"))]


def _changes(body: Fields) -> list[str]:
    """Return each change as `<field>: <before> -> <after>`, with the names that people see."""
    sides = ("field", "fromString", "toString")
    cut = [tuple(adf_text(item.get(side))[:VALUE_LIMIT] for side in sides) for item in _items(body)]
    return [f"{name}: {before} -> {after}" for name, before, after in cut if name]


def _actor(user: Fields) -> Actor:
    """Return the person or app. Forms, mails and anonymous people leave it out."""
    name = next((found for key in _IDS if (found := _id(user.get(key)))), "")
    if not name:
        return NOBODY
    match user.get("accountType"):
        case "app":
            return Actor(name, "bot")
        case "customer":
            return Actor(name, "customer")
        case _:
            return Actor(name)


def _id(value: object) -> str:
    """Return an id, given as text or number, as text; empty for anything else."""
    text = as_text(value)
    if isinstance(value, int) and not isinstance(value, bool):
        text = str(value)
    if len(text) <= _ID_LIMIT:
        return text
    return ""
