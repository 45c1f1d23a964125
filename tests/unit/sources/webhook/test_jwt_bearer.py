"""JWTs of webhooks: accepted from the right issuer for this audience while valid; forged ones are refused."""

import base64
import hashlib
import hmac
import json
from collections.abc import Mapping

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from hypothesis import given
from hypothesis import strategies as st
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

from gofer.sources.webhook.hook import Jwt
from gofer.sources.webhook.jwt_bearer import JwtProof
from gofer.values.errors import BadRequest, ConfigError
from gofer.values.secret import Secret
from support.sources.webhook_calls import SECRET, Reception, bearing, hook, post
from support.stand_ins import NOON

pytestmark = pytest.mark.anyio

RSA = rsa.generate_private_key(public_exponent=65537, key_size=2048)
OTHER = rsa.generate_private_key(public_exponent=65537, key_size=2048)
EC = ec.generate_private_key(ec.SECP256R1())
RSA_JWK = {**json.loads(RSAAlgorithm.to_jwk(RSA.public_key())), "kid": "r1", "use": "sig"}
EC_JWK = {**json.loads(ECAlgorithm.to_jwk(EC.public_key())), "kid": "e1"}
ISSUER, AUDIENCE = "https://login.example.com/", "gofer"
CLAIMS = {"iss": ISSUER, "aud": AUDIENCE, "exp": NOON + 600, "nbf": NOON - 5, "sub": "hr"}
FORM = Jwt(ISSUER, AUDIENCE, ("RS256", "ES256"), (RSA_JWK, EC_JWK))
PUBLIC = JwtProof(FORM, [])
SHARED = JwtProof(Jwt(ISSUER, AUDIENCE, ("HS256",)), [Secret(SECRET)])


def lets_in(proof: JwtProof, token: str, now: float = NOON) -> bool:
    try:
        proof(post(b"", bearing(token)), now)
    except BadRequest as error:
        if error.status == 401:
            return False
        raise
    return True


def rs256(claims: Mapping[str, object] = CLAIMS, key: rsa.RSAPrivateKey = RSA, **header: object) -> str:
    return jwt.encode(dict(claims), key, "RS256", headers={"kid": "r1", **header})


def part(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


def test_jwt_of_each_listed_algorithm_is_accepted() -> None:
    assert lets_in(PUBLIC, rs256())
    assert lets_in(PUBLIC, jwt.encode(CLAIMS, RSA, "RS256"))
    assert lets_in(PUBLIC, jwt.encode(CLAIMS, EC, "ES256", headers={"kid": "e1"}))
    assert lets_in(PUBLIC, rs256({**CLAIMS, "aud": ["others", AUDIENCE]}))
    assert lets_in(SHARED, jwt.encode(CLAIMS, SECRET, "HS256"))


@pytest.mark.parametrize(
    "changed",
    [
        {"iss": "https://login.example.org/"},
        {"iss": None},
        {"aud": "others"},
        {"aud": ["others"]},
        {"aud": None},
        {"exp": None},
        {"exp": NOON - 61},
        {"exp": "2030-01-01"},
        {"exp": True},
        {"exp": float("inf")},
        {"exp": 10**400},
        {"nbf": NOON + 61},
        {"nbf": "never"},
    ],
)
def test_jwt_with_a_wrong_claim_is_refused(changed: Mapping[str, object]) -> None:
    claims = {name: value for name, value in {**CLAIMS, **changed}.items() if value is not None}
    payload = f"{part({'alg': 'HS256'})}.{part(claims)}"
    digest = hmac.new(SECRET.encode(), payload.encode(), hashlib.sha256).digest()
    token = f"{payload}.{base64.urlsafe_b64encode(digest).rstrip(b'=').decode()}"
    assert not lets_in(SHARED, token)


def test_jwt_times_have_a_minute_of_leeway() -> None:
    token = rs256()
    assert [lets_in(PUBLIC, token, NOON + late) for late in (-66, -64, 659, 661)] == [False, True, True, False]


def test_jwt_without_an_algorithm_or_with_a_confused_key_is_refused() -> None:
    payload = part(CLAIMS)
    assert not lets_in(PUBLIC, f"{part({'alg': 'none'})}.{payload}.")
    assert not lets_in(SHARED, f"{part({'alg': 'none'})}.{payload}.")
    # The public key used as a shared secret.
    for known in (
        RSA.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo),
        RSA.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo),
    ):
        signed = f"{part({'alg': 'HS256', 'kid': 'r1'})}.{payload}"
        mac = base64.urlsafe_b64encode(hmac.new(known, signed.encode(), hashlib.sha256).digest()).rstrip(b"=").decode()
        assert not lets_in(PUBLIC, f"{signed}.{mac}")
    # A key inside the token, and a key at an address in the token.
    own = json.loads(RSAAlgorithm.to_jwk(OTHER.public_key()))
    assert not lets_in(PUBLIC, rs256(key=OTHER, jwk=own, jku="http://127.0.0.1/keys"))
    assert not lets_in(PUBLIC, rs256(key=OTHER))
    assert not lets_in(PUBLIC, rs256(kid="unknown"))


