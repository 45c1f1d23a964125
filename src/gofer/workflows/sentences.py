"""Sentences about values that do not fit their keys: what is wrong, and what to write instead."""

import difflib
import json
import re
from collections.abc import Iterable, Mapping
from typing import get_args

from gofer.values.canonical_json import as_list, as_object
from gofer.workflows.field_descriptions import description_of
from gofer.workflows.foreign_keys import condition_hint
from gofer.workflows.form_parts import GROUPS, Strict, listed
from gofer.workflows.yaml_source import Loc, Source

WANTED = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "tuple_type": "a list",
    "model_type": "a mapping of keys",
    "dict_type": "a mapping of keys",
}
"""The expected type in words, by pydantic's error type."""

_COMMENT = re.compile(r"[:-]\s+(#[^\s#].*)$")
"""A comment in the place of a value, such as the name of a channel."""
_CHANNEL = re.compile(r"#[^\s,#]+")
_WITHOUT_SIGN = ("project", "emoji", "repository")
"""Keys whose values never begin with `#`."""
_ADDED = {
    "description": "Add `description: …` with one sentence about what the workflow or subagent does.",
    "channels": 'Add `channels: "#incidents"` with the channels of the trigger, or `channels: any`.',
    "emoji": "Add `emoji: eyes` with the name of the emoji that starts the workflow.",
    "database": "Add `database: …` with the name, the id or the link of the database.",
    "tools": "Add `tools: […]` with the tools that need approval.",
    "by": "Add `by: requester`, or the people who may approve.",
}
"""Hints for required keys of any form, where the description of the key alone does not say how to add it."""
_BRACED = re.compile("^Add `([^`]+)`")
"""The key that a hint adds to a mapping."""
_MOST_KEYS = 8
"""The most keys that a hint lists."""
_DECIMAL_COMMA = re.compile(r"\d+,\d+")
_PLAIN = re.compile(r"[A-Za-z0-9][\w.@-]*")
"""A text that needs no quotes in YAML."""


def close_match(name: str, known: Iterable[str], alike: float = 0.7) -> str | None:
    """Return the known name that is most similar to `name`, or None below a similarity of `alike` (0 to 1)."""
    # The time of a comparison grows with the product of both lengths, so only the first 100 characters count.
    return next(iter(difflib.get_close_matches(name[:100], list(known), n=1, cutoff=alike)), None)


def _named(loc: Loc) -> str:
    """Return the name of a value in a sentence: its key with the keys around it, cut after 80 characters."""
    match loc:
        case (*around, int(at)):
            return f"Item {at + 1} of {_named(tuple(around))}"
        case ("when", int(), kind):
            return f"`{str(kind)[:80]}`"
        case ("when" | "tools", int(), kind, *keys):
            return f"`{_dotted(keys)}` of `{str(kind)[:80]}`"
        case ("cases", int(), *_):
            after = max(at for at, part in enumerate(loc) if isinstance(part, int))
            return f"`{_dotted(loc[after + 1 :])}`"
        case _:
            return f"`{_dotted(loc)}`"


def _dotted(keys: Iterable[int | str]) -> str:
    return ".".join(str(part) for part in keys)[:80]


def parts(form: type[Strict]) -> dict[str, type[Strict]]:
    """Return the forms inside a form, by their keys."""
    inner = {field.alias or name: _inner(field.annotation) for name, field in form.model_fields.items()}
    return {name: part for name, part in inner.items() if part is not None}


def _inner(annotation: object) -> type[Strict] | None:
    """Return the form in an annotation, such as that of a list's items; None without a form."""
    if isinstance(annotation, type) and issubclass(annotation, Strict):
        return annotation
    return next((inner for part in get_args(annotation) if (inner := _inner(part))), None)


def _keys(form: type[Strict]) -> list[str]:
    return [field.alias or name for name, field in form.model_fields.items()]


