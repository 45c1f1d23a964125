"""How do messages that leave the window read: word for word as a file, or shortened by code?"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gofer.canonical import as_list, as_object, as_text
from gofer.files.tokens import estimate

SHORT = 300
"""Characters of one result in a digest."""


@dataclass(frozen=True, slots=True)
class Folded:
    """Encoded messages that leave."""

    parts: Sequence[bytes]
    turn: int = 1
    """The turn of the first answer of the model among them."""
    tokens: int = 0
    """What they weigh, by estimate."""

    def messages(self) -> Sequence[Mapping[str, object]]:
        """The same as objects."""
        return [as_object(json.loads(part)) for part in self.parts]

    def texts(self) -> Sequence[str]:
        """What each of them says."""
        return [_said(message) for message in self.messages()]


def transcript(folded: Folded) -> str:
    """Every message with its role and turn, in order, and nothing left out but what was looked at."""
    rows, turn = list[str](), folded.turn - 1
    for message in folded.messages():
        turn += message.get("role") == "assistant"
        rows.append(f"## {message.get('role')}, turn {turn}\n{_said(message)}")
    return "\n\n".join(rows)


def digest(folded: Folded, tokens: int) -> str:
    """The beginnings of what was said and given; the newest, when there is not room for all."""
    lines: list[str] = []
    left = tokens
    for message in reversed(folded.messages()):
        line = f"- {message.get('role')}: {_brief(_said(message))}"
        if (left := left - estimate(line) - 1) < 0:
            lines.append("- (what came before is in the file only)")
            break
        lines.append(line)
    return "\n".join(["Shortened by code, without judgement:", *reversed(lines)])


def _said(message: Mapping[str, object]) -> str:
    content = message.get("content")
    pieces = [as_text(content), *(as_text(as_object(piece).get("text")) for piece in as_list(content))]
    for call in map(as_object, as_list(message.get("tool_calls"))):
        function = as_object(call.get("function"))
        pieces.append(f"→ {as_text(function.get('name'))}({as_text(function.get('arguments'))})")
    return "\n".join(filter(None, pieces))


def _brief(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= SHORT else f"{line[:SHORT]} […]"
