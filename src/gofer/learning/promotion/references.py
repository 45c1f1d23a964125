"""The values that a script can read at one point of a run, by where they are: in the event, or in an earlier result."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeAlias, cast

from gofer.learning.promotion.observed_run import ObservedCall
from gofer.values.events import Event

Source = Literal["text", "body", "place", "facts", "result", "item"]
"""Where a value is: in the text of the event, in its text read as JSON, in its place or facts, in the result of an
earlier call, or in the current item of a loop."""
Path: TypeAlias = tuple[str | int, ...]
Scalar: TypeAlias = str | int | float | bool

MOST_VALUES = 2_000
"""The most values that are read from one event or result."""
MOST_ITEMS = 50
"""The most items of one list that are read."""
DEEPEST = 8
LONGEST_TEXT = 20_000
"""The most characters of a text in which patterns are searched."""
MOST_LINES = 200
PATTERNS: Mapping[str, str] = {
    "issue key": r"\b([A-Z][A-Z0-9]+-[0-9]+)\b",
    "link": r"(https?://[^\s<>|\"')]+)",
    "number": r"#([0-9]+)\b",
}
"""The patterns of regular parts of a text, besides its lines `Name: value`."""
_LINE_BEGIN = "^[*_]{0,2}"
_LINE_END = r"[*_]{0,2}:[*_]{0,2} +(\S.*)$"
_NAMED_LINE = re.compile(rf"{_LINE_BEGIN}([A-Za-z][A-Za-z0-9 _-]{{0,39}}){_LINE_END}", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Reference:
    """A place at which a run holds a value."""

    source: Source
    path: Path = ()
    step: int = -1
    """The step with the result, counted from 0; -1 for other sources."""
    pattern: str = ""
    """The regular expression whose group is the value, for a part of a text; otherwise empty."""

    @property
    def rank(self) -> tuple[object, ...]:
        """The order of references to the same value: the current item, the event, then results; short paths first."""
        order = ("item", "body", "facts", "place", "text", "result")
        return bool(self.pattern), order.index(self.source), -self.step, len(self.path), repr(self.path), self.pattern

    @property
    def words(self) -> str:
        """The reference for people, such as `body.name` or `issues.0.key of call 1`."""
        path = ".".join(map(str, self.path))
        match self.source:
            case "result":
                words = f"{path} of call {self.step + 1}"
            case "text":
                words = "the text of the event"
            case source:
                words = ".".join(filter(None, [source, path]))
        if self.pattern:
            return f"{pattern_words(self.pattern)} in {words}"
        return words


Values: TypeAlias = Mapping[Reference, object]
"""The values at one point of a run. Lists are values beside their items."""


def event_values(event: Event) -> Values:
    """Return the values of an event."""
    found: dict[Reference, object] = {}
    body = body_of(event.text)
    for source, value in (("body", body), ("place", dict(event.place)), ("facts", dict(event.facts))):
        found |= read_values(cast(Source, source), value)
    if event.text:
        found[Reference("text")] = event.text
    if body is None:
        found |= dict(_parts(Reference("text"), event.text))
    return found


def result_values(step: int, call: ObservedCall) -> Values:
    """Return the values of the result of a call, which is the result of a step of the path."""
    found = read_values("result", call.result, step)
    parts: dict[Reference, object] = {}
    for reference, value in found.items():
        if isinstance(value, str) and "\n" in value:
            parts |= dict(_parts(reference, value))
    return {**found, **parts}


def read_values(source: Source, value: object, step: int = -1) -> dict[Reference, object]:
    """Return the values inside of a JSON value, at most MOST_VALUES."""
    found: dict[Reference, object] = {}
    for path, inner in _walk(value, ()):
        if len(found) >= MOST_VALUES:
            break
        found[Reference(source, path, step)] = inner
    return found


@lru_cache(maxsize=1_024)
def body_of(text: str) -> object:
    """Return the object or list in a text that is JSON; None for any other text. Callers must not change it."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def part_of(text: str, pattern: str) -> str | None:
    """Return the first part of a text that a pattern finds."""
    found = re.search(pattern, text[:LONGEST_TEXT], re.MULTILINE)
    if found is None:
        return None
    return found[1]


def pattern_words(pattern: str) -> str:
    """Return what a pattern finds: `issue key`, `link`, `number`, or the name of a line `Name: value`."""
    known = {found: words for words, found in PATTERNS.items()}
    if pattern in known:
        return known[pattern]
    return pattern.removeprefix(_LINE_BEGIN).removesuffix(_LINE_END).replace("\\", "")


def _walk(value: object, path: Path) -> Iterator[tuple[Path, object]]:
    if len(path) > DEEPEST:
        return
    match value:
        case dict():
            for key, inner in cast(dict[str, object], value).items():
                yield from _walk(inner, (*path, key))
        case list():
            items = cast(Sequence[object], value)
            if path:
                yield path, items
            for index, inner in enumerate(items[:MOST_ITEMS]):
                yield from _walk(inner, (*path, index))
        case str() | bool() | int() | float():
            yield path, value
        case _:
            return


def _parts(reference: Reference, text: str) -> Iterator[tuple[Reference, object]]:
    """Yield the regular parts of a text: its lines `Name: value`, and the first match of each pattern."""
    text = text[:LONGEST_TEXT]
    for count, line in enumerate(_NAMED_LINE.finditer(text)):
        if count >= MOST_LINES:
            break
        pattern = f"{_LINE_BEGIN}{re.escape(line[1])}{_LINE_END}"
        if part_of(text, pattern) == line[2]:
            yield Reference(reference.source, reference.path, reference.step, pattern), line[2]
    for pattern in PATTERNS.values():
        part = part_of(text, pattern)
        if part is not None and part != text:
            yield Reference(reference.source, reference.path, reference.step, pattern), part
