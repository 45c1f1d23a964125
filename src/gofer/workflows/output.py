"""The form of an answer that its workflow asks for: `output` is a schema without flaws, as `output_schema` has it."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import cast

from jsonschema import Draft202012Validator
from jsonschema.exceptions import (
    ValidationError,
    best_match,  # pyright: ignore[reportUnknownVariableType]
)
from jsonschema.validators import extend  # pyright: ignore[reportUnknownVariableType]
from pydantic import ValidationError as Unmatched

from gofer.values.canonical_json import as_list, encode, encode_text
from gofer.values.messages import arguments
from gofer.workflows.output_schema import Checks, Schema, matcher

ANSWER_LIMIT = 40_000
"""Characters of an answer that is looked at."""
PEOPLE = "People read its values as text, which code makes of them; programs read the object."
"""The readers of a workflow's answer."""
ASKER = "The agent or script that asked you reads the object."
"""The readers of a subagent's answer."""
PROBLEMS = 10
"""How many of its mistakes a model is told at once."""
QUOTED = 300
"""Characters of what is said about one of them."""


def instructions(schema: Schema, readers: str) -> str:
    """Return what the system prompt says of the form of an answer, and of its readers."""
    return (
        "# Output\n\nAnswer with one JSON object that is valid under this JSON Schema, and nothing else. "
        f"{readers}\n\n```json\n{encode_text(schema)}\n```"
    )


def read_answer(text: str) -> Mapping[str, object]:
    """Return the object that an answer is, with or without a fence around it.

    Raises ValueError that says what it is.
    """
    if len(text) > ANSWER_LIMIT:
        raise ValueError(f"longer than {ANSWER_LIMIT} characters")
    return arguments(_unfenced(text.strip()))


def problems(schema: Schema, value: Mapping[str, object]) -> list[str]:
    """Return what is wrong with a value, one sentence each with its place; none when it is valid.

    Some, if there are many.
    """
    try:
        found = [_best([error]) for error in islice(_validator(schema).iter_errors(value), PROBLEMS)]
    except OverflowError:
        # `multipleOf` divides, and JSON has integers that no float holds.
        return ["the whole: a number is too large"]
    return [f"{_place(error)}: {error.message[:QUOTED]}" for error in found]


def _unfenced(text: str) -> str:
    begin = text.find("```")
    end = text.rfind("```")
    if text.startswith("{") or begin == end:
        return text
    # The first line of a fence may name the language.
    return text[begin + 3 : end].partition("\n")[2].strip()


def _place(error: ValidationError) -> str:
    return error.json_path.removeprefix("$").removeprefix(".") or "the whole"


def _pattern(validator: object, pattern: str, value: object, schema: object) -> Iterator[ValidationError]:
    if isinstance(value, str):
        try:
            matcher(pattern).validate_python(value)
        except Unmatched:
            yield ValidationError(f"{value[:QUOTED]!r} does not match {pattern!r}")


def _unique(validator: object, wanted: bool, value: object, schema: object) -> Iterator[ValidationError]:
    items = as_list(value)
    if wanted and len({encode(_plain(item)) for item in items}) < len(items):
        yield ValidationError("an item stands twice")


def _plain(value: object) -> object:
    """Return a value with equal numbers written alike: for a schema 1.0 is 1."""
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in cast(dict[str, object], value).items()}
    if isinstance(value, list):
        return [_plain(item) for item in cast(list[object], value)]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


_validator = cast(
    Callable[[Schema], Checks], extend(Draft202012Validator, {"pattern": _pattern, "uniqueItems": _unique})
)
_best = cast(Callable[[Iterable[ValidationError]], ValidationError], best_match)
"""Of alternatives that all fail, the mistake in the one that was meant says more than that none is right."""
