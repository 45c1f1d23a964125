"""Explanations of raw payloads: one for each payload of a source and each body of a webhook."""

import json
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.app.event_input import SOURCES, Headers, find_hook, hook_name, way
from gofer.check.explain import DeliveryPath, Explanation, explain
from gofer.sources.workflow_files import load_catalog
from gofer.values.errors import ConfigError
from gofer.workflows.load import Catalog
from support.property_examples import examples
from support.sources.every_delivery import EVENTS, GARBAGE, GITHUB, MEDIA, ODD, PRESS, changed, headers_of, places, put
from support.workflows.every_trigger import every_trigger

FIRST = "2026-11-23T08:00:00Z"
"""A Monday, nine o'clock in Berlin."""


@cache
def catalog() -> Catalog:
    with TemporaryDirectory() as folder:
        return load_catalog(every_trigger(Path(folder)))


@cache
def known(source: str, headers: Headers, hook: str) -> DeliveryPath:
    return way(catalog(), source, headers, hook)


def explained(source: str, raw: bytes, headers: Headers = (), hook: str = "") -> list[Explanation]:
    return list(explain("f", raw, known(source, tuple(headers), hook)))


def one(source: str, payload: object, headers: Headers = (), hook: str = "") -> Explanation:
    raw = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    (explanation,) = explained(source, raw, headers, hook)
    return explanation


def answered(explanation: Explanation) -> bool:
    """Whether an explanation is exactly one of: starts a workflow, ignored for a reason, no payload."""
    value = json.loads(explanation.to_json().encode())
    return [bool(value["workflows"]), value["ignored_because"] is not None, value["error"] is not None].count(True) == 1


def source_of(event: Path) -> str:
    return event.stem.partition("_")[0]


@pytest.mark.parametrize("event", EVENTS, ids=lambda path: path.stem)
def test_recorded_payload_starts_a_workflow_or_has_a_reason(event: Path) -> None:
    told = one(source_of(event), event.read_bytes(), headers_of(event))
    assert answered(told)
    assert told.error is None
    assert (told.kind or "").startswith(source_of(event)) or told.ignored_because


@pytest.mark.parametrize("event", EVENTS, ids=lambda path: path.stem)
@examples(0.5)
@given(data=st.data())
def test_changed_payload_has_one_explanation(event: Path, data: st.DataObject) -> None:
    payload: Any = data.draw(changed(json.loads(event.read_text())))
    assert answered(one(source_of(event), payload, headers_of(event)))


@pytest.mark.parametrize("source", ["jira", "notion", "github"])
def test_payload_with_any_field_missing_or_odd_has_one_explanation(source: str) -> None:
    for event in (event for event in EVENTS if source_of(event) == source):
        payload = json.loads(event.read_text())
        for at in places(payload):
            for odd in (None, True, 0, 10**400, "", "\ud800", [], {}, [[]], {"": {}}):
                assert answered(one(source, put(payload, at, odd), headers_of(event))), (event, at, odd)


@pytest.mark.parametrize("source", SOURCES)
@given(raw=st.binary() | ODD.map(lambda value: json.dumps(value).encode()), media=st.sampled_from(["", *MEDIA]))
def test_arbitrary_bytes_have_one_explanation(source: str, raw: bytes, media: str) -> None:
    headers = [("Content-Type", media)] if media else []
    told = explained(source, raw, [*headers, ("X-GitHub-Event", "push")], "alarm")
    assert told
    assert all(answered(explanation) for explanation in told)


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("garbage", GARBAGE)
def test_garbage_payload_has_one_explanation(source: str, garbage: str) -> None:
    told = explained(source, GARBAGE[garbage], [("X-GitHub-Event", "push")], "form")
    assert told
    assert all(answered(explanation) for explanation in told)


@pytest.mark.parametrize("raw", [json.dumps(PRESS), "payload=" + quote(json.dumps(PRESS))])
def test_button_press_is_explained_as_json_and_as_a_form(raw: str) -> None:
    told = one("slack", raw.encode())
    assert (told.actor, told.bot, told.workflows) == ("U0NEWCO0", False, ())
    assert "it is the click of a button, which starts no workflow" in (told.ignored_because or "")
    assert "of type 'view_closed' start nothing" in (
        one("slack", PRESS | {"type": "view_closed"}).ignored_because or ""
    )


def test_github_form_delivery_is_explained_like_json() -> None:
    event = next(event for event in EVENTS if event.stem == "github_push")
    form = b"payload=" + quote(event.read_text()).encode()
    assert one("github", form, headers_of(event)) == one("github", event.read_bytes(), headers_of(event))


def test_github_delivery_without_an_event_header_names_the_header() -> None:
    for name in GITHUB:
        event = next(event for event in EVENTS if event.stem == name)
        assert "the header X-GitHub-Event" in (one("github", event.read_bytes()).ignored_because or "")


