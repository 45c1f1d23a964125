"""The Notion receiver: verifies and translates deliveries.

Notion's events hold ids and no contents, so the run reads the page later. Notion signs neither a time nor an attempt,
so the identity of an event is its object, its type and its time.
"""

import hashlib
import hmac
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from typing_extensions import override

from gofer.sources.receiver import (
    Arrival,
    Ignored,
    RawRequest,
    Receiver,
    Registration,
    incomplete,
    json_object,
    unknown_type,
)
from gofer.values.canonical_json import as_list, as_object, as_text, decode
from gofer.values.errors import BadRequest
from gofer.values.events import Actor, Event
from gofer.values.secret import Secret

HANDSHAKE_LIMIT = 1_000
"""The most bytes of a handshake. Longer bodies are not parsed before they are verified."""
PROPERTIES = 500
"""The most ids of properties in one event. A database has no more properties."""
_SIGNATURE = re.compile(r"sha256=([0-9a-fA-F]{64})", re.ASCII)
_TOKEN = re.compile(r"[!-~]{16,200}", re.ASCII)
_KINDS: Mapping[str, tuple[str, str]] = {
    "page.created": ("notion.page_created", "A page was created."),
    "page.properties_updated": ("notion.properties_updated", "Properties of a page were set."),
    "page.content_updated": ("notion.content_updated", "The content of a page changed."),
    "comment.created": ("notion.commented", "Someone commented on a page."),
}
_COUNTS_FOR_BOTS = "page.properties_updated"
"""The only type of event by bots that counts: it records the status before a person's next change."""
_ROW_OF = ("database", "data_source")

Fields = Mapping[str, object]


def _closed() -> bool:
    return False


@dataclass(frozen=True, slots=True)
class NotionReceiver(Receiver):
    """The receiver of one connection's webhooks."""

    secrets: Sequence[Secret]
    """The verification token and, during a rotation, the previous one."""
    own_bots: Collection[str] = ()
    """The ids of Gofer's own bot users."""
    registration: Callable[[], bool] = _closed
    """Returns whether an operator is waiting for a verification token. Gofer accepts one only then."""

    @override
    def verify(self, request: RawRequest, now: float) -> None:
        # Notion signs a handshake with the token that it offers, so the signature proves nothing about the sender.
        signature = _SIGNATURE.fullmatch(request.header("x-notion-signature") or "")
        if not signature:
            raise BadRequest(401, "The Notion signature is missing or malformed.", code="signature_missing")
        known = [*self.secrets]
        if offered := _offered(request.body):
            known.append(offered)
        if not any(hmac.compare_digest(_digest(secret, request.body), signature[1].lower()) for secret in known):
            raise BadRequest(401, "The Notion signature does not match.", code="signature_mismatch")

    @override
    def translate(self, request: RawRequest) -> Arrival:
        if offered := _offered(request.body):
            if self.registration():
                return Registration(offered)
            reason = "it offers a verification token while no window for one is open"
            return Ignored("no_open_window", reason)
        body = json_object(request.body)
        kind = as_text(body.get("type"))
        authors = [as_object(author) for author in as_list(body.get("authors"))]
        if kind not in _KINDS:
            return unknown_type("events", kind, _actor(authors, self.own_bots))
        actor = _actor(authors, self.own_bots)
        if actor is None:
            return Ignored("incomplete", "it does not say who did it")
        if actor.kind == "bot" and kind != _COUNTS_FOR_BOTS:
            return self._without_person(authors, actor)
        return _event(body, kind, actor)

    def _without_person(self, authors: Sequence[Fields], actor: Actor) -> Ignored:
        """Return the decision for an event that no person caused."""
        if _only_own_bots(authors, self.own_bots):
            return Ignored("own_act", "Gofer did it", actor)
        if not all(author.get("type") for author in authors):
            return Ignored("incomplete", "it does not say whether a person did it", actor)
        return Ignored("other_bot", "only bots did it", actor)


def sign(secret: Secret, body: bytes) -> str:
    """Return Notion's signature of a delivery: `sha256=` and the HMAC-SHA256 of the body in hex."""
    return f"sha256={_digest(secret, body)}"


