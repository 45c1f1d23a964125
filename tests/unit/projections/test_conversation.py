import json

from hypothesis import given
from hypothesis import strategies as st

from gofer.journal.entries import Entry, LlmResponse, MessageReceived, Recorded, ToolCall, ToolResult, ToolUnknown
from gofer.projections import conversation
from gofer.projections.conversation import Conversation
from gofer.values.messages import ToolAsk, Usage


def recorded(entries: list[Entry]) -> list[Recorded]:
    return [Recorded(n, 0, 1000 + n, "me", entry) for n, entry in enumerate(entries, start=1)]


def roles(state: Conversation) -> list[str]:
    return [json.loads(part)["role"] for part in state.parts]


def response(text: str, calls: int = 0) -> LlmResponse:
    asks = tuple(ToolAsk(f"c{i}", "look", "{}") for i in range(calls))
    return LlmResponse(text, asks, "stop", "m", Usage(), None, 1)


def test_tool_outcomes_enter_the_conversation_together_in_the_order_of_the_calls() -> None:
    entries: list[Entry] = [
        MessageReceived("hi"),
        response("looking", 2),
        ToolCall("1.0", "look", "read"),
        ToolCall("1.1", "look", "read"),
        ToolResult("1.1", "ok", "second"),
    ]
    state = conversation.project(recorded(entries))
    assert roles(state) == ["user", "assistant"]
    assert list(state.open) == ["1.0"]
    assert state.through == "2.0"
    state = conversation.project(recorded([*entries, ToolUnknown("1.0", "nobody knows")]))
    assert [json.loads(part).get("content") for part in state.parts[2:]] == ["nobody knows", "second"]
    assert state.open == {}
    assert state.through == "6.0"


def test_message_received_during_a_turn_follows_the_outcomes_of_the_turn() -> None:
    state = conversation.project(
        recorded([MessageReceived("hi"), response("", 1), MessageReceived("wait"), ToolResult("1.0", "ok", "done")])
    )
    assert roles(state) == ["user", "assistant", "tool", "user"]


def test_message_after_the_answer_reopens_the_conversation() -> None:
    assert conversation.project(recorded([MessageReceived("hi"), response("yes")])).answered
    entries = [MessageReceived("hi"), response("yes"), MessageReceived("and?")]
    assert not conversation.project(recorded(entries)).answered


def test_calls_outside_model_turns_are_not_part_of_the_conversation() -> None:
    entries = [ToolCall("context/1", "look", "read"), ToolResult("context/1", "ok", "x")]
    assert conversation.project(recorded(entries)) == Conversation()


def test_empty_model_answer_is_a_strike_and_no_message() -> None:
    state = conversation.project(recorded([MessageReceived("hi"), response(" \n")]))
    assert (roles(state), state.through, state.answered) == (["user"], "1.0", False)
    assert (state.flaw, state.useless_answers, state.turn) == ("empty", 1, 1)


def test_turn_with_only_refused_calls_is_a_strike() -> None:
    refused = [ToolResult(f"1.{index}", "refused", "no") for index in range(2)]
    entries: list[Entry] = [MessageReceived("hi"), response("", 2)]
    assert conversation.project(recorded([*entries, *refused])).useless_answers == 1
    for happened in (ToolResult("1.1", "error", "no"), ToolUnknown("1.1", "who knows")):
        assert conversation.project(recorded([*entries, refused[0], happened])).useless_answers == 0


@st.composite
def journals(draw: st.DrawFn) -> list[Entry]:
    """Runs of a few turns with outcomes in any order and messages in between."""
    entries: list[Entry] = [MessageReceived("begin")]
    for turn in range(1, draw(st.integers(1, 4)) + 1):
        calls = draw(st.integers(0, 4))
        entries.append(response(f"turn {turn}", calls))
        for index in draw(st.permutations(range(calls))):
            if draw(st.booleans()):
                entries.append(MessageReceived("meanwhile"))
            call = f"{turn}.{index}"
            entries.append(draw(st.sampled_from([ToolResult(call, "ok", call), ToolUnknown(call, call)])))
        if not calls:
            break
    return entries


@given(journals(), st.data())
def test_every_call_in_the_conversation_has_an_outcome_wherever_the_journal_is_cut(
    entries: list[Entry], data: st.DataObject
) -> None:
    cut = data.draw(st.integers(0, len(entries)))
    state = conversation.project(recorded(entries[:cut]))
    messages = [json.loads(part) for part in state.parts]
    if state.asks:
        assert messages.pop()["tool_calls"]
    waiting: list[str] = []
    for message in messages:
        if waiting:
            assert message["role"] == "tool"
            assert message["tool_call_id"] == waiting.pop(0)
        else:
            assert message["role"] != "tool"
            waiting = [call["id"] for call in message.get("tool_calls", [])]
    assert waiting == []


@given(journals())
def test_conversation_grows_only_at_the_end(entries: list[Entry]) -> None:
    before: list[bytes] = []
    for length in range(1, len(entries) + 1):
        parts = conversation.project(recorded(entries[:length])).parts
        assert parts[: len(before)] == before
        before = parts
