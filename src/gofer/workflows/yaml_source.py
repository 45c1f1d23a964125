"""The values of a YAML file and their places.

Values are read the way people mean them: keys, `2026-01-01` and `1:30` are text, and `yes` and `no` are booleans as in
YAML 1.1. Anchors, tags, deep nesting and large files are refused before any value is built.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import cast

import yaml
from yaml.reader import Reader

from gofer.values.canonical_json import as_object
from gofer.workflows.file_text import after, read_text
from gofer.workflows.mistake import START, Mistake, Place, Rule
from gofer.workflows.yaml_syntax import conflict, explain_error

DEPTH_LIMIT = 20
"""Levels of nesting; the format needs four."""
_WHOLE = re.compile(r"[-+]?(0|[1-9][0-9_]{0,29})")
_DECIMAL = re.compile(r"[-+]?([0-9][0-9_]{0,29})?\.[0-9_]{0,30}([eE][-+][0-9]{1,3})?|[-+]?\.(inf|nan)", re.IGNORECASE)
_TAG = "tag:yaml.org,2002:"
_KINDS: Mapping[Rule, str] = {"anchor": "anchors and aliases", "tag": "tags"}
"""The mistakes of which each file shows the first, with the number of all."""

Loc = tuple[int | str, ...]
"""The path to a value: keys and positions from the top of the file."""


@dataclass(frozen=True, slots=True)
class Source:
    """A parsed file: its value, the place of each part, and the mistakes found so far."""

    file: Path
    lines: Sequence[str] = ()
    """The lines of the file, unchanged."""
    value: object = None
    """Plain JSON-like data; None when the file is not YAML."""
    values: Mapping[Loc, Place] = field(default_factory=dict[Loc, Place])
    """The place at which each value begins."""
    keys: Mapping[Loc, Place] = field(default_factory=dict[Loc, Place])
    """The place at which each key begins."""
    words: Mapping[Loc, str] = field(default_factory=dict[Loc, str])
    """The text of each scalar, without quotes."""
    mistakes: tuple[Mistake, ...] = ()

    @property
    def fields(self) -> Mapping[str, object]:
        """The top-level keys and values; empty when the file is not a mapping."""
        return as_object(self.value)

    @property
    def is_mapping(self) -> bool:
        """Whether the file is a mapping."""
        return isinstance(self.value, dict)

    def known(self, path: Loc) -> Loc:
        """Return the longest beginning of the path that exists in the file."""
        while path and path not in self.values:
            path = path[:-1]
        return path

    def place(self, path: Loc) -> Place:
        """Return the place of a value, or of the nearest value around it."""
        return self.values.get(self.known(path), START)

    def key(self, path: Loc) -> Place:
        """Return the place of a key, or of the nearest value around it."""
        return self.keys.get(path) or self.place(path)

    def line(self, place: Place) -> str:
        """Return the text of the line at a place."""
        if place.line <= len(self.lines):
            return self.lines[place.line - 1]
        return ""


def read_source(file: Path) -> Source:
    """Return the values of the file with their places. Errors in the YAML are listed in `mistakes`."""
    text, mistakes = read_text(file)
    if text is None:
        return Source(file, mistakes=tuple(mistakes))
    return _source(file, text, tuple(mistakes))


@lru_cache(maxsize=256)
def _source(file: Path, text: str, mistakes: tuple[Mistake, ...]) -> Source:
    """Parse a text. Cached because `gofer check` and the loader both read each file."""
    lines = text.splitlines()
    refused = _refuse(file, text)
    if refused:
        return Source(file, lines, mistakes=(*mistakes, *refused))
    reader = _Reader(file)
    node = cast(yaml.Node | None, yaml.compose(text, Loader=yaml.CSafeLoader))  # pyright: ignore[reportUnknownMemberType]
    value = None
    if node is not None:
        value = reader.read(node, ())
    return Source(file, lines, value, reader.values, reader.keys, reader.words, (*mistakes, *reader.mistakes))


def _refuse(file: Path, text: str) -> list[Mistake]:
    """Return the mistakes that make it unsafe or impossible to build values from the text."""
    if odd := Reader.NON_PRINTABLE.search(text):
        place = after(text[: odd.start()])
        message = f"YAML does not allow the character U+{ord(odd[0]):04X}."
        return [Mistake(file, place, "control-character", message, "Remove it.")]
    if unfinished := conflict(file, enumerate(text.splitlines(), 1)):
        return [unfinished]
    mistakes: dict[Rule, Mistake] = {}
    further: Counter[Rule] = Counter()
    try:
        documents = 0
        depth = 0
        for event in events(text):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            documents += isinstance(event, yaml.DocumentStartEvent)
            found = _unwanted(event, depth, documents)
            if found and found[0] in mistakes:
                further[found[0]] += 1
            elif found:
                mark = cast(yaml.Mark, event.start_mark)
                mistakes[found[0]] = Mistake(file, Place(mark.line + 1, mark.column + 1), *found)
            if depth > DEPTH_LIMIT:
                break
    except (yaml.YAMLError, ValueError) as error:
        mistakes.setdefault("not-yaml", explain_error(file, text, error))
    # A file of aliases would bury its other mistakes.
    return [_counted(mistake, further[mistake.rule]) for mistake in mistakes.values()]


def _counted(mistake: Mistake, further: int) -> Mistake:
    """Return a mistake with the number of all those of its kind, if there are further ones."""
    if not further or mistake.rule not in _KINDS:
        return mistake
    first = mistake.message.removesuffix(".")
    return replace(mistake, message=f"{first}, the first of {further + 1:,} {_KINDS[mistake.rule]}.")


def events(text: str) -> Iterator[yaml.Event]:
    """Yield the parser events of a YAML text in order.

    Raises yaml.YAMLError or ValueError when the text is not YAML.
    """
    parser = yaml.CSafeLoader(text)
    while event := parser.get_event():
        yield event


def _unwanted(event: yaml.Event, depth: int, documents: int) -> tuple[Rule, str, str] | None:
    match event:
        case yaml.AliasEvent(anchor=name):
            return (
                "anchor",
                f"`*{name[:80]}` is an alias.",
                "Write the value itself, or quote it if the asterisk belongs to the text.",
            )
        case yaml.NodeEvent(anchor=str(name)):
            return (
                "anchor",
                f"`&{name[:80]}` is an anchor.",
                "Remove it, or quote the value if the ampersand belongs to the text.",
            )
        case yaml.ScalarEvent(tag=str(tag)) | yaml.CollectionStartEvent(tag=str(tag)):
            return "tag", f"`{tag.replace(_TAG, '!!')[:80]}` is a tag.", "Remove it; quote the value if it is text."
        case yaml.CollectionStartEvent() if depth > DEPTH_LIMIT:
            return "too-deep", f"The values are nested deeper than {DEPTH_LIMIT} levels.", "Write them flat."
        case yaml.DocumentStartEvent() if documents > 1:
            return "not-yaml", "A second document begins here, after `---`.", "Use one file for each workflow."
        case _:
            return None


class _Reader:
    """The builder of plain values and their places. Its input has passed `_refuse`, so nodes are few and shallow."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self.values: dict[Loc, Place] = {}
        self.keys: dict[Loc, Place] = {}
        self.words: dict[Loc, str] = {}
        self.mistakes: list[Mistake] = []

    def read(self, node: yaml.Node, path: Loc) -> object:
        """Return the value of a node."""
        self.values[path] = _place(node)
        match node:
            case yaml.MappingNode():
                return self._mapping(node, path)
            case yaml.SequenceNode():
                return [self.read(item, (*path, at)) for at, item in enumerate(node.value)]
            case _:
                self.words[path] = str(node.value)
                return _scalar(node)

    def _mapping(self, node: yaml.MappingNode, path: Loc) -> dict[str, object]:
        result: dict[str, object] = {}
        before = None
        for key, value in node.value:
            if before is not None and (decimal := _decimal(before, key, value)):
                message = f"YAML reads the comma of `{decimal.replace('.', ',')[:80]}` as the end of the value."
                self.mistakes.append(Mistake(self._file, _place(before), "wrong-type", message, f"Write `{decimal}`."))
                result[[*result][-1]] = float(decimal)
                continue
            before = value
            name = None
            if isinstance(key, yaml.ScalarNode):
                name = key.value
            if not name:
                self.mistakes.append(Mistake(self._file, _place(key), "wrong-type", *_no_key(key)))
            elif name in result:
                first = self.keys[*path, name]
                message = f"The key `{name[:80]}` is repeated here; line {first.line} sets it first."
                self.mistakes.append(Mistake(self._file, _place(key), "duplicate-key", message, "Keep one of them."))
            else:
                self.keys[*path, name] = _place(key)
                result[name] = self.read(value, (*path, name))
        return result


