"""Names that JSON within texts holds: bodies of webhooks, answers of tools, blocks in messages."""

import json
from collections.abc import Callable, Mapping

import pytest

from gofer.evals.goldens.known_names import known_names

SLACK = {
    "ok": True,
    "user": {
        "id": "U12345678",
        "name": "zora.q",
        "real_name": "Zora Quimby",
        "profile": {"first_name": "Zora", "last_name": "Quimby", "display_name": "zoraq", "skype": "zoraskype"},
    },
}
NOTION = {"object": "user", "type": "person", "person": {"email": "z@x.io"}, "name": "Zora Quimby"}
BODIES: Mapping[str, tuple[object, set[str]]] = {
    "profile of Slack": (SLACK, {"zora.q", "zora quimby", "zoraq", "zoraskype"}),
    "user of Notion": (NOTION, {"zora quimby"}),
    "user of a company's tool": ({"fullName": "Zora Quimby", "nickname": "zed"}, {"zora quimby", "zed"}),
    "name beside an avatar": ({"name": "Zora Quimby", "avatar_url": "https://x.example/a"}, {"zora quimby"}),
    "name beside a login": ([{"name": "Zora Quimby", "login": "zq-7"}], {"zora quimby", "zq-7"}),
}
WRITTEN: Mapping[str, Callable[[object], str]] = {
    "whole text": json.dumps,
    "indented block": lambda value: f"The body:\n{json.dumps(value, indent=4)}\nEnd.",
    "behind a bracket that is no JSON": lambda value: f"[see {{this}}] {json.dumps(value)} {{",
    "text in JSON": lambda value: json.dumps({"body": json.dumps({"answer": json.dumps(value)})}),
}


@pytest.mark.parametrize("written", WRITTEN)
@pytest.mark.parametrize("body", BODIES)
def test_name_in_json_within_a_text_is_found(body: str, written: str) -> None:
    value, names = BODIES[body]
    found = {name.word.lower() for name in known_names({"text": WRITTEN[written](value)})}
    assert names <= found


def test_field_of_cut_json_is_found() -> None:
    text = json.dumps({"user": {"real_name": "Zo\u00eb Quimby", "x": "y" * 50}})[:-20]
    assert [name.word for name in known_names(text)] == ["Zoë Quimby"]


def test_brackets_without_json_are_read_a_bounded_number_of_times() -> None:
    assert not list(known_names('{"' * 100_000))
    assert not list(known_names("[" * 100_000))
