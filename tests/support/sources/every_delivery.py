"""Deliveries to each receiver, signed as by their senders, and faulty variants of them."""

import base64
import copy
import hmac
import json
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import jwt
from hypothesis import strategies as st

from gofer.app.ingress import build_ingress
from gofer.app.settings import read_settings
from gofer.runtime.receive import Ingress
from gofer.sources.github import receiver as github
from gofer.sources.jira import receiver as jira
from gofer.sources.notion import receiver as notion
from gofer.sources.receiver import RawRequest
from gofer.sources.receivers import PATHS
from gofer.sources.slack import interactivity
from gofer.sources.slack.receiver import sign as slack_sign
from gofer.sources.webhook.hook import Hmac
from gofer.sources.webhook.jwt_bearer import JwtProof
from gofer.sources.webhook.proofs import standard_signature
from gofer.stores.memory.blobs import MemoryBlobs
from gofer.stores.memory.journal import MemoryStore
from gofer.stores.memory.queue import MemoryQueue
from gofer.stores.one_place import Stores
from gofer.values.installation_key import InstallationKey
from gofer.values.secret import Secret
from support.stand_ins import NOON, SetClock, make_outside

EVENTS = sorted((Path(__file__).parents[2] / "events").glob("*.json"))
SECRET = Secret("a secret of every sender; 32 bytes or more")
BEARER = Secret("a-secret-that-callers-know-32-bytes")
ENVIRONMENT = {
    **{f"{source.upper()}_WEBHOOK_SECRET": SECRET.reveal() for source in ("github", "jira", "notion")},
    "SLACK_SIGNING_SECRET": SECRET.reveal(),
    "WEBHOOK_SECRET": BEARER.reveal(),
}
SETTINGS = read_settings(ENVIRONMENT)
HMAC: Mapping[str, str] = {
    "header": "x-sum",
    "prefix": "sum=",
    "encoding": "base64",
    "algorithm": "sha512",
    "template": "{timestamp}.{body}",
    "timestamp_header": "x-at",
}
JWT = {"issuer": "https://issuer.example", "audience": "gofer", "algorithms": ["HS256"], "leeway": 60}
HOOKS: Mapping[str, Mapping[str, object]] = {
    "standard": {"auth": {"kind": "standard"}, "key": ""},
    "bearer": {"auth": {"kind": "bearer"}, "key": ""},
    "keyed": {"auth": {"kind": "bearer"}, "key": "/id"},
    "named": {"auth": {"kind": "bearer"}, "key": "X-Call"},
    "hmac": {"auth": {"kind": "hmac", **HMAC}, "key": ""},
    "jwt": {"auth": {"kind": "jwt", **JWT}, "key": ""},
}
KINDS = [
    *(f"slack.{kind}" for kind in ("mention", "message", "direct", "reaction", "channel_created", "member_joined")),
    *(f"jira.{kind}" for kind in ("issue_created", "issue_updated", "commented", "attachment_added")),
    *(f"notion.{kind}" for kind in ("page_created", "properties_updated", "content_updated", "commented")),
    *(f"github.{kind}" for kind in ("pull_request", "issue", "comment", "review", "push")),
    "webhook",
]
REFUSED = {401, 403, 404, 405, 413}
"""The statuses of deliveries without a valid proof."""
ALLOWED = {200, 400, 409, 413} | REFUSED


class WatchedStore(MemoryStore):
    """A store that records every method called on it."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        super().__init__()

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        if callable(found) and not name.startswith("_"):
            self.asked.append(name)
        return found


@dataclass
class AllReceivers:
    """Every receiver with a workflow, over a watched store."""

    store: WatchedStore = field(default_factory=WatchedStore)
    clock: SetClock = field(default_factory=SetClock)

    def __post_init__(self) -> None:
        routes = {kind: [("w", {})] for kind in KINDS}
        queue = MemoryQueue(self.clock)
        self.ingress: Ingress = build_ingress(
            SETTINGS,
            routes,
            Stores(self.store, MemoryBlobs(), queue),
            InstallationKey(Secret("installation key")),
            make_outside(self.clock),
            hooks=HOOKS,
            jwt=JwtProof,
        )

    async def deliver(self, request: RawRequest) -> int:
        return (await self.ingress.receive(request)).status


Headers = list[tuple[str, str]]


def _slack(body: bytes) -> Headers:
    at = str(int(NOON))
    return [("X-Slack-Request-Timestamp", at), ("X-Slack-Signature", slack_sign(SECRET, at, body))]


def _standard(body: bytes) -> Headers:
    at = str(int(NOON))
    signature = standard_signature(BEARER.reveal().encode(), "msg_1", at, body)
    return [("webhook-id", "msg_1"), ("webhook-timestamp", at), ("webhook-signature", signature)]


def _bearer(body: bytes) -> Headers:
    return [("Authorization", f"Bearer {BEARER.reveal()}")]


def _hmac(body: bytes) -> Headers:
    at = str(int(NOON))
    form = Hmac(**HMAC)
    base = form.template.replace("{timestamp}", at).encode().replace(b"{body}", body)
    digest = hmac.new(BEARER.reveal().encode(), base, form.algorithm)
    signature = digest.hexdigest() if form.encoding == "hex" else base64.b64encode(digest.digest()).decode()
    return [("X-At", at), ("X-Sum", "sum=" + signature)]


def _jwt(body: bytes) -> Headers:
    claims = {"iss": JWT["issuer"], "aud": JWT["audience"], "exp": NOON + 60}
    return [("Authorization", f"Bearer {jwt.encode(claims, BEARER.reveal(), 'HS256')}")]


PROOFS: Mapping[str, Callable[[bytes], Headers]] = {
    PATHS["slack"]: _slack,
    interactivity.PATH: _slack,
    PATHS["jira"]: lambda body: [("X-Hub-Signature", jira.sign(SECRET, body))],
    PATHS["notion"]: lambda body: [("X-Notion-Signature", notion.sign(SECRET, body))],
    PATHS["github"]: lambda body: [("X-Hub-Signature-256", github.sign(SECRET, body))],
    "/hooks/standard": _standard,
    "/hooks/bearer": _bearer,
    "/hooks/keyed": _bearer,
    "/hooks/named": _bearer,
    "/hooks/hmac": _hmac,
    "/hooks/jwt": _jwt,
}
"""The headers by which each sender proves its identity, by path."""


def delivery(path: str, body: bytes, *more: tuple[str, str]) -> RawRequest:
    """Return a request signed as by its sender."""
    return RawRequest("POST", path, [*PROOFS[path](body), *more], body)


def without_proof(request: RawRequest) -> RawRequest:
    """Return the same request signed without knowledge of the secret."""
    wrong = [(name, value[:-4] + ("AAAA" if value[-4:] != "AAAA" else "BBBB")) for name, value in request.headers]
    return replace(request, headers=wrong)


def path_of(event: Path) -> str:
    """Return the path that a recorded payload is delivered to."""
    return PATHS[event.stem.partition("_")[0]]


GITHUB = {
    "github_issue_comment": "issue_comment",
    "github_issue_labeled": "issues",
    "github_ping": "ping",
    "github_pull_request_merged": "pull_request",
    "github_push": "push",
    "github_review": "pull_request_review",
}
"""What GitHub says of its recorded payloads in a header."""


def headers_of(event: Path) -> Headers:
    """Return the headers that the sender of a recorded payload adds."""
    kind = GITHUB.get(event.stem)
    return [("X-GitHub-Event", kind)] if kind else []


ODD = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([10**400, -(10**4000), 1e308, "\ud800", "\x00", "", "x" * 5_000, "U0GOFER0", "*", "C1:*"])
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
"""Unexpected values of a field."""


def places(value: object, path: tuple[int | str, ...] = ()) -> Iterator[tuple[int | str, ...]]:
    """Yield the path to every field at every level."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield (*path, key)
        yield from places(inner, (*path, key))


