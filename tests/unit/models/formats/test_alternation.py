"""Messages for templates that demand alternating roles: nothing is lost, and consecutive requests grow at their end."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gofer.models.formats.alternation import alternating
from gofer.models.formats.chat_completions import ChatCompletions
from gofer.models.formats.messages import Messages
from gofer.models.formats.responses import Responses
from gofer.values import messages
from gofer.values.messages import ToolAsk
from support.models.mistral_template import alternates

SYSTEM = {"role": "system", "content": "s"}


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def called(*names: str) -> dict[str, Any]:
    calls = [{"id": name, "type": "function", "function": {"name": "look", "arguments": "{}"}} for name in names]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def result(name: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": name, "content": f"result of {name}"}


TURNS = st.lists(
    st.one_of(
        st.text(max_size=5).map(lambda text: [user(text)]),
        st.text(max_size=5).map(lambda text: [{"role": "assistant", "content": text}]),
        st.lists(st.sampled_from("abc"), min_size=1, max_size=3, unique=True).map(
            lambda names: [called(*names), *map(result, names)]
        ),
    ),
    max_size=8,
).map(lambda turns: [message for turn in turns for message in turn])


@given(TURNS)
def test_every_history_alternates_and_keeps_its_text_calls_and_results(history: list[dict[str, Any]]) -> None:
    history = [SYSTEM, user("first"), *history, user("tail")]
    sent = alternating(history)
    assert alternates(sent)
    assert sent[0] == SYSTEM
    texts = [message["content"] for message in history if message["content"]]
    assert "\n\n".join(texts) == "\n\n".join(str(message["content"]) for message in sent if message["content"])
    for role, field in (("assistant", "tool_calls"), ("tool", "tool_call_id")):
        held = [
            [message[field] for message in each if message["role"] == role and field in message]
            for each in (history, sent)
        ]
        assert held[0] == held[1]


def test_tail_after_results_is_the_end_of_the_last_result() -> None:
    sent = alternating([SYSTEM, user("first"), user("tail 1")])
    assert sent == [SYSTEM, user("first\n\ntail 1")]
    grown = alternating([SYSTEM, user("first"), called("a", "b"), result("a"), result("b"), user("tail 2")])
    assert grown[-1] == {**result("b"), "content": "result of b\n\ntail 2"}
    assert len(grown) == 5


def test_images_are_joined_as_parts() -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aaaa"}}
    (sent,) = alternating([user("look"), {"role": "user", "content": [image]}, user("tail")])
    assert sent["content"] == [{"type": "text", "text": "look"}, image, {"type": "text", "text": "tail"}]


def test_request_with_alternate_roles_shares_all_bytes_before_the_tail() -> None:
    ask = ToolAsk("c1", "look", "{}")
    head = [
        messages.system("s"),
        messages.user("first"),
        messages.assistant("", (ask,), ""),
        messages.tool("c1", "seen"),
    ]
    said = [*head, messages.assistant("More.", (ask,), ""), messages.tool("c1", "again")]
    before, after = (wire([*part, messages.user(f"tail {n}")]) for n, part in enumerate((head, said)))
    assert b"alternate_roles" not in before
    assert [message["role"] for message in json.loads(before)["messages"]] == ["system", "user", "assistant", "tool"]
    shared = before[: before.index(b"\\n\\ntail 0")]
    assert after.startswith(shared)


def wire(parts: list[bytes]) -> bytes:
    body = b'{"alternate_roles":true,"model":"m","messages":[' + b",".join(parts) + b"]}"
    return ChatCompletions().encode(body, "m").body


@given(TURNS)
def test_items_of_responses_alternate_too(history: list[dict[str, Any]]) -> None:
    history = [SYSTEM, user("first"), *history, user("tail")]
    body = json.dumps({"model": "m", "alternate_roles": True, "messages": history}).encode()
    sent = json.loads(Responses().encode(body, "m").body)
    assert "alternate_roles" not in sent
    assert alternates([as_message(item) for item in sent["input"]])
    assert "tail" in json.dumps(sent["input"][-1])


def as_message(item: dict[str, Any]) -> dict[str, Any]:
    """Return the message that a server makes of an item before it fills the template."""
    match item["type"]:
        case "function_call":
            return {"role": "assistant", "tool_calls": [item]}
        case "function_call_output":
            return {"role": "tool", "content": item["output"]}
        case _:
            return item


def test_two_answers_that_become_one_keep_both_texts_in_responses() -> None:
    by = {"api": "responses", "model": "m"}
    own = [
        {**replied(text), "by": by, "items": [{"type": "message", "role": "assistant", "content": text}]}
        for text in ("one", "two")
    ]
    body = {"model": "m", "alternate_roles": True, "messages": [SYSTEM, user("first"), *own, user("tail")]}
    sent = json.loads(Responses().encode(json.dumps(body).encode(), "m").body)["input"]
    assert [item["content"] for item in sent] == ["first", "one\n\ntwo", "tail"]


def replied(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


@given(TURNS)
def test_turns_of_messages_alternate_without_the_key(history: list[dict[str, Any]]) -> None:
    body = json.dumps({"model": "m", "messages": [SYSTEM, user("first"), *history, user("tail")]}).encode()
    roles = [turn["role"] for turn in json.loads(Messages().encode(body, "m").body)["messages"]]
    assert roles == [("user", "assistant")[number % 2] for number in range(len(roles))]
