"""Previews: the structure of JSON, whole characters and unchanged numbers, within a token limit."""

import json
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gofer.files.preview import content_id, preview, preview_json, preview_text
from gofer.values.tokens import estimate

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=8) | st.dictionaries(st.text(), inner, max_size=8), max_leaves=60
)


def keys(value: object) -> set[str]:
    if isinstance(value, dict):
        return set(value) | {key for child in value.values() for key in keys(child)}
    return {key for child in value for key in keys(child)} if isinstance(value, list) else set()


def strings(value: object) -> list[str]:
    if isinstance(value, dict):
        return [text for child in value.values() for text in strings(child)]
    if isinstance(value, list):
        return [text for child in value for text in strings(child)]
    return [value] if isinstance(value, str) else []


@given(st.lists(values, min_size=1, max_size=10))
def test_preview_keeps_every_key_and_shortens_every_string(items: list[object]) -> None:
    text = json.dumps({"items": items * 40, "pad": "word " * 40_000})
    shown = preview(text, max_tokens=20_000)
    value = json.loads(shown.partial_data)
    assert shown.is_truncated
    assert keys(value) == keys(json.loads(text.encode("utf-8", "replace")))
    assert all(len(one) <= 100 for one in strings(value))


@given(values, st.integers(1, 400))
@example({f"key {n}": {"n": [n] * 50} for n in range(500)}, 60)
def test_preview_never_exceeds_the_token_limit(value: object, tokens: int) -> None:
    for shown in (preview(json.dumps(value), max_tokens=tokens), preview_text(str(value), max_tokens=tokens)):
        assert shown.partial_tokens == estimate(shown.partial_data)
        assert shown.partial_tokens <= max(tokens, 30) + 12


def test_preview_collapses_similar_items_to_examples_and_the_total() -> None:
    items = [{"id": n, "tags": ["a"] * n} for n in range(500)]
    shown = json.loads(preview(json.dumps({"items": items, "after": [1, 2]})).partial_data)
    assert shown["items"][0] == {"id": 0, "tags": []}
    assert shown["items"][-1] == "… 498 more, 500 in all"
    assert shown["after"] == [1, 2]


def test_preview_shows_an_item_with_an_unusual_key_among_thousands() -> None:
    items: list[object] = [{"id": n, "deep": [{"x": n}]} for n in range(5000)]
    items[3210] = {"id": 3210, "deep": [{"x": 1}, {"x": 2, "error": {"code": 7}}]}
    shown = preview(json.dumps(items))
    assert '"error":{"code":7}' in shown.partial_data
    assert "5,000 in all" in shown.partial_data


def test_preview_of_a_short_text_is_the_text_unchanged() -> None:
    text = '{ "a": 1.10, "b": [1, 2] }'
    shown = preview(text, prefix="jira")
    assert (shown.partial_data, shown.is_truncated) == (text, False)
    assert shown.partial_tokens == shown.total_tokens


def test_preview_fields_are_named_as_documented_for_models() -> None:
    text = json.dumps([{"k": n} for n in range(3000)])
    fields = preview(text, prefix="search").fields()
    assert list(fields) == [
        "json_id", "partial_data", "is_truncated", "total_tokens", "partial_tokens", "note_to_llm"
    ]  # fmt: skip
    assert re.fullmatch(r"search_[0-9a-f]{12}", str(fields["json_id"]))
    assert fields["json_id"] == content_id("search", text.encode())
    assert str(fields["json_id"]) in str(fields["note_to_llm"])


literals = st.from_regex(r"-?(0|[1-9][0-9]{0,40})(\.[0-9]{1,30})?([eE][+-]?[0-9]{1,5})?", fullmatch=True)


@given(st.lists(literals, min_size=1, max_size=9))
def test_preview_never_changes_the_digits_of_a_number(numbers: list[str]) -> None:
    text = '{"n": [' + ", ".join(numbers) + '], "pad": "' + "word " * 9000 + '"}'
    shown = preview(text)
    assert f'"n":[{",".join(numbers)}]' in shown.partial_data


def test_preview_counts_the_keys_of_a_wide_object_and_keeps_the_others() -> None:
    wide = {f"customer-{n}": {"orders": [n] * 9, "note": "y" * 300} for n in range(9000)}
    shown = preview(json.dumps({"wide": wide, "summary": {"count": 9000}}))
    assert '"summary":{"count":9000}' in shown.partial_data
    assert "9,000 in all" in shown.partial_data
    assert "not every key fits" in shown.note_to_llm


def test_preview_treats_json_lines_as_a_single_list() -> None:
    text = "\n".join(json.dumps({"at": n, "level": "info"}) for n in range(4000))
    shown = preview(text)
    assert shown.kind == "json"
    assert "4,000 in all" in shown.partial_data
    assert "JSON Lines" in shown.note_to_llm


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a": NaN, "b": 1}' + "x" * 9000, "[1,2" + ",3" * 9000])
def test_preview_shows_invalid_json_as_text(text: str) -> None:
    assert preview(text).kind == "text"


def test_preview_of_deep_json_stays_within_the_token_limit() -> None:
    shown = preview_json('{"a":[' * 400 + "1" + "]}" * 400 + " " * 90_000, max_tokens=500)
    assert shown.partial_tokens <= 512


def test_text_preview_shows_head_and_tail_in_whole_lines() -> None:
    text = "".join(f"line {n} of the log\n" for n in range(9000))
    shown = preview_text(text, max_tokens=200)
    first, rest = shown.partial_data.split("[…")
    last = rest.split("…]\n")[1]
    assert first.startswith("line 0 of the log\n")
    assert first.endswith("\n")
    assert last.startswith("line ")
    assert text.endswith(last)
    assert "left out here" in rest


@given(st.integers(0, 60), st.sampled_from(["字", "word ", "> x ", "    "]))
def test_text_preview_keeps_the_indentation_of_a_cut_line(shift: int, word: str) -> None:
    text = f"Thread in #x:\n\n@A at (ts 1):\n    {'x' * shift}{word * 9000}> The request:"
    last = preview_text(text, max_tokens=200).partial_data.split("…]\n")[1]
    assert last.startswith("    ")
    assert last.endswith("> The request:")


@given(st.text(alphabet="a\u0301é👩‍👩‍👧🇩🇪🇫🇷한ㅎ\u200d\U0001f3fd日", min_size=0, max_size=200), st.integers(30, 60))
def test_text_preview_is_a_head_and_a_tail_of_the_text(text: str, tokens: int) -> None:
    text = text * 30
    shown = preview_text(text, max_tokens=tokens)
    if not shown.is_truncated:
        assert shown.partial_data == text
    elif "[…" in shown.partial_data:
        first, rest = shown.partial_data.split("\n[…", 1)
        assert text.startswith(first)
        assert text.endswith(rest.split("…]\n", 1)[1])
