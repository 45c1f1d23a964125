"""The origin of an argument: where a script would take it from, as all runs that made the call show."""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, cast, get_args

from gofer.learning.promotion.references import Reference, Scalar, Values
from gofer.learning.promotion.templates import Part, render, template_of
from gofer.values.canonical_json import encode, encode_text

LEAST_SHARE = 0.9
"""The least share of the runs in which an origin has to hold."""
_LEAST_TOLD = 4
"""The fewest characters of a value that is looked for in a constant text."""
_SHOWN = 60
_SCALARS = get_args(Scalar)


@dataclass(frozen=True, slots=True)
class Constant:
    """The same value in each run."""

    value: object


@dataclass(frozen=True, slots=True)
class Taken:
    """A value of the run."""

    reference: Reference
    as_number: bool = False
    """Whether the run holds it as text, and the argument is a whole number."""


@dataclass(frozen=True, slots=True)
class Template:
    """Constant text with values of the run in it."""

    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Listed:
    """A list with one origin for each item."""

    items: "tuple[Origin, ...]"


@dataclass(frozen=True, slots=True)
class Judged:
    """A value that only the model decided. `values` has those of the runs."""

    values: tuple[object, ...]


Origin: TypeAlias = Constant | Taken | Template | Listed | Judged


@dataclass(frozen=True, slots=True)
class FoundOrigin:
    """An origin, and in how many of the runs with the call it holds."""

    origin: Origin
    holds: int
    of: int
    unvaried: str = ""
    """A value of the event that occurs in a constant text and is the same in all runs, in words; empty if none is."""


class Absent:
    """The value of an argument that a call leaves out."""


ABSENT = Absent()


def find_origin(values: Sequence[object], runs: Sequence[Values], created: Collection[Reference] = ()) -> FoundOrigin:
    """Return the origin of one argument; `runs` holds the values that each run could read when it made the call.

    `created` are the ids that earlier writes of the runs created. They are never constant, even if all runs agree.
    """
    candidates = [_constant(values), *_taken(values, runs), *_template(values, runs), *_listed(values, runs)]
    found = max(candidates, key=lambda candidate: candidate[1])
    origin, holds = found
    # At equal counts the first candidate wins: the simplest origin.
    if holds < LEAST_SHARE * len(values):
        return FoundOrigin(Judged(tuple(values)), len(values), len(values))
    with_ids = _with_created(origin, runs[0], created)
    if _holds(with_ids, values, runs) >= holds:
        origin = with_ids
    return FoundOrigin(origin, holds, len(values), _unvaried(origin, runs))


def _holds(origin: Origin, values: Sequence[object], runs: Sequence[Values]) -> int:
    return sum(value_of(origin, run) == value for value, run in zip(values, runs, strict=True))


def _with_created(origin: Origin, run: Values, created: Collection[Reference]) -> Origin:
    """Return an origin with references in place of the created ids in its constant text."""
    ids = {str(run[reference]): reference for reference in created if reference in run}
    match origin:
        case Constant(value=str() as text):
            parts: Sequence[Part] = (text,)
        case Template(parts=parts):
            pass
        case _:
            return origin
    if not ids:
        return origin
    longest = sorted(map(re.escape, ids), key=len, reverse=True)
    pattern = re.compile(rf"(?<!\w)({'|'.join(longest)})(?!\w)")
    split: list[Part] = []
    for part in parts:
        if isinstance(part, str):
            split += [ids.get(piece, piece) for piece in pattern.split(part) if piece]
        else:
            split.append(part)
    match split:
        case [str()]:
            return origin
        case [Reference() as only]:
            return Taken(only)
        case _:
            return Template(tuple(split))


def _unvaried(origin: Origin, runs: Sequence[Values]) -> str:
    if not isinstance(origin, Constant) or not isinstance(origin.value, str):
        return ""
    for reference, value in sorted(runs[0].items(), key=lambda item: item[0].rank):
        is_told = isinstance(value, str) and len(value) >= _LEAST_TOLD and value in origin.value
        if is_told and reference.source in ("body", "text") and all(run.get(reference) == value for run in runs):
            return reference.words
    return ""


def value_of(origin: Origin, values: Values) -> object:
    """Return the value of an origin in one run; ABSENT if the run lacks a value for it, or for a judgement."""
    match origin:
        case Constant(value=value):
            return value
        case Taken(reference=reference, as_number=as_number):
            held = values.get(reference, ABSENT)
            if as_number:
                return _number(held)
            return held
        case Template(parts=parts):
            text = render(parts, values)
            if text is None:
                return ABSENT
            return text
        case Listed(items=items):
            found = [value_of(item, values) for item in items]
            if ABSENT in found:
                return ABSENT
            return found
        case Judged():
            return ABSENT


