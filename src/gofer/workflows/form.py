"""The form that `schema` defines, filled from a file: what pydantic finds, in sentences, at the places of the file."""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import TypeVar, cast

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from gofer.values.canonical_json import as_list, as_object
from gofer.workflows.file_text import templates
from gofer.workflows.form_parts import Strict
from gofer.workflows.mistake import START, Mistake, Rule
from gofer.workflows.sentences import (
    WANTED,
    invalid_schema,
    missing_key,
    no_value,
    out_of_range,
    unknown_key,
    unknown_value,
    value_at,
    wrong_type,
)
from gofer.workflows.yaml_source import Loc, Source

_LATER = ("output", "jwks")
"""Keys below which other formats stand, in which null is a value."""
_CHANNELS = re.compile(r":\s+#[^\s,#]+(?:[\s,]+#[^\s,#]+)*\s*")
"""Names of channels, and nothing else, that YAML reads as a comment."""


def unset(source: Source, value: object, loc: Loc = ()) -> Iterator[Loc]:
    """Yield the way to each key of a file that has no value and needs one."""
    for name, inner in as_object(value).items():
        way = (*loc, name)
        if inner is None and not _complete(source, way):
            yield way
        elif name not in _LATER:
            yield from unset(source, inner, way)
    for at, item in enumerate(as_list(value)):
        yield from unset(source, item, (*loc, at))


def _complete(source: Source, loc: Loc) -> bool:
    """Return whether a key means something without a value: a trigger, a tool, and `output` when null is written."""
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
    """Return the file as the form, or None; and everything in it that is not of the form."""
    mistakes = [*source.mistakes, *_templates(source)]
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
        errors = [_as_written(source, one) for one in error.errors(include_url=False, include_input=False)]
        wrong = [_mistake(source, form, one) for one in errors if not _follows(source, one)]
        # A mark of a template fits no key; that it is one says what to do.
        marks = {one.place for one in mistakes if one.rule == "template"}
        wrong = [one for one in wrong if one.place not in marks]
        return None, [*mistakes, *wrong, *_unset(source, form, [one["loc"] for one in errors])]
    if empty := [*_unset(source, form, ())]:
        return None, [*mistakes, *empty]
    return filled, mistakes


def _templates(source: Source) -> Iterator[Mistake]:
    """Yield the values that another system would fill in.

    Braces without a dollar may be a text of their own, but not in what starts a workflow.
    """
    for loc, word in source.words.items():
        for at, message, hint in templates(word):
            if word.startswith("$", at) or loc[:1] == ("when",):
                yield _at(source, loc, "template", message, hint)


def _unset(source: Source, form: type[Strict], told: Collection[Loc]) -> Iterator[Mistake]:
    """Yield the keys without a value, but for those at which something else is wrong already."""
    for loc in unset(source, source.value):
        if not any(loc[: len(other)] == other for other in told):
            yield _at(source, loc, "wrong-type", *no_value(source, form, loc))


def _mistake(source: Source, form: type[Strict], error: ErrorDetails) -> Mistake:
    loc = source.known(error["loc"])
    context = cast(Mapping[str, object], error.get("ctx", {}))
    match error["type"]:
        case "extra_forbidden":
            # A name that stands alone, such as a trigger's, is a key to pydantic and a value in the file.
            message, hint = unknown_key(form, error["loc"])
            return Mistake(source.file, source.key(error["loc"]), "unknown-key", message, hint)
        case "missing":
            message, hint = missing_key(form, error["loc"])
            return Mistake(source.file, source.place(error["loc"]), "missing-key", message, hint)
        case "literal_error":
            return _at(source, loc, "unknown-value", *unknown_value(source, loc, str(context.get("expected"))))
        case "schema":
            message = invalid_schema(error["loc"], str(context.get("why")))
            return _at(source, loc, "invalid-schema", message, str(context.get("instead")))
        case "sentence":
            return _at(source, loc, "unknown-value", str(context.get("message")), str(context.get("hint")))
        case kind if kind in WANTED:
            return _at(source, loc, "wrong-type", *wrong_type(source, form, loc, WANTED[kind]))
        case kind:
            return _at(source, loc, "out-of-range", *out_of_range(source, loc, kind, context))


def _as_written(source: Source, error: ErrorDetails) -> ErrorDetails:
    """Return an error at its way in the file: a single model of a role has no position, which its form gives it."""
    match error["loc"]:
        case ("models", role, 0, *inner) if not isinstance(value_at(source, ("models", role)), list):
            return {**error, "loc": ("models", role, *inner)}
        case _:
            return error


def _follows(source: Source, error: ErrorDetails) -> bool:
    """Return whether an error only follows from others: pydantic calls a list empty when every item of it is wrong."""
    return error["type"] == "too_short" and value_at(source, source.known(error["loc"])) != []


def _at(source: Source, loc: Loc, rule: Rule, message: str, hint: str) -> Mistake:
    return Mistake(source.file, source.place(loc), rule, message, hint)
