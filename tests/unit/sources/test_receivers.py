"""Any request to any receiver: used, ignored or refused; without proof, no entry is stored."""

import asyncio
import json
import logging
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import replace
from itertools import cycle, product
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.sources.receiver import RawRequest
from gofer.sources.receivers import PATHS as DOORS
from support.property_examples import examples
from support.sources.every_delivery import (
    ALLOWED,
    EVENTS,
    GARBAGE,
    MEDIA,
    ODD,
    PRESS,
    PROOFS,
    AllReceivers,
    changed,
    delivery,
    headers_of,
    path_of,
    places,
    put,
    without_proof,
)

PATHS = sorted(PROOFS)
LOOP = asyncio.new_event_loop()
"""One event loop for all requests: a new loop takes longer than an answer."""
TOLD = (200, 400, 409)
"""The statuses for senders with a valid proof."""


@pytest.fixture(autouse=True)
def quiet(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Check that no request leaves a line in Gofer's log at any level."""
    with caplog.at_level(logging.DEBUG):
        yield
    assert [record.getMessage() for record in caplog.records if record.name.startswith("gofer")] == []


@pytest.fixture(autouse=True, scope="module")
def loop_ends() -> Iterator[None]:
    yield
    LOOP.close()


def deliver(all_receivers: AllReceivers, request: RawRequest) -> int:
    return LOOP.run_until_complete(all_receivers.deliver(request))


def both_ways(request: RawRequest) -> int:
    """Send a delivery without and with its proof and return the status of the one with proof."""
    all_receivers = AllReceivers()
    refused = deliver(all_receivers, without_proof(request))
    assert (refused in (401, 413), all_receivers.store.asked) == (True, []), refused
    return deliver(all_receivers, request)


@pytest.mark.parametrize("event", EVENTS, ids=lambda path: path.stem)
def test_receivers_accept_recorded_payloads_only_with_their_signature(event: Path) -> None:
    assert both_ways(delivery(path_of(event), event.read_bytes(), *headers_of(event))) == 200


@pytest.mark.parametrize("event", EVENTS, ids=lambda path: path.stem)
@examples(0.5)
@given(data=st.data())
def test_receivers_answer_any_changed_payload_without_an_error(event: Path, data: st.DataObject) -> None:
    payload = data.draw(changed(json.loads(event.read_text())))
    request = delivery(path_of(event), json.dumps(payload).encode(), *headers_of(event))
    assert both_ways(request) in TOLD


@pytest.mark.parametrize("event", EVENTS, ids=lambda path: path.stem)
def test_receivers_answer_payloads_with_any_field_replaced(event: Path) -> None:
    payload, all_receivers = json.loads(event.read_text()), AllReceivers()
    for at in places(payload):
        for odd in (None, True, 0, -1, 10**400, 1.5, "", "\ud800", "\x00", [], {}, [[]], {"": {}}, [None]):
            body = json.dumps(put(payload, at, odd)).encode()
            assert deliver(all_receivers, delivery(path_of(event), body, *headers_of(event))) in TOLD, (at, odd)


@given(data=st.data())
def test_receivers_answer_any_changed_button_press_without_an_error(data: st.DataObject) -> None:
    text = json.dumps(data.draw(changed(PRESS)))
    body = data.draw(st.sampled_from([text, "payload=" + quote(text)])).encode()
    assert both_ways(delivery("/slack/interactivity", body)) in TOLD


@pytest.mark.parametrize("path", PATHS)
@given(body=ODD.map(lambda value: json.dumps(value).encode()) | st.binary(), media=st.sampled_from(MEDIA))
def test_receivers_answer_any_signed_body_without_an_error(path: str, body: bytes, media: str) -> None:
    more = [("Content-Type", media), ("X-GitHub-Event", "push"), ("X-Call", media)]
    assert both_ways(delivery(path, body, *more)) in TOLD


GITHUB_KINDS = ("issues", "ping", "\xff", "")


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("garbage", GARBAGE)
def test_receivers_answer_signed_garbage_without_an_error(path: str, garbage: str) -> None:
    # Only the GitHub receiver reads the event header of GitHub.
    all_kinds = (
        product(MEDIA, GITHUB_KINDS) if path == DOORS["github"] else zip(MEDIA, cycle(GITHUB_KINDS), strict=False)
    )
    for media, kind in all_kinds:
        more = [("Content-Type", media), ("X-GitHub-Event", kind), ("X-Call", "1")]
        status = deliver(AllReceivers(), delivery(path, GARBAGE[garbage], *more))
        assert status in ((413,) if garbage == "too large" else TOLD), (media, kind)


@pytest.mark.parametrize("event", EVENTS, ids=lambda path: path.stem)
def test_receivers_refuse_a_payload_in_base64(event: Path) -> None:
    assert both_ways(delivery(path_of(event), b64encode(event.read_bytes()), *headers_of(event))) == 400


@pytest.mark.parametrize("path", PATHS)
def test_receivers_ignore_header_case_and_refuse_repeated_proof_headers(path: str) -> None:
    request = delivery(path, b"{}", ("X-GitHub-Event", "push"), ("x-call", "1"))
    taken = deliver(AllReceivers(), request)
    for spelled in (str.lower, str.upper, str.title, str.swapcase):
        headers = [(spelled(name), value) for name, value in request.headers]
        assert deliver(AllReceivers(), replace(request, headers=headers)) == taken
    for twice in PROOFS[path](b"{}"):
        for second in (twice, (twice[0].swapcase(), twice[1]), (twice[0], "")):
            all_receivers = AllReceivers()
            assert deliver(all_receivers, replace(request, headers=[second, *request.headers])) == 401
            assert all_receivers.store.asked == []


HEADER = st.text(st.characters(max_codepoint=255)) | st.sampled_from(
    [
        "v0=" + "0" * 64,
        "sha256=" + "\xb2" * 64,
        "v1," * 30,
        "Bearer " + "x." * 50,
        "Bearer e30.e30.e30",
        "9" * 12,
        "٣" * 4,
    ]
)


@pytest.mark.parametrize("path", PATHS)
@given(data=st.data(), body=st.binary(max_size=50) | st.sampled_from(list(GARBAGE.values())))
def test_receivers_refuse_missing_and_changed_proof_headers(path: str, data: st.DataObject, body: bytes) -> None:
    all_receivers, headers = AllReceivers(), PROOFS[path](body)
    at = data.draw(st.integers(0, len(headers) - 1))
    value = data.draw(HEADER.filter(lambda text: text != headers[at][1]))
    headers[at : at + 1] = data.draw(st.sampled_from([[], [(headers[at][0], value)]]))
    request = RawRequest("POST", path, headers, body)
    assert deliver(all_receivers, request) in (401, 413)
    assert all_receivers.store.asked == []


@pytest.mark.parametrize("path", PATHS)
def test_receivers_refuse_the_signature_of_another_body(path: str) -> None:
    all_receivers, request = AllReceivers(), delivery(path, b'{"id": "1"}', ("X-Call", "1"))
    status = deliver(all_receivers, replace(request, body=b'{"id": "2"}'))
    # A bearer token proves the sender and not the body.
    assert status == (200 if request.headers[0][0] == "Authorization" else 401)
    assert bool(all_receivers.store.asked) == (status == 200)


def tricks(path: str) -> list[str]:
    """Return paths that look like the path of a receiver."""
    return [
        f"{path}/",
        f"/{path}",
        f"{path}/..",
        f"/x/..{path}",
        f"{path}/../{path}",
        path.upper(),
        path.replace("/", "%2f"),
        path.replace("/", "\\"),
        f"{path}%00",
        f"{path}\x00",
        f"{path}?x",
        f"{path}#x",
        f"{path};x",
        f" {path}",
        f"{path}\ud800",
        path * 1_000,
        path[:-1],
    ]


@pytest.mark.parametrize("path", PATHS)
def test_receivers_answer_404_for_paths_that_only_resemble_theirs(path: str) -> None:
    all_receivers, request = AllReceivers(), delivery(path, b"{}")
    for trick in [
        *tricks(path),
        "",
        "/",
        "/hooks",
        "/hooks/",
        "/hooks/../x",
        "/hooks/nobody",
        "*",
        "http://x/hooks/keyed",
    ]:
        assert deliver(all_receivers, replace(request, path=trick)) == 404, trick
    assert all_receivers.store.asked == []


@given(path=st.text() | st.sampled_from(PATHS), method=st.text() | st.sampled_from(["GET", "PUT", "HEAD", "post"]))
def test_receivers_accept_deliveries_only_by_post_and_webhooks_answer_head(path: str, method: str) -> None:
    all_receivers = AllReceivers()
    status = deliver(all_receivers, RawRequest(method, path, PROOFS.get(path, PROOFS[PATHS[0]])(b"{}"), b"{}"))
    expected = 404
    if path in PATHS:
        expected = 405
    if path.startswith("/hooks/") and path in PATHS and method == "HEAD":
        expected = 200
    assert status == expected or method == "POST"
    assert status in ALLOWED
    assert method == "POST" or all_receivers.store.asked == []


def test_receivers_answer_409_for_another_body_under_the_same_key() -> None:
    all_receivers = AllReceivers()
    for body, status in ((b'{"id": 1}', 200), (b'{"id": 1}', 200), (b'{"id": 1, "x": 2}', 409), (b"{}", 400)):
        assert deliver(all_receivers, delivery("/hooks/keyed", body)) == status