def test_webhook_name_decides_the_deduplication_key() -> None:
    body = b'{"id": "E-1", "name": "Ada"}'
    told = one("webhook", body, hook="new-hire")
    assert (told.kind, told.dedupe_key, told.actor, told.bot, told.private, told.workflows) == (
        "webhook",
        "webhook:new-hire:key:E-1",
        "webhook:new-hire",
        True,
        False,
        ("called",),
    )
    assert one("webhook", body, hook="alarm").dedupe_key == "webhook:alarm:key:<webhook-id>"
    assert one("webhook", body, [("Webhook-Id", "m1")], "alarm").dedupe_key == "webhook:alarm:key:m1"
    assert (told := one("webhook", body, hook="form")).private is True
    assert (told.dedupe_key or "").startswith("webhook:form:body:")


@pytest.mark.parametrize("body", [b"not JSON", b'[{"id": 1}]', b"a=1&b=2", b"", b'{"id": 1}\n{"id": 2}'])
def test_webhook_body_of_any_format_is_one_payload(body: bytes) -> None:
    assert one("webhook", body, hook="form").workflows == ("called",)


def test_webhook_call_without_a_key_is_an_error_with_the_reason() -> None:
    assert "no text or whole number at /id" in (one("webhook", b"{}", hook="new-hire").error or "")
    assert "is not JSON, so it has no key at /id" in (one("webhook", b"hello", hook="new-hire").error or "")
    assert "is empty, so it has no key at /id" in (one("webhook", b"", hook="new-hire").error or "")
    assert "nested deeper than 100 levels" in (one("webhook", b"[" * 101 + b"]" * 101, hook="new-hire").error or "")
    assert "not JSON" in (one("webhook", b"x", [("Content-Type", "application/json")], "form").error or "")


def test_unknown_webhook_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ConfigError, match="There is no webhook 'nope' in agents/; there are: alarm, form, new-hire"):
        find_hook(catalog(), "nope")
    with pytest.raises(ConfigError, match="Name the webhook with --hook; there are: alarm, form, new-hire"):
        find_hook(catalog(), "")
    assert hook_name("/hooks/new-hire") == "new-hire"
    for path in ("/hooks/", "new-hire", "/slack/events", "https://gofer.example.com/hooks/new-hire"):
        with pytest.raises(ConfigError, match="webhooks are at /hooks/<name>"):
            hook_name(path)


def test_schedule_payload_of_the_aws_function_is_explained() -> None:
    id_ = "called cron(0 9 ? * MON *) Europe/Berlin"
    by_people = one("schedule", {"workflow": "called", "scheduled": FIRST})
    for at in (FIRST, "2026-11-23T08:00:00"):
        assert one("schedule", {"workflow": "called", "schedule": id_, "at": at}) == by_people
    gone = one("schedule", {"workflow": "called", "schedule": "called cron(0 7 ? * MON *) UTC", "at": FIRST})
    assert gone.ignored_because == "no workflow has this schedule any more"
    assert "`at` is not a time" in (one("schedule", {"workflow": "w", "schedule": id_, "at": "soon"}).error or "")
    for own in ("sweep", "purge"):
        assert (one("schedule", {own: True}).ignored_because or "").startswith(f"it is the {own}")


@given(at=st.datetimes(timezones=st.timezones() | st.just(None)).map(lambda at: at.isoformat()) | st.text())
def test_schedule_payload_with_any_time_is_explained(at: str) -> None:
    fired = {"workflow": "called", "schedule": "called cron(0 9 ? * MON *) Europe/Berlin", "at": at}
    assert answered(one("schedule", fired))


def test_nominal_time_starts_the_scheduled_workflow() -> None:
    key = "schedule:called:cron(0 9 ? * MON *) Europe/Berlin:2026-11-23T08:00:00Z"
    for scheduled in (FIRST, "2026-11-23T09:00:00+01:00", "2026-11-23 08:00:00.000Z"):
        told = one("schedule", {"workflow": "called", "scheduled": scheduled})
        assert (told.kind, told.dedupe_key, told.actor, told.private) == ("schedule", key, "schedule", False)
        assert told.workflows == ("called",)


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        (
            {"workflow": "called", "scheduled": "2026-11-23T08:00:01Z"},
            "no schedule of called has a time then; the last one before is 2026-11-23T08:00:00Z, the next is ",
        ),
        ({"workflow": "everything", "scheduled": FIRST}, "no workflow 'everything' has a schedule"),
        ({"scheduled": FIRST}, "no workflow '' has a schedule"),
    ],
)
def test_time_without_a_schedule_is_ignored_with_a_reason(payload: object, reason: str) -> None:
    assert (one("schedule", payload).ignored_because or "").startswith(reason)


@pytest.mark.parametrize(
    "scheduled", ["", "soon", None, 7, "2026-11-23T08:00:00", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59-23:59"]
)
def test_invalid_scheduled_time_is_an_error(scheduled: object) -> None:
    told = one("schedule", {"workflow": "called", "scheduled": scheduled})
    assert (told.error or "").startswith("`scheduled` ")


@given(when=st.datetimes(timezones=st.timezones() | st.just(None)), workflow=st.sampled_from(["called", "", "*"]))
def test_nominal_time_of_any_value_is_explained(when: Any, workflow: str) -> None:
    assert answered(one("schedule", {"workflow": workflow, "scheduled": when.isoformat()}))
