"""The texts of a run as messages in the form of OpenTelemetry, for spans that may hold texts.

They are exported only with AGENT_LOG_LEVEL=full. A request holds the messages since the one before, so that all
requests together are the conversation without repetition.
"""

import json
from collections.abc import Mapping, Sequence

from gofer.journal.entries import (
    FileAdded,
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
from gofer.projections.calls import without_signatures
from gofer.values.canonical_json import as_object, encode_text
from gofer.values.messages import ToolAsk, resolved_call

TEXT_LIMIT = 8_000
"""The most characters of one text; a longer text is cut."""
MESSAGES_LIMIT = 64_000
"""The most characters of all texts of one request; the newest are kept."""

Message = Mapping[str, object]
Texts = dict[str, dict[str, str]]
"""Attributes by the address of the first entry of their span."""


def contents(journal: Sequence[Recorded]) -> Texts:
    """Return the texts of a journal, by span."""
    reader = _Reader()
    for recorded in journal:
        reader.read(recorded)
    return reader.texts


class _Reader:
    def __init__(self) -> None:
        self.texts: Texts = {}
        self._new: list[Message] = []
        """The messages since the last request."""
        self._asks: dict[str, ToolAsk] = {}
        self._turn = 0
        self._run = ""
        self._asked = ""
        self._started: dict[str, str] = {}
        """The addresses of the first entries of calls and subagents."""
        self._attempted: dict[str, str] = {}
        """The addresses of the last attempts of one-shot subagents."""

    def read(self, recorded: Recorded) -> None:
        address = recorded.address
        match recorded.entry:
            case RunAccepted(event=event):
                self._run = address
                self._set(address, "gen_ai.input.messages", [_message("user", _text(event.text))])
            case RunConcluded(text=text):
                self._set(self._run, "gen_ai.output.messages", [_answer(text, (), 0, "stop")])
            case MessageReceived(text=text):
                self._new.append(_message("user", _text(text)))
            case LlmRequest():
                self._asked = address
                self._set(address, "gen_ai.input.messages", _newest(self._new))
                self._new = []
            case LlmResponse() as response:
                self._add_answer(response)
            case ToolCall() as call:
                self._started[call.call] = address
                self._add_arguments(address, call)
            case ToolResult(call=call, text=text) | ToolUnknown(call=call, text=text):
                if call not in self._started and call in self._asks:
                    # A refused call has no intent, so its arguments are shown with its outcome.
                    self.texts.setdefault(address, {})["gen_ai.tool.call.arguments"] = _cut(self._asks[call].arguments)
                self._add_result(self._started.get(call, address), call, text)
            case SubagentStarted(call=call, prompt=prompt):
                self._attempted[call] = address
                for began in {self._started.setdefault(call, address), address}:
                    self._set(began, "gen_ai.input.messages", [_message("user", _text(prompt))])
            case SubagentFinished(call=call, text=text):
                for began in {self._started.get(call, address), self._attempted.get(call, address)}:
                    self._set(began, "gen_ai.output.messages", [_answer(text, (), 0, "stop")])
            case FileAdded(name=name):
                self.texts.setdefault(address, {})["gofer.file.name"] = _cut(name)
            case _:
                pass

    def _add_answer(self, response: LlmResponse) -> None:
        self._turn += 1
        self._asks |= {f"{self._turn}.{index}": resolved_call(ask) for index, ask in enumerate(response.tool_calls)}
        answer = _answer(response.text, response.tool_calls, self._turn, response.finish_reason)
        self._set(self._asked, "gen_ai.output.messages", [answer])
        self._new.append({"role": "assistant", "parts": answer["parts"]})

    def _add_arguments(self, address: str, call: ToolCall) -> None:
        arguments = ""
        if ask := self._asks.get(call.call):
            arguments = ask.arguments
        elif call.arguments is not None:
            arguments = encode_text(without_signatures(call.call, call.arguments))
        if arguments:
            self.texts.setdefault(address, {})["gen_ai.tool.call.arguments"] = _cut(arguments)

    def _add_result(self, address: str, call: str, text: str) -> None:
        self.texts.setdefault(address, {})["gen_ai.tool.call.result"] = _cut(text)
        if call in self._asks:
            part = {"type": "tool_call_response", "id": call, "response": _cut(text)}
            self._new.append(_message("tool", part))

    def _set(self, address: str, name: str, messages: Sequence[Message]) -> None:
        if messages:
            self.texts.setdefault(address, {})[name] = encode_text(messages)


def _message(role: str, *parts: Message) -> Message:
    return {"role": role, "parts": parts}


def _text(text: str) -> Message:
    return {"type": "text", "content": _cut(text)}


def _answer(text: str, asks: Sequence[ToolAsk], turn: int, finish: str) -> Message:
    calls = [
        {"type": "tool_call", "id": f"{turn}.{index}", "name": ask.tool, "arguments": _arguments(ask.arguments)}
        for index, ask in enumerate(asks)
    ]
    parts: list[Message] = []
    if text:
        parts.append(_text(text))
    parts += calls
    if finish == "tool_calls":
        finish = "tool_call"
    return {"role": "assistant", "parts": parts, "finish_reason": finish}


def _arguments(text: str) -> object:
    """Return arguments as a value if they are JSON, else as the model wrote them."""
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
    if len(text) <= TEXT_LIMIT:
        return text
    return f"{text[:TEXT_LIMIT]} [cut]"
