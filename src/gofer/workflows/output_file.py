"""The JSON file that `output` names: its schema, the place of each value, and every mistake."""

import json
import re
from bisect import bisect_right
from collections.abc import Iterator
from pathlib import Path

from gofer.values.canonical_json import MAX_DEPTH, finite, refuse_constant
from gofer.workflows.file_text import is_there, read_text
from gofer.workflows.mistake import START, Mistake, Place, Rule
from gofer.workflows.output_schema import Schema, flaws
from gofer.workflows.sentences import close_match, invalid_schema
from gofer.workflows.yaml_source import Loc, Source

_SPACE = re.compile(r"[ \t\n\r]*")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\[^\x00-\x1f])*')
_WORD = re.compile(r'[^ \t\n\r\[\]{},:"]+')
_LITERALS = {"true": True, "false": False, "null": None}
_decoder = json.JSONDecoder(parse_constant=refuse_constant, parse_float=finite)


class _Broken(Exception):
    """A syntax error after which the rest of the file cannot be read."""

    def __init__(self, at: int, message: str, hint: str, rule: Rule = "not-json") -> None:
        super().__init__(message)
        self.at = at
        self.message = message
        self.hint = hint
        self.rule: Rule = rule


def read_json(file: Path) -> Source:
    """Return the values of the file with their places.

    Errors in the JSON are listed in `mistakes`; nothing is raised.
    """
    text, mistakes = read_text(file)
    if text is None:
        return Source(file, mistakes=tuple(mistakes))
    if not text.strip():
        hint = "Write a JSON object, or delete the file."
        return Source(file, mistakes=(*mistakes, Mistake(file, START, "empty-file", "The file is empty.", hint)))
    reader = _Reader(file, text)
    try:
        value = reader.whole()
    except _Broken as broken:
        mistake = Mistake(file, reader.place(broken.at), broken.rule, broken.message, broken.hint)
        return Source(file, mistakes=(*mistakes, *reader.mistakes, mistake))
    return Source(file, (), value, reader.values, reader.keys, {}, (*mistakes, *reader.mistakes))


class _Reader:
    """The JSON parser: reads a text from left to right. `_at` is the index of the next character."""

    def __init__(self, file: Path, text: str) -> None:
        self._file = file
        self._text = text
        self._at = 0
        self._lines = [0, *(found.end() for found in re.finditer("\n", text))]
        self.values: dict[Loc, Place] = {}
        self.keys: dict[Loc, Place] = {}
        self.mistakes: list[Mistake] = []

    def place(self, at: int) -> Place:
        """Return the place of the character at an index."""
        line = bisect_right(self._lines, at)
        return Place(line, at - self._lines[line - 1] + 1)

    def whole(self) -> object:
        """Return the value of the whole text. Raises _Broken."""
        value = self._value(())
        if self._next():
            raise _Broken(self._at, "Text follows after the end of the value.", "Remove it.")
        return value

    def _value(self, loc: Loc) -> object:
        char = self._next()
        self.values[loc] = self.place(self._at)
        if char in ("{", "[") and len(loc) >= MAX_DEPTH:
            message = f"The values are nested deeper than {MAX_DEPTH} levels."
            raise _Broken(self._at, message, "Write them flat.", "too-deep")
        match char:
            case "{":
                return self._object(loc)
            case "[":
                return [self._value((*loc, at)) for at, _ in enumerate(self._items("[", "]"))]
            case '"':
                return self._string()
            case _:
                return self._word()

    def _object(self, loc: Loc) -> dict[str, object]:
        result: dict[str, object] = {}
        for _ in self._items("{", "}"):
            begun = self._at
            if self._next() != '"':
                raise _Broken(begun, "A key in double quotes is missing here.", 'Write `"key": value`.')
            name = self._string()
            if self._next() != ":":
                raise _Broken(self._at, "A colon is missing after the key.", 'Write `"key": value`.')
            self._at += 1
            if name in result:
                message = f"The key `{name[:80]}` is repeated here; line {self.keys[*loc, name].line} sets it first."
                self.mistakes.append(
                    Mistake(self._file, self.place(begun), "duplicate-key", message, "Keep one of them.")
                )
                self._skipped(loc, name)
            else:
                self.keys[*loc, name] = self.place(begun)
                result[name] = self._value((*loc, name))
        return result

    def _skipped(self, loc: Loc, name: str) -> None:
        """Read the value of a duplicate key without changing the places of the first value."""
        values = self.values
        keys = self.keys
        self.values = {}
        self.keys = {}
        self._value((*loc, name))
        self.values = values
        self.keys = keys

    def _items(self, opening: str, closing: str) -> Iterator[None]:
        """Yield before each item of an object or a list; the caller reads the item."""
        opened = self._at
        self._at += 1
        if self._next() == closing:
            self._at += 1
            return
        while True:
            yield
            match self._next():
                case found if found == closing:
                    self._at += 1
                    return
                case ",":
                    comma = self._at
                    self._at += 1
                    if self._next() == closing:
                        raise _Broken(comma, "A comma follows the last item.", "Remove it.")
                case "":
                    raise _Broken(opened, f"The `{opening}` that opens here is not closed.", f"Close it: `{closing}`.")
                case _:
                    message = f"A comma or a `{closing}` is missing here."
                    raise _Broken(self._at, message, "Write commas between the items and no comma after the last item.")

    def _next(self) -> str:
        """Return the next character that is not white space; empty at the end. Raises _Broken for a comment."""
        space = _SPACE.match(self._text, self._at)
        if space:
            self._at = space.end()
        if self._text.startswith(("//", "/*", "#"), self._at):
            raise _Broken(self._at, "JSON does not allow comments.", "Remove the comment.")
        return self._text[self._at : self._at + 1]

    def _string(self) -> str:
        begun = self._at
        found = _STRING.match(self._text, begun)
        end = begun
        if found:
            end = found.end()
        match self._text[end : end + 1]:
            case '"':
                self._at = end + 1
            case "" | "\n" | "\r":
                raise _Broken(begun, "The quote that opens here is not closed in its line.", 'Close it with `"`.')
            case _:
                raise _Broken(
                    end, "A text contains a control character.", r"Write it as an escape, such as `\t` or `\u0007`."
                )
        try:
            return str(_decoder.decode(self._text[begun : end + 1]))
        except json.JSONDecodeError as error:
            message = "A backslash begins an escape, and this escape does not exist."
            raise _Broken(begun + error.pos, message, r"Write `\\` for a backslash.") from error

    def _word(self) -> object:
        begun = self._at
        found = _WORD.match(self._text, begun)
        if not found:
            raise _Broken(begun, "A value is missing here.", "Write one, or remove its key or its comma.")
        word = found[0]
        self._at = begun + len(word)
        if word in _LITERALS:
            return _LITERALS[word]
        try:
            return _decoder.decode(word)
        except ValueError as error:
            raise _Broken(begun, f"`{word[:80]}` is not a JSON value.", _value_hint(word)) from error


