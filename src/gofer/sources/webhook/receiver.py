"""The receiver of one webhook: it verifies the caller, and translates the body of a call into an event."""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from typing_extensions import override

from gofer.sources.receiver import Handshake, Ignored, RawRequest, Receiver
from gofer.sources.webhook.content import Content, parts_of, read_content, value_at
from gofer.sources.webhook.handshakes import proven_handshake, signed_word, unproven_handshake, word_to_sign
from gofer.sources.webhook.hook import Basic, Bearer, Header, Hmac, Hook, Jwt, Pointer, Standard, Token
from gofer.sources.webhook.proofs import (
    BasicProof,
    BearerProof,
    HmacProof,
    Proof,
    StandardProof,
    TokenProof,
    standard_header,
)
from gofer.values.canonical_json import clean, decode
from gofer.values.errors import BadRequest, ConfigError
from gofer.values.events import Actor, Event, checked_traceparent
from gofer.values.secret import Secret

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

    def handshake(self, request: RawRequest) -> Handshake | None:
        """Return the answer to a test of the URL without a proof; None for any other request."""
        return unproven_handshake(request, self.hook.secrets)

    @override
    def verify(self, request: RawRequest, now: float) -> None:
        self.proof(request, now)

    @override
    def translate(self, request: RawRequest) -> Event | Handshake | Ignored:
        content = read_content(request.body, request.header("content-type") or "")
        # Programs that only explain a payload translate without asking for a handshake first.
        handshake = self.handshake(request) or self._proven_handshake(request, content.value)
        if handshake is not None:
            return handshake
        name = self.hook.name
        body_digest = hashlib.sha256(content.repeated).hexdigest()
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

    def for_workflow(self, event: Event, workflow: str) -> Event:
        """Return the event as the runs of a workflow get it, with the parts of the body that its file names."""
        pointers = self.hook.fields.get(workflow)
        if pointers is None:
            return event
        return replace(event, text=parts_of(event.text, pointers))

    def _proven_handshake(self, request: RawRequest, value: object) -> Handshake | None:
        """Return the answer to a verified test of the address. The secret that signed the test signs the answer."""
        word = word_to_sign(value)
        if word and isinstance(self.proof, HmacProof):
            return signed_word(word, self.proof.signed_like(request, word))
        return proven_handshake(request, value)

    def _key(self, request: RawRequest, content: Content) -> str:
        """Return the sender's key for this call; empty if the hook has no keys. Raises BadRequest(400)."""
        match self.hook.key:
            case Pointer(path=path):
                _check_has_value(request.body, content, path)
                return _checked(value_at(content.value, path), f"The body has no text or whole number at {path}")
            case Header(name=name):
                return _checked(request.header(name), f"The header {name} is missing or repeated")
            case None if isinstance(self.hook.auth, Standard):
                return _checked(standard_header(request, "id"), "The header webhook-id is missing")
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
        case Token() as form:
            return TokenProof(form, hook.secrets)
        case Basic() as form:
            return BasicProof(form, hook.secrets)
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
