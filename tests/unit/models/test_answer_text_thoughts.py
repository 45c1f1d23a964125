"""Thoughts in the text of an answer, and answers that only mention thoughts."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.models.answer_text import split_thoughts
from gofer.models.formats.chat_completions import parse_answer
from gofer.values.canonical_json import encode_text


@pytest.mark.parametrize(
    ("text", "spoken", "thoughts"),
    [
        ("<think>Hm.</think>\n\nYes.", "Yes.", "<think>Hm.</think>"),
        ("\n<think>\nHm.\n</think>Yes.", "Yes.", "\n<think>\nHm.\n</think>"),
        ("<think>cut off", "", "<think>cut off"),
        ("Hm, so be it.\n</think>\n\nYes.", "Yes.", "Hm, so be it.\n</think>"),
        ("Hm.</think>\nYes.", "Yes.", "Hm.</think>"),
        ("<thinking>Hm.</thinking>Yes.", "Yes.", "<thinking>Hm.</thinking>"),
        ("[THINK]Hm.[/THINK]Yes.", "Yes.", "[THINK]Hm.[/THINK]"),
        ("<think>a</think><think>b</think>Yes.", "Yes.", "<think>a</think><think>b</think>"),
        ("First.\n<think>a</think>\nThen.", "First.\n\nThen.", "<think>a</think>"),
        ("<think></think>", "", "<think></think>"),
        ("<THINK>Hm.</THINK>Yes.", "Yes.", "<THINK>Hm.</THINK>"),
        ("<reasoning>Hm.</reasoning>Yes.", "Yes.", "<reasoning>Hm.</reasoning>"),
        ("<seed:think>Hm.</seed:think>Yes.", "Yes.", "<seed:think>Hm.</seed:think>"),
    ],
)
def test_thoughts_are_separated_from_the_answer_text(text: str, spoken: str, thoughts: str) -> None:
    found = split_thoughts(text)
    assert (found.text, found.thoughts) == (spoken, thoughts)


@pytest.mark.parametrize(
    "text",
    [
        "Models write `<think>` before and `</think>` after their thoughts.",
        "Write this:\n\n```\n<think>\nthoughts\n</think>\n```\n\nThen answer.",
        "It ends with </think> in most templates.",
        "I think <b>so</b>.",
        "The tag <think> opens a block that is never closed here.",
        "First.\n<think>\nnot closed, and the rest of the answer",
    ],
)
def test_answer_about_thoughts_stays_whole(text: str) -> None:
    assert split_thoughts(text).text == text


@given(st.text(alphabet="ab `~\n<>/", max_size=60))
def test_ordinary_text_is_unchanged_by_thought_parsing(text: str) -> None:
    assert split_thoughts(text).text == text


@given(st.text(alphabet="a. \n", max_size=20), st.text(alphabet="b. ", max_size=20))
def test_answer_text_never_contains_thoughts(thought: str, said: str) -> None:
    found = split_thoughts(f"<think>SECRET{thought}</think>{said}")
    assert "SECRET" not in found.text
    assert found.text.strip("\n") == said.strip("\n")


@pytest.mark.parametrize(
    "piece", ["<think>", "</think>", "\n<think>", "`</think>", "```\n<think>\n", "<think></think>"]
)
def test_million_characters_of_thought_tags_are_parsed_without_hanging(piece: str) -> None:
    # No time is asserted: with a quadratic number of steps this test would never end.
    split_thoughts(piece * (1_000_000 // len(piece)))


def answer(message: dict[str, object]) -> tuple[str, str, str]:
    found = parse_answer(json.dumps({"choices": [{"message": message}]}).encode())
    return found.text, found.thoughts, found.extra


CALL = {"id": "c", "function": {"name": "look", "arguments": "{}"}}


def test_thought_fields_are_resent_only_to_providers_that_accept_thoughts() -> None:
    assert answer({"content": "Yes.", "reasoning": "Hm."}) == ("Yes.", "Hm.", "")
    assert answer({"content": "Yes.", "reasoning_content": "Hm."}) == ("Yes.", "", '{"reasoning_content":"Hm."}')
    parts = [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}, {"type": "text", "text": "Yes."}]
    assert answer({"content": parts}) == ("Yes.", "Hm.", "")


def test_thoughts_before_a_tool_call_are_resent_in_place() -> None:
    said = "<think>Hm.</think>\nI look."
    assert answer({"content": said, "tool_calls": [CALL]}) == (
        "I look.",
        "",
        encode_text({"content": said}),
    )
    assert answer({"content": said}) == ("I look.", "<think>Hm.</think>", "")
