"""Failures of model providers: their classes, what a run does about each, and the texts for operator and colleague."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from gofer.models.language_model import DEPLOYED, Access, Refused, Unavailable, Unusable
from gofer.values.canonical_json import as_list, as_object, as_text, decode
from gofer.values.errors import BadRequest
from gofer.values.messages import FailureClass, ProviderError

Reaction = Literal["again", "wait", "next", "elsewhere", "end"]
"""The reaction to a failure: the same request at once, the same request later, the next model of the role, the next
model at another endpoint, or the end of the run."""


@dataclass(frozen=True, slots=True)
class Rule:
    """The treatment of one class of failures."""

    reaction: Reaction
    reason: str
    """The text for the operator: what happened. The provider's status, code, type and parameter follow it."""
    remedy: str
    """The text for the operator: what to do once the run has ended. A run that waits needs no remedy. `{key}` and
    `{url}` are the settings with the key and the base URL of the endpoint."""
    plain_reason: str
    """The text for the colleague who waits for the answer; `{owner}` is the owner of the workflow."""


RULES: Mapping[FailureClass, Rule] = {
    "bad_sample": Rule(
        "again",
        "The model's provider could not read the call that its model wrote",
        "ask again, or use a model that is better at calling tools",
        "The model wrote a call that cannot be read. Please ask again, and tell {owner} if that does not help.",
    ),
    # Waiting does not help, because a person has to pay. Another model of the role may cost less or nothing.
    "no_credit": Rule(
        "next",
        "The account at the model's provider has no credit or no quota left",
        "add credit or raise the limit at the provider",
        "The account for the language model has no credit or quota left. Please tell {owner}.",
    ),
    # The provider rejected the contents. A run must not try models until one has a weaker filter.
    "filtered": Rule(
        "end",
        "The content filter of the model's provider refused the request",
        "ask in other words, or change the filter at the provider",
        "The content filter of the model's provider stopped this. Please ask in other words.",
    ),
    "too_large": Rule(
        "next",
        "The request is larger than the model accepts",
        "write the tokens that it takes as `window` of this model in agents/defaults.yaml",
        "This is more text than the model takes. Please ask about less at a time, or tell {owner}.",
    ),
    "roles": Rule(
        "next",
        "The model's template refuses two messages of one role in a row",
        "write `alternate_roles: true` for this model in agents/defaults.yaml",
        "The language model refuses the form of a conversation with me. Please tell {owner}.",
    ),
    "unknown_model": Rule(
        "next",
        "The model's provider does not have this model, or not for this key",
        "check the model's name in the workflow file and in defaults.yaml",
        "The language model of this workflow does not exist at its provider. Please tell {owner}.",
    ),
    "unknown_parameter": Rule(
        "next",
        "The model does not take a parameter of the request",
        "check `model` of the workflow file",
        "The language model does not accept a setting of this workflow. Please tell {owner}.",
    ),
    # All models of an endpoint share its key.
    "wrong_key": Rule(
        "elsewhere",
        "The model's provider does not accept the API key",
        "check {key}",
        "The language model does not accept my access. Please tell {owner}.",
    ),
    "no_endpoint": Rule(
        "again",
        "The server that answered is no endpoint of a model",
        "check {url}, which usually ends in /v1",
        "I cannot reach the language model. Please tell {owner}.",
    ),
    "busy": Rule(
        "wait",
        "The model's provider is busy or failing",
        "check the provider's status page",
        "The language model is not available. Please ask again later, and tell {owner} if that does not help.",
    ),
    "unreachable": Rule(
        "wait",
        "The model could not be reached",
        "check the provider's status page",
        "The language model cannot be reached. Please ask again later, and tell {owner} if that does not help.",
    ),
    # The offline model says so. A run must not end as done with an answer that follows from nothing.
    "no_script": Rule(
        "end",
        "The script that plays the model here has no answer that fits this conversation",
        "set OPENAI_API_KEY for a real model, or write a script for it",
        "A script plays the language model here, and it has no answer that fits. With OPENAI_API_KEY set, a real model "
        "answers.",
    ),
    "refused": Rule(
        "next",
        "The model's provider refused the request",
        "check `model` and the tools of the workflow file",
        "The language model did not accept the request. Please tell {owner}.",
    ),
}


