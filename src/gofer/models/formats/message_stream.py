"""The parser of a streamed answer in the format Messages."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from gofer.models.failures import error_in, failed
from gofer.models.formats.completion_stream import events
from gofer.models.language_model import Access
from gofer.values.canonical_json import as_list, as_object, as_text, decode
from gofer.values.errors import BadRequest
from gofer.values.messages import ProviderError

_PIECES = {"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "signature"}
"""The key of each kind of piece, in the event and in the block."""


def message_of(raw: bytes, at: Access) -> Mapping[str, object]:
    """Return the body that the answer would have without streaming.

    Raises Unavailable when the stream broke off before its end, and the error of `failed` for an error in it.
    """
    whole = _Whole()
    for data in events(raw.decode(errors="replace")):
        try:
            event = as_object(decode(data.encode()))
        except BadRequest:
            break
        if event.get("type") == "error":
            raise failed(error_in(event, 200, at.key.reveal()) or ProviderError("busy"), at)
        whole.take(event)
    if not whole.ended:
        raise failed(ProviderError("unreachable", message="the stream broke off"), at)
    return whole.body()


@dataclass(slots=True)
class _Whole:
    """One message, collected from its events."""

    message: dict[str, object] = field(default_factory=dict[str, object])
    usage: dict[str, object] = field(default_factory=dict[str, object])
    blocks: dict[int, dict[str, object]] = field(default_factory=dict[int, dict[str, object]])
    pieces: dict[tuple[int, str], list[str]] = field(default_factory=dict[tuple[int, str], list[str]])
    """The pieces of each text of a block, by the block's index and the key of the text."""
    ended: bool = False

    def take(self, event: Mapping[str, object]) -> None:
        """Add one event; an unknown one, such as `ping`, changes nothing."""
        index = event.get("index")
        match event.get("type"):
            case "message_start":
                self.message |= as_object(event.get("message"))
                self._count(as_object(self.message.get("usage")))
            case "content_block_start" if isinstance(index, int):
                self.blocks[index] = dict(as_object(event.get("content_block")))
            case "content_block_delta" if isinstance(index, int) and index in self.blocks:
                self._add(index, as_object(event.get("delta")))
            case "message_delta":
                self.message |= as_object(event.get("delta"))
                self._count(as_object(event.get("usage")))
            case "message_stop":
                self.ended = True
            case _:
                pass

    def _count(self, usage: Mapping[str, object]) -> None:
        """Take counts; those of later events include those of earlier ones."""
        self.usage |= {name: value for name, value in usage.items() if value is not None}

    def _add(self, index: int, delta: Mapping[str, object]) -> None:
        kind = as_text(delta.get("type"))
        if kind in _PIECES:
            self.pieces.setdefault((index, _PIECES[kind]), []).append(as_text(delta.get(_PIECES[kind])))
        elif kind == "input_json_delta":
            self.pieces.setdefault((index, "input"), []).append(as_text(delta.get("partial_json")))
        elif kind == "citations_delta":
            block = self.blocks[index]
            block["citations"] = [*as_list(block.get("citations")), delta.get("citation")]

    def body(self) -> Mapping[str, object]:
        """Return the message in the format without streaming; arguments that are no JSON stay a text."""
        for (index, key), pieces in self.pieces.items():
            text = "".join(pieces)
            block = self.blocks[index]
            if key == "input":
                block[key] = _value(text)
            else:
                block[key] = as_text(block.get(key)) + text
        content = [self.blocks[index] for index in sorted(self.blocks)]
        return {**self.message, "content": content, "usage": self.usage}


def _value(text: str) -> object:
    try:
        return decode((text or "{}").encode(errors="replace"))
    except BadRequest:
        return text
