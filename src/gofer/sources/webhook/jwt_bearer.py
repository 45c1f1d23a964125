"""The verification of calls with a JWT: the issuer signed the token for this hook, and the token has not expired.

Each key works with exactly one algorithm, so a public key can never serve as a shared secret, and `none` is never
accepted. Gofer reads the keys when it starts and fetches none. Importing this module takes about 100 ms, so receivers
without such a hook must not import it.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import jwt
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

from gofer.sources.receiver import RawRequest
from gofer.sources.webhook.hook import Jwt
from gofer.sources.webhook.proofs import bearer_token
from gofer.values.errors import BadRequest, ConfigError, RefusalCode
from gofer.values.secret import Secret

RSA_BITS = 2048
"""The fewest bits of an RSA key."""
SECRET_BYTES = 32
"""The fewest bytes of a secret for HS256."""
TOKEN_LIMIT = 16_000
"""The most characters of a token."""
_JWT = re.compile(r"[\w-]+\.[\w-]+\.[\w-]+", re.ASCII)
"""A token alone. Some senders leave `Bearer` out."""
_ALGORITHMS = {"RSA": "RS256", "EC": "ES256"}
"""Algorithms by the type of the key."""
# This module checks the times itself, with the clock that is passed in.
_OPTIONS: Mapping[str, Any] = {"verify_exp": False, "verify_nbf": False, "verify_iat": False, "require": ["exp"]}


@dataclass(frozen=True, slots=True)
class _Key:
    id: str
    algorithm: str
    value: Any


@dataclass(frozen=True)
class JwtProof:
    """The proof of a token by one issuer for one audience. The constructor raises ConfigError for unusable keys."""

    form: Jwt
    secrets: Sequence[Secret]
    _keys: tuple[_Key, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        shared = "HS256" in self.form.algorithms
        keys = [_shared(one) for one in self.secrets] if shared else [_public(one) for one in self.form.keys]
        usable = tuple(key for key in keys if key.algorithm in self.form.algorithms)
        if not usable:
            raise ConfigError(f"There is no key for the tokens of {self.form.issuer}; add its public keys to `jwks`.")
        object.__setattr__(self, "_keys", usable)

    def __call__(self, request: RawRequest, now: float) -> None:
        """Verify the token of a request. Raises BadRequest(401)."""
        bare = request.header("authorization") or ""
        if _JWT.fullmatch(bare):
            self.claims(bare, now)
        else:
            self.claims(bearer_token(request), now)

    def claims(self, token: str, now: float) -> Mapping[str, object]:
        """Return the claims of a token after it is verified. Raises BadRequest(401)."""
        if len(token) > TOKEN_LIMIT:
            raise BadRequest(401, "The token is too long.", code="jwt_too_long")
        claims = self._claims(token)
        expires = _seconds(claims.get("exp"))
        begins = _seconds(claims.get("nbf", 0))
        if expires is None or begins is None:
            raise BadRequest(401, "A time in the token is not a number of seconds.", code="jwt_malformed_time")
        if expires + self.form.leeway <= now:
            raise BadRequest(401, "The token has expired.", code="jwt_expired")
        if begins - self.form.leeway > now:
            raise BadRequest(401, "The token is not valid yet.", code="jwt_not_yet")
        return claims

    def _claims(self, token: str) -> Mapping[str, object]:
        """Return the claims of a token that one of the keys signed. Raises BadRequest(401)."""
        candidates = self._candidates(token)
        if not candidates:
            raise _unproved("jwt_unknown_key")
        code: RefusalCode = "jwt_signature"
        for key in candidates:
            try:
                return self._decode(token, key)
            except (jwt.PyJWTError, ValueError, TypeError, RecursionError) as error:
                # An error after a valid signature tells more than the mismatch of another key.
                found = _code(error)
                if found != "jwt_signature":
                    code = found
        raise _unproved(code)

    def _decode(self, token: str, key: _Key) -> Mapping[str, object]:
        return jwt.decode(
            token,
            key.value,
            algorithms=[key.algorithm],
            audience=self.form.audience,
            issuer=self.form.issuer or None,
            options=cast(Any, _OPTIONS),
        )

    def _candidates(self, token: str) -> list[_Key]:
        """Return the keys that may have signed a token, according to its header, which is not verified yet."""
        try:
            header = jwt.get_unverified_header(token)
        except (jwt.PyJWTError, ValueError, TypeError, RecursionError) as error:
            raise _unproved("jwt_malformed") from error
        algorithm = header.get("alg")
        name = header.get("kid")
        return [key for key in self._keys if key.algorithm == algorithm and (not key.id or name in (None, key.id))]


def _unproved(code: RefusalCode) -> BadRequest:
    """Return the error for an unverified token. Senders always get the same sentence; the log has the code."""
    return BadRequest(401, "The token is not one that its issuer signed for this hook.", code=code)


def _code(error: Exception) -> RefusalCode:
    """Return the reason why a token does not decode. The library checks claims only after a valid signature."""
    match error:
        case jwt.InvalidSignatureError():
            return "jwt_signature"
        case jwt.InvalidIssuerError():
            return "jwt_issuer"
        case jwt.InvalidAudienceError():
            return "jwt_audience"
        case jwt.MissingRequiredClaimError(claim="iss"):
            return "jwt_issuer"
        case jwt.MissingRequiredClaimError(claim="aud"):
            return "jwt_audience"
        case jwt.MissingRequiredClaimError():
            return "jwt_without_expiry"
        case _:
            return "jwt_malformed"


def _shared(secret: Secret) -> _Key:
    value = secret.reveal().encode(errors="surrogatepass")
    if len(value) < SECRET_BYTES:
        raise ConfigError(f"A webhook secret for HS256 is shorter than {SECRET_BYTES} bytes; make a longer one.")
    return _Key("", "HS256", value)


def _public(key: Mapping[str, object]) -> _Key:
    name = str(key.get("kid") or "")
    shown = name[:40] or "without kid"
    try:
        value = jwt.PyJWK(dict(key), algorithm=_ALGORITHMS[str(key.get("kty"))]).key
    except (jwt.PyJWTError, KeyError, ValueError, TypeError) as error:
        raise ConfigError(f"The public key {shown} is not a usable JWK; copy it again from its issuer.") from error
    match value:
        case RSAPublicKey() if value.key_size >= RSA_BITS:
            return _Key(name, "RS256", value)
        case EllipticCurvePublicKey() if isinstance(value.curve, SECP256R1):
            return _Key(name, "ES256", value)
        case _:
            accepted = f"an RSA key of {RSA_BITS} bits or more, or one on P-256"
            raise ConfigError(f"The public key {shown} is not {accepted}; a private key has no place there either.")


def _seconds(value: object) -> float | None:
    """Return a time in a token; None for a value that is not a number of seconds."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        seconds = float(value)
    except OverflowError:
        return None
    if not math.isfinite(seconds):
        return None
    return seconds
