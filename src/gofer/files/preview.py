"""The preview of a text that is too large for a model's window."""

import hashlib
from dataclasses import dataclass, replace
from typing import Literal

from gofer.files.exact_json import parse, parse_lines
from gofer.files.json_structure import LEVELS, Shapes, TooLong, outline
from gofer.files.text_cut import head, tail
from gofer.values.canonical_json import clean
from gofer.values.tokens import estimate

TOKENS = 1_000
"""The default size of a preview in tokens."""

CHARACTERS_PER_TOKEN = 8
"""More than any real text has. A longer text is cut without an estimate."""

_CUT = "… cut here"
_INDENT = "    "
"""The indentation of the remainder of an indented line."""


@dataclass(frozen=True, slots=True)
class Preview:
    """A part of a large text, and the size of the whole."""

    kind: Literal["json", "text"]
    id: str
    """The id `<prefix>_<hash>`, equal for equal bytes."""
    partial_data: str
    """JSON on one line for the kind `json`, cut at its end only if no outline fits; else head and tail of the text."""
    is_truncated: bool
    total_tokens: int
    partial_tokens: int
    note_to_llm: str
    """One or two sentences that say what was left out and how to get it."""

    def fields(self) -> dict[str, object]:
        """Return the fields for the model, with the id under `json_id` or `text_id`."""
        return {
            f"{self.kind}_id": self.id,
            "partial_data": self.partial_data,
            "is_truncated": self.is_truncated,
            "total_tokens": self.total_tokens,
            "partial_tokens": self.partial_tokens,
            "note_to_llm": self.note_to_llm,
        }

    def of_file(self, file: str) -> "Preview":
        """Return the preview with the id of the file that holds the whole text."""
        return replace(self, id=file, note_to_llm=self.note_to_llm.replace(self.id, file))


def content_id(prefix: str, raw: bytes) -> str:
    """Return the id of some bytes, `<prefix>_<hash>`, with twelve hexadecimal digits."""
    return f"{prefix}_{hashlib.sha256(raw).hexdigest()[:12]}"


def preview(text: str, *, prefix: str = "file", max_tokens: int = TOKENS) -> Preview:
    """Return a preview of at most `max_tokens`: the structure of JSON and JSON Lines, else head and tail."""
    text = clean(text)
    begins = text.lstrip("\ufeff \t\r\n")[:1]
    if begins in ("{", "["):
        try:
            return preview_json(text, prefix=prefix, max_tokens=max_tokens)
        except ValueError:
            pass
    return preview_text(text, prefix=prefix, max_tokens=max_tokens)


def preview_json(text: str, *, prefix: str = "json", max_tokens: int = TOKENS) -> Preview:
    """Return a preview with the structure of JSON, or of JSON Lines as one list. Raises ValueError for other text."""
    text = clean(text)
    total = estimate(text)
    name = content_id(prefix, text.encode())
    try:
        value = parse(text)
        format_name = "JSON"
    except ValueError:
        value = parse_lines(text)
        format_name = "JSON Lines"
    if total <= max_tokens:
        return Preview("json", name, text, False, total, total, f"This is all of the {format_name}.")
    part, whole_structure = _outline_within(value, max_tokens)
    return Preview("json", name, part, True, total, estimate(part), _json_note(format_name, name, whole_structure))


def preview_text(text: str, *, prefix: str = "text", max_tokens: int = TOKENS) -> Preview:
    """Return a preview with head and tail of a text, in whole lines if they are short, and a note on the gap."""
    text = clean(text)
    total = estimate(text)
    name = content_id(prefix, text.encode())
    if total <= max_tokens:
        return Preview("text", name, text, False, total, total, "This is all of the text.")
    part = _head_and_tail(text, max_tokens)
    note = (
        f"This is the beginning and the end of a longer text. Read lines of {name} with file_read, or look for "
        "words in it with file_regex."
    )
    return Preview("text", name, part, True, total, estimate(part), note)


def _json_note(format_name: str, name: str, whole_structure: bool) -> str:
    if whole_structure:
        content = (
            "Every key and the true length of every list are here; strings are cut, and lists of alike items show some "
            "of them"
        )
    else:
        content = "This is the outline of something very wide or deep, and not every key fits"
    return f"{content}. Ask jq or grep_json about {name} for the values themselves; it is {format_name}."


def _outline_within(value: object, max_tokens: int) -> tuple[str, bool]:
    """Return the most detailed outline that fits, and whether it has every key."""
    shapes = Shapes()
    most = max_tokens * CHARACTERS_PER_TOKEN
    for brevity in LEVELS:
        try:
            part = outline(value, brevity, shapes, most)
        except TooLong:
            continue
        if estimate(part) <= max_tokens:
            return part, brevity.whole
    try:
        part = outline(value, LEVELS[-1], shapes, 20 * most)
    except TooLong:
        part = _too_wide(value)
    return _head_of(part, max_tokens - estimate(_CUT)) + _CUT, False


def _too_wide(value: object) -> str:
    return f"… {'an object' if isinstance(value, dict) else 'a list'} too wide to outline "


def _head_of(text: str, max_tokens: int) -> str:
    """Return a beginning of the text of slightly less than `max_tokens`, at most."""
    part = head(text, max(max_tokens, 0) * CHARACTERS_PER_TOKEN)
    while part and (tokens := estimate(part)) > max_tokens:
        part = head(part, min(len(part) - 1, int(len(part) * max(max_tokens, 0) / tokens)))
    return part


def _tail_of(text: str, max_tokens: int) -> str:
    part = tail(text, max(max_tokens, 0) * CHARACTERS_PER_TOKEN)
    while part and (tokens := estimate(part)) > max_tokens:
        part = tail(part, min(len(part) - 1, int(len(part) * max(max_tokens, 0) / tokens)))
    return part


def _head_and_tail(text: str, max_tokens: int) -> str:
    room = max_tokens - 30
    if room < 20:
        return _head_of(text, max_tokens)
    first = _head_of(text, room * 2 // 3)
    if (at := first.rfind("\n")) >= 0 and len(first) - at < len(first) // 4:
        first = first[: at + 1]
    last = _tail_of(text, room - estimate(first))
    if 0 <= (at := last.find("\n")) < len(last) // 4:
        last = last[at + 1 :]
    missing = text[len(first) : len(text) - len(last)]
    last = _indented(text, last)
    lines = missing.count("\n")
    gap = f"[… {len(missing):,} characters{f', {lines:,} lines,' if lines else ''} left out here …]"
    return f"{first}{'' if first.endswith(chr(10)) else chr(10)}{gap}\n{last}"


def _indented(text: str, last: str) -> str:
    """Return the end of a text, indented if its first line is the remainder of an indented line.

    The indentation marks text that people wrote, so a part of a line needs it as well.
    """
    begin = text.rfind("\n", 0, len(text) - len(last)) + 1
    if begin == len(text) - len(last) or text[begin : begin + 1] not in (" ", "\t"):
        return last
    return f"{_INDENT}{last.lstrip(' ')}"
