"""Unquoted values in brackets are found, and comments and quoted values are not mistaken for them."""

import pytest

from gofer.workflows.mistake import Place
from gofer.workflows.yaml_syntax import first_unquoted


@pytest.mark.parametrize(
    ("text", "place", "hint"),
    [
        ("a: {emoji: :jira:}", Place(1, 12), 'Write `emoji: ":jira:"`.'),
        ("a: [jira, :x:, y]", Place(1, 11), 'Write `":x:"`.'),
        ("a: {c: #x}", Place(1, 8), 'Write `c: "#x"`.'),
        ("a: [#x, #y]", Place(1, 5), 'Write `"#x"`.'),
        ("a: {\n  c:\n    #x}", Place(3, 5), 'Write `"#x"`.'),
        ("- {c: '#y', d: #x}", Place(1, 16), 'Write `d: "#x"`.'),
        ("a: it's [here\nb: {c: #x}", Place(2, 8), 'Write `c: "#x"`.'),
        ("a: b # [ {\nb: {c: @x}", Place(2, 8), 'Write `c: "@x"`.'),
        ("a: {cron: */5 8,12 * * *, zone: UTC}", Place(1, 11), 'Write `cron: "*/5 8,12 * * *"`.'),
        ('a: {says: *\\"*}', Place(1, 11), 'Write `says: "*\\\\\\"*"`.'),
    ],
)
def test_first_unquoted_yaml_value_is_named_with_a_hint(text: str, place: Place, hint: str) -> None:
    found = first_unquoted(text)
    assert found is not None
    assert (found.place, found.hint) == (place, hint)


@pytest.mark.parametrize(
    "text",
    [
        "a: #x",
        "a: [b, # why\n  c]",
        "a: [b, #why\n  c]",
        "a: ['#x', \"@y\"]",
        "a: {b: c#x, d: e:f}",
        "a: use [#x] or {c: #x}",
        "a: it's [#x",
        "a: [b] # {c: #x}",
    ],
)
def test_comments_and_quoted_yaml_values_are_left_alone(text: str) -> None:
    assert first_unquoted(text) is None
