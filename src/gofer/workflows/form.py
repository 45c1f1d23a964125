"""Validation of a file against its form in `schema`: pydantic's errors as sentences at places of the file."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TypeVar, cast

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from gofer.values.canonical_json import as_list, as_object
from gofer.workflows.file_text import templates
from gofer.workflows.form_parts import Strict
from gofer.workflows.mistake import START, Mistake, Rule
from gofer.workflows.sentences import (
    WANTED,
    form_at,
    invalid_schema,
    missing_key,
    no_value,
    out_of_range,
    parts,
    unknown_key,
    unknown_value,
    value_at,
    wrong_type,
)
from gofer.workflows.yaml_source import Loc, Source
from gofer.workflows.yaml_syntax import odd_space

_LATER = ("output", "jwks")
"""Keys with values in another format, in which null is a value."""
_CHANNELS = re.compile(r":\s+#[^\s,#]+(?:[\s,]+#[^\s,#]+)*\s*")
"""A comment that consists of channel names only."""
_CURLY = re.compile("([\u2018-\u201f\xab])([^\u2018-\u201f\xab\xbb]*)([\u2018-\u201f\xbb])")
"""A value in curly quotes."""
_CAUSES = ("curly-quotes", "template")
"""Rules about characters that also make their value wrong for its key."""
_TEXTS = ("description", "reply_template", "says")
"""Keys with texts for people or of people, which may have curly quotes."""


def unset(source: Source, value: object, loc: Loc = ()) -> Iterator[Loc]:
    """Yield the path to each key of a file that has no value and needs one."""
    for name, inner in as_object(value).items():
        path = (*loc, name)
        if inner is None and not _complete(source, path):
            yield path
        elif name not in _LATER:
            yield from unset(source, inner, path)
    for at, item in enumerate(as_list(value)):
        yield from unset(source, item, (*loc, at))


def _complete(source: Source, loc: Loc) -> bool:
    """Return whether a key is valid without a value: a trigger, a tool, or an `output` that is written as null."""
    match loc:
        case ("when", int(), str()):
            return not _CHANNELS.search(source.line(source.key(loc)))
        case ("tools", int(), str()):
            return True
        case ("output",):
            return bool(source.words[loc])
        case _:
            return False


F = TypeVar("F", bound=Strict)


def fill(source: Source, form: type[F]) -> tuple[F | None, list[Mistake]]:
    """Return the validated file, or None if it is invalid, and every mistake in it."""
    mistakes = [*source.mistakes]
    if not form.HOLDS_DATA:
        mistakes += [*_templates(source), *_curly_quotes(source)]
    if odd := list(_odd_spaces(source)):
        return None, odd
    if source.value is None and not mistakes:
        hint = f"Write the keys that {form.MANUAL} describes, or delete the file."
        return None, [Mistake(source.file, START, "empty-file", "The file says nothing.", hint)]
    if source.value is None:
        return None, mistakes
    if not source.is_mapping:
        hint = f"Write one `key: value` per line, as {form.MANUAL} shows."
        return None, [*mistakes, Mistake(source.file, START, "not-a-mapping", "The file is not a list of keys.", hint)]
    try:
        filled = form.model_validate(source.value)
    except ValidationError as error:
        errors = [_as_written(source, form, one) for one in error.errors(include_url=False, include_input=False)]
        wrong = [_mistake(source, form, one) for one in errors if not _follows(source, one, errors)]
        # Their values are also wrong for their keys, and these mistakes explain more.
        marks = {one.place for one in mistakes if one.rule in _CAUSES}
        wrong = [one for one in wrong if one.place not in marks]
        return None, [*mistakes, *wrong, *_unset(source, form, [one["loc"] for one in errors])]
    empty = [*_unset(source, form, ())]
    if empty or any(one.rule == "curly-quotes" for one in mistakes):
        return None, [*mistakes, *empty]
    return filled, mistakes


def _templates(source: Source) -> Iterator[Mistake]:
    """Yield a mistake for each template placeholder.

    Braces without a dollar sign may be ordinary text, except below `when`.
    """
    for loc, word in source.words.items():
        for at, message, hint in templates(word):
            if word.startswith("$", at) or loc[:1] == ("when",):
                yield _at(source, loc, "template", message, hint)


def _odd_spaces(source: Source) -> Iterator[Mistake]:
    """Yield a mistake for each character that only looks like a space, at the beginning of a key or a value."""
    for place in dict.fromkeys((*source.keys.values(), *source.values.values())):
        if odd := odd_space(source.file, source.lines, place):
            yield odd


def _curly_quotes(source: Source) -> Iterator[Mistake]:
    """Yield a mistake for each value in curly quotes."""
    for loc, word in source.words.items():
        if (quoted := _CURLY.fullmatch(word)) and not {*loc} & {*_TEXTS}:
            codes = f"U+{ord(quoted[1]):04X} and U+{ord(quoted[3]):04X}"
            message = f"The quotes around `{quoted[2][:80]}` are {codes}, and YAML reads them as part of the value."
            yield _at(source, loc, "curly-quotes", message, f'Write `"{quoted[2][:80]}"`.')


def _unset(source: Source, form: type[Strict], reported: Collection[Loc]) -> Iterator[Mistake]:
    """Yield a mistake for each key without a value, unless another mistake was found there."""
    for loc in unset(source, source.value):
        if form.HOLDS_DATA and source.words[loc]:
            continue
        if not any(loc[: len(other)] == other for other in reported):
            yield _at(source, loc, "wrong-type", *no_value(source, form, loc))


def _mistake(source: Source, form: type[Strict], error: ErrorDetails) -> Mistake:
    loc = source.known(error["loc"])
    context = cast(Mapping[str, object], error.get("ctx", {}))
    match error["type"]:
        case "extra_forbidden":
            # A bare name, such as a trigger, is a key to pydantic and a value in the file.
            message, hint = unknown_key(form, error["loc"])
            return Mistake(source.file, source.key(error["loc"]), "unknown-key", message, hint)
        case "missing":
            message, hint = missing_key(source, form, error["loc"])
            return Mistake(source.file, source.place(error["loc"]), "missing-key", message, hint)
        case "literal_error":
            return _at(source, loc, "unknown-value", *unknown_value(source, loc, str(context.get("expected"))))
        case "schema":
            message = invalid_schema(error["loc"], str(context.get("reason")))
            return _at(source, loc, "invalid-schema", message, str(context.get("hint")))
        case "sentence":
            return _at(source, loc, "unknown-value", str(context.get("message")), str(context.get("hint")))
        case kind if kind in WANTED:
            return _at(source, loc, "wrong-type", *wrong_type(source, form, loc, WANTED[kind]))
        case kind:
            return _at(source, loc, "out-of-range", *out_of_range(source, loc, kind, context, form.MANUAL))


def _as_written(source: Source, form: type[Strict], error: ErrorDetails) -> ErrorDetails:
    """Return the error with its path in the file, which keeps the kind of a trigger that is written without a colon.

    Pydantic adds a position 0 when a list is written as its only item, and the names of alternatives.
    """
    path: Loc = ()
    for part in error["loc"][:-1]:
        if (*path, part) in source.values or part in parts(form_at(form, path)):
            path = (*path, part)
    return {**error, "loc": (*path, *error["loc"][-1:])}


def _follows(source: Source, error: ErrorDetails, errors: Iterable[ErrorDetails]) -> bool:
    """Return whether the error only follows from others.

    Pydantic calls a list empty when every item is wrong, and a key missing when it is written in capital letters.
    """
    if error["type"] == "missing":
        unknown = [one["loc"] for one in errors if one["type"] == "extra_forbidden"]
        return any((*loc[:-1], str(loc[-1]).lower()) == error["loc"] for loc in unknown)
    return error["type"] == "too_short" and value_at(source, source.known(error["loc"])) != []


def _at(source: Source, loc: Loc, rule: Rule, message: str, hint: str) -> Mistake:
    return Mistake(source.file, source.place(loc), rule, message, hint)
