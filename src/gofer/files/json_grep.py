"""The search for a pattern in the keys and values of a JSON document."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import cast

import re2

from gofer.files.child_wire import Packet
from gofer.files.exact_json import parse, parse_lines, quote, scalar
from gofer.files.line_pattern import compiled
from gofer.files.search import Search
from gofer.files.text_cut import head, tail
from gofer.values.errors import ToolError

_BATCH = 20_000
_CONTEXT = 200
_MOST_PATHS = 12
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


@dataclass(slots=True)
class Place:
    """One value of a document, and the path to it."""

    parent: "Place | None"
    step: str | int | None
    """The key or the index in the parent; None for the document itself."""
    value: object

    def path(self, *, exact: bool = True) -> str:
        """Return the path in jq's notation; without `exact`, omit list indexes, so that similar places share a path."""
        steps: list[str] = []
        place: Place | None = self
        while place is not None and place.step is not None:
            step = place.step
            if isinstance(step, int):
                steps.append(f"[{step}]" if exact else "[]")
            else:
                steps.append(f".{step}" if _PLAIN.match(step) else f".[{quote(step)}]")
            place = place.parent
        path = "".join(reversed(steps))
        if path.startswith("."):
            return path
        return f".{path}"


@dataclass(slots=True)
class _Block:
    """An object or a list with the texts directly in it: keys first, then plain values."""

    place: Place
    steps: list[str | int | None]
    texts: list[str]

    def found(self, at: int) -> Place:
        step = self.steps[at]
        value = self.place.value
        if isinstance(value, dict):
            return Place(self.place, step, cast(dict[object, object], value)[step])
        if isinstance(value, list) and isinstance(step, int):
            return Place(self.place, step, cast(list[object], value)[step])
        return self.place


def run(packet: Packet) -> Packet:
    """Return a line for each match.

    Fields of the job: pattern, limit (in characters). Raises ToolError.
    """
    pattern = str(packet.fields["pattern"])
    limit = cast(int, packet.fields["limit"])
    lines: list[str] = []
    size = 0
    path_counts = Counter[str]()
    for place in matches(pattern, _document(packet.data)):
        path_counts[place.path(exact=False)] += 1
        if size <= limit:
            lines.append(f"{place.path()}: {_display(place.value, pattern)}")
            size += len(lines[-1]) + 1
    if size > limit:
        raise ToolError(_too_much(path_counts, limit), code="too_much")
    return Packet({}, ("\n".join(lines) or "No key and no value matches.").encode("utf-8", "replace"))


def matches(pattern: str, document: object) -> Iterator[Place]:
    """Yield each place with a matching key or value once, the plain values of an object before its nested ones."""
    expression = compiled(Search(pattern), utf8=True)
    for batch in _batches(document):
        # One search over many lines takes a fraction of the time of one search for each.
        texts = [word for block in batch for word in block.texts]
        text = "\n".join(texts)
        if text.count("\n") >= len(texts):
            text = "\n".join(word.replace("\n", " ") for word in texts)
        starts = list(accumulate((len(block.texts) for block in batch), initial=0))
        seen: set[tuple[int, str | int | None]] = set()
        for line in _lines(expression, text.encode("utf-8", "replace")):
            block_number = bisect_right(starts, line) - 1
            at = line - starts[block_number]
            # A key and its value may both match.
            if (found_place := (block_number, batch[block_number].steps[at])) not in seen:
                seen.add(found_place)
                yield batch[block_number].found(at)


def _lines(expression: "re2.Pattern", text: bytes) -> Iterator[int]:
    """Yield the numbers of the matching lines, counted from 0."""
    begin = counted = line = 0
    while begin <= len(text) and (found := expression.search(text, begin, len(text))):
        line += text.count(b"\n", counted, found.start())
        counted = found.start()
        yield line
        if (end := text.find(b"\n", counted)) < 0:
            return
        begin = end + 1


def _batches(document: object) -> Iterator[list[_Block]]:
    batch: list[_Block] = []
    size = 0
    for block in _blocks(document):
        if not block.texts:
            continue
        batch.append(block)
        size += len(block.texts)
        if size >= _BATCH:
            yield batch
            batch = []
            size = 0
    if batch:
        yield batch


def _blocks(document: object) -> Iterator[_Block]:
    """Yield every object and list, outer before inner."""
    waiting = [Place(None, None, document)]
    while waiting:
        place = waiting.pop()
        value = place.value
        inner: list[Place] = []
        steps: list[str | int | None] = []
        texts: list[str] = []
        if isinstance(value, dict):
            members = cast(dict[str, object], value)
            steps += members
            texts += members
            pairs: Iterable[tuple[str | int | None, object]] = members.items()
        elif isinstance(value, list):
            pairs = enumerate(cast(list[object], value))
        else:
            pairs = [(None, value)]
        for step, child in pairs:
            if isinstance(child, str):
                texts.append(child)
            elif isinstance(child, dict | list):
                inner.append(Place(place, step, cast(object, child)))
                continue
            else:
                texts.append(scalar(child))
            steps.append(step)
        inner.reverse()
        waiting += inner
        yield _Block(place, steps, texts)


def _document(data: bytes) -> object:
    text = data.decode("utf-8", "replace")
    try:
        return parse(text)
    except ValueError:
        pass
    try:
        return parse_lines(text)
    except ValueError as error:
        raise ToolError("neither JSON nor JSON Lines", code="not_json") from error


def _display(value: object, pattern: str) -> str:
    if isinstance(value, dict):
        return f"an object with {len(cast(dict[str, object], value)):,} keys"
    if isinstance(value, list):
        return f"a list of {len(cast(list[object], value)):,}"
    if not isinstance(value, str):
        return scalar(value)
    if len(value) <= 2 * _CONTEXT:
        return quote(value)
    found = compiled(Search(pattern), utf8=True).search(raw := value.encode("utf-8", "replace"), 0, len(raw))
    at = len(raw[: found.start()].decode()) if found else 0
    before, after = tail(value[:at], _CONTEXT // 2), head(value[at:], _CONTEXT)
    return quote(f"{'…' if len(before) < at else ''}{before}{after}{'…' if at + len(after) < len(value) else ''}")


def _too_much(path_counts: Counter[str], limit: int) -> str:
    most = ", ".join(f"{path} ({count:,})" for path, count in path_counts.most_common(_MOST_PATHS))
    more = ""
    if len(path_counts) > _MOST_PATHS:
        more = f" and {len(path_counts) - _MOST_PATHS:,} other paths"
    return (
        f"{path_counts.total():,} keys and values match, more than fits into {limit:,} characters. They are at "
        f"{_shortened(most)}{more}. To narrow it, look for more of the text, or ask jq about one of these paths."
    )


def _shortened(paths: str) -> str:
    """Shorten a list of paths, which may contain keys of any length."""
    if len(paths) <= 5 * _CONTEXT:
        return paths
    return f"{head(paths, 5 * _CONTEXT)}…"
