"""Does a file have the form that `schema` defines? What pydantic finds, in sentences, at the places of the file."""

import difflib
import re
from collections.abc import Iterable, Mapping
from typing import TypeVar, cast

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from gofer.canonical import as_list, as_object
from gofer.workflows.mistake import START, Mistake, Rule
from gofer.workflows.schema import Strict
from gofer.workflows.source import Loc, Source

F = TypeVar("F", bound=Strict)

_WANTED = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "tuple_type": "a list",
    "model_type": "a mapping of keys",
    "dict_type": "a mapping of keys",
}
_COMMENT = re.compile(r":\s+(#.*?)\s*$")
"""A value that YAML reads as a comment, such as the name of a Slack channel."""


def fill(source: Source, form: type[F]) -> tuple[F | None, list[Mistake]]:
    """The file as the form, or None; and everything in it that is not of the form."""
    mistakes = list(source.mistakes)
    if source.value is None and not mistakes:
        hint = "Write what docs/workflow-file.md asks for, or delete the file."
        return None, [Mistake(source.file, START, "empty-file", "The file says nothing.", hint)]
    if source.value is None:
        return None, mistakes
    if not source.is_mapping:
        hint = "Write one `key: value` a line, as docs/workflow-file.md shows."
        return None, [*mistakes, Mistake(source.file, START, "not-a-mapping", "The file is no list of keys.", hint)]
    try:
        filled = form.model_validate(source.value)
    except ValidationError as error:
        errors = error.errors(include_url=False, include_input=False)
        return None, [*mistakes, *(_mistake(source, form, one) for one in errors if not _follows(source, one))]
    return filled, mistakes


def close_match(name: str, known: Iterable[str], alike: float = 0.7) -> str | None:
    """The one of some names that was probably meant; `alike` is how much of it must be right, 0 to 1."""
    # Comparing costs the product of both lengths, and nobody misspells a name by a thousand letters.
    return next(iter(difflib.get_close_matches(name[:100], list(known), n=1, cutoff=alike)), None)


def _mistake(source: Source, form: type[Strict], error: ErrorDetails) -> Mistake:
    loc = _known(source, error["loc"])
    context = cast(Mapping[str, object], error.get("ctx", {}))
    match error["type"]:
        case "extra_forbidden":
            message, hint = _unknown_key(form, loc)
            return Mistake(source.file, source.key(loc), "unknown-key", message, hint)
        case "missing":
            message, hint = _missing_key(form, error["loc"])
            return Mistake(source.file, source.place(error["loc"]), "missing-key", message, hint)
        case "literal_error":
            return _at(source, loc, "unknown-value", *_unknown_value(source, loc, str(context.get("expected"))))
        case kind if kind in _WANTED:
            return _at(source, loc, "wrong-type", *_wrong_type(source, loc, _WANTED[kind]))
        case kind:
            return _at(source, loc, "out-of-range", *_out_of_range(source, loc, kind, context))


def _follows(source: Source, error: ErrorDetails) -> bool:
    """Whether an error only follows from others: pydantic calls a list empty when every item of it is wrong."""
    return error["type"] == "too_short" and bool(as_list(_value(source, _known(source, error["loc"]))))


def _at(source: Source, loc: Loc, rule: Rule, message: str, hint: str) -> Mistake:
    return Mistake(source.file, source.place(loc), rule, message, hint)


def _known(source: Source, loc: Loc) -> Loc:
    """The part of a way that exists in the file: a validator may have put more around a value."""
    while loc and loc not in source.values:
        loc = loc[:-1]
    return loc


def _named(loc: Loc) -> str:
    """How people are told of a value: its way with dots, cut when somebody wrote a novel as a key."""
    return f"`{'.'.join(str(part) for part in loc)[:80]}`"


def _parts(form: type[Strict]) -> dict[str, type[Strict]]:
    """The forms within a form, by the key they stand under."""
    parts = {name: field.annotation for name, field in form.model_fields.items()}
    return {name: part for name, part in parts.items() if isinstance(part, type) and issubclass(part, Strict)}


def _form_at(form: type[Strict], loc: Loc) -> type[Strict]:
    for part in loc:
        form = _parts(form).get(str(part), form)
    return form


