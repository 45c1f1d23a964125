"""The preview of a text that is too large for a model's window."""

import hashlib
from dataclasses import dataclass, replace
from typing import Literal

from gofer.files.exact_json import parse, parse_lines
from gofer.files.json_structure import LEVELS, Shapes, TooLong, outline
from gofer.files.text_cut import head, tail
from gofer.files.tokens import estimate
from gofer.values.canonical_json import clean

TOKENS = 1_000
"""Tokens of a preview when nothing else is said."""

CHARACTERS_PER_TOKEN = 8
"""More than any real text has; beyond this many an estimate is of no use."""

_CUT = "… cut here"
_INDENT = "    "
"""What stands before the rest of an indented line."""


@dataclass(frozen=True, slots=True)
class Preview:
    """A part of something large, and how large it is."""

    kind: Literal["json", "text"]
    id: str
    """`<prefix>_<hash>`: the same for the same bytes."""
    partial_data: str
    """JSON in one line where `kind` is json, cut at its end only when nothing else helped; else head and tail."""
    is_truncated: bool
    total_tokens: int
    partial_tokens: int
    note_to_llm: str
    """One or two sentences on what was left out and how to get it."""

    def fields(self) -> dict[str, object]:
        """Return what the model is shown; the id goes by the name `json_id` or `text_id`."""
        return {
            f"{self.kind}_id": self.id,
            "partial_data": self.partial_data,
            "is_truncated": self.is_truncated,
            "total_tokens": self.total_tokens,
            "partial_tokens": self.partial_tokens,
            "note_to_llm": self.note_to_llm,
        }

    def of_file(self, file: str) -> "Preview":
        """Return the same preview with the id of the file that holds the whole."""
        return replace(self, id=file, note_to_llm=self.note_to_llm.replace(self.id, file))


def content_id(prefix: str, raw: bytes) -> str:
    """Return `<prefix>_<hash>`, the name of these bytes; twelve hexadecimal digits."""
    return f"{prefix}_{hashlib.sha256(raw).hexdigest()[:12]}"


def preview(text: str, *, prefix: str = "file", max_tokens: int = TOKENS) -> Preview:
    """Return JSON and JSON Lines by their structure, any other text by its head and tail; at most that many tokens."""
    text = clean(text)
    begins = text.lstrip("\ufeff \t\r\n")[:1]
    if begins in ("{", "["):
        try:
            return preview_json(text, prefix=prefix, max_tokens=max_tokens)
        except ValueError:
            pass
    return preview_text(text, prefix=prefix, max_tokens=max_tokens)


def preview_json(text: str, *, prefix: str = "json", max_tokens: int = TOKENS) -> Preview:
    """Return the structure of JSON, or of JSON Lines as one list. Raises ValueError for anything else."""
    text = clean(text)
    total = estimate(text)
    name = content_id(prefix, text.encode())
    try:
        value = parse(text)
        what = "JSON"
    except ValueError:
        value = parse_lines(text)
        what = "JSON Lines"
    if total <= max_tokens:
        return Preview("json", name, text, False, total, total, f"This is all of the {what}.")
    part, whole_structure = _within(value, max_tokens)
    return Preview("json", name, part, True, total, estimate(part), _json_note(what, name, whole_structure))


def preview_text(text: str, *, prefix: str = "text", max_tokens: int = TOKENS) -> Preview:
    """Return head and tail of a text, in whole lines where they are short, with what is missing said in between."""
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


def _json_note(what: str, name: str, whole_structure: bool) -> str:
    if whole_structure:
        kept = (
            "Every key and the true length of every list are here; strings are cut, and lists of alike items show some "
            "of them"
        )
    else:
        kept = "This is the outline of something very wide or deep, and not every key fits"
    return f"{kept}. Ask jq or grep_json about {name} for the values themselves; it is {what}."


def _within(value: object, max_tokens: int) -> tuple[str, bool]:
    """Return the fullest outline that fits, and whether it has every key."""
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
        part = _beginning(value)
    return _first(part, max_tokens - estimate(_CUT)) + _CUT, False


def _beginning(value: object) -> str:
    return f"… {'an object' if isinstance(value, dict) else 'a list'} too wide to outline "


def _first(text: str, max_tokens: int) -> str:
    """Return a beginning of the text of at most that many tokens, and not much less."""
    part = head(text, max(max_tokens, 0) * CHARACTERS_PER_TOKEN)
    while part and (tokens := estimate(part)) > max_tokens:
        part = head(part, min(len(part) - 1, int(len(part) * max(max_tokens, 0) / tokens)))
    return part


def _last(text: str, max_tokens: int) -> str:
    part = tail(text, max(max_tokens, 0) * CHARACTERS_PER_TOKEN)
    while part and (tokens := estimate(part)) > max_tokens:
        part = tail(part, min(len(part) - 1, int(len(part) * max(max_tokens, 0) / tokens)))
    return part


def _head_and_tail(text: str, max_tokens: int) -> str:
    room = max_tokens - 30
    if room < 20:
        return _first(text, max_tokens)
    first = _first(text, room * 2 // 3)
    if (at := first.rfind("\n")) >= 0 and len(first) - at < len(first) // 4:
        first = first[: at + 1]
    last = _last(text, room - estimate(first))
    if 0 <= (at := last.find("\n")) < len(last) // 4:
        last = last[at + 1 :]
    missing = text[len(first) : len(text) - len(last)]
    last = _indented(text, last)
    lines = missing.count("\n")
    said = f"[… {len(missing):,} characters{f', {lines:,} lines,' if lines else ''} left out here …]"
    return f"{first}{'' if first.endswith(chr(10)) else chr(10)}{said}\n{last}"


def _indented(text: str, last: str) -> str:
    """Return the end of a text, indented where its first line is the rest of an indented line.

    What people wrote is told apart by its indentation, also in a part of it.
    """
    begin = text.rfind("\n", 0, len(text) - len(last)) + 1
    if begin == len(text) - len(last) or text[begin : begin + 1] not in (" ", "\t"):
        return last
    return f"{_INDENT}{last.lstrip(' ')}"
