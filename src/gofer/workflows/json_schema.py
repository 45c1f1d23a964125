"""Validation with the library jsonschema: of schemas, and of the values that they describe.

`output_schema.py` loads this module with the first schema, because most processes start without one.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Protocol, cast

from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.exceptions import (
    ValidationError,
    best_match,  # pyright: ignore[reportUnknownVariableType]
)
from jsonschema.validators import extend  # pyright: ignore[reportUnknownVariableType]
from pydantic import ValidationError as Unmatched

from gofer.values.canonical_json import as_list, encode
from gofer.workflows.json_pattern import matcher
from gofer.workflows.output_schema import QUOTED, Violation

_QUOTED = 300
"""The most characters of the message about one mistake of a value."""


class Checks(Protocol):
    """A validator of one schema."""

    def iter_errors(self, instance: object) -> Iterator[ValidationError]:
        """Yield each mistake of a value."""
        ...


def violations(written: str) -> tuple[Violation, ...]:
    """Return where a schema, written as JSON, violates the meta-schema."""
    return tuple(_violation(_best([error])) for error in _META.iter_errors(json.loads(written)))


def mistakes(schema: Mapping[str, object], value: object, most: int) -> list[str]:
    """Return up to `most` mistakes of a value, each with its place. Raises OverflowError for a number too large."""
    found = [_best([error]) for error in islice(_validator(schema).iter_errors(value), most)]
    return [f"{_place(error)}: {error.message[:_QUOTED]}" for error in found]


def _violation(error: ValidationError) -> Violation:
    path = tuple(error.absolute_path)
    wrong_type = ""
    if path[-1:] == ("type",) and isinstance(error.instance, str):
        wrong_type = error.instance
    return Violation(path, error.message[: QUOTED + 1], wrong_type)


def _place(error: ValidationError) -> str:
    return error.json_path.removeprefix("$").removeprefix(".") or "the whole answer"


def _pattern(validator: object, pattern: str, value: object, schema: object) -> Iterator[ValidationError]:
    if isinstance(value, str):
        try:
            matcher(pattern).validate_python(value)
        except Unmatched:
            yield ValidationError(f"{value[:_QUOTED]!r} does not match {pattern!r}")


def _unique(validator: object, wanted: bool, value: object, schema: object) -> Iterator[ValidationError]:
    items = as_list(value)
    if wanted and len({encode(_plain(item)) for item in items}) < len(items):
        yield ValidationError("two items are equal")


def _plain(value: object) -> object:
    """Return a value with integral floats as integers, because JSON Schema treats 1.0 and 1 as equal."""
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in cast(dict[str, object], value).items()}
    if isinstance(value, list):
        return [_plain(item) for item in cast(list[object], value)]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


_validator = cast(
    Callable[[Mapping[str, object]], Checks],
    extend(Draft202012Validator, {"pattern": _pattern, "uniqueItems": _unique}),
)
_best = cast(Callable[[Iterable[ValidationError]], ValidationError], best_match)
"""For alternatives that all fail, `best_match` returns the mistake in the closest one instead of the general
failure."""
_META = cast(Checks, Draft202012Validator(Draft202012Validator.META_SCHEMA, format_checker=FormatChecker(formats=())))