@dataclass(frozen=True, slots=True)
class Sign:
    """A sign of a class of failures. All its conditions must hold; an empty condition always holds."""

    failure: FailureClass
    status: str = ""
    """Pattern of the whole HTTP status."""
    word: str = ""
    """Pattern of a whole code, type or status word."""
    text: str = ""
    """Pattern of a part of the provider's message."""
    parameter: str = ""
    """Pattern of the whole parameter."""

    def fits(self, error: ProviderError, words: tuple[str, ...]) -> bool:
        """Return whether a failure has this sign; `words` are its codes, types and status words."""
        return (
            _fits(self.status, str(error.status))
            and (not self.word or any(_fits(self.word, word) for word in words))
            and (not self.parameter or _fits(self.parameter, error.parameter))
            and bool(re.search(self.text, error.message, re.IGNORECASE))
        )


NOT_JSON = "not_json"
"""The word for a body that is no JSON object, which no endpoint of a model sends."""
SIGNS: tuple[Sign, ...] = (
    Sign("no_script", word="no_script"),
    # Templates of models on llama.cpp (HTTP 500) and vLLM (HTTP 400), and Mistral's own API.
    Sign("roles", word="invalid_request_message_order"),
    Sign("roles", text=r"roles must alternate|unexpected role '\w+' after role"),
    # The template of a model fails at the same request again, although llama.cpp says HTTP 500.
    Sign("refused", text="jinja exception|raise_exception"),
    # Codes of the vendors, with any status.
    Sign("bad_sample", word="tool_use_failed|output_parse_failed|json_validate_failed"),
    Sign("bad_sample", text="error parsing tool call|failed to call a function"),
    Sign("busy", word="in_flight_budget_exhausted"),
    Sign(
        "no_credit",
        word="insufficient_(quota|credits|balance|funds)|billing_(error|hard_limit_reached|not_active)"
        "|credit_balance_too_low|payment_required|access_terminated",
    ),
    Sign("no_credit", status="402"),
    Sign("no_credit", status="40[03]", text="credit balance|insufficient (balance|credit|quota)|api usage limits"),
    Sign(
        "filtered",
        word=r"content_filter|\w+_policy(_violation)?|responsibleaipolicyviolation|moderation_blocked"
        "|data_inspection_failed|prohibited_content",
    ),
    Sign("filtered", status="40[03]", text="content management policy|content exists risk|was flagged|moderation"),
    Sign("unknown_parameter", status="400|422", parameter="(tools|functions|tool_choice|response_format).*"),
    Sign("too_large", word="context_length_exceeded|request_too_large|tokens_limit_reached|exceed_context_size_error"),
    Sign("too_large", status="413"),
    Sign("too_large", status="429", text="^request too large"),
    Sign(
        "too_large",
        status="40[03]|422",
        text="context.?(length|window|size)|too (long|large|many tokens)|maximum context|token count .* exceeds",
    ),
    Sign("wrong_key", word="invalid_api_key|authentication_error|api_key_invalid|invalid_authentication"),
    Sign("wrong_key", status="401"),
    Sign("wrong_key", status="400", text="api.?key"),
    Sign("no_endpoint", status="40[0345]|422", word=NOT_JSON),
    Sign(
        "unknown_model",
        word="model_not_found|model_not_available|model_decommissioned|model_not_supported|deploymentnotfound"
        "|operationnotsupported|notfounderror|not_found_error",
    ),
    Sign("unknown_model", status="40[034]|422", parameter="model"),
    Sign(
        "unknown_model",
        status="40[034]|422",
        text="not a valid model|no endpoints found|model .*(not|n't) (found|exist)|access to model",
    ),
    Sign("unknown_model", status="404", text="model"),
    Sign("wrong_key", status="403"),
    Sign(
        "unknown_parameter",
        word="unsupported_(parameter|value)|unknown_parameter|unrecognized_request_argument|extra_forbidden",
    ),
    Sign("unknown_parameter", status="400|422", parameter=".+"),
    Sign(
        "unknown_parameter",
        status="400|422",
        text="does not support|is unsupported|not supported|unknown name|extra (fields|inputs)|unrecognized",
    ),
    Sign("busy", status="408|409|425|429|5.."),
    Sign("no_endpoint", status="[123]..|404|405"),
    Sign("refused"),
)
"""The signs in order; the first that fits decides."""


