"""The tests of an address that senders make before their first delivery, and the answers.

Most tests carry no proof of their sender. An answer to such a test only repeats a short word without any sign that has
a meaning in HTML, JSON or headers. It stores nothing, and it signs nothing: a signed answer needs a signed test.
"""

import hmac
import json
import re
from collections.abc import Mapping, Sequence
from urllib.parse import parse_qs

from gofer.sources.receiver import Handshake, RawRequest
from gofer.values.canonical_json import as_object
from gofer.values.secret import Secret

BODY = 1_000
"""The most bytes of a body that may be a test. Longer bodies are not examined before they are verified."""
QUERY = 2_000
"""The most characters of a query string that may be a test."""
JSON = "application/json"
_WORD = re.compile(r"[\w .~+/=:;-]{1,500}", re.ASCII)
_CHALLENGE = re.compile(rb'\s*\{\s*"challenge"\s*:\s*"([\w.~+/=-]{1,500})"\s*\}\s*', re.ASCII)
_TOKEN = re.compile(r"[\w-]{1,200}", re.ASCII)
"""The word that Zoom wants signed. It cannot be the signed text of a delivery, which contains colons."""
_TWITCH = "twitch-eventsub-message-type"


def unproven_handshake(request: RawRequest, secrets: Sequence[Secret]) -> Handshake | None:
    """Return the answer to a test that carries no proof; None for any other request."""
    if len(request.query) > QUERY or len(request.body) > BODY:
        return None
    match request.method:
        case "HEAD":
            return Handshake("")
        case "GET":
            return _of_get(request, secrets)
        case "POST":
            return _of_post(request)
        case _:
            return None


def proven_handshake(request: RawRequest, value: object) -> Handshake | None:
    """Return the answer to a verified test that wants its word back; None for a delivery."""
    fields = as_object(value)
    word = _word(fields.get("challenge"))
    if word and (fields.get("type") == "url_verification" or request.header(_TWITCH)):
        return Handshake(word)
    return None


def word_to_sign(value: object) -> str:
    """Return the word of Zoom's test, whose answer is signed; empty for any other body."""
    fields = as_object(value)
    word = as_object(fields.get("payload")).get("plainToken")
    if fields.get("event") == "endpoint.url_validation" and isinstance(word, str) and _TOKEN.fullmatch(word):
        return word
    return ""


def signed_word(word: str, signature: str) -> Handshake:
    """Return the answer to Zoom's test."""
    return Handshake(json.dumps({"plainToken": word, "encryptedToken": signature}), JSON)


def _of_get(request: RawRequest, secrets: Sequence[Secret]) -> Handshake | None:
    # Okta puts its word into a header.
    if word := _word(request.header("x-okta-verification-challenge")):
        return Handshake(json.dumps({"verification": word}), JSON)
    asked = _parameters(request.query)
    if asked.get("hub.mode") == "subscribe" and _is_secret(asked.get("hub.verify_token", ""), secrets):
        return _echo(asked.get("hub.challenge"))
    if list(asked) == ["challenge"]:
        return _echo(asked["challenge"])
    return None


def _of_post(request: RawRequest) -> Handshake | None:
    # Asana offers the secret with which it will sign, and shows it to the person who creates the webhook.
    offered = _word(request.header("x-hook-secret"))
    if offered and request.header("x-hook-signature") is None:
        return Handshake("", headers=(("X-Hook-Secret", offered),))
    if found := _CHALLENGE.fullmatch(request.body):
        return Handshake(json.dumps({"challenge": found[1].decode()}), JSON)
    # Microsoft Graph sends its word without a body.
    if not request.body.strip():
        return _echo(_parameters(request.query).get("validationToken"))
    return None


def _parameters(query: str) -> Mapping[str, str]:
    """Return the parameters of a query string that occur once."""
    try:
        found = parse_qs(query, max_num_fields=20)
    except ValueError:
        return {}
    return {name: values[0] for name, values in found.items() if len(values) == 1}


def _word(value: object) -> str:
    if isinstance(value, str) and _WORD.fullmatch(value):
        return value
    return ""


def _echo(value: str | None) -> Handshake | None:
    if word := _word(value):
        return Handshake(word)
    return None


def _is_secret(text: str, secrets: Sequence[Secret]) -> bool:
    given = text.encode(errors="surrogatepass")
    return any(hmac.compare_digest(secret.reveal().encode(), given) for secret in secrets)
