"""The messages that leave the window, as text: a full transcript for a file, or a digest that code shortens."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gofer.files.preview import preview_text
from gofer.models.answer_text import split_thoughts
from gofer.projections.conversation import LEFT, SUMMARY
from gofer.values.canonical_json import as_list, as_object, as_text
from gofer.values.tokens import estimate

SHORT_CHARACTERS = 300
"""Characters of one message in a digest."""
HISTORY = "history"
"""The prefix of the ids of files with compacted turns."""
OPENING_SHARE = 0.5
"""Share of a digest that its oldest message may take."""
SHORTENED = "Shortened by code, without judgement:\n"
SINCE = "\n\nWhat came after that, as far as there is room:\n"


@dataclass(frozen=True, slots=True)
class LeavingMessages:
    """The messages that leave the window."""

    parts: Sequence[bytes]
    turn: int = 1
    """The turn of the model's first answer among them."""
    tokens: int = 0
    """The estimated tokens of the messages."""
    after_first: bool = True
    """Whether the first message of the conversation stays."""

    def messages(self) -> Sequence[Mapping[str, object]]:
        """Return the messages as JSON objects."""
        return [as_object(json.loads(part)) for part in self.parts]

    def texts(self) -> Sequence[str]:
        """Return the text of each message."""
        return [_text_of(message) for message in self.messages()]


def transcript(folded: LeavingMessages) -> str:
    """Return every message with its role and turn, in order, without images, documents and thoughts."""
    rows = list[str]()
    turn = folded.turn - 1
    for message in folded.messages():
        turn += message.get("role") == "assistant"
        rows.append(f"## {message.get('role')}, turn {turn}\n{_text_of(message)}")
    return "\n\n".join(rows)


def digest(folded: LeavingMessages, tokens: int) -> str:
    """Return the oldest message or an earlier summary, then the beginnings of the newest messages that fit."""
    first, *rest = folded.messages()
    opening = _opening(_text_of(first), round(OPENING_SHARE * tokens))
    lines = list[str]()
    left = tokens - estimate(opening)
    for message in reversed(rest):
        line = f"- {message.get('role')}: {_brief(_text_of(message))}"
        if (left := left - estimate(line) - 1) < 0:
            lines.append("- (the messages before these are only in the file)")
            break
        lines.append(line)
    return f"{SHORTENED}{opening}{SINCE}" + "\n".join(reversed(lines))


def _opening(text: str, tokens: int) -> str:
    """Return the part that no later message repeats: the goal in the first message, or an earlier summary."""
    earlier = ""
    if text.startswith(LEFT):
        earlier = text.partition(SUMMARY)[2]
    if earlier.startswith(SHORTENED):
        # An earlier digest keeps its opening unchanged; shortened at each compaction, the goal would disappear.
        return earlier.removeprefix(SHORTENED).partition(SINCE)[0]
    return preview_text(earlier or text, max_tokens=tokens).partial_data


def _text_of(message: Mapping[str, object]) -> str:
    content = message.get("content")
    text = as_text(content)
    if message.get("role") == "assistant":
        text = split_thoughts(text).text
    pieces = [text, *(as_text(as_object(piece).get("text")) for piece in as_list(content))]
    for call in map(as_object, as_list(message.get("tool_calls"))):
        function = as_object(call.get("function"))
        pieces.append(f"→ {as_text(function.get('name'))}({as_text(function.get('arguments'))})")
    return "\n".join(filter(None, pieces))


def _brief(text: str) -> str:
    line = " ".join(text.split())
    if len(line) <= SHORT_CHARACTERS:
        return line
    return f"{line[:SHORT_CHARACTERS]} […]"
