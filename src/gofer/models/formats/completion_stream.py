"""The parser of a streamed answer: some servers send server-sent events although the request did not ask for them."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from gofer.models.failures import error_in, failed
from gofer.models.language_model import DEPLOYED, Access
from gofer.values.canonical_json import as_list, as_object, as_text, decode, encode_text
from gofer.values.errors import BadRequest
from gofer.values.messages import ProviderError

_BEGINS = re.compile(rb"\A(?:\xef\xbb\xbf)?\s*(?:(?:data|event|id|retry)\s*:|:)")
_LINE_END = re.compile(r"\r\n|\r|\n")
_DONE = "[DONE]"
_TEXTS = ("content", "refusal", "reasoning_content", "reasoning")
"""The fields of a chunk that hold pieces of a text."""


def is_stream(raw: bytes) -> bool:
    """Return whether a body is a stream of events."""
    return _BEGINS.match(raw[:200]) is not None


def completion_of(raw: bytes, at: Access = DEPLOYED) -> Mapping[str, object]:
    """Return the body that the answer would have without streaming.

    Raises Unavailable when the stream broke off before its end, and the error of `failed` for an error in it.
    """
    whole = _Whole()
    for data in events(raw.decode(errors="replace")):
        if data.strip() == _DONE:
            whole.ended = True
            break
        try:
            chunk = decode(data.encode())
        except BadRequest:
            # Only the last event of a broken stream is no JSON.
            break
        if error := error_in(chunk, 200, at.key.reveal()):
            raise failed(error, at)
        whole.take(as_object(chunk))
    if not whole.ended and not whole.finish:
        raise failed(ProviderError("unreachable", message="the stream broke off"))
    return whole.body()


def events(text: str) -> Iterator[str]:
    """Yield the data of each event of a stream."""
    lines: list[str] = []
    for line in _LINE_END.split(text):
        name, _, value = line.partition(":")
        if name.strip() == "data":
            lines.append(value.removeprefix(" "))
        elif not line and lines:
            yield "\n".join(lines)
            lines = []
    if lines:
        yield "\n".join(lines)


@dataclass(slots=True)
class _Call:
    """One tool call, collected from its pieces."""

    fields: dict[str, object] = field(default_factory=dict[str, object])
    name: str = ""
    arguments: list[str] = field(default_factory=list[str])

    def take(self, piece: Mapping[str, object]) -> None:
        """Add one piece."""
        self.fields |= {key: value for key, value in piece.items() if value and key != "function"}
        function = as_object(piece.get("function"))
        self.name = self.name or as_text(function.get("name"))
        arguments = function.get("arguments")
        if isinstance(arguments, str):
            self.arguments.append(arguments)
        elif arguments is not None:
            self.arguments.append(encode_text(arguments))

    def body(self) -> Mapping[str, object]:
        """Return the call in the format of an answer without streaming."""
        return {**self.fields, "function": {"name": self.name, "arguments": "".join(self.arguments)}}


@dataclass(slots=True)
class _Whole:
    """One answer, collected from its chunks."""

    texts: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    details: list[object] = field(default_factory=list[object])
    calls: list[_Call] = field(default_factory=list[_Call])
    places: dict[str, int] = field(default_factory=dict[str, int])
    """The position in `calls` of the last call with each index of the provider."""
    deprecated: _Call | None = None
    model: str = ""
    fingerprint: str = ""
    finish: str = ""
    usage: Mapping[str, object] = field(default_factory=dict[str, object])
    ended: bool = False

    def take(self, chunk: Mapping[str, object]) -> None:
        """Add one chunk."""
        self.model = self.model or as_text(chunk.get("model"))
        self.fingerprint = as_text(chunk.get("system_fingerprint")) or self.fingerprint
        self.usage = as_object(chunk.get("usage")) or self.usage
        for choice in map(as_object, as_list(chunk.get("choices"))):
            if choice.get("index") in (None, 0):
                self.finish = as_text(choice.get("finish_reason")) or self.finish
                self._add(as_object(choice.get("delta")) or as_object(choice.get("message")))

    def _add(self, delta: Mapping[str, object]) -> None:
        for name in _TEXTS:
            if piece := as_text(delta.get(name)):
                self.texts.setdefault(name, []).append(piece)
        for part in map(as_object, as_list(delta.get("content"))):
            self._add_part(part)
        self.details += as_list(delta.get("reasoning_details"))
        for piece in map(as_object, as_list(delta.get("tool_calls"))):
            self._call_of(piece).take(piece)
        if deprecated := as_object(delta.get("function_call")):
            self.deprecated = self.deprecated or _Call()
            self.deprecated.take({"function": deprecated})

    def _add_part(self, part: Mapping[str, object]) -> None:
        """Add a part of a content that comes as a list: text, or thoughts."""
        self.texts.setdefault("content", []).append(as_text(part.get("text")))
        thought = "".join(as_text(as_object(piece).get("text")) for piece in as_list(part.get("thinking")))
        self.texts.setdefault("reasoning", []).append(thought)

    def _call_of(self, piece: Mapping[str, object]) -> _Call:
        """Return the call that a piece belongs to, by its index, or by its id if a server counts wrongly."""
        index = str(piece.get("index"))[:20]
        new_id = as_text(piece.get("id"))
        place = self.places.get(index)
        if place is not None:
            known = as_text(self.calls[place].fields.get("id"))
            if not new_id or not known or known == new_id:
                return self.calls[place]
        self.places[index] = len(self.calls)
        self.calls.append(_Call())
        return self.calls[-1]

    def body(self) -> Mapping[str, object]:
        """Return the answer in the format without streaming."""
        message: dict[str, object] = {name: "".join(pieces) for name, pieces in self.texts.items()}
        message |= {"reasoning_details": self.details, "tool_calls": [call.body() for call in self.calls]}
        if self.deprecated is not None:
            message["function_call"] = self.deprecated.body()["function"]
        choice = {"message": message, "finish_reason": self.finish}
        return {
            "model": self.model,
            "choices": [choice],
            "usage": self.usage,
            "system_fingerprint": self.fingerprint,
        }
