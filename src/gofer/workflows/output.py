"""The typed answer of a workflow with `output`: instructions for the model, parsing, and validation.

Every schema here has passed `output_schema.flaws`.
"""

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
"""The longest answer that Gofer parses, in characters."""
PEOPLE = "Gofer turns its values into text for people; programs read the object."
"""The sentence about the readers of a workflow's answer."""
ASKER = "The agent or script that called you reads the object."
"""The sentence about the readers of a subagent's answer."""
PROBLEMS = 10
"""The most mistakes that one message to the model lists."""
QUOTED = 300
"""The most characters of the message about one mistake."""


def instructions(schema: Schema, readers: str) -> str:
    """Return the section of the system prompt about the form and the readers of the answer."""
    return (
        "# Output\n\nAnswer with one JSON object that is valid under this JSON Schema, and nothing else. "
        f"{readers}\n\n```json\n{encode_text(schema)}\n```"
    )


def read_answer(text: str) -> Mapping[str, object]:
    """Return the JSON object of an answer, which may be in a Markdown code fence.

    Raises ValueError whose message says what the answer is instead.
    """
    if len(text) > ANSWER_LIMIT:
        raise ValueError(f"longer than {ANSWER_LIMIT} characters")
    return arguments(_unfenced(text.strip()))


def problems(schema: Schema, value: Mapping[str, object]) -> list[str]:
    """Return up to PROBLEMS mistakes of a value, each with its place; empty when the value is valid."""
    try:
        found = [_best([error]) for error in islice(_validator(schema).iter_errors(value), PROBLEMS)]
    except OverflowError:
        # `multipleOf` divides, and JSON integers may be too large for a float.
        return ["the whole answer: a number is too large"]
    return [f"{_place(error)}: {error.message[:QUOTED]}" for error in found]


def _unfenced(text: str) -> str:
    begin = text.find("```")
    end = text.rfind("```")
    if text.startswith("{") or begin == end:
        return text
    # The first line of a fence may name the language.
    return text[begin + 3 : end].partition("\n")[2].strip()


def _place(error: ValidationError) -> str:
    return error.json_path.removeprefix("$").removeprefix(".") or "the whole answer"


def _pattern(validator: object, pattern: str, value: object, schema: object) -> Iterator[ValidationError]:
    if isinstance(value, str):
        try:
            matcher(pattern).validate_python(value)
        except Unmatched:
            yield ValidationError(f"{value[:QUOTED]!r} does not match {pattern!r}")


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
    Callable[[Schema], Checks], extend(Draft202012Validator, {"pattern": _pattern, "uniqueItems": _unique})
)
_best = cast(Callable[[Iterable[ValidationError]], ValidationError], best_match)
"""For alternatives that all fail, `best_match` returns the mistake in the closest one instead of the general
failure."""
