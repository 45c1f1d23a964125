"""Messages that leave the window, as text: word for word for a file, or shortened by code."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gofer.files.preview import preview_text
from gofer.files.tokens import estimate
from gofer.models.answer_text import apart
from gofer.projections.conversation import LEFT, SUMMARY
from gofer.values.canonical_json import as_list, as_object, as_text

SHORT = 300
"""Characters of one result in a digest."""
HISTORY = "history"
"""What the ids of files begin with that hold turns which left."""
OPENING = 0.5
"""Share of a digest that its oldest message may have."""
SHORTENED = "Shortened by code, without judgement:\n"
SINCE = "\n\nWhat came after that, as far as there is room:\n"


@dataclass(frozen=True, slots=True)
class Folded:
    """Encoded messages that leave."""

    parts: Sequence[bytes]
    turn: int = 1
    """The turn of the first answer of the model among them."""
    tokens: int = 0
    """What they weigh, by estimate."""
    after_first: bool = True
    """Whether the first message stays."""

    def messages(self) -> Sequence[Mapping[str, object]]:
        """The same as objects."""
        return [as_object(json.loads(part)) for part in self.parts]

    def texts(self) -> Sequence[str]:
        """What each of them says."""
        return [_said(message) for message in self.messages()]


def transcript(folded: Folded) -> str:
    """Every message with its role and turn, in order, and nothing left out but what was looked at or thought."""
    rows = list[str]()
    turn = folded.turn - 1
    for message in folded.messages():
        turn += message.get("role") == "assistant"
        rows.append(f"## {message.get('role')}, turn {turn}\n{_said(message)}")
    return "\n\n".join(rows)


def digest(folded: Folded, tokens: int) -> str:
    """What was said first, or an earlier summary; then the beginnings of what was said and given, the newest, when
    there is not room for all."""
    first, *rest = folded.messages()
    opening = _opening(_said(first), round(OPENING * tokens))
    lines = list[str]()
    left = tokens - estimate(opening)
    for message in reversed(rest):
        line = f"- {message.get('role')}: {_brief(_said(message))}"
        if (left := left - estimate(line) - 1) < 0:
            lines.append("- (what came before is in the file only)")
            break
        lines.append(line)
    return f"{SHORTENED}{opening}{SINCE}" + "\n".join(reversed(lines))


def _opening(said: str, tokens: int) -> str:
    """What nothing that follows says again: the goal in the first message, or what is known from before."""
    earlier = said.partition(SUMMARY)[2] if said.startswith(LEFT) else ""
    if earlier.startswith(SHORTENED):
        # As it is: shortened each time, nothing would be left of it in the end.
        return earlier.removeprefix(SHORTENED).partition(SINCE)[0]
    return preview_text(earlier or said, max_tokens=tokens).partial_data


def _said(message: Mapping[str, object]) -> str:
    content = message.get("content")
    text = as_text(content)
    if message.get("role") == "assistant":
        text = apart(text).text
    pieces = [text, *(as_text(as_object(piece).get("text")) for piece in as_list(content))]
    for call in map(as_object, as_list(message.get("tool_calls"))):
        function = as_object(call.get("function"))
        pieces.append(f"→ {as_text(function.get('name'))}({as_text(function.get('arguments'))})")
    return "\n".join(filter(None, pieces))


def _brief(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= SHORT else f"{line[:SHORT]} […]"
