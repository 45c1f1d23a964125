"""Calls of webhooks: one run per call, however often it is repeated, and an answer for any body."""

import json
from dataclasses import replace
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.journal.entries import RunAccepted
from gofer.journal.log import read_journal
from gofer.runtime.retention import delete
from gofer.sources.receiver import BODY_LIMIT
from gofer.sources.webhook.content import INDENTED
from gofer.sources.webhook.hook import Bearer, Header, Hmac, Hook, Jwt, Pointer, Standard, read_hooks
from gofer.sources.webhook.receiver import KEY_LIMIT, WINDOW, WebhookReceiver, webhook_receivers
from gofer.stores.memory.blobs import MemoryBlobs
from gofer.stores.memory.queue import MemoryQueue
from gofer.stores.one_place import Stores
from gofer.values.errors import BadRequest, ConfigError
from gofer.values.events import Event
from gofer.values.secret import Secret
from support.sources.webhook_calls import SECRET, WHSEC, Headers, Reception, as_json, bearing, hook, post, signed

pytestmark = pytest.mark.anyio


def translated(body: bytes, headers: Headers = (), key: Pointer | Header | None = None) -> Event:
    event = WebhookReceiver(hook(Bearer(), SECRET, key=key), lambda request, now: None).translate(post(body, headers))
    assert isinstance(event, Event)
    return event


JSON = [("content-type", "application/json")]
FORM = [("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")]


async def test_webhook_call_starts_a_run_with_the_body() -> None:
    made = Reception([hook(Standard(), WHSEC)])
    body = as_json(name="Ada", team={"lead": "Grace"})
    assert await made.send(body, [*JSON, *signed(body)]) == 200
    (head,) = await made.store.heads(10)
    (claimed,) = await read_journal(head.run, made.store, MemoryBlobs())
    assert isinstance(claimed.entry, RunAccepted)
    event = claimed.entry.event
    assert event.text == '{\n  "name": "Ada",\n  "team": {\n    "lead": "Grace"\n  }\n}'
    assert (event.kind, event.facts, event.actor.kind) == ("webhook", {"name": "new-hire"}, "bot")


async def test_webhook_id_starts_one_run_and_conflicts_with_another_body() -> None:
    made = Reception([hook(Standard(), WHSEC)])
    one, other = as_json(n=1), as_json(n=2)
    assert await made.send(one, signed(one)) == 200
    made.clock.advance(86_000)
    now = made.clock.now()
    assert await made.send(one, signed(one, at=now)) == 200
    assert await made.send(other, signed(other, at=now)) == 409
    assert len(await made.store.heads(10)) == 1
    assert await made.send(other, signed(other, "msg_2", now)) == 200
    assert len(await made.store.heads(10)) == 2


async def test_webhook_call_with_the_id_of_a_deleted_run_is_a_duplicate() -> None:
    made = Reception([hook(Standard(), WHSEC)])
    assert await made.send(b"1", signed(b"1")) == 200
    (head,) = await made.store.heads(10)
    await made.store.retain(head.run, "due", "deleting")
    await made.store.destroy_key(head.run)
    await made.store.empty(head.run)
    assert await made.send(b"2", signed(b"2")) == 200
    assert len(await made.store.heads(10)) == 1


@pytest.mark.parametrize("key", [Pointer("/order/id"), Header("x-order")])
async def test_webhook_configured_key_identifies_calls(key: Pointer | Header) -> None:
    made = Reception([hook(Bearer(), SECRET, key=key)])

    async def call(order: str, n: int) -> int:
        return await made.send(as_json(order={"id": order}, n=n), [*bearing(), ("X-Order", order)])

    assert [await call("a", 1), await call("a", 1), await call("a", 2), await call("b", 2)] == [200, 200, 409, 200]
    assert len(await made.store.heads(10)) == 2


@pytest.mark.parametrize("body", [b"", b"text", b"{}", b'{"id": null}', b'{"id": true}', b'{"id": ""}', b'{"id": [1]}'])
async def test_webhook_call_without_the_configured_key_is_refused(body: bytes) -> None:
    made = Reception([hook(Bearer(), SECRET, key=Pointer("/id"))])
    assert await made.send(body, bearing()) == 400
    assert await made.send(as_json(id="x" * (KEY_LIMIT + 1)), bearing()) == 400
    assert await made.store.heads(10) == []


