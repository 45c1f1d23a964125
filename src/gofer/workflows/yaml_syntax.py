"""Sentences about errors of the YAML parser: what is wrong, and what to write instead."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from gofer.workflows.file_text import after, templates
from gofer.workflows.mistake import START, Mistake, Place, Rule

_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"|' + r"'(?:[^']|'')*'", re.DOTALL)
_COMMENT = re.compile(r"#[^\n]*")
_NAME = re.compile(r"(?:#(?=[^\s#][^\n]*[,\]}])|:(?=[^\s,\]}:])|@)[^,\]}\n]*")
"""The beginning of an unquoted channel, emoji or handle. It ends at a comma."""
_TEXT = re.compile(r"[*%`|>](?:[^,\]}\n]|,(?! ))*")
"""An unquoted pattern or cron expression, which may contain commas."""
_KEY = re.compile(r"([A-Za-z_][\w.-]*: )\s*$")
_ODD_SPACE = re.compile(
    "[ ]*(?:- )*(?:-|[A-Za-z_][A-Za-z_.]*:)?([\u00a0\u1680\u2000-\u200b\u202f\u205f\u2060\u3000\ufeff])"
)
"""A character that only looks like a space, in the indent or after a dash or a colon. Inside a text it is harmless."""
_CONFLICT = ("<<<<<<< ", "=======", ">>>>>>> ")
"""The beginnings of the lines with which Git marks a conflict, in their order."""


@dataclass(frozen=True, slots=True)
class Unquoted:
    """A value that needs quotes."""

    place: Place
    key: str
    """The key before the value, with a colon and a space; empty in a list."""
    value: str

    @property
    def message(self) -> str:
        """How YAML misreads the value."""
        match self.value[0]:
            case "#":
                return f"YAML reads `{self.value[:80]}` and the rest of its line as a comment."
            case ":":
                return f"YAML reads the colons of `{self.value[:80]}` as its own syntax."
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
    """Return the first value in brackets that needs quotes and has none. Time is linear in the length of the text."""
    depth = 0
    at = 0
    last = "\n"
    while at < len(text):
        char = text[at]
        spaced = not at or text[at - 1].isspace()
        # A value begins after a bracket, a comma or a new line, and after a colon or a dash followed by a space.
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


_PAIR = re.compile(r"(?P<indent>[ ]*(?:- +)?)(?P<key>[A-Za-z_][\w.-]*):[ ]+(?P<value>.*?)\s*")
_HOLDS_KEY = re.compile(r":(\s|$)")
_BRACKETS = {"[": "]", "{": "}"}

Finding = tuple[Rule, str, str]
"""The rule, what is wrong, and what to write instead."""


def conflict(file: Path, numbered: Iterable[tuple[int, str]]) -> Mistake | None:
    """Return the mistake of the marks of a merge conflict, which stand in this order; None without all of them."""
    lines: list[int] = []
    for number, line in numbered:
        if line.startswith(_CONFLICT[len(lines)]):
            lines.append(number)
        if len(lines) == len(_CONFLICT):
            message = f"The lines {lines[0]} to {lines[-1]} hold both sides of a merge conflict."
            hint = "Keep one side, and remove the lines `<<<<<<<`, `=======` and `>>>>>>>`."
            return Mistake(file, Place(lines[0]), "merge-conflict", message, hint)
    return None


def odd_space(file: Path, lines: Sequence[str], place: Place) -> Mistake | None:
    """Return the mistake of a character that only looks like a space; None if the place has an ordinary one or none."""
    line = "".join(lines[place.line - 1 : place.line])
    found = _ODD_SPACE.match(line, place.column - 1)
    if found is None:
        return None
    char = found[1]
    message = f"The character U+{ord(char):04X} ({unicodedata.name(char, '').lower()}) is no space to YAML."
    return Mistake(
        file, Place(place.line, found.start(1) + 1), "odd-space", message, "Write an ordinary space instead."
    )


def explain_error(file: Path, text: str, error: Exception) -> Mistake:
    """Return the sentence for an error of PyYAML."""
    if not isinstance(error, yaml.MarkedYAMLError) or error.problem_mark is None:
        return Mistake(file, START, "not-yaml", "The file is not YAML.", "Write one `key: value` per line.")
    lines = text.splitlines()
    at = Place(error.problem_mark.line + 1, error.problem_mark.column + 1)
    unquoted = first_unquoted(text)
    if unquoted and (unquoted.place.line, unquoted.place.column) <= (at.line, at.column):
        return Mistake(file, unquoted.place, "not-yaml", unquoted.message, unquoted.hint)
    opened = error.context_mark
    begun = Place(opened.line + 1, opened.column + 1) if opened else at
    for number in range(begun.line, at.line + 1):
        if odd := odd_space(file, lines, Place(number)):
            return odd
    line = lines[at.line - 1] if at.line <= len(lines) else ""
    problem = error.problem or ""
    context = error.context or ""
    if "\t" in line[: at.column] and not line[: at.column - 1].strip():
        return Mistake(file, at, "tab", "The line begins with a tab.", "Indent with two spaces instead.")
    if "quoted scalar" in context and "end of stream" in problem:
        return Mistake(file, begun, "not-yaml", "The quote that opens here is never closed.", "Close it.")
    if "could not find expected ':'" in problem:
        hint = "Write a colon and a space after the key."
        return Mistake(file, begun, "not-yaml", "This line is not of the form `key: value`.", hint)
    if "flow" in context and "did not find" in problem:
        # The parser stops after the dollar sign of a placeholder such as `${{ secrets.X }}`.
        for begins, message, hint in templates(line):
            if begins == at.column - 2:
                return Mistake(file, Place(at.line, begins + 1), "template", message, hint)
        return Mistake(file, begun, *_unclosed(text, begun))
    return Mistake(file, at, *_in_line(problem, context, line, at.column))


def _unclosed(text: str, begun: Place) -> Finding:
    line = text.splitlines()[begun.line - 1 : begun.line]
    opened = "".join(line)[begun.column - 1 : begun.column]
    if opened not in _BRACKETS:
        return "not-yaml", "An earlier bracket is not closed.", "Close it with `]` or `}`."
    message = f"The `{opened}` that opens here is not closed, or a comma is missing after it."
    return "not-yaml", message, f"Write commas between the items and `{_BRACKETS[opened]}` at the end."


def _in_line(problem: str, context: str, line: str, column: int) -> Finding:
    """Return the mistake of a single line."""
    char = line[column - 1 : column]
    if char == "\t":
        return "tab", "A tab is used where YAML needs a space.", "Write a space instead."
    if "mapping values are not allowed" in problem:
        return _colon(line)
    if "cannot start any token" in problem or "node content" in problem:
        return "not-yaml", f"A value cannot begin with `{char}`.", _quoted(line)
    if "alphabetic or numeric character" in problem:
        return "not-yaml", "A value cannot begin with `*` or `&`.", _quoted(line)
    if "unknown escape" in problem:
        hint = "Use single quotes; in them a backslash is an ordinary character."
        return "not-yaml", "In double quotes a backslash begins an escape, and this escape does not exist.", hint
    if "block sequence entries are not allowed" in problem:
        return (
            "not-yaml",
            "A list begins on the line of its key.",
            "Begin it on the next line, or write it as `[a, b]`.",
        )
    if "did not find expected" in problem and "block" in context:
        return _misplaced(line, column)
    words = " ".join(f"{context} {problem}".split())
    return "not-yaml", f"The file is not YAML: {words}.", "Write one `key: value` per line."


def _colon(line: str) -> Finding:
    pair = _PAIR.fullmatch(line)
    if pair and _HOLDS_KEY.search(pair["value"]):
        message = (
            f"The value of `{pair['key']}` contains a colon before a space or at its end, and YAML reads the "
            f"text before it as a key."
        )
        return "not-yaml", message, _quoted(line)
    if pair and pair["key"][0].isupper():
        message = f"The value above goes on in this line, and YAML reads `{pair['key'][:80]}:` as a key."
        return "not-yaml", message, "Put the whole value in double quotes."
    message = "YAML reads this key as part of the value before it."
    return "not-yaml", message, "Begin the key in the same column as the keys around it, and write `: ` after each key."


def _misplaced(line: str, column: int) -> Finding:
    if line[: column - 1].strip():
        return "not-yaml", "Text follows after the end of a value.", "Put the whole value in one pair of quotes."
    message = "The line is indented differently from the lines it belongs to."
    return "not-yaml", message, "Begin the keys of one mapping, and the items of one list, in the same column."


def _quoted(line: str) -> str:
    """Return the hint to quote the value of the line."""
    pair = _PAIR.fullmatch(line)
    if pair is None or len(line) > 200:
        return "Put the value in double quotes."
    value = pair["value"].replace("\\", "\\\\").replace('"', '\\"')
    return f'Quote the value: `{pair["key"]}: "{value}"`.'
