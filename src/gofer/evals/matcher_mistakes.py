"""Mistakes in matchers: unknown operators, operands of the wrong type, invalid patterns."""

from collections.abc import Iterator
from dataclasses import dataclass

from gofer.evals.matching import OPERATORS, Operator, is_operator
from gofer.evals.patterns import PatternError, compiled
from gofer.values.canonical_json import as_list, as_object
from gofer.workflows.sentences import close_match
from gofer.workflows.yaml_source import Loc

_ALIKE = 0.75
"""The similarity from which on a key is taken for a misspelt operator."""


@dataclass(frozen=True, slots=True)
class MatcherMistake:
    """One mistake in a matcher."""

    loc: Loc
    """The path of the part, from the top of the matcher."""
    message: str
    hint: str


def check_matcher(matcher: object, loc: Loc = ()) -> Iterator[MatcherMistake]:
    """Yield the mistakes of a matcher and its parts. `loc` is the path of the matcher itself."""
    for at, item in enumerate(as_list(matcher)):
        yield from check_matcher(item, (*loc, at))
    fields = as_object(matcher)
    if is_operator(matcher):
        for operator in OPERATORS:
            if operator in fields:
                yield from _operand(operator, fields[operator], (*loc, operator))
        return
    mixed = fields.keys() & set(OPERATORS)
    for name, inner in fields.items():
        if name not in OPERATORS and (mixed or _looks_like_an_operator(fields)):
            yield _unknown(name, (*loc, name))
        else:
            yield from check_matcher(inner, (*loc, name))


def _looks_like_an_operator(fields: object) -> bool:
    """Return whether a mapping with one key is a misspelt operator, as far as its key tells."""
    match list(as_object(fields)):
        case [name]:
            return close_match(name, OPERATORS, _ALIKE) is not None
        case _:
            return False


def _unknown(name: str, loc: Loc) -> MatcherMistake:
    message = f"`{name[:80]}` is not an operator."
    if meant := close_match(name, OPERATORS):
        return MatcherMistake(loc, message, f"Write `{meant}`, or put an object with this key into `equals`.")
    hint = "Write only operators, or only keys; an object whose keys are named as operators goes into `equals`."
    return MatcherMistake(loc, message, hint)


def _operand(operator: Operator, operand: object, loc: Loc) -> Iterator[MatcherMistake]:
    match operator:
        case "equals":
            return
        case "any_of":
            if not as_list(operand):
                yield MatcherMistake(loc, "`any_of` is not a list of values.", "List at least one: `any_of: [a, b]`.")
            yield from check_matcher(as_list(operand), loc)
        case "contains":
            yield from check_matcher(operand, loc)
        case "matches":
            yield from _pattern(operand, loc)
        case "at_least" | "at_most":
            if isinstance(operand, bool) or not isinstance(operand, int | float | str):
                yield _wrong(operator, loc, "a number, or a date as text")
        case "min_items" | "length":
            if isinstance(operand, bool) or not isinstance(operand, int) or operand < 0:
                yield _wrong(operator, loc, "a whole number, 0 or more")
        case "present":
            if not isinstance(operand, bool):
                yield _wrong(operator, loc, "true or false")


def _pattern(pattern: object, loc: Loc) -> Iterator[MatcherMistake]:
    if not isinstance(pattern, str):
        yield _wrong("matches", loc, "a regular expression in quotes")
        return
    try:
        compiled(pattern)
    except PatternError as error:
        hint = "Write a regular expression in the syntax of RE2, without look-around and back-references."
        yield MatcherMistake(loc, str(error), hint)


def _wrong(operator: Operator, loc: Loc, wanted: str) -> MatcherMistake:
    return MatcherMistake(loc, f"`{operator}` cannot have this value.", f"Write {wanted}.")
