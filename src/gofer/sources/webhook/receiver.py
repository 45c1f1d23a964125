"""The receiver of one webhook: it verifies the caller, and translates the body of a call into an event."""

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
from gofer.values.events import Actor, Event, checked_traceparent
from gofer.values.secret import Secret

INDENTED = 40_000
"""The most characters of a JSON body that is shown indented. A model reads such a body in one piece."""
FIELDS = 1_000
"""The most fields of a form."""
_JSON = re.compile(r"application/(?:[\w.+-]+\+)?json", re.ASCII)
_INDEX = re.compile(r"0|[1-9][0-9]{0,6}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Content:
    """A parsed body."""

    value: object
    """The JSON value, or the fields of a form as an object; None for text."""
    text: str
    """The body as text, without lone surrogates."""

    def shown(self) -> str:
        """Return the whole body for a model: short JSON is indented, anything else is unchanged."""
        if self.value is not None:
            indented = clean(json.dumps(self.value, indent=2, ensure_ascii=False))
            if len(indented) <= INDENTED:
                return indented
        return self.text


def read_content(body: bytes, media_type: str) -> Content:
    """Return a body, parsed by its Content-Type, or as JSON if it looks like JSON. Raises BadRequest(400)."""
    text = decode_text(body)
    declared = media_type.partition(";")[0].strip().lower()
    if not text.strip():
        return Content(None, text)
    if _JSON.fullmatch(declared):
        return Content(decode(body), text)
    if text.lstrip().startswith(("{", "[")):
        # Many tools send JSON with a default Content-Type.
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
    form: dict[str, object] = {**fields}
    for name, values in fields.items():
        if len(values) == 1:
            form[name] = values[0]
    return form


def value_at(value: object, pointer: str) -> object:
    """Return the value at a JSON pointer (RFC 6901), or None."""
    for part in pointer.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, list):
            items = as_list(value)  # pyright: ignore[reportUnknownArgumentType]
            if not _INDEX.fullmatch(name) or int(name) >= len(items):
                return None
            value = items[int(name)]
        else:
            value = as_object(value).get(name)
    return value


WINDOW = 600
"""The seconds within which an equal body without a key counts as the same call."""
KEY_LIMIT = 500
"""The most characters of a key."""

JwtProofs: TypeAlias = Callable[[Jwt, Sequence[Secret]], Proof]
"""Makes the proof of a hook with JWTs: `jwt_bearer.JwtProof`, which only callers with such hooks import."""


@dataclass(frozen=True, slots=True)
class WebhookReceiver(Receiver):
    """The receiver of one hook."""

    hook: Hook
    proof: Proof

    @override
    def verify(self, request: RawRequest, now: float) -> None:
        self.proof(request, now)

    @override
    def translate(self, request: RawRequest) -> Event | Handshake | Ignored:
        content = read_content(request.body, request.header("content-type") or "")
        name = self.hook.name
        body_digest = hashlib.sha256(request.body).hexdigest()
        key = self._key(request, content)
        identity = (name, "body", body_digest)
        conversation = body_digest[:24]
        digest = ""
        window = WINDOW
        if key:
            identity = (name, "key", key)
            # A key can be long and contain any character, so the name of the conversation is a hash.
            conversation = hashlib.sha256(key.encode()).hexdigest()[:24]
            digest = body_digest
            window = 0
        place = {"hook": name}
        if caller := checked_traceparent(request.header("traceparent") or ""):
            place["traceparent"] = caller
        return Event(
            source="webhook",
            kind="webhook",
            identity=identity,
            conversation=f"webhook:{name}:{conversation}",
            actor=Actor(f"webhook:{name}", "bot"),
            text=content.shown(),
            place=place,
            private=self.hook.private,
            facts={"name": name},
            digest=digest,
            window=window,
        )

    def _key(self, request: RawRequest, content: Content) -> str:
        """Return the sender's key for this call; empty if the hook has no keys. Raises BadRequest(400)."""
        match self.hook.key:
            case Pointer(path=path):
                _check_has_value(request.body, content, path)
                return _checked(value_at(content.value, path), f"The body has no text or whole number at {path}")
            case Header(name=name):
                return _checked(request.header(name), f"The header {name} is missing or repeated")
            case None if isinstance(self.hook.auth, Standard):
                return _checked(request.header("webhook-id"), "The header webhook-id is missing")
            case None:
                return ""


def webhook_receivers(hooks: Iterable[Hook], jwt: JwtProofs | None = None) -> dict[str, Receiver]:
    """Return receivers by path. A hook without a secret or key has none, because no call of it can be verified.

    Raises ConfigError for an unusable secret or key, and for a hook with JWTs without `jwt`.
    """
    return {hook.path: WebhookReceiver(hook, _proof(hook, jwt)) for hook in hooks if hook.proven}


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
                raise ConfigError(
                    f"The webhook {hook.name} takes JWTs, which this process cannot verify; call it elsewhere."
                )
            return jwt(form, hook.secrets)


def _check_has_value(body: bytes, content: Content, path: str) -> None:
    """Raise BadRequest(400) with the reason why a body has no values: it is plain text or invalid JSON."""
    if content.value is not None:
        return
    try:
        decode(body)
    except BadRequest as error:
        reason = f"{str(error).removesuffix('.')}, so it has no key at {path}"
        message = f"{reason}, and Gofer cannot distinguish this call from others."
        raise BadRequest(400, message, code=error.code) from error


def _checked(value: object, otherwise: str) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        raise BadRequest(400, f"{otherwise}, so Gofer cannot distinguish this call from others.", code="key_missing")
    key = clean(str(value))
    if len(key) > KEY_LIMIT:
        raise BadRequest(400, f"The key of this call is longer than {KEY_LIMIT} characters.", code="key_too_long")
    return key
