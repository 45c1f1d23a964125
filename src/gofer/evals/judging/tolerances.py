"""Tolerances: as sentences for the judge, and as decisions in code about two texts."""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from gofer.evals.eval_file import Tolerance
from gofer.evals.judging.quantities import Measured, Quantity, Sameness, measured, same_quantity

LONGEST = 20_000
"""The most characters of a text that code compares; the judge compares longer ones."""

_SENTENCES: Mapping[tuple[str, str], str] = {
    ("wording", "free"): "Other words with the same meaning are no error.",
    ("wording", "exact"): "Other words are an error, even with the same meaning.",
    ("numbers", "exact"): "Each number must be the same in the same unit. Another spelling of it, such as 1,000 for "
    "1000 or another form of a date, is no error.",
    ("numbers", "rounded"): "The same quantity in another unit or rounded is no error: 1.5 s is 1500 ms, 12 % is "
    "0.12. Another quantity is an error.",
    ("numbers", "free"): "Other numbers are no error.",
    ("order", "free"): "Another order of calls that only read is no error, as long as no write lies between them.",
    ("order", "exact"): "Another order of calls is an error.",
    ("tool_only_turns", "free"): "Turns that only call tools may be split, joined or repeated.",
    ("tool_only_turns", "exact"): "Turns that only call tools must be neither split, joined nor repeated.",
    ("instances", "exact"): "Each object must get the value that is meant for it.",
    ("instances", "alike"): "Which of several alike objects got which value is no error, as long as together they got "
    "the same values.",
    ("counts", "exact"): "Other counts are an error.",
    ("counts", "logic"): "The data may have changed since. Other counts are no error if the logic that leads to them "
    "is the same.",
}
_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def sentences(tolerance: Tolerance) -> Sequence[str]:
    """Return one sentence for each setting of a tolerance, for the prompt of the judge."""
    skipped = ""
    if tolerance.counts == "logic":
        skipped = "numbers"
    elif tolerance.numbers == "free":
        skipped = "counts"
    return [_SENTENCES[name, str(value)] for name, value in tolerance.model_dump().items() if name != skipped]


def same_text(expected: str, actual: str, tolerance: Tolerance) -> Sameness:
    """Return whether two texts say the same within a tolerance, as far as code can tell.

    `unclear` is for the judge.
    """
    if _spaced(expected) == _spaced(actual):
        return "same"
    if len(expected) > LONGEST or len(actual) > LONGEST:
        return "unclear"
    wanted = measured(expected)
    given = measured(actual)
    if _spaced(wanted.rest) == _spaced(given.rest):
        return _same_numbers(wanted, given, tolerance)
    if tolerance.wording == "exact":
        return "different"
    if _compares_numbers(tolerance) and _lacks(wanted, _with_words(given, actual), tolerance):
        return "different"
    return "unclear"


def same_assignments(expected: Sequence[Mapping[str, object]], actual: Sequence[Mapping[str, object]]) -> bool:
    """Return whether alike objects together got the same values, in any assignment.

    Each item has the arguments of one call. Every argument must have the same values over all calls.
    """
    if len(expected) != len(actual):
        return False
    names = {name for arguments in (*expected, *actual) for name in arguments}
    return all(_values(name, expected) == _values(name, actual) for name in names)


def _compares_numbers(tolerance: Tolerance) -> bool:
    return tolerance.numbers != "free" and tolerance.counts == "exact"


def _same_numbers(wanted: Measured, given: Measured, tolerance: Tolerance) -> Sameness:
    """Return whether two texts are the same that differ in their quantities only."""
    if tolerance.counts == "logic":
        return "unclear"
    if tolerance.numbers == "free":
        return "same"
    pairs = zip(wanted.quantities, given.quantities, strict=True)
    found = {same_quantity(one, two, rounded=tolerance.numbers == "rounded") for one, two in pairs}
    if "different" in found:
        return "different"
    if "unclear" in found:
        return "unclear"
    return "same"


def _lacks(wanted: Measured, given: Iterable[Quantity], tolerance: Tolerance) -> bool:
    """Return whether a quantity of one text is certainly not among those of the other."""
    known = list(given)
    rounded = tolerance.numbers == "rounded"
    return any(
        all(same_quantity(one, two, rounded=rounded) == "different" for two in known)
        for one in dict.fromkeys(wanted.quantities)
    )


def _with_words(given: Measured, text: str) -> Sequence[Quantity]:
    """Return the quantities of a text, with the numbers that it writes as words."""
    words = set(text.lower().split())
    spelled = [
        Quantity(Fraction(value), "number", "", Fraction(1)) for value, word in enumerate(_WORDS) if word in words
    ]
    return [*given.quantities, *spelled]


def _values(name: str, calls: Sequence[Mapping[str, object]]) -> Sequence[str]:
    return sorted(repr(arguments.get(name)) for arguments in calls)


def _spaced(text: str) -> str:
    return " ".join(text.split())
