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
from typing import TypeAlias

from gofer.sources.receiver import RawRequest, check_window
from gofer.sources.webhook.hook import Hmac
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
_SECONDS = re.compile(r"[0-9]{1,12}", re.ASCII)
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
        delivery = request.header("webhook-id") or ""
        timestamp = request.header("webhook-timestamp") or ""
        if not _ID.fullmatch(delivery):
            raise BadRequest(401, "The header webhook-id is missing or malformed.", code="delivery_id_missing")
        _check_time(timestamp, now, "webhook-timestamp")
        given = (request.header("webhook-signature") or "").split(" ")[:SIGNATURES]
        for key in self._keys:
            good = _bytes(standard_signature(key, delivery, timestamp, request.body))
            if any(hmac.compare_digest(good, _bytes(one)) for one in given):
                return
        message = "None of the signatures in webhook-signature matches."
        raise BadRequest(401, message, code=_missing_or_wrong(request.header("webhook-signature")))


@dataclass(frozen=True, slots=True)
class HmacProof:
    """The proof by a signature in a header, in the form that the workflow file describes."""

    form: Hmac
    secrets: Sequence[Secret]

    def __call__(self, request: RawRequest, now: float) -> None:
        """Check the proof of a request. Raises BadRequest(401)."""
        form = self.form
        timestamp = ""
        if form.timestamp_header:
            timestamp = request.header(form.timestamp_header) or ""
            _check_time(timestamp, now, form.timestamp_header)
        given = request.header(form.header) or ""
        if not given.startswith(form.prefix):
            raise BadRequest(401, f"The header {form.header} is missing or malformed.", code="signature_missing")
        given = given.removeprefix(form.prefix)
        presented = _bytes(given.lower() if form.encoding == "hex" else given)
        if not any(
            hmac.compare_digest(_bytes(hmac_signature(form, s, timestamp, request.body)), presented)
            for s in self.secrets
        ):
            raise BadRequest(401, f"The signature in {form.header} does not match.", code=_missing_or_wrong(given))


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


def hmac_signature(form: Hmac, secret: Secret, timestamp: str, body: bytes) -> str:
    """Return the expected signature in a header, without its prefix."""
    before, _, after = (_bytes(part) for part in form.template.partition("{body}"))
    at = timestamp.encode()
    base = before.replace(b"{timestamp}", at) + body + after.replace(b"{timestamp}", at)
    digest = hmac.new(_bytes(secret.reveal()), base, form.algorithm)
    if form.encoding == "hex":
        return digest.hexdigest()
    return base64.b64encode(digest.digest()).decode()


def _check_time(timestamp: str, now: float, header: str) -> None:
    if not _SECONDS.fullmatch(timestamp):
        message = f"The header {header} is missing or is not unix seconds."
        raise BadRequest(401, message, code="timestamp_missing")
    check_window(int(timestamp), now, WINDOW, "The signature")


def _missing_or_wrong(given: str | None) -> RefusalCode:
    """Return the code for a signature that does not match. A repeated header counts as missing."""
    if given:
        return "signature_mismatch"
    return "signature_missing"


def _bytes(text: str) -> bytes:
    return text.encode(errors="surrogatepass")