def test_jwt_of_an_unlisted_algorithm_is_refused() -> None:
    only = JwtProof(Jwt(ISSUER, AUDIENCE, ("ES256",), (RSA_JWK, EC_JWK)), [])
    assert not lets_in(only, rs256())
    assert not lets_in(PUBLIC, jwt.encode(CLAIMS, RSA, "RS512", headers={"kid": "r1"}))
    assert not lets_in(PUBLIC, jwt.encode(CLAIMS, RSA, "PS256", headers={"kid": "r1"}))


def test_jwt_with_a_changed_payload_or_missing_signature_is_refused() -> None:
    header, payload, signature = rs256().split(".")
    assert not lets_in(PUBLIC, f"{header}.{part({**CLAIMS, 'sub': 'boss'})}.{signature}")
    assert not lets_in(PUBLIC, f"{header}.{payload}.")
    assert not lets_in(PUBLIC, f"{header}.{payload}")


def test_jwt_keys_of_a_rotation_are_both_accepted() -> None:
    other = {**json.loads(RSAAlgorithm.to_jwk(OTHER.public_key())), "kid": "r2"}
    both = JwtProof(Jwt(ISSUER, AUDIENCE, ("RS256",), (RSA_JWK, other)), [])
    assert lets_in(both, rs256())
    assert lets_in(both, rs256(key=OTHER, kid="r2"))
    shared = JwtProof(Jwt(ISSUER, AUDIENCE, ("HS256",)), [Secret("x" * 32), Secret(SECRET)])
    assert lets_in(shared, jwt.encode(CLAIMS, SECRET, "HS256"))


SMALL = json.loads(RSAAlgorithm.to_jwk(rsa.generate_private_key(public_exponent=65537, key_size=1024).public_key()))
WIDE = json.loads(ECAlgorithm.to_jwk(ec.generate_private_key(ec.SECP384R1()).public_key()))


@pytest.mark.parametrize(
    "key",
    [
        {},
        {"kty": "RSA"},
        {"kty": "oct", "k": part("a secret that stands in a file")},
        SMALL,
        WIDE,
        json.loads(RSAAlgorithm.to_jwk(RSA)),
        {**RSA_JWK, "n": 5},
        {"kty": ["RSA"]},
    ],
)
def test_jwt_keys_that_cannot_be_used_are_refused_at_the_start(key: Mapping[str, object]) -> None:
    with pytest.raises(ConfigError, match="public key"):
        JwtProof(Jwt(ISSUER, AUDIENCE, ("RS256", "ES256"), (key,)), [])


def test_jwt_hook_without_a_key_for_a_listed_algorithm_is_refused_at_the_start() -> None:
    with pytest.raises(ConfigError, match="There is no key"):
        JwtProof(Jwt(ISSUER, AUDIENCE, ("ES256",), (RSA_JWK,)), [])
    with pytest.raises(ConfigError, match="shorter than 32"):
        JwtProof(Jwt(ISSUER, AUDIENCE, ("HS256",)), [Secret("short")])


PIECES = st.binary(max_size=40).map(lambda raw: base64.urlsafe_b64encode(raw).decode()) | st.sampled_from(
    [
        *(part({"alg": "RS256"}), part({"alg": ["RS256"]}), part({"alg": "RS256", "crit": ["exp"]}), part(CLAIMS)),
        *(part([]), part(None), part({"alg": "HS256", "b64": False}), part({"alg": None, "kid": 5}), "", "é"),
        "[" * 3000,
    ]
)


@given(st.lists(PIECES, max_size=5), st.text(max_size=3))
def test_jwt_of_any_form_is_refused_without_an_exception(pieces: list[str], end: str) -> None:
    assert not lets_in(PUBLIC, ".".join(pieces) + end)
    assert not lets_in(SHARED, ".".join(pieces) + end)


async def test_webhook_accepts_jwts_of_the_configured_issuer() -> None:
    made = Reception([hook(FORM)], JwtProof)
    assert await made.send(b"{}", bearing(rs256())) == 200
    assert await made.send(b"{}", bearing(rs256({**CLAIMS, "aud": "others"}))) == 401
    assert await made.send(b"{}", bearing("x" * 20_000)) == 401
