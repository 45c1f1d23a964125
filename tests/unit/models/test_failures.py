"""Error bodies of providers: their classes, the exceptions they raise, and the messages for people."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.models.failures import MESSAGE_LIMIT, RULES, end_of, failed, plain_reason_of, provider_error, reason_of
from gofer.models.language_model import Refused, Unavailable, Unusable
from gofer.values.messages import FailureClass, ProviderError


def openai(message: str = "m", **fields: object) -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": None, **fields}}


BODIES: list[tuple[int, object, FailureClass]] = [
    (400, openai(code="tool_use_failed", failed_generation="<function=x>"), "bad_sample"),
    (500, {"error": "error parsing tool call: raw='{', err=unexpected end"}, "bad_sample"),
    (429, openai(type="insufficient_quota", code="insufficient_quota"), "no_credit"),
    (402, {"error": {"message": "Insufficient credits.", "code": 402}}, "no_credit"),
    (402, openai("Insufficient Balance", type="unknown_error", code="invalid_request_error"), "no_credit"),
    (
        400,
        {"type": "error", "error": {"type": "invalid_request_error", "message": "Your credit balance is too low"}},
        "no_credit",
    ),
    (
        400,
        openai("The response was filtered", param="prompt", code="content_filter", innererror={"code": "x"}),
        "filtered",
    ),
    (400, openai("blocked", code="400", innererror={"code": "ResponsibleAIPolicyViolation"}), "filtered"),
    (
        403,
        {"error": {"code": 403, "message": "Your input was flagged", "metadata": {"reasons": ["violence"]}}},
        "filtered",
    ),
    (400, openai("Content Exists Risk"), "filtered"),
    (400, openai(code="context_length_exceeded"), "too_large"),
    (
        400,
        {
            "object": "error",
            "message": "This model's maximum context length is 8192 tokens",
            "type": "BadRequestError",
            "code": 400,
        },
        "too_large",
    ),
    (
        413,
        openai("Request too large for model x on tokens per minute (TPM)", type="tokens", code="rate_limit_exceeded"),
        "too_large",
    ),
    (429, openai("Request too large for gpt-4 on tokens per min (TPM): Limit 10000", type="tokens"), "too_large"),
    (
        400,
        [
            {
                "error": {
                    "code": 400,
                    "message": "The input token count (1) exceeds the maximum",
                    "status": "INVALID_ARGUMENT",
                }
            }
        ],
        "too_large",
    ),
    (
        500,
        {
            "error": {
                "code": 500,
                "message": "While executing CallExpression at line 47, column 32 in source:\n^\nError: Jinja "
                "Exception: After the optional system message, conversation roles must alternate user and assistant "
                "roles except for tool calls and results.",
                "type": "server_error",
            }
        },
        "roles",
    ),
    (
        400,
        openai("Conversation roles must alternate user/assistant/user/assistant/...", type="BadRequestError"),
        "roles",
    ),
    (
        400,
        {
            "object": "error",
            "message": "Unexpected role 'user' after role 'tool'",
            "type": "invalid_request_message_order",
            "code": "3230",
        },
        "roles",
    ),
    (500, {"error": {"code": 500, "message": "Error: Jinja Exception: System role not supported"}}, "refused"),
    (404, openai("The model `x` does not exist", code="model_not_found"), "unknown_model"),
    (
        404,
        {"error": {"code": "DeploymentNotFound", "message": "The API deployment for this resource does not exist."}},
        "unknown_model",
    ),
    (
        404,
        {"error": {"message": "model 'x' not found", "type": "api_error", "param": None, "code": None}},
        "unknown_model",
    ),
    (
        404,
        {"object": "error", "message": "The model `x` does not exist.", "type": "NotFoundError", "code": 404},
        "unknown_model",
    ),
    (404, {"error": {"message": "No endpoints found that support tool use.", "code": 404}}, "unknown_model"),
    (400, {"error": {"message": "x is not a valid model ID", "code": 400}}, "unknown_model"),
    (403, openai("Project does not have access to model `x`", code="model_not_found"), "unknown_model"),
    (400, openai("Unsupported value", param="temperature", code="unsupported_value"), "unknown_parameter"),
    (400, openai("Unsupported parameter", param="max_tokens", code="unsupported_parameter"), "unknown_parameter"),
    (400, openai("gemma3 does not support tools", type="api_error"), "unknown_parameter"),
    (400, openai("'messages.2': property 'reasoning_content' is unsupported"), "unknown_parameter"),
    (
        400,
        openai("string too long", param="tools[0].function.name", code="string_above_max_length"),
        "unknown_parameter",
    ),
    (
        400,
        {
            "error": {
                "message": "Provider returned error",
                "code": 400,
                "metadata": {"raw": json.dumps(openai("no", param="input"))},
            }
        },
        "unknown_parameter",
    ),
    (401, openai("Incorrect API key provided: sk-abc***", code="invalid_api_key"), "wrong_key"),
    (401, b"Unauthorized", "wrong_key"),
    (
        400,
        [
            {
                "error": {
                    "code": 400,
                    "message": "no",
                    "status": "INVALID_ARGUMENT",
                    "details": [{"reason": "API_KEY_INVALID"}],
                }
            }
        ],
        "wrong_key",
    ),
    (403, {"type": "error", "error": {"type": "permission_error", "message": "no"}}, "wrong_key"),
    (404, b"<html>nothing here</html>", "no_endpoint"),
    (404, b"", "no_endpoint"),
    (403, b"<html>Sign in</html>", "no_endpoint"),
    (302, b"", "no_endpoint"),
    (404, {"detail": "Not Found"}, "no_endpoint"),
    (404, openai("Invalid URL (POST /chat/completions)"), "no_endpoint"),
    (429, openai("Rate limit reached", type="requests", code="rate_limit_exceeded"), "busy"),
    (
        429,
        [{"error": {"code": 429, "message": "You exceeded your current quota", "status": "RESOURCE_EXHAUSTED"}}],
        "busy",
    ),
    (529, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, "busy"),
    (502, b"<html>Bad gateway</html>", "busy"),
    (408, b"", "busy"),
    (400, openai("Please ensure that the number of function response parts is equal"), "refused"),
    (418, {"error": 7}, "refused"),
]


def read(status: int, body: object) -> ProviderError:
    return provider_error(status, body if isinstance(body, bytes) else json.dumps(body).encode())


@pytest.mark.parametrize(("status", "body", "failure"), BODIES)
def test_provider_error_body_is_classified(status: int, body: object, failure: FailureClass) -> None:
    assert read(status, body).failure == failure


@pytest.mark.parametrize(
    ("failure", "error", "final"),
    [
        ("bad_sample", Unusable, None),
        ("no_endpoint", Unusable, None),
        ("no_credit", Refused, False),
        ("too_large", Refused, False),
        ("unknown_model", Refused, False),
        ("unknown_parameter", Refused, False),
        ("refused", Refused, False),
        ("wrong_key", Refused, False),
        ("filtered", Refused, True),
        ("busy", Unavailable, None),
        ("unreachable", Unavailable, None),
    ],
)
def test_provider_error_class_decides_the_exception(failure: FailureClass, error: type, final: bool | None) -> None:
    raised = failed(ProviderError(failure, 400))
    assert type(raised) is error
    assert getattr(raised, "final", None) is final
    assert getattr(raised, "elsewhere", False) is (failure == "wrong_key")


def test_provider_error_gives_the_operator_details_and_the_colleague_an_owner() -> None:
    said = read(400, openai("Unsupported value: secret", param="temperature", code="unsupported_value"))
    assert reason_of(said) == (
        "The model does not take a parameter of the request (HTTP 400, code unsupported_value, type "
        "invalid_request_error, parameter temperature); check `model` of the workflow file."
    )
    assert plain_reason_of(said, "#dev-experience") == (
        "The language model does not accept a setting of this workflow. Please tell #dev-experience."
    )
    assert (
        plain_reason_of(read(401, b""), "#dev-experience")
        == "The language model does not accept my access. Please tell #dev-experience."
    )


@pytest.mark.parametrize("failure", ["busy", "unreachable"])
def test_transient_provider_failure_names_a_remedy_only_at_the_end_of_the_run(failure: FailureClass) -> None:
    error = failed(ProviderError(failure, 503))
    assert str(error) == f"{RULES[failure].reason} (HTTP 503)."
    assert end_of(error) == f"{RULES[failure].reason} (HTTP 503); check the provider's status page."


@pytest.mark.parametrize("failure", RULES)
def test_colleague_message_contains_no_provider_details(failure: FailureClass) -> None:
    told = plain_reason_of(
        ProviderError(failure, 418, "some_code", "some_type", "some_param", "some message"), "#owner"
    )
    assert not any(word in told for word in ("418", "some_", "some message", "HTTP", "{"))


@pytest.mark.parametrize(
    "secret",
    ["sk-proj-abc123DEF456", "Bearer abc.def", "AIzaSyA1234567890abcdef", "gsk_abcdef123456", "f" * 40, "hunter2-key"],
)
def test_credentials_are_removed_from_provider_messages(secret: str) -> None:
    body = json.dumps(openai(f"Incorrect API key: {secret}. Try again.", code=secret, param=secret)).encode()
    said = provider_error(401, body, key="hunter2-key")
    assert secret not in said.message
    assert said.message.endswith("Try again.")


def test_provider_error_fields_that_are_no_identifiers_are_dropped() -> None:
    said = read(400, openai("so " * 3_000, param="the plan is to fire Kim", code="c" * 65, type="a\nb"))
    assert (said.parameter, said.code, said.type) == ("", "", "")
    assert len(said.message) == MESSAGE_LIMIT


def json_values() -> st.SearchStrategy[object]:
    scalars = st.none() | st.booleans() | st.integers() | st.text(max_size=8)
    names = st.sampled_from(["error", "message", "code", "type", "param", "metadata", "raw", "details", "detail"])
    return st.recursive(
        scalars, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(names, inner, max_size=4), max_leaves=12
    )


@given(st.integers(100, 599), json_values())
def test_any_provider_error_body_has_a_reason_and_a_colleague_message(status: int, body: object) -> None:
    said = read(status, body)
    assert reason_of(said)
    assert plain_reason_of(said, "#owner")


@given(st.integers(100, 599), st.binary(max_size=60))
def test_random_provider_error_bytes_are_classified(status: int, raw: bytes) -> None:
    assert provider_error(status, raw).failure in RULES