def put(payload: Any, at: tuple[int | str, ...], value: object) -> Any:
    """Return the payload with another value at a path."""
    # Values beside the path stay the same objects, which are never changed.
    changed = copy.copy(payload)
    changed[at[0]] = put(payload[at[0]], at[1:], value) if len(at) > 1 else value
    return changed


@st.composite
def changed(draw: st.DrawFn, payload: Any) -> Any:
    """Draw a payload with one to three fields removed, replaced or added, at any level."""
    payload = copy.deepcopy(payload)
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.sampled_from(list(places(payload)) or [("type",)]))
        around = payload
        for part in at[:-1]:
            around = around[part]
        match draw(st.sampled_from(["remove", "replace", "add"])):
            case "remove" if payload:
                del around[at[-1]]
            case "replace":
                around[at[-1]] = draw(ODD)
            case _ if isinstance(around, dict):
                around[draw(st.text())] = draw(ODD)
            case _:
                around.append(draw(ODD))
    return payload


DEEP = b'{"a":' * 10_000 + b"1" + b"}" * 10_000
PRESS = {
    "type": "block_actions",
    "user": {"id": "U0NEWCO0"},
    "actions": [{"type": "button", "action_id": "approve", "value": "x.y", "action_ts": "1795262400.5"}],
}
"""The press of a button as Slack delivers it."""
GARBAGE: Mapping[str, bytes] = {
    "empty": b"",
    "blank": b" \n ",
    "zeros": bytes(100),
    "binary": bytes(range(256)),
    "not UTF-8": b'{"type": "\xff"}',
    "UTF-16": json.dumps(PRESS).encode("utf-16"),
    "byte order mark": b"\xef\xbb\xbf{}",
    "number": b"7",
    "list": b"[]",
    "text": b'"text"',
    "null": b"null",
    "NaN": b'{"type": NaN}',
    "infinity": b'{"timestamp": 1e999}',
    "digits": b'{"timestamp": ' + b"9" * 10_000 + b"}",
    "surrogate": b'{"type": "\\ud800", "id": "\\udfff"}',
    "key twice": b'{"type": "event_callback", "type": 7}',
    "half": b'{"type": "event_callback", "event": {',
    "deep object": DEEP,
    "deep list": b"[" * 10_000 + b"]" * 10_000,
    "deep and open": b"[" * 200_000,
    "deep in a field": b'{"id": "1", "type": "event_callback", "event": ' + DEEP + b"}",
    "base64": b64encode(json.dumps(PRESS).encode()),
    "form": b"type=event_callback&id=1",
    "form with payload": b"payload=%7B%22type%22%3A%22block_actions%22%7D",
    "form with two payloads": b"payload=%7B%7D&payload=%7B%7D",
    "form with a bad payload": b"payload=%FF%ED%A0%80",
    "form of many fields": b"&".join(b"f%d=1" % n for n in range(5_000)),
    "form of separators": b"&" * 100_000,
    "percent signs": b"payload=%%%zz&%",
    "multipart": b'--x\r\nContent-Disposition: form-data; name="payload"\r\n\r\n{}\r\n--x--\r\n',
    "XML": b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>',
    "as large as may be": b'{"id": "' + b"x" * 999_900 + b'"}',
    "too large": b"x" * 1_000_001,
}
"""Bodies that no vendor would send."""
MEDIA = (
    "",
    "application/json",
    "application/json; charset=utf-16",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "text/plain",
    "image/png",
    ";;;",
    "\xff\x00",
)
"""What may be said of a body."""
