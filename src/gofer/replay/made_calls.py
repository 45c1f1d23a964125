"""The calls that the model of a run made, beside those of another run or of its replay."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest

from gofer.journal.entries import Recorded
from gofer.projections import calls
from gofer.values.canonical_json import encode_text

MOST_OF_VALUE = 60
"""The most characters of a value in a difference."""
NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class MadeCall:
    """One call of the model."""

    tool: str
    arguments: Mapping[str, object]
    is_write: bool
    id: str = ""


@dataclass(frozen=True, slots=True)
class CallPair:
    """A call of one run beside that of another one; None where a run has no such call."""

    before: MadeCall | None
    after: MadeCall | None

    @property
    def change(self) -> str:
        """The argument that differs with both of its values; empty for equal calls, and for a call of one run only."""
        if self.before is None or self.after is None:
            return ""
        return _change(self.before, self.after)


def made_calls(entries: Sequence[Recorded]) -> Sequence[MadeCall]:
    """Return the calls that the model of a run made, in order."""
    made = [call for call in calls.project(entries).calls.values() if not call.is_own and call.tool]
    return [MadeCall(call.tool, call.arguments or {}, call.effect not in (None, "read"), call.id) for call in made]


def paired(before: Sequence[MadeCall], after: Sequence[MadeCall]) -> Iterator[CallPair]:
    """Yield the calls of two runs side by side: equal calls, then calls of one tool in one place."""
    keys = [[(call.tool, encode_text(call.arguments)) for call in made] for made in (before, after)]
    for _, first, last, begin, end in SequenceMatcher(None, *keys, autojunk=False).get_opcodes():
        for one, other in zip_longest(before[first:last], after[begin:end]):
            if one is not None and other is not None and one.tool != other.tool:
                yield CallPair(one, None)
                yield CallPair(None, other)
            else:
                yield CallPair(one, other)


def first_difference(before: Sequence[MadeCall], after: Sequence[MadeCall]) -> str:
    """Return the first call in which two runs differ, in one line; empty if all calls are equal."""
    for one, other in zip_longest(before, after):
        if one is None:
            return f"{other.tool} in addition"
        if other is None:
            return f"no {one.tool}"
        if one.tool != other.tool:
            return f"{other.tool} instead of {one.tool}"
        if change := _change(one, other):
            return f"{one.tool} {change}"
    return ""


def _change(one: MadeCall, other: MadeCall) -> str:
    """Return the differing argument with the shortest values, and both of them; empty if all are equal."""
    before = one.arguments
    after = other.arguments
    pairs = [
        (name, short_value(before.get(name)), short_value(after.get(name)))
        for name in {**before, **after}
        if before.get(name) != after.get(name)
    ]
    if not pairs:
        return ""
    name, was, now = min(pairs, key=lambda pair: (len(pair[1]) + len(pair[2]), pair[0]))
    return f"{name}: {was} → {now}"


def short_value(value: object) -> str:
    """Return a value as one line of at most MOST_OF_VALUE characters."""
    if value is None:
        return NOTHING
    text = value
    if not isinstance(text, str):
        text = encode_text(text)
    line = " ".join(text.split())
    if len(line) <= MOST_OF_VALUE:
        return line
    return f"{line[:MOST_OF_VALUE]}…"