def class_of(error: ProviderError, words: tuple[str, ...]) -> FailureClass:
    """Return the class of a failure; `words` are all its codes, types and status words."""
    return next(sign.failure for sign in SIGNS if sign.fits(error, words))


def reason_of(error: ProviderError, at: Access = DEPLOYED) -> str:
    """Return one sentence for the operator: what happened, what the provider named, and what to do."""
    remedy = RULES[error.failure].remedy.format(key=at.key_setting, url=at.url_setting)
    return f"{_facts_of(error)}; {remedy}."


def _facts_of(error: ProviderError) -> str:
    named = {"HTTP": error.status, "code": error.code, "type": error.type, "parameter": error.parameter}
    facts = ", ".join(f"{name} {value}" for name, value in named.items() if value)
    return f"{RULES[error.failure].reason}{facts and f' ({facts})'}"


def end_of(error: Exception) -> str:
    """Return the reason of a run that a failure of its last model ended, with the remedy."""
    provider_error = provider_error_of(error)
    if not isinstance(error, Unavailable) or provider_error is None:
        return str(error)
    return f"{str(error).rstrip('.')}; {RULES[provider_error.failure].remedy}."


def plain_reason_of(error: ProviderError, owner: str) -> str:
    """Return the text for a colleague; it does not name the provider."""
    return RULES[error.failure].plain_reason.format(owner=owner)


def failed(
    error: ProviderError, at: Access = DEPLOYED, *, retry_after: float = 0.0
) -> Unavailable | Unusable | Refused:
    """Return the error to raise for a failure of an endpoint."""
    match RULES[error.failure].reaction:
        case "again":
            return Unusable(reason_of(error, at), error)
        case "wait":
            return Unavailable(f"{_facts_of(error)}.", error, retry_after=retry_after)
        case "next" | "elsewhere" | "end" as then:
            return Refused(reason_of(error, at), error, final=then == "end", elsewhere=then == "elsewhere")


def provider_error_of(error: Exception) -> ProviderError | None:
    """Return the provider's error behind an exception; None if no provider sent one."""
    match error:
        case Unavailable() | Unusable() | Refused():
            return error.provider_error
        case _:
            return None


def said_by(error: Exception) -> str:
    """Return why a model gave no answer, with the words of its provider; these may hold contents."""
    provider_error = provider_error_of(error)
    if provider_error is None or not provider_error.message:
        return str(error)
    return f"{error} The provider says: {provider_error.message}"


def _fits(pattern: str, text: str) -> bool:
    return not pattern or re.fullmatch(pattern, text, re.IGNORECASE) is not None


MESSAGE_LIMIT = 500
"""Characters of a provider's message that are kept."""
READ_LIMIT = 1_000_000
"""Bytes of an error body that are read."""
_SCANNED = 4_000
"""Characters of a provider's message that decide its class."""
# Logs and lists must hold no contents, so a word that does not look like an identifier is left out.
_WORD = re.compile(r"[A-Za-z0-9_.\-\[\]/]{1,64}")
_CREDENTIAL = re.compile(
    r"(?i:bearer)\s+\S+|\b(?:sk|pk|rk|gsk|xai|hf|key|org|proj|r8|nvapi|tgp)[-_][A-Za-z0-9*_\-]{4,}|\bAIza[\w\-]{10,}"
    r"|\beyJ[\w\-]+\.[\w\-.]+|[A-Za-z0-9+/]{40,}={0,2}|\b[0-9a-fA-F]{32,}\b"
)