def _digest(secret: Secret, body: bytes) -> str:
    return hmac.new(secret.reveal().encode(), body, hashlib.sha256).hexdigest()


def _offered(body: bytes) -> Secret | None:
    """Return the token that a handshake offers; None for any other body."""
    if len(body) > HANDSHAKE_LIMIT:
        return None
    try:
        fields = as_object(decode(body))
    except BadRequest:
        return None
    token = as_text(fields.get("verification_token"))
    if set(fields) == {"verification_token"} and _TOKEN.fullmatch(token):
        return Secret(token)
    return None


def _event(body: Fields, kind: str, actor: Actor) -> Event | Ignored:
    entity = as_object(body.get("entity"))
    data = as_object(body.get("data"))
    workspace = as_text(body.get("workspace_id"))
    moment = as_text(body.get("timestamp"))
    about = as_text(entity.get("id"))
    of = as_text(entity.get("type"))
    page = about
    comment = ""
    if of == "comment":
        page = as_text(data.get("page_id"))
        comment = about
    expected = kind.partition(".")[0]
    if of and of != expected:
        return Ignored("incomplete", f"it is about something else than a {expected}", actor)
    needed = {f"a {expected}": of and about, "a page": page, "a workspace": workspace, "a time": moment}
    if lacking := incomplete(needed, actor):
        return lacking
    parent = as_object(data.get("parent"))
    name, text = _KINDS[kind]
    return Event(
        source="notion",
        kind=name,
        identity=(about, kind, moment),
        conversation=f"notion:{workspace}:{page}",
        actor=actor,
        text=text,
        place=_place(workspace, page, comment, data, actor),
        private=False if parent.get("type") in _ROW_OF and of == "page" else None,
        facts=_facts(kind, parent, data, by_bot=actor.kind == "bot"),
    )


def _place(workspace: str, page: str, comment: str, data: Fields, actor: Actor) -> Mapping[str, str]:
    parent = as_object(data.get("parent"))
    place = {"workspace": workspace, "page": page, "comment": comment}
    if comment and parent.get("type") == "block":
        place["block"] = as_text(parent.get("id"))
    if actor.is_person:
        # A run looks up whether this person is a member; runs of earlier versions did not.
        place["person"] = actor.id
    if comment:
        place["discussion"] = as_text(data.get("discussion_id"))
    return {name: value for name, value in place.items() if value}


def _facts(kind: str, parent: Fields, data: Fields, *, by_bot: bool) -> Mapping[str, object]:
    """Return the facts in an event. Events never contain the name of a database, and comments not even its id."""
    facts: dict[str, object] = {}
    if kind != "comment.created" and parent.get("type"):
        facts["database_id"] = _database(parent)
        if parent.get("type") not in _ROW_OF:
            facts["database"] = []
    if kind == _COUNTS_FOR_BOTS:
        listed = as_list(data.get("updated_properties"))
        facts["properties"] = [as_text(one) for one in listed if isinstance(one, str)][:PROPERTIES]
        facts["bot"] = by_bot
    return facts


def _database(parent: Fields) -> list[str]:
    """Return the ids of a row's database, with and without dashes; none for a page that is not a row."""
    if parent["type"] not in _ROW_OF:
        return []
    ids = [as_text(parent.get("id")), as_text(parent.get("data_source_id"))]
    return list(dict.fromkeys(spelled for id_ in ids if id_ for spelled in (id_, id_.replace("-", ""))))


def _actor(authors: Sequence[Fields], own_bots: Collection[str]) -> Actor | None:
    """Return the author, preferably a person if there are several authors. Notion's own agents count as bots."""
    named = [(as_text(author.get("id")), author.get("type")) for author in authors]
    people = [id_ for id_, kind in named if id_ and kind == "person" and id_ not in own_bots]
    if people:
        return Actor(people[0])
    bots = [id_ for id_, _ in named if id_]
    if bots:
        return Actor(bots[0], "bot")
    return None


def _only_own_bots(authors: Sequence[Fields], own_bots: Collection[str]) -> bool:
    return bool(authors) and all(as_text(author.get("id")) in own_bots for author in authors)
