"""No word survives a redaction, in any encoding; equal words stay equal and different words stay different."""

import base64
import html
import json
from collections.abc import Callable, Mapping
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.evals.goldens.pseudonyms import Pseudonyms
from gofer.evals.goldens.redaction import Redaction, customer_words, sensitive_in, texts_in
from gofer.evals.goldens.sensitive_forms import Sensitive
from gofer.values.errors import ConfigError

SECRETS = {
    "e-mail": "zora.quimby@vexatious-corp.com",
    "telephone": "+49 170 5551 2345",
    "slack token": "xoxb-1234567890-AbCdEfGhIjKl",
    "github token": "ghp_AbCdEfGhIjKlMnOpQrStUvWx",
    "aws key": "AKIAIOSFODNN7EXAMPLE",
    "jwt": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcDEF123",
    "iban": "DE89 3704 0044 0532 0130 00",
    "card": "4111 1111 1111 1111",
    "ipv4": "203.0.113.77",
    "ipv6": "2001:db8:85a3:8d3:1319:8a2e:370:7348",
    "slack id": "U02ABCDE9",
    "uuid": "0d1f6a52-1111-4000-8000-0000000ac3e0",
    "account": "557058:0d1f6a52-1111-4000-8000-0000000ac3e0",
    "password": "password: hunter2hunter2",
}


def redaction(*words: str, found_in: object = None) -> Redaction:
    return Redaction([*customer_words(words), *sensitive_in(found_in)], Pseudonyms(b"salt"))


@pytest.mark.parametrize("kind", SECRETS)
def test_word_of_a_sensitive_form_is_replaced(kind: str) -> None:
    text = f"Ask ({SECRETS[kind]}), then go on."
    made = redaction(found_in=text)
    redacted = made.text(text)
    assert made.words, kind
    assert not [word for word in made.words if word in redacted.lower()]
    assert redacted.startswith("Ask (")
    assert redacted.endswith("), then go on.")
    assert len(redacted) == len(text)


def test_company_is_replaced_in_hosts_and_in_words() -> None:
    text = "See https://acmeware.slack.com/archives and wiki.acmeware.com; Acmeware pays. Mail a@acmeware.com."
    redacted = redaction(found_in=text).text(text)
    assert "acmeware" not in redacted.lower()
    assert ".slack.com/archives" in redacted


def test_reserved_hosts_and_vendors_stay() -> None:
    text = "https://api.github.com, www.example.com, someone@example.com, https://docs.python.org"
    redacted = redaction(found_in=text).text(text)
    assert redacted.startswith("https://api.github.com, www.example.com, ")
    assert redacted.endswith("@example.com, https://docs.python.org")


def test_times_and_numbers_of_messages_stay() -> None:
    text = "ts 1795440194.479500, link p1795392794417400, 2026-11-23T13:23:15.653Z, #41, OPS-12, version 2026.47"
    assert redaction(found_in=text).text(text) == text


ENCODERS: Mapping[str, Callable[[str], str]] = {
    "plain": str,
    "upper": str.upper,
    "json": json.dumps,
    "json in json": lambda text: json.dumps(json.dumps(text)),
    "url": quote,
    "url with plus": quote_plus,
    "url without slashes": lambda text: quote(text, safe=""),
    "html": html.escape,
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
    "url-safe base64": lambda text: base64.urlsafe_b64encode(text.encode()).decode().rstrip("="),
    "json in base64": lambda text: base64.b64encode(json.dumps({"a": text}).encode()).decode(),
}


@pytest.mark.parametrize("encoding", ENCODERS)
@pytest.mark.parametrize("word", ["Quorblex", "Zoë Quorblex", "Müller & Söhne", "山田太郎", "Жданова"])
def test_word_is_replaced_in_each_encoding(encoding: str, word: str) -> None:
    encode = ENCODERS[encoding]
    made = redaction(word)
    text = f"before {encode(f'x {word} y')} after"
    redacted = made.text(text)
    for other in ENCODERS.values():
        assert other(word).strip('"') not in redacted
    assert redacted.startswith("before ")
    assert redacted.endswith(" after")
    if encoding.endswith("base64"):
        inner = redacted.removeprefix("before ").removesuffix(" after")
        decoded = base64.urlsafe_b64decode(inner.replace("+", "-").replace("/", "_") + "==").decode()
        assert word not in decoded
        assert made.text(decoded) == decoded


LETTERS = st.text("abcdefgxyzäöß", min_size=5, max_size=12)


@given(words=st.lists(LETTERS, min_size=1, max_size=5, unique=True), around=st.lists(LETTERS, max_size=5))
def test_no_word_survives_and_redaction_is_idempotent(words: list[str], around: list[str]) -> None:
    made = redaction(*words)
    value = {"text": " ".join([*words, *around]), "list": [word.upper() for word in words], "".join(words): 1}
    redacted = made.value(value)
    for text in texts_in(redacted):
        assert not [word for word in words if word in text.lower()]
    assert made.value(redacted) == redacted


@given(words=st.lists(st.text("abcdefgxyz", min_size=6, max_size=9), min_size=2, max_size=6, unique=True))
def test_equal_words_stay_equal_and_different_words_stay_different(words: list[str]) -> None:
    made = redaction(*words)
    redacted = [made.text(f"<{word}>") for word in words]
    assert [made.text(f"<{word}>") for word in words] == redacted
    assert len(set(redacted)) == len(words)


def test_short_name_is_replaced_only_as_a_word() -> None:
    made = Redaction([Sensitive("Al", "name", "word")], Pseudonyms(b"salt"))
    assert made.text("also al_so AL-so") != "also al_so AL-so"
    assert made.text("also al_so").startswith("also al_so")


def test_name_is_replaced_with_each_separator() -> None:
    made = Redaction([Sensitive("Ada Quimby", "name", "code")], Pseudonyms(b"salt"))
    redacted = made.text("Ada Quimby, ada.quimby, ada_quimby, ADA-QUIMBY, Ada\nQuimby")
    assert "quimby" not in redacted.lower()
    assert len({part.lower().replace("_", ".").replace("-", ".") for part in redacted.split(", ")[1:4]}) == 1


def test_word_found_as_a_name_and_as_an_id_keeps_the_form_of_the_id() -> None:
    words = [Sensitive("U0CAPTN0", "name", "word"), Sensitive("U0CAPTN0", "code", "code")]
    for order in (words, words[::-1]):
        assert Redaction(order, Pseudonyms(b"2")).text("<@U0CAPTN0>").startswith("<@U")


def test_numbers_in_json_are_replaced_as_numbers() -> None:
    made = redaction("123456789")
    redacted = made.value({"customer": 123456789, "ok": True, "count": 12})
    assert isinstance(redacted, dict)
    assert redacted["customer"] != 123456789
    assert isinstance(redacted["customer"], int)
    assert redacted["ok"] is True
    assert redacted["count"] == 12


def test_too_short_word_is_refused() -> None:
    with pytest.raises(ConfigError, match="three characters"):
        redaction("ab")
