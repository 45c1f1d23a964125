"""The verification of webhook callers: by a signature, or by the secret itself.

A proof is a function of the raw request and the time that raises nothing but BadRequest(401). The proof for JWTs has
its own module (`jwt_bearer`), because its library is slow to import.
"""

import base64
import binascii
import hashlib
import hmac
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TypeAlias

from gofer.sources.receiver import RawRequest, check_window
from gofer.sources.webhook.hook import Basic, Hmac, Token
from gofer.values.errors import BadRequest, ConfigError, RefusalCode
from gofer.values.secret import Secret

Proof: TypeAlias = Callable[[RawRequest, float], None]
"""Verifies the sender of a request at a time in unix seconds. Raises BadRequest(401) otherwise."""

WINDOW = 300
"""The seconds for which a signature with a time is valid."""
SIGNATURES = 20
"""The most signatures of one delivery that are checked. Senders send two during a rotation."""
_ID = re.compile(r"[\x21-\x7e]{1,256}")
_VISIBLE = re.compile(r"[\x21-\x7e]+")
_NUMBER = re.compile(r"[0-9]{1,14}(?:\.[0-9]{1,9})?", re.ASCII)
_LEAST_MS = 100_000_000_000
"""The least number that is a time in milliseconds: a day of 1973. As seconds, it is the year 5138."""
_PLACEHOLDER = re.compile(rb"\{([^{}]*)\}")
_ITEM = r"(?:^|(?<=[,; ])){}([^,; ]+)"
"""An item of a header that is a list, after its prefix."""
_BASIC = re.compile(r"basic +([A-Za-z0-9+/=]{1,4000})", re.ASCII | re.IGNORECASE)
_BEARER = re.compile(r"bearer +([\x21-\x7e]+)", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True)
class StandardProof:
    """The proof of Standard Webhooks."""

    secrets: Sequence[Secret]
    _keys: tuple[bytes, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_keys", tuple(standard_key(secret) for secret in self.secrets))

    def __call__(self, request: RawRequest, now: float) -> None:
        """Check the proof of a request. Raises BadRequest(401)."""
        delivery = standard_header(request, "id")
        timestamp = standard_header(request, "timestamp")
        if not _ID.fullmatch(delivery):
            raise BadRequest(401, "The header webhook-id is missing or malformed.", code="delivery_id_missing")
        _check_time(timestamp, now, "webhook-timestamp")
        signatures = standard_header(request, "signature")
        given = signatures.split(" ")[:SIGNATURES]
        for key in self._keys:
            good = _bytes(standard_signature(key, delivery, timestamp, request.body))
            if any(hmac.compare_digest(good, _bytes(one)) for one in given):
                return
        message = "None of the signatures in webhook-signature matches."
        raise BadRequest(401, message, code=_missing_or_wrong(signatures))


@dataclass(frozen=True)
class HmacProof:
    """The proof by a signature in a header, in the form that the workflow file describes."""

    form: Hmac
    secrets: Sequence[Secret]
    _keys: tuple[bytes, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_keys", tuple(_hmac_key(secret, self.form.secret) for secret in self.secrets))

    def __call__(self, request: RawRequest, now: float) -> None:
        """Check the proof of a request. Raises BadRequest(401)."""
        form = self.form
        if form.timestamp_header or form.timestamp_prefix:
            _check_time(_timestamp(form, request), now, form.timestamp_header or form.header)
        if self._signing_key(request) is None:
            given = "".join(_items(request.header(form.header) or "", form.prefix))
            code: RefusalCode = _missing_or_wrong(given)
            if code == "signature_missing":
                raise BadRequest(401, f"The header {form.header} is missing or malformed.", code=code)
            raise BadRequest(401, f"The signature in {form.header} does not match.", code=code)

    def signed_like(self, request: RawRequest, text: str) -> str:
        """Return the hex signature of a text by the key that signed a verified request."""
        return hmac.new(self._signing_key(request) or b"", text.encode(), self.form.algorithm).hexdigest()

    def _signing_key(self, request: RawRequest) -> bytes | None:
        """Return the key of one of the signatures; None if no signature matches."""
        form = self.form
        given = [_normal(item, form) for item in _items(request.header(form.header) or "", form.prefix)]
        base = signed_text(form, request)
        if base is None:
            return None
        for key in self._keys:
            good = _normal(_encoded(hmac.new(key, base, form.algorithm).digest(), form.encoding), form)
            if any(hmac.compare_digest(good, one) for one in given):
                return key
        return None


@dataclass(frozen=True, slots=True)
class BearerProof:
    """The proof by the secret itself."""

    secrets: Sequence[Secret]

    def __post_init__(self) -> None:
        if not all(_VISIBLE.fullmatch(secret.reveal()) for secret in self.secrets):
            raise ConfigError(
                "A bearer secret of a webhook contains a character that a header cannot carry; create another."
            )

    def __call__(self, request: RawRequest, now: float) -> None:
        """Check the proof of a request. Raises BadRequest(401)."""
        token = _bytes(bearer_token(request))
        if not any(hmac.compare_digest(_bytes(secret.reveal()), token) for secret in self.secrets):
            raise BadRequest(401, "The bearer token is not the secret of this hook.", code="token_wrong")


@dataclass(frozen=True, slots=True)
class TokenProof:
    """The proof by the secret itself, in a header that the workflow file names."""

    form: Token
    secrets: Sequence[Secret]

    def __call__(self, request: RawRequest, now: float) -> None:
        """Check the proof of a request. Raises BadRequest(401)."""
        header = self.form.header
        given = request.header(header) or ""
        if not given.startswith(self.form.prefix) or given == self.form.prefix:
            raise BadRequest(401, f"The header {header} is missing or malformed.", code="token_missing")
        token = _bytes(given.removeprefix(self.form.prefix))
        if not any(hmac.compare_digest(_bytes(secret.reveal()), token) for secret in self.secrets):
            raise BadRequest(401, f"The token in {header} is not the secret of this hook.", code="token_wrong")


@dataclass(frozen=True, slots=True)
class BasicProof:
    """The proof by a password, in the form of HTTP Basic authentication."""

    form: Basic
    secrets: Sequence[Secret]

    def __call__(self, request: RawRequest, now: float) -> None:
        """Check the proof of a request. Raises BadRequest(401)."""
        given = _credentials(request.header("authorization") or "")
        user, _, password = given.partition(b":")
        known_user = not self.form.user or hmac.compare_digest(user, _bytes(self.form.user))
        known_password = any(hmac.compare_digest(_bytes(secret.reveal()), password) for secret in self.secrets)
        if not (known_user and known_password):
            message = "The header Authorization is not `Basic` with the user and the secret of this hook."
            raise BadRequest(401, message, code="password_wrong")


def _credentials(header: str) -> bytes:
    """Return the user and the password in a header, joined by a colon; empty if it has another form."""
    found = _BASIC.fullmatch(header)
    if found is None:
        return b""
    try:
        return base64.b64decode(found[1], validate=True)
    except binascii.Error:
        return b""


def standard_header(request: RawRequest, part: str) -> str:
    """Return a header of Standard Webhooks, which Svix sends under its own name; empty if it is missing or repeated."""
    return request.header(f"webhook-{part}") or request.header(f"svix-{part}") or ""


def bearer_token(request: RawRequest) -> str:
    """Return the token after `Bearer` in the Authorization header, which must not repeat. Raises BadRequest(401)."""
    found = _BEARER.fullmatch(request.header("authorization") or "")
    if found is None:
        message = "The header Authorization is missing or is not `Bearer` and one token."
        raise BadRequest(401, message, code="token_missing")
    return found[1]


def standard_key(secret: Secret) -> bytes:
    """Return the key of Standard Webhooks: the base64 text after `whsec_`, or the text itself. Raises ConfigError."""
    value = secret.reveal()
    if not value.startswith("whsec_"):
        return _bytes(value)
    try:
        key = base64.b64decode(value.removeprefix("whsec_"), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if not key:
        raise ConfigError("A webhook secret begins with whsec_, but the rest of it is not base64; copy it again.")
    return key


def standard_signature(key: bytes, delivery: str, timestamp: str, body: bytes) -> str:
    """Return the signature of Standard Webhooks: `v1,` and the HMAC-SHA256 of `{id}.{timestamp}.{body}` in base64."""
    base = f"{delivery}.{timestamp}.".encode() + body
    return "v1," + base64.b64encode(hmac.new(key, base, hashlib.sha256).digest()).decode()


def signed_text(form: Hmac, request: RawRequest) -> bytes | None:
    """Return the bytes that the sender signs, or None if a header among them is missing or repeated."""
    parts = {b"body": request.body, b"timestamp": _bytes(_timestamp(form, request))}
    text = b""
    literal, *rest = _PLACEHOLDER.split(_bytes(form.template))
    text += literal
    for name, literal in zip(rest[::2], rest[1::2], strict=True):
        part = parts.get(name)
        if part is None:
            value = request.header(name.decode().lower())
            if value is None:
                return None
            part = _bytes(value)
        text += part + literal
    return text


def _timestamp(form: Hmac, request: RawRequest) -> str:
    """Return the signed time as the sender writes it; empty if it is missing or repeated."""
    value = request.header(form.timestamp_header or form.header) or ""
    if not form.timestamp_prefix:
        return value
    times = _items(value, form.timestamp_prefix)
    if len(times) != 1:
        return ""
    return times[0]


def _items(value: str, prefix: str) -> Sequence[str]:
    """Return the items of a header that have a prefix, without it. The header may be a single item."""
    return re.findall(_ITEM.format(re.escape(prefix)), value)[:SIGNATURES]


def _normal(signature: str, form: Hmac) -> bytes:
    """Return a signature in the one of its spellings that is compared."""
    if form.encoding == "hex":
        return _bytes(signature.lower())
    return _bytes(signature.replace("-", "+").replace("_", "/").rstrip("="))


def _encoded(digest: bytes, encoding: str) -> str:
    if encoding == "hex":
        return digest.hex()
    return base64.b64encode(digest).decode()


def _hmac_key(secret: Secret, encoding: str) -> bytes:
    """Return the key that a secret stands for. Raises ConfigError."""
    value = secret.reveal()
    try:
        match encoding:
            case "base64":
                key = base64.b64decode(value, validate=True)
            case "hex":
                key = bytes.fromhex(value)
            case _:
                key = _bytes(value)
    except ValueError:
        key = b""
    if not key:
        raise ConfigError(f"A webhook secret is not {encoding}, as its workflow file says; copy it again.")
    return key


def _check_time(timestamp: str, now: float, header: str) -> None:
    seconds = _unix_seconds(timestamp)
    if seconds is None:
        message = f"The header {header} has no time in seconds, milliseconds or the form 2026-12-01T09:00:00Z."
        raise BadRequest(401, message, code="timestamp_missing")
    check_window(int(seconds), now, WINDOW, "The signature")


def _unix_seconds(text: str) -> float | None:
    """Return a time as senders write it: unix seconds or milliseconds, or an ISO time, by default in UTC."""
    if _NUMBER.fullmatch(text):
        seconds = float(text)
        if seconds >= _LEAST_MS:
            return seconds / 1000
        return seconds
    try:
        time = datetime.fromisoformat(text)
        if time.tzinfo is None:
            time = time.replace(tzinfo=UTC)
        return time.timestamp()
    except (ValueError, OverflowError):
        return None


def _missing_or_wrong(given: str | None) -> RefusalCode:
    """Return the code for a signature that does not match. A repeated header counts as missing."""
    if given:
        return "signature_mismatch"
    return "signature_missing"


def _bytes(text: str) -> bytes:
    return text.encode(errors="surrogatepass")