def form_at(form: type[Strict], loc: Loc) -> type[Strict]:
    """Return the form at a path of a form; the nearest one around it without a form there."""
    for part in loc:
        form = parts(form).get(str(part), form)
    return form


def unknown_key(form: type[Strict], loc: Loc) -> tuple[str, str]:
    """Return the message about a key that the form does not have, and the hint."""
    around = form_at(form, loc[:-1])
    name = str(loc[-1])
    named = loc
    if around.MEMBER != Strict.MEMBER:
        named = (name,)
    message = f"{_named(named)} is not {around.MEMBER}."
    if " {" in name:
        return message, f"Write a colon after the name, as in `{name.partition(' {')[0][:80]}: {{…}}`."
    if hint := _foreign(around, name):
        return message, hint
    for part, inner in parts(around).items():
        if name in _keys(inner):
            return message, f"Move it under `{part}`."
    keys = _keys(around)
    if meant := close_match(name, keys):
        return message, f"Write `{meant}`."
    if around.LISTED:
        return message, around.LISTED
    if not keys:
        return message, "Remove it; no keys are allowed here."
    return message, f"Remove it; the keys are {_listed(keys)}."


def _foreign(around: type[Strict], name: str) -> str | None:
    """Return the hint for a key of another system, or None if there is no hint."""
    if hint := around.FOREIGN.get(name):
        return hint
    if around.MEMBER == "a condition of this trigger":
        return condition_hint(name, _keys(around))
    kinds = [kind for kind in _keys(around) if kind.startswith(f"{name}.")]
    if around.MEMBER == "a trigger" and kinds:
        return f"Write {_listed(kinds, 'or')}."
    return None


def missing_key(source: Source, form: type[Strict], loc: Loc) -> tuple[str, str]:
    """Return the message about a missing key, and the hint how to add it."""
    around = form_at(form, loc[:-1])
    name = str(loc[-1])
    fields = [field for field, info in around.model_fields.items() if (info.alias or field) == name]
    described = [description_of(around, field) for field in fields]
    added = {**_ADDED, **around.ADDED}
    hint = added.get(name) or " ".join([f"Add `{name}: …`.", *filter(None, described)])
    if loc[:-1] not in source.values:
        # The part around the key is a bare name, such as a trigger in a list.
        hint = _BRACED.sub(rf"Write `{loc[-2]}: {{\1}}`", hint)
    return f"The key {_named(loc)} is missing.", hint


def no_value(source: Source, form: type[Strict], loc: Loc) -> tuple[str, str]:
    """Return the message about a key without a value, and the hint."""
    name = _named(loc)
    comment = _COMMENT.search(source.line(source.key(loc)))
    if comment and _takes_text(form, loc):
        message = f"{name} is empty, because YAML reads `#` and the rest of the line as a comment."
        return message, f"Write `{_uncommented(loc, comment[1])}`."
    if loc == ("approve",):
        return f"{name} is empty.", _as_mapping(source, form, loc)
    return f"{name} is empty.", "Write a value, or remove the key."


def _takes_text(form: type[Strict], loc: Loc) -> bool:
    """Return whether a key takes a text; a trigger takes the text of its channels."""
    fields = form_at(form, loc[:-1]).model_fields.items()
    annotations = [field.annotation for name, field in fields if (field.alias or name) == loc[-1]]
    return any(_holds_text(annotation) for annotation in annotations)


def _holds_text(annotation: object) -> bool:
    if isinstance(annotation, type) and issubclass(annotation, Strict):
        return "channels" in annotation.model_fields
    return annotation is str or any(_holds_text(part) for part in get_args(annotation))


def _uncommented(loc: Loc, comment: str) -> str:
    """Return the corrected line of a key whose value YAML reads as a comment."""
    match loc:
        case ("when", int(), str(kind)):
            return f"{kind}: {{channels: {_channels(comment, 'a list')}}}"
        case (*_, str(key)) if key in _WITHOUT_SIGN:
            return f"{key}: {_channels(comment, 'a list').replace('#', '')}".replace('"', "")
        case _:
            return _with_key(loc, _channels(comment, "a list"))