def provider_error(status: int, raw: bytes, key: str = "") -> ProviderError:
    """Return the classified error in a response; `key` is the credential that must not be kept."""
    try:
        body = decode(raw[:READ_LIMIT])
    except BadRequest:
        return _unstructured(status, raw[:READ_LIMIT].decode(errors="replace"), key)
    return error_in(body, status, key) or _unstructured(status, "", key)


def error_in(body: object, status: int, key: str = "") -> ProviderError | None:
    """Return the error in a JSON body; None if there is none. Some servers send an error with status 200."""
    # Gemini's compatible endpoint sends a list of one.
    first = next(iter(as_list(body)), body)
    error = _error_object(as_object(first))
    if not error or (status < 400 and not as_object(first).get("error")):
        return None
    nested = _nested(error)
    words = (*_words(error), *_words(nested))
    found = ProviderError(
        "refused",
        _status(status, error),
        code=_word(nested.get("code")) or _word(error.get("code")),
        type=_word(nested.get("type")) or _word(error.get("type")) or _word(error.get("status")),
        parameter=_word(nested.get("param")) or _word(error.get("param")),
        message=(as_text(nested.get("message")) or _message(error))[:_SCANNED],
    )
    return _redacted(replace(found, failure=class_of(found, words)), key)


def _error_object(body: Mapping[str, object]) -> Mapping[str, object]:
    """Return the object that describes the error: the value of `error` if there is one, or the body itself."""
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
    """Return the error of a provider behind a router; OpenRouter passes it on as text."""
    raw = as_text(as_object(error.get("metadata")).get("raw"))
    if not raw:
        return {}
    try:
        return _error_object(as_object(decode(raw.encode()))) or {"message": raw}
    except BadRequest:
        return {"message": raw}


def _words(error: Mapping[str, object]) -> tuple[str, ...]:
    """Return all codes, types and status words of an error and its details."""
    details = [as_object(detail).get("reason") for detail in as_list(error.get("details"))]
    inner = as_object(error.get("innererror")).get("code")
    return tuple(filter(None, map(_word, (error.get("code"), error.get("type"), error.get("status"), inner, *details))))


def _word(value: object) -> str:
    """Return a value that is an identifier; empty for other values, which may be contents, and for numeric statuses."""
    text = as_text(value)
    if not _WORD.fullmatch(text) or text.isdigit() or _CREDENTIAL.search(text):
        return ""
    return text


def _message(error: Mapping[str, object]) -> str:
    return as_text(error.get("message")) or as_text(error.get("detail"))


def _status(status: int, error: Mapping[str, object]) -> int:
    """Return the HTTP status of a failure; for an error in a successful response, the status that the error names."""
    if status >= 400:
        return status
    typed = _STATUSES.get(as_text(error.get("type")))
    named = (error.get("code"), error.get("status_code"), error.get("status"), typed)
    return next((value for value in named if isinstance(value, int) and 400 <= value <= 599), 500)


_STATUSES = {"invalid_request_error": 400, "permission_error": 403}
"""The status of a type of error, by which its class is found. Source: `anthropic` 2.14.0, errors by status."""


def _unstructured(status: int, text: str, key: str) -> ProviderError:
    message = text[:_SCANNED].strip()
    if "<" in text:
        # A page of HTML says nothing about the request.
        message = ""
    error = ProviderError("refused", status, message=message)
    return _redacted(replace(error, failure=class_of(error, (NOT_JSON,))), key)


def _redacted(error: ProviderError, key: str) -> ProviderError:
    message = error.message
    if key:
        message = message.replace(key, "[redacted]")
    return replace(error, message=_CREDENTIAL.sub("[redacted]", message)[:MESSAGE_LIMIT])
