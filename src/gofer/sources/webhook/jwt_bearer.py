"""The proof of calls with a JWT: its issuer signed it for this hook, and its time has not passed.

A key is tried with the one algorithm that is its own, so a public key is never taken for a shared secret, and `none` is
no algorithm. Keys are given when Gofer starts; nothing is fetched. Importing this module costs about 100 ms, which only
a Gofer with such a hook should pay: nothing on ingress' cold path imports it.
"""

import math
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
"""Shorter RSA keys are refused."""
SECRET_BYTES = 32
"""Shorter secrets are refused for HS256."""
TOKEN_LIMIT = 16_000
"""Characters of a token that is looked at."""
_ALGORITHMS = {"RSA": "RS256", "EC": "ES256"}
"""By the kind of a key."""
# The times are ours to check, by the clock that is passed in.
_OPTIONS: Mapping[str, Any] = {"verify_exp": False, "verify_nbf": False, "verify_iat": False, "require": ["exp"]}


@dataclass(frozen=True, slots=True)
class _Key:
    id: str
    algorithm: str
    value: Any


@dataclass(frozen=True)
class JwtProof:
    """A token of one issuer for one audience. Making it raises ConfigError for keys that cannot be used."""

    form: Jwt
    secrets: Sequence[Secret]
    _keys: tuple[_Key, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        shared = "HS256" in self.form.algorithms
        keys = [_shared(one) for one in self.secrets] if shared else [_public(one) for one in self.form.keys]
        usable = tuple(key for key in keys if key.algorithm in self.form.algorithms)
        if not usable:
            raise ConfigError(f"No key is there for the tokens of {self.form.issuer}; add its public keys to `jwks`.")
        object.__setattr__(self, "_keys", usable)

    def __call__(self, request: RawRequest, now: float) -> None:
        """See proofs.Proof."""
        self.claims(bearer_token(request), now)

    def claims(self, token: str, now: float) -> Mapping[str, object]:
        """Return what a token says, once it is proved. Raises BadRequest(401)."""
        if len(token) > TOKEN_LIMIT:
            raise BadRequest(401, "The token is too long.", code="jwt_too_long")
        claims = self._claims(token)
        expires = _seconds(claims.get("exp"))
        begins = _seconds(claims.get("nbf", 0))
        if expires is None or begins is None:
            raise BadRequest(401, "A time in the token is no number of seconds.", code="jwt_malformed_time")
        if expires + self.form.leeway <= now:
            raise BadRequest(401, "The token has expired.", code="jwt_expired")
        if begins - self.form.leeway > now:
            raise BadRequest(401, "The token is not good yet.", code="jwt_not_yet")
        return claims

    def _claims(self, token: str) -> Mapping[str, object]:
        """Return what a token says that one of the keys signed. Raises BadRequest(401)."""
        candidates = self._candidates(token)
        if not candidates:
            raise _unproved("jwt_unknown_key")
        code: RefusalCode = "jwt_signature"
        for key in candidates:
            try:
                return self._decode(token, key)
            except (jwt.PyJWTError, ValueError, TypeError, RecursionError) as error:
                # A token that one of the keys signed says more than that another one did not.
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
            issuer=self.form.issuer,
            options=cast(Any, _OPTIONS),
        )

    def _candidates(self, token: str) -> list[_Key]:
        """Return the keys that may have signed a token, by what its header says; the header itself proves nothing."""
        try:
            header = jwt.get_unverified_header(token)
        except (jwt.PyJWTError, ValueError, TypeError, RecursionError) as error:
            raise _unproved("jwt_malformed") from error
        algorithm = header.get("alg")
        name = header.get("kid")
        return [key for key in self._keys if key.algorithm == algorithm and (not key.id or name in (None, key.id))]


def _unproved(code: RefusalCode) -> BadRequest:
    """Return the one sentence for every sender with a token that proves nothing; the log has the code."""
    return BadRequest(401, "The token is not one that its issuer signed for this hook.", code=code)


def _code(error: Exception) -> RefusalCode:
    """Return why a token does not decode. A claim is only looked at once the signature holds."""
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
        raise ConfigError(
            f"The public key {shown} is no JWK that can be used; copy it again from its issuer."
        ) from error
    match value:
        case RSAPublicKey() if value.key_size >= RSA_BITS:
            return _Key(name, "RS256", value)
        case EllipticCurvePublicKey() if isinstance(value.curve, SECP256R1):
            return _Key(name, "ES256", value)
        case _:
            told = f"an RSA key of {RSA_BITS} bits or more, or one on P-256"
            raise ConfigError(f"The public key {shown} is not {told}; a private key has no place there either.")


def _seconds(value: object) -> float | None:
    """Return a time in a token; None for a value that is no time."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        seconds = float(value)
    except OverflowError:
        return None
    if not math.isfinite(seconds):
        return None
    return seconds
