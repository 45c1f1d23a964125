"""What was said in a run, as messages in the form of OpenTelemetry, for spans that may hold it.

Only what AGENT_LOG_LEVEL=full asks for comes here. A request holds what is new since the one before it: together they
are the conversation, and none of it stands there twice.
"""

import json
from collections.abc import Mapping, Sequence

from gofer.journal.entries import (
    LlmRequest,
    LlmResponse,
    MessageReceived,
    Recorded,
    RunAccepted,
    RunConcluded,
    SubagentFinished,
    SubagentStarted,
    ToolCall,
    ToolResult,
    ToolUnknown,
)
from gofer.values.canonical_json import as_object, encode_text
from gofer.values.messages import ToolAsk, resolved_call

TEXT_LIMIT = 8_000
"""Characters of one text; a longer one loses its end."""
MESSAGES_LIMIT = 64_000
"""Characters of all texts of one request; the newest are kept."""

Message = Mapping[str, object]
Said = dict[str, dict[str, str]]
"""Attributes by the address of the entry that began the span."""


def contents(journal: Sequence[Recorded]) -> Said:
    """What was said, by the spans that it belongs to."""
    reader = _Reader()
    for recorded in journal:
        reader.read(recorded)
    return reader.said


class _Reader:
    def __init__(self) -> None:
        self.said: Said = {}
        self._fresh: list[Message] = []
        """Messages that no request held yet."""
        self._asks: dict[str, ToolAsk] = {}
        self._turn = 0
        self._run = self._asked = ""
        self._called: dict[str, str] = {}
        """Where calls and subagents began."""

    def read(self, recorded: Recorded) -> None:
        address = recorded.address
        match recorded.entry:
            case RunAccepted(event=event):
                self._run = address
                self._say(address, "gen_ai.input.messages", [_message("user", _text(event.text))])
            case RunConcluded(text=text):
                self._say(self._run, "gen_ai.output.messages", [_answer(text, (), 0, "stop")])
            case MessageReceived(text=text):
                self._fresh.append(_message("user", _text(text)))
            case LlmRequest():
                self._asked = address
                self._say(address, "gen_ai.input.messages", _newest(self._fresh))
                self._fresh = []
            case LlmResponse() as response:
                self._hear(response)
            case ToolCall() as call:
                self._called[call.call] = address
                self._begin(address, call)
            case ToolResult(call=call, text=text) | ToolUnknown(call=call, text=text):
                self._settle(self._called.get(call, address), call, text)
            case SubagentStarted(call=call, prompt=prompt):
                begun = self._called.setdefault(call, address)
                self._say(begun, "gen_ai.input.messages", [_message("user", _text(prompt))])
            case SubagentFinished(call=call, text=text):
                self._say(self._called.get(call, address), "gen_ai.output.messages", [_answer(text, (), 0, "stop")])
            case _:
                pass

    def _hear(self, response: LlmResponse) -> None:
        self._turn += 1
        self._asks |= {f"{self._turn}.{index}": resolved_call(ask) for index, ask in enumerate(response.tool_calls)}
        answer = _answer(response.text, response.tool_calls, self._turn, response.finish_reason)
        self._say(self._asked, "gen_ai.output.messages", [answer])
        self._fresh.append({"role": "assistant", "parts": answer["parts"]})

    def _begin(self, address: str, call: ToolCall) -> None:
        arguments = ""
        if ask := self._asks.get(call.call):
            arguments = ask.arguments
        elif call.arguments is not None:
            arguments = encode_text(call.arguments)
        if arguments:
            self.said.setdefault(address, {})["gen_ai.tool.call.arguments"] = _cut(arguments)

    def _settle(self, address: str, call: str, text: str) -> None:
        self.said.setdefault(address, {})["gen_ai.tool.call.result"] = _cut(text)
        if call in self._asks:
            part = {"type": "tool_call_response", "id": call, "response": _cut(text)}
            self._fresh.append(_message("tool", part))

    def _say(self, address: str, name: str, messages: Sequence[Message]) -> None:
        if messages:
            self.said.setdefault(address, {})[name] = encode_text(messages)


def _message(role: str, *parts: Message) -> Message:
    return {"role": role, "parts": parts}


def _text(text: str) -> Message:
    return {"type": "text", "content": _cut(text)}


def _answer(text: str, asks: Sequence[ToolAsk], turn: int, finish: str) -> Message:
    calls = [
        {"type": "tool_call", "id": f"{turn}.{index}", "name": ask.tool, "arguments": _arguments(ask.arguments)}
        for index, ask in enumerate(asks)
    ]
    parts = [*([_text(text)] if text else []), *calls]
    return {"role": "assistant", "parts": parts, "finish_reason": "tool_call" if finish == "tool_calls" else finish}


def _arguments(text: str) -> object:
    """The arguments as a value where they are one, else as the model wrote them."""
    if len(text) > TEXT_LIMIT:
        return _cut(text)
    try:
        value = as_object(json.loads(text))
    except (ValueError, RecursionError):
        return text
    return value or text


def _newest(messages: Sequence[Message]) -> Sequence[Message]:
    left = MESSAGES_LIMIT
    kept = list[Message]()
    for message in reversed(messages):
        left -= len(encode_text(message))
        if left < 0 and kept:
            break
        kept.insert(0, message)
    return kept


def _cut(text: str) -> str:
    return text if len(text) <= TEXT_LIMIT else f"{text[:TEXT_LIMIT]} [cut]"