@pytest.mark.parametrize("start", range(0, WINDOW, 61))
@pytest.mark.parametrize("later", [1, WINDOW // 2, WINDOW - 1])
async def test_webhook_body_without_a_key_starts_one_run_in_ten_minutes(start: int, later: int) -> None:
    # Wherever in its time slice the first call falls.
    made = Reception([hook(Bearer(), SECRET)])
    made.clock.advance(start)
    assert await made.send(b"ping", bearing()) == 200
    made.clock.advance(later)
    assert await made.send(b"ping", bearing()) == 200
    assert await made.send(b"pong", bearing()) == 200
    assert len(await made.store.heads(10)) == 2
    made.clock.advance(WINDOW - later)
    assert await made.send(b"ping", bearing()) == 200
    assert len(await made.store.heads(10)) == 3


@pytest.mark.parametrize("start", range(0, WINDOW, 97))
async def test_webhook_body_of_a_deleted_private_run_is_still_a_duplicate(start: int) -> None:
    made = Reception([hook(Bearer(), SECRET, private=True)])
    made.clock.advance(start)
    assert await made.send(b"ping", bearing()) == 200
    (head,) = await made.store.heads(10, private=True)
    await made.store.put_head(head.now("done", head.accepted_at))
    assert await delete([head.run], Stores(made.store, MemoryBlobs(), MemoryQueue(made.clock))) == 1
    made.clock.advance(WINDOW - 1)
    assert await made.send(b"ping", bearing()) == 200
    assert len(await made.store.heads(10, private=True)) == 1
    made.clock.advance(1)
    assert await made.send(b"ping", bearing()) == 200
    assert len(await made.store.heads(10, private=True)) == 2


@given(st.lists(st.integers(0, 900), min_size=1, max_size=12))
async def test_webhook_runs_of_the_same_body_are_ten_minutes_apart(steps: list[int]) -> None:
    made, begun, expected = Reception([hook(Bearer(), SECRET)]), -WINDOW, 0
    elapsed = 0
    for step in steps:
        elapsed += step
        made.clock.advance(step)
        assert await made.send(b"ping", bearing()) == 200
        if elapsed - begun >= WINDOW:
            begun, expected = elapsed, expected + 1
        assert len(await made.store.heads(100)) == expected


def test_webhook_runs_of_equal_bodies_share_no_conversation() -> None:
    assert translated(b"one").conversation != translated(b"two").conversation
    keyed = translated(as_json(id="grace@example.com"), key=Pointer("/id"))
    assert "grace" not in keyed.conversation


@pytest.mark.parametrize(
    ("body", "headers", "text"),
    [
        (b'{"b":1,"a":["\xc3\xa9"]}', JSON, '{\n  "b": 1,\n  "a": [\n    "é"\n  ]\n}'),
        (b'{"a":1}', [("content-type", "application/vnd.api+json")], '{\n  "a": 1\n}'),
        (b' {"a":1}', FORM, '{\n  "a": 1\n}'),
        (b"a=1&b=x%20y&b=&c", FORM, '{\n  "a": "1",\n  "b": [\n    "x y",\n    ""\n  ],\n  "c": ""\n}'),
        (b"a=1&b=2", [], "a=1&b=2"),
        (b"[not json", [], "[not json"),
        (b"Hello", [("content-type", "text/plain")], "Hello"),
        (b"", JSON, ""),
        (b"null", JSON, "null"),
    ],
)
def test_webhook_event_text_is_the_body_laid_out(body: bytes, headers: Headers, text: str) -> None:
    assert translated(body, headers).text == text


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (b"a=1", JSON),
        (b'{"a":NaN}', JSON),
        (b"[" * 50_000, JSON),
        (b"\xff", []),
        (b"&".join([b"a=1"] * 1001), FORM),
    ],
)
def test_webhook_body_that_contradicts_the_content_type_is_refused(body: bytes, headers: Headers) -> None:
    with pytest.raises(BadRequest) as refused:
        translated(body, headers)
    assert refused.value.status == 400


def test_webhook_short_body_is_indented_and_a_long_body_kept_as_sent() -> None:
    assert translated(b'{"a":[1]}', JSON).text == '{\n  "a": [\n    1\n  ]\n}'
    long = json.dumps(["x"] * (INDENTED // 5)).encode()
    assert translated(long, JSON).text == long.decode()
    assert translated(b"y" * 900_000).text == "y" * 900_000


def test_webhook_key_is_read_from_forms_and_by_escaped_pointers() -> None:
    assert translated(b"id=7", FORM, Pointer("/id")).identity == ("new-hire", "key", "7")
    assert translated(as_json(**{"a/b": [{"~": 5}]}), JSON, Pointer("/a~1b/0/~0")).identity[-1] == "5"


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5) | st.just("id"), inner, max_size=3),
    max_leaves=8,
)
BODIES = st.one_of(
    st.binary(max_size=200),
    VALUES.map(lambda value: json.dumps(value).encode()),
    st.dictionaries(st.text(max_size=5), st.text(max_size=9), max_size=4).map(
        lambda form: urlencode(form, errors="replace").encode()
    ),
    st.sampled_from([b"", b"x" * (BODY_LIMIT + 1), b"[" * 100_000, b"9" * 5000, b'{"id": ' + b"9" * 5000 + b"}"]),
)
TYPES = st.sampled_from(
    [
        "application/json",
        "APPLICATION/JSON; charset=latin-1",
        "application/x-www-form-urlencoded",
        "text/csv",
        "multipart/form-data",
        "",
        ";",
        "\ud800",
    ]
)
KEYS = st.sampled_from([None, Pointer("/id"), Pointer("/0"), Header("x-id"), Header("content-type")])


