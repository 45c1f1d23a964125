"""The grades of the world: what the run added, changed and removed there, and what it left as it was."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import cast

from gofer.evals.eval_file import WorldExpectations
from gofer.evals.grading.call_words import joined, written_value
from gofer.evals.grading.dimensions import Failure, verdicts
from gofer.evals.grading.turn_view import TurnView
from gofer.evals.grading.world_paths import matching, outermost, parts_of, touches
from gofer.evals.matching import mismatch
from gofer.evals.results import Grade
from gofer.projections.checks.check_settings import shortened
from gofer.values.amounts import counted
from gofer.values.canonical_json import as_object

_KINDS = ("added", "changed", "removed")
_WORDS = {"added": "a new value", "changed": "a changed value"}
_PATH = 200
"""The most characters of a path in a sentence."""


def world_grades(expect: WorldExpectations, turn: TurnView) -> Iterator[Grade]:
    """Yield the grades of the expectations that are written.

    With real systems none of them can be made, and with a world only those about its systems.
    """
    if turn.live_tools:
        written = [name for name in WorldExpectations.model_fields if getattr(expect, name)]
        yield from (_unknown_world(f"world.{name}", turn) for name in written)
        return
    for name in WorldExpectations.model_fields:
        written: Collection[str] = getattr(expect, name)
        absent = [path for path in written if not _has_system(path, turn)]
        if absent:
            yield _no_system(f"world.{name}", absent, turn)
            expect = _without(expect, name, absent)
    if expect.added:
        yield from verdicts("world.added", _some("added", expect.added, turn), turn.number)
    if expect.changed:
        yield from verdicts("world.changed", _some("changed", expect.changed, turn), turn.number)
    if expect.removed:
        yield from verdicts("world.removed", _removed(expect.removed, turn), turn.number)
    if expect.unchanged:
        yield from verdicts("world.unchanged", _unchanged(expect.unchanged, turn), turn.number)
    if expect.counts:
        yield from verdicts("world.counts", _counts(expect.counts, turn), turn.number)


def _unknown_world(dimension: str, turn: TurnView) -> Grade:
    """Return a grade that neither passes nor fails the run, because the changes of real systems are not known."""
    return Grade(
        dimension,
        passed=False,
        expected="the changes of a simulated world",
        happened="the tools reached real systems, so Gofer does not know what the run changed there",
        blocks=False,
        turn=turn.number,
    )


def _has_system(path: str, turn: TurnView) -> bool:
    """Return whether the world of the case has the system of a path; a pattern for any system needs one."""
    if turn.systems is None:
        return True
    system = next(iter(parts_of(path)), "")
    return system in turn.systems or (system in ("*", "**") and bool(turn.systems))


def _no_system(dimension: str, absent: Sequence[str], turn: TurnView) -> Grade:
    """Return a grade without a verdict, because nothing can change in a system that is not there."""
    happened = "The case has no world, so its `world` expectations say nothing: give it a world, or remove them."
    if turn.systems:
        systems = joined(sorted({f"`{shortened(parts_of(path)[0], _PATH)}`" for path in absent}))
        happened = f"The world of the case has no {systems}, so nothing can change there: correct the paths."
    return Grade(
        dimension,
        passed=False,
        expected=f"a world with {joined([shortened(path, _PATH) for path in absent])}",
        happened=happened,
        turn=turn.number,
        missing="no_evidence",
    )


def _without(expect: WorldExpectations, name: str, absent: Collection[str]) -> WorldExpectations:
    """Return the expectations without some paths of one kind."""
    written: Collection[str] = getattr(expect, name)
    left: object = tuple(path for path in written if path not in absent)
    if isinstance(written, Mapping):
        values = cast(Mapping[str, object], written)
        left = {path: value for path, value in values.items() if path not in absent}
    return expect.model_copy(update={name: left})


def _some(kind: str, expected: Mapping[str, object], turn: TurnView) -> Iterator[Failure]:
    """Yield each path without a value that matches among the new values."""
    changes = as_object(turn.world.get(kind))
    new_values = changes
    if kind == "changed":
        new_values = {path: as_object(change).get("after") for path, change in changes.items()}
    for pattern, matcher in expected.items():
        problems = [mismatch(matcher, value, path) for path, value in matching(pattern, new_values)]
        if problems and not all(problems):
            continue
        happened = _nearest(problems) or _listed(f"the run {kind}", changes, turn)
        yield Failure(f"{_WORDS[kind]} at {pattern}{_like(matcher)}", happened, _last_write(turn))


def _removed(expected: Sequence[str], turn: TurnView) -> Iterator[Failure]:
    removed = as_object(turn.world.get("removed"))
    for pattern in expected:
        if next(matching(pattern, removed), None) is None:
            happened = _listed("the run removed", removed, turn)
            yield Failure(f"the removal of {pattern}", happened, _last_write(turn))


def _unchanged(expected: Sequence[str], turn: TurnView) -> Iterator[Failure]:
    for pattern in expected:
        found = [
            f"{kind} {shortened(path, _PATH)}"
            for kind in _KINDS
            for path in as_object(turn.world.get(kind))
            if touches(pattern, path)
        ]
        if found:
            happened = f"the run {joined(found)}"
        elif _more(turn):
            happened = f"not known: {_unlisted(turn)}"
        else:
            continue
        yield Failure(f"no change of {pattern}", happened, _last_write(turn))


def added_at(pattern: str, turn: TurnView) -> Sequence[str]:
    """Return the paths of the values that a turn added at a pattern, each value once."""
    return outermost(path for path, _ in matching(pattern, as_object(turn.world.get("added"))))


def _counts(expected: Mapping[str, int], turn: TurnView) -> Iterator[Failure]:
    for pattern, number in expected.items():
        found = added_at(pattern, turn)
        if len(found) == number and not _more(turn):
            continue
        happened = "the run added nothing there"
        if found:
            paths = joined([shortened(path, _PATH) for path in found])
            happened = f"the run added {counted(len(found), 'value')}: {paths}"
        if _more(turn):
            happened = f"{happened}; {_unlisted(turn)}"
        yield Failure(f"{counted(number, 'new value')} at {pattern}", happened, _last_write(turn))


def _like(matcher: object) -> str:
    if matcher == {}:
        return ""
    return f" that matches {written_value(matcher)}"


def _nearest(problems: Sequence[str]) -> str:
    """Return why the first value does not match; empty if there is no value."""
    if len(problems) < 2:
        return "".join(problems)
    return f"{problems[0]} (and {counted(len(problems) - 1, 'more value')} did not match)"


def _listed(words: str, found: Mapping[str, object], turn: TurnView) -> str:
    """Return the paths of one kind of change: `the run added /tickets/PAY-1`."""
    paths = joined([shortened(path, _PATH) for path in found]) or "nothing"
    if _more(turn):
        return f"{words} {paths}; {_unlisted(turn)}"
    return f"{words} {paths}"


def _more(turn: TurnView) -> int:
    more = turn.world.get("more")
    if isinstance(more, int):
        return more
    return 0


def _unlisted(turn: TurnView) -> str:
    return f"further changes that are not listed: {_more(turn):,}"


def _last_write(turn: TurnView) -> str:
    """Return the last call that may have changed the world, else the last answer of the model."""
    for made in reversed(turn.calls):
        if made.call.effect not in (None, "read"):
            return made.step
    return turn.last_step