def _decimal(whole: yaml.Node, key: yaml.Node, value: yaml.Node) -> str:
    """Return the number that was written with a comma in braces, as in `{usd: 0,10}`; empty for anything else."""
    adjoin = (whole.end_mark.line, whole.end_mark.column + 1) == (key.start_mark.line, key.start_mark.column)
    if adjoin and value.value == "" and f"{whole.value}{key.value}".isdecimal():
        return f"{whole.value}.{key.value}"
    return ""


def _no_key(key: object) -> tuple[str, str]:
    match key:
        case yaml.MappingNode():
            return "A key is a mapping.", "Write `key: value`; Gofer does not fill in `{{ … }}` in these files."
        case yaml.SequenceNode():
            return "A key is a list.", "Write `key: value`."
        case _:
            return "A key has no name.", "Write `key: value`."


def _place(node: yaml.Node) -> Place:
    return Place(node.start_mark.line + 1, node.start_mark.column + 1)


def _scalar(node: yaml.Node) -> object:
    """Return the value of a scalar. Forms that only programmers read as numbers or dates stay text."""
    word = str(node.value)
    match node.tag.removeprefix(_TAG):
        case "null":
            return None
        case "bool":
            return word.lower() in ("yes", "true", "on")
        case "int" if _WHOLE.fullmatch(word):
            return int(word)
        case "float" if _DECIMAL.fullmatch(word):
            return float(word.lower().replace("_", "").replace(".inf", "inf").replace(".nan", "nan"))
        case _:
            return word
