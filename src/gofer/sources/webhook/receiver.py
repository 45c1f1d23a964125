"""The receiver of one webhook: its caller's proof, the body of a call, and its event."""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias
from urllib.parse import parse_qsl

from typing_extensions import override

from gofer.sources.receiver import Handshake, Ignored, RawRequest, Receiver
from gofer.sources.webhook.hook import Bearer, Header, Hmac, Hook, Jwt, Pointer, Standard
from gofer.sources.webhook.proofs import BearerProof, HmacProof, Proof, StandardProof
from gofer.values.canonical_json import as_list, as_object, clean, decode, decode_text
from gofer.values.errors import BadRequest, ConfigError
from gofer.values.events import Actor, Event
from gofer.values.secret import Secret

INDENTED = 40_000
"""Characters of a body that is short enough to be read at once, and so is laid out for reading."""
FIELDS = 1_000
"""Fields of a form at most."""
_JSON = re.compile(r"application/(?:[\w.+-]+\+)?json", re.ASCII)
_INDEX = re.compile(r"0|[1-9][0-9]{0,6}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Content:
    """A body that was read."""

    value: object
    """The JSON value, or the fields of a form as one; None for text."""
    text: str
    """As it was sent, without lone surrogates."""

    def shown(self) -> str:
        """The whole body for a model: laid out where it is short, and else as it was sent."""
        if self.value is not None:
            indented = clean(json.dumps(self.value, indent=2, ensure_ascii=False))
            if len(indented) <= INDENTED:
                return indented
        return self.text


def read_content(body: bytes, media_type: str) -> Content:
    """A body by its Content-Type, or as JSON where it looks like it. Raises BadRequest(400)."""
    text = decode_text(body)
    declared = media_type.partition(";")[0].strip().lower()
    if not text.strip():
        return Content(None, text)
    if _JSON.fullmatch(declared):
        return Content(decode(body), text)
    if text.lstrip().startswith(("{", "[")):
        # Many tools send JSON under whatever type is their default.
        try:
            return Content(decode(body), text)
        except BadRequest:
            pass
    if declared == "application/x-www-form-urlencoded":
        return Content(_form(text), text)
    return Content(None, text)


def _form(text: str) -> Mapping[str, object]:
    try:
        pairs = parse_qsl(text, keep_blank_values=True, max_num_fields=FIELDS)
    except ValueError as error:
        raise BadRequest(400, f"The form has more than {FIELDS} fields.", code="form_too_many_fields") from error
    fields: dict[str, list[str]] = {}
    for name, value in pairs:
        fields.setdefault(name, []).append(value)
    return {name: values[0] if len(values) == 1 else values for name, values in fields.items()}


def value_at(value: object, pointer: str) -> object:
    """What stands at a JSON pointer (RFC 6901), or None."""
    for part in pointer.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, list):
            items = as_list(value)  # pyright: ignore[reportUnknownArgumentType]
            at = int(name) if _INDEX.fullmatch(name) else len(items)
            value = items[at] if at < len(items) else None
        else:
            value = as_object(value).get(name)
    return value


WINDOW = 600
"""Seconds within which a body without a key is the same call when it comes again."""
KEY_LIMIT = 500
"""Characters of a key at most."""

JwtProofs: TypeAlias = Callable[[Jwt, Sequence[Secret]], Proof]
"""Makes the proof of a hook with JWTs: `jwt_bearer.JwtProof`, which whoever needs it imports."""


@dataclass(frozen=True, slots=True)
class WebhookReceiver(Receiver):
    """The door of one hook."""

    hook: Hook
    proof: Proof

    @override
    def verify(self, request: RawRequest, now: float) -> None:
        self.proof(request, now)

    @override
    def translate(self, request: RawRequest) -> Event | Handshake | Ignored:
        content = read_content(request.body, request.header("content-type") or "")
        name, digest = self.hook.name, hashlib.sha256(request.body).hexdigest()
        key = self._key(request, content)
        # A key may be long and hold any character; a conversation has a plain name.
        told = hashlib.sha256(key.encode()).hexdigest()[:24] if key else digest[:24]
        return Event(
            source="webhook",
            kind="webhook",
            identity=(name, "key", key) if key else (name, "body", digest),
            conversation=f"webhook:{name}:{told}",
            actor=Actor(f"webhook:{name}", "bot"),
            text=content.shown(),
            place={"hook": name},
            private=self.hook.private,
            facts={"name": name},
            digest=digest if key else "",
            window=0 if key else WINDOW,
        )

    def _key(self, request: RawRequest, content: Content) -> str:
        """What the sender calls this call; empty when it has no name for it. Raises BadRequest(400)."""
        match self.hook.key:
            case Pointer(path=path):
                _check_has_value(request.body, content, path)
                return _checked(value_at(content.value, path), f"The body has no text or whole number at {path}")
            case Header(name=name):
                return _checked(request.header(name), f"The header {name} is missing or stands there more than once")
            case None if isinstance(self.hook.auth, Standard):
                return _checked(request.header("webhook-id"), "The header webhook-id is missing")
            case None:
                return ""


def webhook_receivers(hooks: Iterable[Hook], jwt: JwtProofs | None = None) -> dict[str, Receiver]:
    """Doors by path. Raises ConfigError for a secret or key that cannot be used, and for JWTs without `jwt`."""
    return {hook.path: WebhookReceiver(hook, _proof(hook, jwt)) for hook in hooks}


def _proof(hook: Hook, jwt: JwtProofs | None) -> Proof:
    match hook.auth:
        case Standard():
            return StandardProof(hook.secrets)
        case Bearer():
            return BearerProof(hook.secrets)
        case Hmac() as form:
            return HmacProof(form, hook.secrets)
        case Jwt() as form:
            if jwt is None:
                raise ConfigError(f"The webhook {hook.name} takes JWTs, which this front does not; call it elsewhere.")
            return jwt(form, hook.secrets)


def _check_has_value(body: bytes, content: Content, path: str) -> None:
    """Raise BadRequest(400) that says why a body has no values; text has none, and neither has JSON that is refused."""
    if content.value is not None:
        return
    try:
        decode(body)
    except BadRequest as error:
        said = f"{str(error).removesuffix('.')}, so it has no key at {path}, and this call cannot be told from others."
        raise BadRequest(400, said, code=error.code) from error


def _checked(value: object, otherwise: str) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        raise BadRequest(400, f"{otherwise}, so this call cannot be told from others.", code="key_missing")
    key = clean(str(value))
    if len(key) > KEY_LIMIT:
        raise BadRequest(400, f"The key of this call is longer than {KEY_LIMIT} characters.", code="key_too_long")
    return key