def unknown_value(source: Source, loc: Loc, expected: str) -> tuple[str, str]:
    """Return the message about a value that is not allowed, and the hint.

    `expected` lists the values as pydantic does.
    """
    allowed = re.findall(r"'([^']*)'", expected)
    word = source.words.get(loc)
    if word is None:
        kind = next(iter(as_object(value_at(source, loc))), "")
        if kind in allowed:
            message = f"`{kind}` takes no conditions."
        else:
            message = f"{_named(loc)} is not a single name."
        return message, f"Write {_listed(allowed, 'or')}."
    if meant := close_match(word, allowed):
        return f"{_named(loc)} cannot be `{word[:80]}`.", f"Write `{meant}`."
    return f"{_named(loc)} cannot be `{word[:80]}`.", f"Write {_listed(allowed, 'or')}."


def wrong_type(source: Source, form: type[Strict], loc: Loc, wanted: str) -> tuple[str, str]:
    """Return the message about a value of the wrong type, and the hint. `wanted` is a type of `WANTED`."""
    value = value_at(source, loc)
    word = source.words.get(loc, "")
    name = _named(loc)
    comment = _COMMENT.search(source.line(source.key(loc)))
    if value is None and comment and wanted in ("text", "a list"):
        message = f"{name} is empty, because YAML reads `#` and the rest of the line as a comment."
        return message, f"Write `{_with_key(loc, _channels(comment[1], wanted))}`."
    if wanted == "text" and (key := _only_key(value)):
        message = f"YAML reads `{key[:80]}:` as a key, because it ends with a colon."
        if key.startswith(":"):
            key = f"{key}:"
        return message, f"Write `{_quoted(key[:80])}`."
    message = f"{name} is {_described(value, word)}, not {wanted}."
    if wanted == "text" and isinstance(value, bool | int | float):
        return message, f'Put it in quotes: `"{word[:80]}"`.'
    if wanted == "a list" and isinstance(value, str):
        return message, f"Write `[{_corrected(form, loc, word)[:80]}]`."
    if wanted == "a list" and (items := as_object(value)):
        return message, f"Begin each with a dash: `- {_corrected(form, loc, next(iter(items)))[:80]}`."
    if wanted == "a mapping of keys":
        return message, _as_mapping(source, form, loc)
    if wanted in ("a number", "a whole number") and _DECIMAL_COMMA.fullmatch(word):
        return message, f"Write `{word.replace(',', '.')[:80]}`."
    return message, f"Write {wanted}."


def _corrected(form: type[Strict], loc: Loc, name: str) -> str:
    """Return the closest trigger for the name of a trigger, and any other name unchanged."""
    around = form_at(form, loc)
    if around.MEMBER != "a trigger":
        return name
    return close_match(name, _keys(around)) or name


def _channels(comment: str, wanted: str) -> str:
    """Return the channel names in a comment as a YAML value."""
    named = [_quoted(name) for name in _CHANNEL.findall(comment)]
    if wanted == "a list" and len(named) > 1:
        return f"[{', '.join(named)}]"
    return named[0]


def _only_key(value: object) -> str | None:
    """Return the key of a mapping with a single key and no value, which is how YAML reads `:eyes:`."""
    match list(as_object(value).items()):
        case [(key, None)]:
            return key
        case _:
            return None


def _as_mapping(source: Source, form: type[Strict], loc: Loc) -> str:
    """Return the hint to write a list or a single value as a mapping of keys."""
    value = value_at(source, loc)
    if loc == ("approve",):
        named = as_list(listed(value)) or as_list(source.fields.get("tools"))
        # A tool with options is a mapping with its name as the only key.
        names = [next(iter(as_object(item)), item) for item in named[:5]]
        tools = ", ".join(name[:80] for name in names if isinstance(name, str))
        return f"Write `approve: {{tools: [{tools}], by: requester}}`; `by` names the approvers."
    outer = form_at(form, loc[:-1])
    if str(loc[-1]) in {*_keys(outer)} - {*parts(outer)}:
        return "Write a mapping of keys."
    around = form_at(form, loc)
    fields = around.model_fields.items()
    required = [field.alias or name for name, field in fields if field.is_required()]
    if isinstance(value, str) and len(required) == 1:
        return f"Write `{loc[-1]}: {{{required[0]}: {_quoted(value[:80])}}}`."
    if keys := _keys(around):
        return f"Write keys below it: {_listed(keys[:_MOST_KEYS], 'or')}."
    return "Write a mapping of keys."


