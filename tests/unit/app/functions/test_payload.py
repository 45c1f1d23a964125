"""API Gateway payloads: requests and responses of a function."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.app.functions.payload import read_request, respond, response
from gofer.sources.receiver import RawRequest, Reply


def event(path: str = "/slack/events", *, stage: str = "$default", **fields: object) -> dict[str, object]:
    """An event of an HTTP API, payload format 2.0."""
    return {
        "version": "2.0",
        "routeKey": f"POST {path}",
        "rawPath": path,
        "rawQueryString": "a=1",
        "headers": {"content-type": "application/json", "x-slack-signature": "v0=ab"},
        "requestContext": {"http": {"method": "POST", "path": path}, "stage": stage, "requestId": "r"},
        "body": '{"text":"häu"}',
        "isBase64Encoded": False,
        **fields,
    }


def test_api_gateway_request_keeps_method_path_headers_and_body() -> None:
    request = read_request(event())
    headers = [("content-type", "application/json"), ("x-slack-signature", "v0=ab")]
    assert request == RawRequest("POST", "/slack/events", headers, '{"text":"häu"}'.encode(), "a=1")


def test_base64_body_has_the_signed_bytes() -> None:
    raw = b"payload=%7B%7D\xff"
    request = read_request(event(body=base64.b64encode(raw).decode(), isBase64Encoded=True))
    assert request is not None
    assert request.body == raw


@pytest.mark.parametrize(
    ("path", "stage", "read"),
    [
        ("/slack/events", "$default", "/slack/events"),
        ("/prod/slack/events", "prod", "/slack/events"),
        ("/prod", "prod", "/"),
        ("/production/x", "prod", "/production/x"),
        ("/slack/events", "", "/slack/events"),
    ],
)
def test_api_gateway_stage_is_removed_from_the_path(path: str, stage: str, read: str) -> None:
    request = read_request(event(path, stage=stage))
    assert request is not None
    assert request.path == read


def test_header_names_are_case_insensitive_and_joined_values_stay_joined() -> None:
    request = read_request(event(headers={"X-Slack-Signature": "v0=a,v0=b"}, cookies=["a=1", "b=2"]))
    assert request is not None
    assert request.header("x-slack-signature") == "v0=a,v0=b"
    assert request.header("cookie") == "a=1; b=2"


@pytest.mark.parametrize(
    "bad",
    [
        None,
        [],
        {},
        {"Records": []},
        {**event(), "rawPath": "slack"},
        {**event(), "requestContext": {}},
        {**event(), "body": {"not": "text"}},
        {**event(), "body": "%%%", "isBase64Encoded": True},
    ],
)
def test_malformed_api_gateway_event_is_no_request(bad: object) -> None:
    assert read_request(bad) is None


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


@given(st.dictionaries(st.sampled_from(sorted(event())), json_values))
def test_api_gateway_event_of_any_form_raises_no_error(fields: dict[str, object]) -> None:
    request = read_request({**event(), **fields})
    assert request is None or request.path.startswith("/")


def test_response_carries_text_as_text_and_bytes_as_base64() -> None:
    text = response(Reply(200, "schön".encode()))
    assert text == {
        "statusCode": 200,
        "headers": {"content-type": "text/plain; charset=utf-8"},
        "body": "schön",
        "isBase64Encoded": False,
    }
    raw = response(Reply(200, b"\xff\x00"))
    assert (raw["body"], raw["isBase64Encoded"]) == (base64.b64encode(b"\xff\x00").decode(), True)


def test_response_cookies_are_separate_from_other_headers() -> None:
    answer = respond(303, [("Location", "/runs"), ("set-cookie", "a=1"), ("Set-Cookie", "b=2")], b"")
    assert (answer["headers"], answer["cookies"]) == ({"location": "/runs"}, ["a=1", "b=2"])


def test_headers_of_a_reply_reach_the_gateway() -> None:
    reply = Reply(200, b"", headers=(("X-Hook-Secret", "b537"), ("X-Content-Type-Options", "nosniff")))
    assert response(reply)["headers"] == {
        "content-type": "text/plain; charset=utf-8",
        "x-hook-secret": "b537",
        "x-content-type-options": "nosniff",
    }
