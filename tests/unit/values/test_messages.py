import json

import pytest

from gofer.values.messages import ARGUMENTS_LIMIT, ToolAsk, arguments


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "not JSON"),
        ('{"text": "cut of', "not JSON"),
        ('{"text": NaN}', "not JSON"),
        ('{"text": 1e999}', "not JSON"),
        ('{"text": "a", "text": "b"}', "not JSON"),
        ('{"deep": {"text": 1, "text": 2}}', "not JSON"),
        ('{"text": "\\ud83d"}', "not JSON"),
        ('{"n": ' + "9" * 5_000 + "}", "not JSON"),
        ("[1]", "no JSON object"),
        ("null", "no JSON object"),
        ('{"text": ' + "[" * 200 + "]" * 200 + "}", "nested deeper than 100 levels"),
        ('{"text": ' + "[" * 90_000 + "]" * 90_000 + "}", "not JSON"),
        ('{"text": "' + "x" * ARGUMENTS_LIMIT + '"}', f"longer than {ARGUMENTS_LIMIT} characters"),
    ],
)
def test_malformed_tool_arguments_are_refused_with_a_reason(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=f"^{why}$"):
        arguments(text)


def test_tool_arguments_are_read_unchanged() -> None:
    value = {"text": "é\ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16"), "n": [1.5, None]}
    assert arguments(json.dumps(value)) == arguments(f" {json.dumps(value, ensure_ascii=False)}\n") == value
    assert arguments('{"text": "\ud800"}') == {"text": "\ufffd"}


def test_projections_share_the_parsed_arguments_of_a_call() -> None:
    ask = ToolAsk("call_1", "look", '{"place": {"channel": "C1"}}')
    assert ask.parsed == {"place": {"channel": "C1"}}
    assert ask.parsed is ask.parsed
    assert ask == ToolAsk("call_1", "look", '{"place": {"channel": "C1"}}')
    assert ToolAsk("call_1", "look", '{"place":').parsed is None