def _unknown_key(form: type[Strict], loc: Loc) -> tuple[str, str]:
    around, name = _form_at(form, loc[:-1]), str(loc[-1])
    message = f"{_named(loc)} is not a key here."
    if name == "on" and "when" in around.model_fields:
        return message, "Write `when`; YAML reads `on` as true."
    for part, inner in _parts(around).items():
        if name in inner.model_fields:
            return message, f"Move it under `{part}`."
    if meant := close_match(name, around.model_fields):
        return message, f"Write `{meant}`."
    return message, f"Remove it; the keys are {_listed(around.model_fields)}."


def _missing_key(form: type[Strict], loc: Loc) -> tuple[str, str]:
    field = _form_at(form, loc[:-1]).model_fields[str(loc[-1])]
    meaning = field.description or ""
    return f"The key {_named(loc)} is missing.", f"Add `{loc[-1]}: …`. {meaning}".strip()


def _unknown_value(source: Source, loc: Loc, expected: str) -> tuple[str, str]:
    allowed = re.findall(r"'([^']*)'", expected)
    word = source.words.get(loc)
    if word is None:
        kind = next(iter(as_object(_value(source, loc))), "")
        message = f"`{kind}` takes no conditions." if kind in allowed else f"{_named(loc)} is not a single name."
        return message, f"Write {_listed(allowed, 'or')}."
    if meant := close_match(word, allowed):
        return f"{_named(loc)} cannot be `{word[:80]}`.", f"Write `{meant}`."
    return f"{_named(loc)} cannot be `{word[:80]}`.", f"Write {_listed(allowed, 'or')}."


def _wrong_type(source: Source, loc: Loc, wanted: str) -> tuple[str, str]:
    value, word = _value(source, loc), source.words.get(loc, "")
    name = _named(loc)
    comment = _COMMENT.search(source.line(source.key(loc)))
    if value is None and wanted == "text" and comment:
        return f"{name} is empty, because YAML reads `#` and what follows as a comment.", f'Write `"{comment[1]}"`.'
    message = f"{name} is {_described(value, word)}, not {wanted}."
    if wanted == "text" and isinstance(value, bool | int | float):
        return message, f'Put it in quotes: `"{word[:80]}"`.'
    if wanted == "a list" and isinstance(value, str):
        return message, f"Write `[{word[:80]}]`."
    return message, f"Write {wanted}."


_BOUNDS = {
    "greater_than": ("gt", "greater than"),
    "greater_than_equal": ("ge", "at least"),
    "less_than": ("lt", "less than"),
    "less_than_equal": ("le", "at most"),
}


def _out_of_range(source: Source, loc: Loc, kind: str, context: Mapping[str, object]) -> tuple[str, str]:
    name, word = _named(loc), source.words.get(loc, "")[:80]
    match kind:
        case "string_too_short":
            return f"{name} is empty.", "Write at least one character."
        case "too_short":
            return f"{name} is empty.", "List at least one."
        case "finite_number":
            return f"{name} is {word}, which nothing can be counted against.", "Write a number."
        case kind if kind in _BOUNDS:
            key, words = _BOUNDS[kind]
            bound = context.get(key)
            shown = int(bound) if isinstance(bound, float) and bound.is_integer() else bound
            return f"{name} is {word}, which is out of bounds.", f"Write a number that is {words} {shown}."
        case _:
            return f"{name} does not fit.", "Look it up in docs/workflow-file.md."


def _described(value: object, word: str) -> str:
    match value:
        case None:
            return "empty"
        case bool():
            return f"`{word}`, which YAML reads as {str(value).lower()}"
        case dict():
            return "a mapping of keys"
        case list():
            return "a list"
        case str():
            return f"the text `{word[:80]}`"
        case _:
            return f"the number `{word[:80]}`"


def _value(source: Source, loc: Loc) -> object:
    value = source.value
    for part in loc:
        value = as_list(value)[part] if isinstance(part, int) else as_object(value).get(part)
    return value


def _listed(names: Iterable[str], last: str = "and") -> str:
    *others, end = [f"`{name}`" for name in names] or ["nothing"]
    return f"{', '.join(others)} {last} {end}" if others else end
