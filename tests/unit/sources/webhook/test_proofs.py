"""Proofs of webhook senders: signed calls are accepted, all others refused without an exception."""

import base64
import hashlib
import hmac

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.sources.receiver import RawRequest
from gofer.sources.webhook.hook import Basic, Hmac, Hook, Token
from gofer.sources.webhook.proofs import (
    SIGNATURES,
    BasicProof,
    BearerProof,
    HmacProof,
    Proof,
    StandardProof,
    TokenProof,
)
from gofer.values.errors import BadRequest, ConfigError
from gofer.values.secret import Secret
from support.sources.webhook_calls import KEY, SECRET, WHSEC, Headers, Reception, bearing, post, signed
from support.stand_ins import NOON

BODY = b'{"id": 7}'


def lets_in(proof: Proof, request: RawRequest, now: float = NOON) -> bool:
    try:
        proof(request, now)
    except BadRequest as error:
        if error.status == 401:
            return False
        raise
    return True


STANDARD = StandardProof([Secret(WHSEC)])


def test_standard_webhook_example_of_the_specification_is_accepted() -> None:
    # Id, time, body and signature from the tests of the reference libraries.
    proof = StandardProof([Secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")])
    headers = [
        ("webhook-id", "msg_p5jXN8AQM9LWM0D4loKWxJek"),
        ("webhook-timestamp", "1614265330"),
        ("webhook-signature", "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="),
    ]
    assert lets_in(proof, post(b'{"test": 2432232314}', headers), 1614265330.0)


@pytest.mark.parametrize(("late", "good"), [(0, True), (300, True), (-300, True), (302, False), (-302, False)])
def test_standard_webhook_signature_is_valid_for_five_minutes(late: int, good: bool) -> None:
    assert lets_in(STANDARD, post(BODY, signed(BODY)), NOON + late) is good


def test_standard_webhook_headers_have_no_case_and_must_not_repeat() -> None:
    headers = signed(BODY)
    assert lets_in(STANDARD, post(BODY, [(name.title(), value) for name, value in headers]))
    for twice in headers:
        assert not lets_in(STANDARD, post(BODY, [*headers, twice]))
        assert not lets_in(STANDARD, post(BODY, [header for header in headers if header != twice]))


def test_standard_webhook_needs_one_match_of_several_signatures_and_secrets() -> None:
    identity, time, (name, good) = signed(BODY)
    old = StandardProof([Secret("the new one"), Secret(WHSEC)])
    assert lets_in(old, post(BODY, [identity, time, (name, f"v1,AAAA v1a,{good} {good}")]))
    assert not lets_in(old, post(BODY, [identity, time, (name, f"{'v1,AAAA ' * SIGNATURES}{good}")]))
    assert not lets_in(old, post(BODY, [identity, time, (name, good.removeprefix("v1,"))]))
    assert not lets_in(old, post(BODY, signed(BODY, key=b"another")))


def test_standard_webhook_secret_without_the_whsec_prefix_is_plain_text() -> None:
    assert lets_in(StandardProof([Secret("plain")]), post(BODY, signed(BODY, key=b"plain")))


@pytest.mark.parametrize("secret", ["open sesame", "öffne"])
def test_bearer_secret_that_no_header_can_carry_is_refused_at_the_start(secret: str) -> None:
    with pytest.raises(ConfigError, match="a header cannot carry"):
        BearerProof([Secret(secret)])


@pytest.mark.parametrize("secret", ["whsec_", "whsec_no base64!", "whsec_abc"])
def test_standard_webhook_secret_with_invalid_base64_is_refused_at_the_start(secret: str) -> None:
    with pytest.raises(ConfigError, match="not base64"):
        StandardProof([Secret(secret)])


FORMS = [
    Hmac("x-signature"),
    Hmac("x-hub-signature-256", prefix="sha256="),
    Hmac("x-signature", encoding="base64", algorithm="sha512"),
    Hmac("x-signature", template="v0:{timestamp}:{body}", timestamp_header="x-time", prefix="v0="),
    Hmac("x-signature", template="{body}.{timestamp}", timestamp_header="x-time", encoding="base64"),
]


def as_the_sender_signs(form: Hmac, body: bytes, secret: str = SECRET, time: str = str(int(NOON))) -> Headers:
    base = form.template.encode().replace(b"{timestamp}", time.encode()).replace(b"{body}", body)
    digest = hmac.new(secret.encode(), base, getattr(hashlib, form.algorithm)).digest()
    word = digest.hex() if form.encoding == "hex" else base64.b64encode(digest).decode()
    return [(form.header, form.prefix + word), *([(form.timestamp_header, time)] if form.timestamp_header else [])]


@pytest.mark.parametrize("form", FORMS)
def test_hmac_of_any_form_is_checked_over_every_byte(form: Hmac) -> None:
    proof = HmacProof(form, [Secret("the new one"), Secret(SECRET)])
    headers = as_the_sender_signs(form, BODY)
    assert lets_in(proof, post(BODY, headers))
    assert not lets_in(proof, post(BODY + b" ", headers))
    assert not lets_in(proof, post(BODY, as_the_sender_signs(form, BODY, "another secret")))
    assert not lets_in(proof, post(BODY, headers[1:]))
    assert not lets_in(proof, post(BODY, [*headers, headers[0]]))
    bare = [(name, value.removeprefix(form.prefix)) for name, value in headers]
    assert lets_in(proof, post(BODY, bare)) is (form.prefix == "")


def test_hmac_signed_time_is_valid_for_five_minutes_and_optional() -> None:
    timed, plain = HmacProof(FORMS[3], [Secret(SECRET)]), HmacProof(FORMS[0], [Secret(SECRET)])
    assert not lets_in(timed, post(BODY, as_the_sender_signs(FORMS[3], BODY)), NOON + 302)
    assert not lets_in(timed, post(BODY, as_the_sender_signs(FORMS[3], BODY, time="soon")))
    assert lets_in(plain, post(BODY, as_the_sender_signs(FORMS[0], BODY)), NOON + 10_000_000)


def test_hmac_hexadecimal_digits_may_be_capitals() -> None:
    (name, value), *_ = as_the_sender_signs(FORMS[0], BODY)
    assert lets_in(HmacProof(FORMS[0], [Secret(SECRET)]), post(BODY, [(name, value.upper())]))


@pytest.mark.parametrize(
    ("headers", "good"),
    [
        (bearing(), False),
        (bearing("sesame"), True),
        (bearing("opensesame"), True),
        ([("AUTHORIZATION", "bearer  sesame")], True),
        (bearing("sesam"), False),
        (bearing(""), False),
        ([("Authorization", "sesame")], False),
        ([("Authorization", "Basic sesame")], False),
        ([*bearing("sesame"), *bearing("sesame")], False),
        ([], False),
    ],
)
def test_bearer_token_must_equal_the_secret(headers: Headers, good: bool) -> None:
    assert lets_in(BearerProof([Secret("sesame"), Secret("opensesame")]), post(BODY, headers)) is good


NAMES = ["webhook-id", "webhook-timestamp", "webhook-signature", "x-signature", "x-time", "authorization", "X-Time"]
WORDS = st.text(max_size=40) | st.sampled_from(
    ["v1,", "Bearer ", "bearer \ud800", "1" * 400, "v1,\xe9", str(int(NOON))]
)


@given(st.lists(st.tuples(st.sampled_from(NAMES), WORDS), max_size=8), st.binary(max_size=60))
def test_proofs_refuse_any_headers_without_the_secret(headers: Headers, body: bytes) -> None:
    secrets = [Secret(SECRET)]
    for proof in (STANDARD, BearerProof(secrets), *(HmacProof(form, secrets) for form in FORMS)):
        assert not lets_in(proof, post(body, headers))


@given(st.binary(max_size=200), st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=256))
def test_proofs_accept_every_correctly_signed_delivery(body: bytes, delivery: str) -> None:
    assert lets_in(STANDARD, post(body, signed(body, delivery)))
    assert not lets_in(STANDARD, post(body, signed(body, delivery, key=KEY + b"x")))
    for form in FORMS:
        assert lets_in(HmacProof(form, [Secret(SECRET)]), post(body, as_the_sender_signs(form, body)))


@pytest.mark.parametrize(
    ("secret", "encoding"), [("no base64!", "base64"), ("", "base64"), ("xyz", "hex"), (" ", "hex")]
)
def test_secret_in_another_encoding_than_the_file_says_is_refused_at_the_start(secret: str, encoding: str) -> None:
    with pytest.raises(ConfigError, match=f"is not {encoding}"):
        HmacProof(Hmac("x-signature", secret=encoding), [Secret(secret)])


@pytest.mark.parametrize(
    ("time", "good"),
    [
        (str(int(NOON)), True),
        (f"{int(NOON)}.25", True),
        (str(int(NOON * 1000)), True),
        ("2026-11-21T12:00:00Z", True),
        ("2026-11-21T13:00:00.123456789+01:00", True),
        ("2026-11-21 12:00:00", True),
        ("2026-11-21T13:00:00Z", False),
        (str(int(NOON * 1000) - 302_000), False),
        ("Sat, 21 Nov 2026 12:00:00 GMT", False),
        ("99999999999999999999", False),
        ("", False),
    ],
)
def test_signed_time_is_read_in_each_form_of_senders(time: str, good: bool) -> None:
    form = Hmac("x-signature", template="{timestamp}.{body}", timestamp_header="x-time")
    assert lets_in(HmacProof(form, [Secret(SECRET)]), post(BODY, as_the_sender_signs(form, BODY, time=time))) is good


@pytest.mark.parametrize("times", ["", f"t={int(NOON)},t={int(NOON)},", "t=,"])
def test_list_of_signatures_needs_exactly_one_time(times: str) -> None:
    form = Hmac("x-signature", "v1=", template="{timestamp}.{body}", timestamp_prefix="t=")
    proof = HmacProof(form, [Secret(SECRET)])
    digest = hmac.new(SECRET.encode(), f"{int(NOON)}.".encode() + BODY, hashlib.sha256).hexdigest()
    assert lets_in(proof, post(BODY, [("x-signature", f"t={int(NOON)}, v1={digest}")]))
    assert not lets_in(proof, post(BODY, [("x-signature", f"{times}v1={digest}")]))


def test_signed_header_must_be_there_once() -> None:
    form = Hmac("x-signature", template="{X-Id}{body}")
    proof = HmacProof(form, [Secret(SECRET)])
    signature = ("x-signature", hmac.new(SECRET.encode(), b"7" + BODY, hashlib.sha256).hexdigest())
    assert lets_in(proof, post(BODY, [signature, ("X-Id", "7")]))
    assert not lets_in(proof, post(b"7" + BODY, [signature]))
    assert not lets_in(proof, post(BODY, [signature, ("X-Id", "7"), ("X-Id", "7")]))
    assert not lets_in(proof, post(BODY, [signature, ("X-Id", "{body}")]))


def basic(text: str) -> Headers:
    return [("Authorization", "Basic " + base64.b64encode(text.encode()).decode())]


@pytest.mark.parametrize(
    ("headers", "any_user", "gofer"),
    [
        (basic(f"gofer:{SECRET}"), True, True),
        (basic(f"other:{SECRET}"), True, False),
        (basic(f":{SECRET}"), True, False),
        (basic(SECRET), False, False),
        (basic("gofer:"), False, False),
        (basic(f"gofer:{SECRET}:"), False, False),
        ([("Authorization", "Basic é")], False, False),
        ([("Authorization", "Basic a")], False, False),
        (bearing(), False, False),
        ([], False, False),
    ],
)
def test_basic_authentication_needs_the_secret_and_the_named_user(
    headers: Headers, any_user: bool, gofer: bool
) -> None:
    secrets = [Secret("the-one-before"), Secret(SECRET)]
    found = [lets_in(BasicProof(form, secrets), post(BODY, headers)) for form in (Basic(), Basic("gofer"))]
    assert found == [any_user, gofer]


@pytest.mark.parametrize("value", ["", "Key=", SECRET, f"Key={SECRET}x", f"key={SECRET}", "Key=é"])
def test_token_of_a_header_must_be_the_secret_after_its_prefix(value: str) -> None:
    proof = TokenProof(Token("x-token", "Key="), [Secret("the-one-before"), Secret(SECRET)])
    assert lets_in(proof, post(BODY, [("X-Token", f"Key={SECRET}")]))
    assert not lets_in(proof, post(BODY, [("X-Token", value)]))
    assert not lets_in(proof, post(BODY, [("X-Token", f"Key={SECRET}")] * 2))


@pytest.mark.anyio
async def test_missing_password_is_asked_for() -> None:
    reception = Reception([Hook("new-hire", Basic(), [Secret(SECRET)])])
    reply = await reception.ingress.receive(post(BODY))
    assert (reply.status, dict(reply.headers)) == (401, {"WWW-Authenticate": 'Basic realm="Gofer"'})
