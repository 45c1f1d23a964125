"""The messages of sent requests as texts for people, without the bytes of images and documents."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from gofer.projections.requests.sent_requests import SentRequest
from gofer.values.canonical_json import as_list, as_object, as_text

_NO_SYSTEM = 1
"""The system prompt is a message too, but it is no part of the history."""


@dataclass(frozen=True, slots=True)
class SentMessage:
    """One message of a request."""

    role: str
    """`user`, `assistant` or `tool`; the run's last message about its usage and files has the role `user`."""
    text: str


def shared_messages(before: SentRequest | None, request: SentRequest) -> int:
    """Return how many messages of the history a request shares with the request before it."""
    if before is None or before.epoch != request.epoch:
        return 0
    return len(before.parts)


def message_count(request: SentRequest) -> int:
    """Return the number of messages of a request, with its system prompt and its tail."""
    return _NO_SYSTEM + len(request.parts) + len(_tail_messages(request.request.tail))


def new_messages(request: SentRequest, since: int) -> Sequence[SentMessage]:
    """Return the messages of a request after the first `since` messages of its history, with its tail."""
    return [SentMessage(as_text(message.get("role")), _text(message)) for message in _new(request, since)]


def answer_text(text: str, thoughts: str, calls: Iterable[Mapping[str, object]]) -> str:
    """Return an answer of a model as a message shows it: its thoughts, its text and its calls."""
    lines = [f"→ {as_text(call.get('tool'))} {as_text(call.get('arguments'))}" for call in calls]
    return "\n".join(filter(None, [thoughts, text, *lines]))


def messages_json(request: SentRequest, since: int) -> str:
    """Return the same messages as a JSON array."""
    return json.dumps([without_media(message) for message in _new(request, since)], ensure_ascii=False)


def _new(request: SentRequest, since: int) -> list[Mapping[str, object]]:
    history = [as_object(json.loads(part)) for part in request.parts[since:]]
    return [*history, *_tail_messages(request.request.tail)]


def _tail_messages(tail: str) -> Sequence[Mapping[str, object]]:
    """Return the messages in the end of a request, which is `,{…}]}` or `]}`."""
    return [as_object(message) for message in as_list(json.loads(f"[{tail.lstrip(',').removesuffix('}')}"))]


def without_media(value: object) -> object:
    """Return a JSON value with a note in place of the base64 of each image and document."""
    match value:
        case str() if value.startswith("data:"):
            kind, comma, data = value.partition(";base64,")
            if comma:
                return f"{kind};base64,({len(data):,} characters)"
            return value
        case dict():
            return {name: without_media(item) for name, item in as_object(cast(object, value)).items()}
        case list():
            return [without_media(item) for item in as_list(cast(object, value))]
        case _:
            return value


def _text(message: Mapping[str, object]) -> str:
    content = message.get("content")
    pieces = [as_text(content), *(_piece(as_object(piece)) for piece in as_list(content))]
    functions = [as_object(as_object(call).get("function")) for call in as_list(message.get("tool_calls"))]
    calls = [{"tool": function.get("name"), "arguments": function.get("arguments")} for function in functions]
    return answer_text("\n".join(filter(None, pieces)), as_text(message.get("reasoning_content")), calls)


def _piece(piece: Mapping[str, object]) -> str:
    if piece.get("type") == "text":
        return as_text(piece.get("text"))
    return json.dumps(without_media(dict(piece)), ensure_ascii=False)