def _value_hint(word: str) -> str:
    if word == "None":
        return "Write `null`."
    if word.lower() in _LITERALS:
        return f"Write `{word.lower()}`."
    if word[0] in "-+.0123456789" or word.lower() in ("nan", "infinity"):
        return "Write a number of common size, such as `10` or `0.5`."
    return "Put text in double quotes."


EDITORS = ("workflow.schema.json", "defaults.schema.json", "subagent.schema.json")
"""Schema files for editors, which `gofer schema` prints. They are not schemas of answers."""


def output_name(source: Source) -> str | None:
    """Return the file name in a workflow's `output`; None when `output` is not a file name."""
    name = source.fields.get("output")
    if isinstance(name, str):
        return name
    return None


def schema_files(folder: Path) -> list[Path]:
    """Return the .json files of a folder except hidden files and schemas for editors, sorted by name."""
    files = (path for path in folder.glob("*.json") if not path.name.startswith(".") and path.name not in EDITORS)
    return sorted(path for path in files if path.is_file())


def read_output(source: Source) -> tuple[Schema | None, list[Mistake]]:
    """Return the schema in the file that a workflow names, or None, and the mistakes of both files. Never raises."""
    name = output_name(source)
    if name is None:
        return None, []
    place = source.place(("output",))
    if "/" in name or "\\" in name or name in (".", ".."):
        hint = "Write the name of a file in the folder of this file."
        return None, [Mistake(source.file, place, "schema-elsewhere", f"`{name[:80]}` is a path.", hint)]
    file = source.file.parent / name
    if not name or not _is_file(file):
        return None, [Mistake(source.file, place, "missing-schema", *_missing(file, name))]
    return _read(file)


def _read(file: Path) -> tuple[Schema | None, list[Mistake]]:
    found = read_json(file)
    if found.mistakes and not found.values:
        return None, list(found.mistakes)
    mistakes = list(found.mistakes)
    for flaw in flaws(found.value):
        message = invalid_schema(flaw.path, flaw.reason)
        mistakes.append(Mistake(file, found.place(flaw.path), "invalid-schema", message, flaw.hint))
    if mistakes:
        return None, mistakes
    return found.fields, mistakes


def _is_file(file: Path) -> bool:
    try:
        return is_there(file)
    except (OSError, ValueError):
        # ValueError: the name contains a zero byte.
        return False


def _missing(file: Path, name: str) -> tuple[str, str]:
    if not name:
        return (
            "`output` is empty.",
            "Write a JSON Schema or the name of a .json file in the folder of this file, or remove `output`.",
        )
    if any(path.name == name and path.is_dir() for path in file.parent.iterdir()):
        return f"`{name[:80]}` is a folder.", "Write the name of a .json file in the folder of this file."
    message = f"There is no file `{name[:80]}` in the folder of this file."
    meant = close_match(name, [path.name for path in schema_files(file.parent)])
    if not meant:
        return message, "Create it, or remove `output`."
    return message, f"Write `output: {meant}`, or create the file."
