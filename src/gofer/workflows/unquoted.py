"""Values in brackets that YAML does not read as they are written, because they lack quotes."""

import re
from dataclasses import dataclass

from gofer.workflows.mistake import Place
from gofer.workflows.text import after

_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"|' + r"'(?:[^']|'')*'", re.DOTALL)
_COMMENT = re.compile(r"#[^\n]*")
_NAME = re.compile(r"(?:#(?=[^\s#][^\n]*[,\]}])|:(?=[^\s,\]}:])|@)[^,\]}\n]*")
"""A channel, an emoji or a handle: it ends with a comma."""
_TEXT = re.compile(r"[*%`|>](?:[^,\]}\n]|,(?! ))*")
"""A pattern or a cron expression, which may hold commas."""
_KEY = re.compile(r"([A-Za-z_][\w.-]*: )\s*$")


@dataclass(frozen=True, slots=True)
class Unquoted:
    """A value that needs quotes."""

    place: Place
    key: str
    """The key that it stands behind, with its colon and a space; empty in a list."""
    value: str

    @property
    def message(self) -> str:
        """What YAML makes of it."""
        match self.value[0]:
            case "#":
                return f"YAML reads `{self.value[:80]}` and the rest of its line as a comment."
            case ":":
                return f"YAML reads the colons of `{self.value[:80]}` as marks of its own."
            case "`":
                return "A value cannot begin with ``."
            case sign:
                return f"A value cannot begin with `{sign}`."

    @property
    def hint(self) -> str:
        """What to write instead."""
        escaped = self.value[:200].replace("\\", "\\\\").replace('"', '\\"')
        return f'Write `{self.key}"{escaped}"`.'


def first_unquoted(text: str) -> Unquoted | None:
    """Return the first value in brackets that needs quotes and has none; each character is looked at once."""
    depth = 0
    at = 0
    last = "\n"
    while at < len(text):
        char = text[at]
        spaced = not at or text[at - 1].isspace()
        # A value begins behind a bracket, a comma or a new line, and behind a colon or a dash with a space.
        begins = last in "[{,\n" or (last in ":-" and spaced)
        if depth and begins and (odd := _NAME.match(text, at) or _TEXT.match(text, at)):
            return _unquoted(text, odd)
        if (spaced and (skipped := _COMMENT.match(text, at))) or (begins and (skipped := _QUOTED.match(text, at))):
            at = skipped.end()
            last = char
            continue
        if char in "[{" and (depth or begins):
            depth += 1
        elif char in "]}" and depth:
            depth -= 1
        if char == "\n" or not char.isspace():
            last = char
        at += 1
    return None


def _unquoted(text: str, found: re.Match[str]) -> Unquoted:
    line = text[text.rfind("\n", 0, found.start()) + 1 : found.start()]
    (key,) = _KEY.findall(line) or [""]
    return Unquoted(after(text[: found.start()]), key, found[0].rstrip())
