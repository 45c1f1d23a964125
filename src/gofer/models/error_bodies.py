"""Error bodies of providers, read into one form: OpenAI's, and what compatible servers make of it."""

import re
from collections.abc import Mapping
from dataclasses import replace

from gofer.models.failures import NOT_JSON, class_of
from gofer.values.canonical_json import as_list, as_object, as_text, decode
from gofer.values.errors import BadRequest
from gofer.values.messages import ProviderError

MESSAGE_LIMIT = 500
"""Characters of a provider's message that are kept."""
READ_LIMIT = 1_000_000
"""Bytes of an error body that are looked at."""
_SCANNED = 4_000
"""Characters of a provider's message that decide its class."""
# What stands in logs and lists may hold no contents: a word has the form of an identifier, or is left out.
_WORD = re.compile(r"[A-Za-z0-9_.\-\[\]/]{1,64}")
_CREDENTIAL = re.compile(
    r"(?i:bearer)\s+\S+|\b(?:sk|pk|rk|gsk|xai|hf|key|org|proj|r8|nvapi|tgp)[-_][A-Za-z0-9*_\-]{4,}|\bAIza[\w\-]{10,}"
    r"|\beyJ[\w\-]+\.[\w\-.]+|[A-Za-z0-9+/]{40,}={0,2}|\b[0-9a-fA-F]{32,}\b"
)


def provider_error(status: int, raw: bytes, key: str = "") -> ProviderError:
    """Return what a provider said with an HTTP status, and its class; `key` is the credential that must not be kept."""
    try:
        body = decode(raw[:READ_LIMIT])
    except BadRequest:
        return _plain(status, raw[:READ_LIMIT].decode(errors="replace"), key)
    return error_in(body, status, key) or _plain(status, "", key)


def error_in(body: object, status: int, key: str = "") -> ProviderError | None:
    """Return the error that a JSON body holds; None when it holds none. Some servers send it with status 200."""
    # Gemini's compatible endpoint sends a list of one.
    first = next(iter(as_list(body)), body)
    error = _error_object(as_object(first))
    if not error or (status < 400 and not as_object(first).get("error")):
        return None
    nested = _nested(error)
    words = (*_words(error), *_words(nested))
    said = ProviderError(
        "refused",
        _status(status, error),
        code=_word(nested.get("code")) or _word(error.get("code")),
        type=_word(nested.get("type")) or _word(error.get("type")) or _word(error.get("status")),
        parameter=_word(nested.get("param")) or _word(error.get("param")),
        message=(as_text(nested.get("message")) or _message(error))[:_SCANNED],
    )
    return _kept(replace(said, failure=class_of(said, words)), key)


def _error_object(body: Mapping[str, object]) -> Mapping[str, object]:
    """Return the object that describes the error: under `error`, as text there, or the body itself."""
    error = body.get("error")
    if isinstance(error, str):
        return {"message": error}
    if error:
        return as_object(error)
    if body.get("object") == "error" or body.get("type") == "error" or "detail" in body:
        return body
    if isinstance(body.get("message"), str):
        return body
    return {}


def _nested(error: Mapping[str, object]) -> Mapping[str, object]:
    """Return what a provider behind a router said: OpenRouter hands it on as text."""
    raw = as_text(as_object(error.get("metadata")).get("raw"))
    if not raw:
        return {}
    try:
        return _error_object(as_object(decode(raw.encode()))) or {"message": raw}
    except BadRequest:
        return {"message": raw}


def _words(error: Mapping[str, object]) -> tuple[str, ...]:
    """Return every code, type and status word of an error, those of its details included."""
    details = [as_object(detail).get("reason") for detail in as_list(error.get("details"))]
    inner = as_object(error.get("innererror")).get("code")
    return tuple(filter(None, map(_word, (error.get("code"), error.get("type"), error.get("status"), inner, *details))))


def _word(value: object) -> str:
    """Return an identifier; empty for anything that may be contents. Numbers are statuses, which stand elsewhere."""
    text = as_text(value)
    plain = _WORD.fullmatch(text) and not text.isdigit() and not _CREDENTIAL.search(text)
    return text * bool(plain)


def _message(error: Mapping[str, object]) -> str:
    return as_text(error.get("message")) or as_text(error.get("detail"))


def _status(status: int, error: Mapping[str, object]) -> int:
    """Return the HTTP status of the failure; of an error in a successful response, the one that it names."""
    if status >= 400:
        return status
    named = (error.get("code"), error.get("status_code"), error.get("status"))
    return next((value for value in named if isinstance(value, int) and 400 <= value <= 599), 500)


def _plain(status: int, text: str, key: str) -> ProviderError:
    # A page for people says nothing of the request.
    message = text[:_SCANNED].strip() * ("<" not in text)
    said = ProviderError("refused", status, message=message)
    return _kept(replace(said, failure=class_of(said, (NOT_JSON,))), key)


def _kept(said: ProviderError, key: str) -> ProviderError:
    message = said.message
    if key:
        message = message.replace(key, "[redacted]")
    return replace(said, message=_CREDENTIAL.sub("[redacted]", message)[:MESSAGE_LIMIT])