@given(BODIES, st.lists(TYPES, max_size=2), KEYS, st.booleans(), st.sampled_from(["new-hire", "New-Hire", "", "../x"]))
async def test_webhook_call_of_any_form_gets_a_status_and_is_stored_only_with_proof(
    body: bytes, types: list[str], key: Pointer | Header | None, good: bool, name: str
) -> None:
    made = Reception([hook(Bearer(), SECRET, key=key)])
    headers = [*bearing(SECRET if good else "guess"), *(("Content-Type", kind) for kind in types)]
    statuses = {await made.send(body, headers, name) for _ in range(2)}
    assert statuses <= ({404} if name != "new-hire" else {200, 400, 413} if good else {401, 413})
    assert len(await made.store.heads(10)) == (statuses == {200})


async def test_webhook_secrets_are_separate_for_each_hook() -> None:
    compiled = {name: {"auth": {"kind": "bearer"}} for name in ("a", "b")}
    secrets = {"a": [Secret("of-a")], "": [Secret("of-all")]}
    made = Reception(read_hooks(compiled, secrets))
    assert [await made.send(b"", bearing("of-a"), name) for name in ("a", "b", "c")] == [200, 401, 404]
    assert [await made.send(b"", bearing("of-all"), name) for name in ("a", "b", "c")] == [401, 200, 404]


def test_webhook_without_a_secret_has_no_receiver() -> None:
    hooks = read_hooks({"new-hire": {"auth": {"kind": "standard"}}}, {})
    assert ([hook.name for hook in hooks], webhook_receivers(hooks)) == (["new-hire"], {})


def test_webhook_with_jwt_needs_a_front_that_takes_jwts() -> None:
    with pytest.raises(ConfigError, match="takes JWTs"):
        webhook_receivers([Hook("h", Jwt("i", "a", ("HS256",)), [Secret(SECRET)])])


def test_webhook_compiled_json_restores_auth_key_and_privacy() -> None:
    form = {"kind": "hmac", "header": "x-sig", "prefix": "p=", "encoding": "base64", "algorithm": "sha512"}
    (made,) = read_hooks({"h": {"auth": form, "key": "X-Id", "private": True}}, {"": [Secret("s")]})
    assert (made.auth, made.key, made.private) == (Hmac("x-sig", "p=", "base64", "sha512"), Header("x-id"), True)


PARENT = f"00-{'a' * 32}-{'b' * 16}-01"


@pytest.mark.parametrize(
    ("header", "kept"),
    [
        (PARENT, True),
        (f"01{PARENT[2:]}", True),
        (f"ff{PARENT[2:]}", False),
        (PARENT.upper(), False),
        (f"00-{'0' * 32}-{'b' * 16}-01", False),
        (f"00-{'a' * 32}-{'0' * 16}-01", False),
        (f"{PARENT}-more", False),
        ("", False),
    ],
)
def test_traceparent_of_a_call_is_kept_in_the_form_of_w3c_only(header: str, kept: bool) -> None:
    (receiver,) = webhook_receivers([hook(Bearer(), SECRET)]).values()
    event = receiver.translate(post(as_json(id=1), [*bearing(), ("traceparent", header)]))
    assert isinstance(event, Event)
    assert event.place == {"hook": "new-hire", **({"traceparent": header} if kept else {})}


async def test_run_gets_only_the_fields_that_its_workflow_names() -> None:
    made = Reception(
        [replace(hook(Bearer(), SECRET, key=Pointer("/id")), fields={"checklist": ["/name", "/team/lead"]})]
    )
    body = as_json(id="1", name="Ada", salary="71000", team={"lead": "Grace", "cost": 3})
    assert await made.send(body, [*JSON, *bearing(SECRET)]) == 200
    assert await made.send(body, [*JSON, *bearing(SECRET)]) == 200
    (head,) = await made.store.heads(10)
    (claimed,) = await read_journal(head.run, made.store, MemoryBlobs())
    assert isinstance(claimed.entry, RunAccepted)
    assert json.loads(claimed.entry.event.text) == {"name": "Ada", "team": {"lead": "Grace"}}
    assert "71000" not in repr(claimed.entry)
    assert await made.send(as_json(id="1", name="Ada", salary="72000"), [*JSON, *bearing(SECRET)]) == 409
