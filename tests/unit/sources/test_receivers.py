"""Whatever is sent to whatever path: it is used, ignored or refused, and nothing is stored for who proved nothing."""

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
    Doorstep,
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
"""One for all of them: to make one takes longer than to answer."""
TOLD = (200, 400, 409)
"""What is answered to those who proved who they are."""


@pytest.fixture(autouse=True)
def quiet(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Nothing that is sent is worth a word in the log, at any level."""
    with caplog.at_level(logging.DEBUG):
        yield
    assert [record.getMessage() for record in caplog.records if record.name.startswith("gofer")] == []


@pytest.fixture(autouse=True, scope="module")
def loop_ends() -> Iterator[None]:
    yield
    LOOP.close()


def knock(doorstep: Doorstep, request: RawRequest) -> int:
    return LOOP.run_until_complete(doorstep.knock(request))


def both_ways(request: RawRequest) -> int:
    """Sends a delivery without and with its proof; gives the status of the one with it."""
    doorstep = Doorstep()
    refused = knock(doorstep, without_proof(request))
    assert (refused in (401, 413), doorstep.store.asked) == (True, []), refused
    return knock(doorstep, request)


@pytest.mark.parametrize("event", EVENTS, ids=lambda path: path.stem)
def test_every_recorded_payload_is_taken_under_its_signature_and_not_without(event: Path) -> None:
    assert both_ways(delivery(path_of(event), event.read_bytes(), *headers_of(event))) == 200


@pytest.mark.parametrize("event", EVENTS, ids=lambda path: path.stem)
@examples(0.5)
@given(data=st.data())
def test_no_change_to_a_recorded_payload_is_more_than_a_mistake(event: Path, data: st.DataObject) -> None:
    payload = data.draw(changed(json.loads(event.read_text())))
    request = delivery(path_of(event), json.dumps(payload).encode(), *headers_of(event))
    assert both_ways(request) in TOLD


@pytest.mark.parametrize("event", EVENTS, ids=lambda path: path.stem)
def test_each_field_of_each_recorded_payload_may_be_anything(event: Path) -> None:
    payload, doorstep = json.loads(event.read_text()), Doorstep()
    for at in places(payload):
        for odd in (None, True, 0, -1, 10**400, 1.5, "", "\ud800", "\x00", [], {}, [[]], {"": {}}, [None]):
            body = json.dumps(put(payload, at, odd)).encode()
            assert knock(doorstep, delivery(path_of(event), body, *headers_of(event))) in TOLD, (at, odd)


@given(data=st.data())
def test_no_change_to_the_press_of_a_button_is_more_than_a_mistake(data: st.DataObject) -> None:
    text = json.dumps(data.draw(changed(PRESS)))
    body = data.draw(st.sampled_from([text, "payload=" + quote(text)])).encode()
    assert both_ways(delivery("/slack/interactivity", body)) in TOLD


@pytest.mark.parametrize("path", PATHS)
@given(body=ODD.map(lambda value: json.dumps(value).encode()) | st.binary(), media=st.sampled_from(MEDIA))
def test_no_body_under_a_good_signature_is_more_than_a_mistake(path: str, body: bytes, media: str) -> None:
    more = [("Content-Type", media), ("X-GitHub-Event", "push"), ("X-Call", media)]
    assert both_ways(delivery(path, body, *more)) in TOLD


GITHUB_KINDS = ("issues", "ping", "\xff", "")


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("garbage", GARBAGE)
def test_garbage_under_a_good_signature_is_refused_or_starts_a_webhook(path: str, garbage: str) -> None:
    # Only one of the doors looks at what GitHub calls an event.
    all_kinds = (
        product(MEDIA, GITHUB_KINDS) if path == DOORS["github"] else zip(MEDIA, cycle(GITHUB_KINDS), strict=False)
    )
    for media, kind in all_kinds:
        more = [("Content-Type", media), ("X-GitHub-Event", kind), ("X-Call", "1")]
        status = knock(Doorstep(), delivery(path, GARBAGE[garbage], *more))
        assert status in ((413,) if garbage == "too large" else TOLD), (media, kind)


@pytest.mark.parametrize("event", EVENTS, ids=lambda path: path.stem)
def test_base64_of_a_payload_is_no_payload(event: Path) -> None:
    assert both_ways(delivery(path_of(event), b64encode(event.read_bytes()), *headers_of(event))) == 400


@pytest.mark.parametrize("path", PATHS)
def test_names_of_headers_have_no_case_and_what_proves_something_stands_there_once(path: str) -> None:
    request = delivery(path, b"{}", ("X-GitHub-Event", "push"), ("x-call", "1"))
    taken = knock(Doorstep(), request)
    for spelled in (str.lower, str.upper, str.title, str.swapcase):
        headers = [(spelled(name), value) for name, value in request.headers]
        assert knock(Doorstep(), replace(request, headers=headers)) == taken
    for twice in PROOFS[path](b"{}"):
        for second in (twice, (twice[0].swapcase(), twice[1]), (twice[0], "")):
            doorstep = Doorstep()
            assert knock(doorstep, replace(request, headers=[second, *request.headers])) == 401
            assert doorstep.store.asked == []


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
def test_no_header_but_the_right_one_opens_a_door(path: str, data: st.DataObject, body: bytes) -> None:
    doorstep, headers = Doorstep(), PROOFS[path](body)
    at = data.draw(st.integers(0, len(headers) - 1))
    value = data.draw(HEADER.filter(lambda text: text != headers[at][1]))
    headers[at : at + 1] = data.draw(st.sampled_from([[], [(headers[at][0], value)]]))
    request = RawRequest("POST", path, headers, body)
    assert knock(doorstep, request) in (401, 413)
    assert doorstep.store.asked == []


@pytest.mark.parametrize("path", PATHS)
def test_the_signature_of_another_body_opens_no_door(path: str) -> None:
    doorstep, request = Doorstep(), delivery(path, b'{"id": "1"}', ("X-Call", "1"))
    status = knock(doorstep, replace(request, body=b'{"id": "2"}'))
    # A bearer's token proves the sender and no body.
    assert status == (200 if request.headers[0][0] == "Authorization" else 401)
    assert bool(doorstep.store.asked) == (status == 200)


def tricks(path: str) -> list[str]:
    """Paths that look like one with a door."""
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
def test_a_path_that_is_not_exactly_one_with_a_door_has_nothing_behind_it(path: str) -> None:
    doorstep, request = Doorstep(), delivery(path, b"{}")
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
        assert knock(doorstep, replace(request, path=trick)) == 404, trick
    assert doorstep.store.asked == []


@given(path=st.text() | st.sampled_from(PATHS), method=st.text() | st.sampled_from(["GET", "PUT", "HEAD", "post"]))
def test_no_other_method_is_heard(path: str, method: str) -> None:
    doorstep = Doorstep()
    status = knock(doorstep, RawRequest(method, path, PROOFS.get(path, PROOFS[PATHS[0]])(b"{}"), b"{}"))
    assert status == (405 if path in PATHS else 404) or method == "POST"
    assert status in ALLOWED
    assert method == "POST" or doorstep.store.asked == []


def test_a_call_under_the_key_of_another_body_is_refused() -> None:
    doorstep = Doorstep()
    for body, status in ((b'{"id": 1}', 200), (b'{"id": 1}', 200), (b'{"id": 1, "x": 2}', 409), (b"{}", 400)):
        assert knock(doorstep, delivery("/hooks/keyed", body)) == status