def references_of(origin: Origin) -> Sequence[Reference]:
    """Return the values of the run that an origin reads."""
    match origin:
        case Taken(reference=reference):
            return [reference]
        case Template(parts=parts):
            return [part for part in parts if isinstance(part, Reference)]
        case Listed(items=items):
            return [reference for item in items for reference in references_of(item)]
        case Constant() | Judged():
            return []


def origin_words(origin: Origin) -> str:
    """Return an origin for people, in one line."""
    match origin:
        case Constant(value=Absent()):
            return "left out"
        case Constant(value=value):
            return f"always {_shortened(encode_text(value))}"
        case Taken(reference=reference):
            return reference.words
        case Template(parts=parts):
            words = (part if isinstance(part, str) else f"{{{part.words}}}" for part in parts)
            return f'"{"".join(words)}"'
        case Listed(items=items):
            return f"[{', '.join(map(origin_words, items))}]"
        case Judged(values=values):
            return f"judgement ({len(_distinct(values))} different values)"


def _shortened(text: str) -> str:
    if len(text) <= _SHOWN:
        return text
    return f"{text[:_SHOWN]}…"


def _distinct(values: Sequence[object]) -> set[bytes]:
    return {_key(value) for value in values}


def _key(value: object) -> bytes:
    if isinstance(value, Absent):
        return b""
    return encode(value)


def _constant(values: Sequence[object]) -> tuple[Origin, int]:
    counted = Counter(map(_key, values))
    key, holds = counted.most_common(1)[0]
    value = next(value for value in values if _key(value) == key)
    return Constant(value), holds


def _taken(values: Sequence[object], runs: Sequence[Values]) -> Sequence[tuple[Origin, int]]:
    """Return the value of the run that most often equals the argument."""
    counts: Counter[Taken] = Counter()
    for value, run in zip(values, runs, strict=True):
        counts.update(_equal(value, run))
    if not counts:
        return []
    best = min(counts, key=lambda taken: (-counts[taken], taken.as_number, taken.reference.rank))
    return [(best, counts[best])]


def _equal(value: object, run: Values) -> Sequence[Taken]:
    if isinstance(value, Absent) or value in ("", [], None):
        return []
    found: list[Taken] = []
    for reference, held in run.items():
        if type(held) is type(value) and held == value:
            found.append(Taken(reference))
        elif type(value) is int and isinstance(held, str) and _number(held) == value:
            found.append(Taken(reference, as_number=True))
    return found


def _number(text: object) -> object:
    if isinstance(text, str) and text.isascii() and text.isdecimal() and len(text) <= 18:
        return int(text)
    return ABSENT


def _template(values: Sequence[object], runs: Sequence[Values]) -> Sequence[tuple[Origin, int]]:
    texts = [value for value in values if isinstance(value, str)]
    if len(texts) < 2 or len(texts) < LEAST_SHARE * len(values):
        return []
    held = [run for value, run in zip(values, runs, strict=True) if isinstance(value, str)]
    parts = template_of(texts, held)
    if parts is None or not any(isinstance(part, Reference) for part in parts):
        return []
    template = Template(tuple(parts))
    return [(template, _holds(template, values, runs))]


def _listed(values: Sequence[object], runs: Sequence[Values]) -> Sequence[tuple[Origin, int]]:
    """Return the origins of the items of lists that have the same number of items in nearly every run."""
    lists = [(cast(Sequence[object], value), run) for value, run in zip(values, runs, strict=True) if _is_list(value)]
    if not lists:
        return []
    (size, _), *_ = Counter(len(items) for items, _ in lists).most_common(1)
    alike = [(items, run) for items, run in lists if len(items) == size]
    if not size or len(alike) < LEAST_SHARE * len(values):
        return []
    held = [run for _, run in alike]
    found = [find_origin([items[index] for items, _ in alike], held) for index in range(size)]
    if any(isinstance(one.origin, Judged) for one in found):
        return []
    listed = Listed(tuple(one.origin for one in found))
    return [(listed, _holds(listed, values, runs))]


def _is_list(value: object) -> bool:
    return isinstance(value, list)


def by_name(arguments: Sequence[Mapping[str, object]]) -> Mapping[str, Sequence[object]]:
    """Return the values of each argument of some calls, ABSENT where a call leaves it out, in the order of the names
    as the calls have them."""
    names = list(dict.fromkeys(name for one in arguments for name in one))
    return {name: [one.get(name, ABSENT) for one in arguments] for name in names}