def _with_key(loc: Loc, value: str) -> str:
    if loc and isinstance(loc[-1], str):
        return f"{loc[-1]}: {value}"
    return value


def _quoted(word: str) -> str:
    """Return a text as a YAML scalar, in quotes only if it needs them."""
    if _PLAIN.fullmatch(word):
        return word
    return json.dumps(word, ensure_ascii=False)


def invalid_schema(loc: Loc, reason: str) -> str:
    """Return the message about a part of a schema that cannot be used. `reason` is the end of a sentence."""
    part = "The schema"
    if loc:
        part = _named(loc)
    return f"{part} cannot be used: {reason}."


_BOUNDS = {
    "greater_than": ("gt", "greater than"),
    "greater_than_equal": ("ge", "at least"),
    "less_than": ("lt", "less than"),
    "less_than_equal": ("le", "at most"),
}


def out_of_range(
    source: Source, loc: Loc, kind: str, context: Mapping[str, object], manual: str = Strict.MANUAL
) -> tuple[str, str]:
    """Return the message about a value out of range, and the hint.

    `kind` and `context` come from pydantic's error, and `manual` is the page that describes the values.
    """
    name = _named(loc)
    word = source.words.get(loc, "")[:80]
    match kind:
        case "string_too_short":
            return f"{name} is empty.", "Write at least one character."
        case "too_short":
            return f"{name} is empty.", "List at least one."
        case "finite_number":
            return f"{name} is {word}, which is not a finite number.", "Write a number."
        case kind if kind in _BOUNDS:
            key, words = _BOUNDS[kind]
            bound = context.get(key)
            if isinstance(bound, float) and bound.is_integer():
                named = int(bound)
            else:
                named = bound
            return f"{name} is {word}, which is out of bounds.", f"Write a number that is {words} {named}."
        case "one_tool":
            return f"{name} is not one tool.", "Begin each item with its own dash."
        case "duration":
            hint = (
                "Write a number and a unit, such as `30 minutes`, `24 hours` or `2 days`; the longest duration "
                "is 30 days."
            )
            return f"{name} cannot be `{word}`, which is not a duration.", hint
        case "approver":
            hint = "Write `requester`, a user group such as `@leads`, or a member ID such as `U0123ABCD`."
            return f"{name} cannot be `{word}`, which is not an approver.", hint
        case "one_trigger":
            return f"{name} is not one trigger.", "Begin each item with its own dash."
        case "string_pattern_mismatch" if loc[:1] == ("who",):
            return (
                f"{name} is `{word}`, which is not a person or a group.",
                f"Write {', '.join(f'`{group}`' for group in GROUPS)}, an @handle or a user id.",
            )
        case "value_error":
            sentence = str(context.get("error", ""))
            return f"{name} does not fit.", f"{sentence[:1].upper()}{sentence[1:]}."
        case _:
            return f"{name} does not fit.", f"{manual} describes the allowed values."


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


def value_at(source: Source, loc: Loc) -> object:
    """Return the value at a path in a file."""
    value = source.value
    for part in loc:
        if isinstance(part, int):
            value = as_list(value)[part]
        else:
            value = as_object(value).get(part)
    return value


def _listed(names: Iterable[str], last: str = "and") -> str:
    *others, end = [f"`{name}`" for name in names] or ["nothing"]
    if others:
        return f"{', '.join(others)} {last} {end}"
    return end
