"""The text that people read of a typed answer: the filled `reply_template`, or one line for each field."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import cast

from gofer.values.canonical_json import as_list, as_object, as_text, encode_text
from gofer.workflows.output_schema import Schema

LONGEST = 80_000
"""The longest text of a filled template, in characters. For a longer text, each field is listed once instead."""
NOTHING = "Every field of the answer is empty."
# Doubled braces come first, so that `{{title}}` is a text in braces and not a field.
_FIELD = re.compile(r"\{\{|\}\}|\{([^{}\n]+)\}")
_BULLET = re.compile(r"[ \t]*(?:[-*+•]|\d+[.)])[ \t]")
_IN_LIST = re.compile(rf"[ \t]|{_BULLET.pattern}")
_CONTINUED = re.compile(r"\n(?=[^\n])")
_GAPS = re.compile(r"\n{3,}")
_ALTERNATIVES = ("allOf", "anyOf", "oneOf")
_BRANCHES = ("if", "then", "else")


def render(template: str, schema: Schema, value: Mapping[str, object]) -> str:
    """Return an answer as text for people. Without a template, or if it makes too long a text, list the fields."""
    filled = _GAPS.sub("\n\n", "\n".join(_parted(_filled(template, value)))).strip()
    if filled and len(filled) <= LONGEST:
        return filled
    return "\n".join(_listed(schema, value)) or NOTHING


def fields_of(template: str) -> list[str]:
    """Return the fields that a template names, without duplicates, in order."""
    named: list[str] = _FIELD.findall(template)
    return list(dict.fromkeys(filter(None, named)))


def fields_in(schema: Schema) -> list[str]:
    """Return the top-level fields that a schema describes, including those of its alternatives."""
    return list(dict.fromkeys(_described(schema, schema)))


def _described(part: Mapping[str, object], root: Schema) -> Iterator[str]:
    yield from as_object(part.get("properties"))
    inner = [as_object(part.get(name)) for name in _BRANCHES]
    inner += [as_object(alternative) for name in _ALTERNATIVES for alternative in as_list(part.get(name))]
    if ref := as_text(part.get("$ref", "")).removeprefix("#/"):
        home, _, name = ref.partition("/")
        inner.append(as_object(as_object(root.get(home)).get(name)))
    for alternative in filter(None, inner):
        yield from _described(alternative, root)


def _filled(template: str, value: Mapping[str, object]) -> Iterator[str]:
    """Yield the lines of a template with values filled in. A line is left out when all its fields are empty."""
    for line in template.strip("\n").split("\n"):
        named = fields_of(line)
        if named and all(_is_empty(value.get(name)) for name in named):
            continue
        if named and line.strip() == f"{{{named[0]}}}":
            yield _block(value.get(named[0]))
            continue
        # One pass over the template: braces in a value are text.
        filled = _FIELD.sub(partial(_replacement, value), line)
        if _BULLET.match(line):
            filled = _indented(filled)
        yield filled


def _replacement(value: Mapping[str, object], found: re.Match[str]) -> str:
    """Return the replacement of a field or of a doubled brace."""
    if found[1]:
        return _inline(value.get(found[1]))
    return found[0][0]


def _parted(blocks: Iterable[str]) -> Iterator[str]:
    """Yield lines and blocks, with an empty line after a list; otherwise Markdown adds the text to its last item."""
    after_list = False
    for block in blocks:
        if after_list and not _IN_LIST.match(block):
            yield ""
        yield block
        at_margin = [row for row in block.split("\n") if row and not row.startswith(" ")]
        if at_margin or not block:
            after_list = bool(at_margin) and _BULLET.match(at_margin[-1]) is not None


def _listed(schema: Schema, value: Mapping[str, object]) -> Iterator[str]:
    """Yield a line `field: value` for each field with a value: first the required fields, in the order of the schema.

    The others follow in the order of the answer, because a bundle stores its schema with sorted keys.
    """
    described = as_object(schema.get("properties"))
    required = [as_text(name) for name in as_list(schema.get("required"))]
    for name in dict.fromkeys([*required, *value]):
        if _is_empty(value.get(name)):
            continue
        label = as_text(as_object(described.get(name)).get("title", "")) or _label(name)
        text = _block(value[name])
        gap = " "
        if isinstance(value[name], list | dict) or "\n" in text:
            gap = "\n"
        yield _indented(f"- **{label}:**{gap}{text}")


def _block(value: object) -> str:
    """Return a value on its own lines: a bullet for each item of a list or field of an object."""
    match value:
        case list():
            items = cast(list[object], value)
            return "\n".join(_indented(f"- {_inline(item)}") for item in items if not _is_empty(item))
        case dict():
            fields = cast(dict[str, object], value).items()
            filled = [(name, item) for name, item in fields if not _is_empty(item)]
            return "\n".join(_indented(f"- {_label(name)}: {_inline(item)}") for name, item in filled)
        case _:
            return _inline(value)


def _indented(item: str) -> str:
    """Return a list item with its further lines indented, so that Markdown keeps them in the item."""
    return _CONTINUED.sub("\n  ", item)


def _inline(value: object) -> str:
    """Return a value on one line, with nested values in parentheses."""
    match value:
        case None:
            return ""
        case str():
            return value
        case True:
            return "yes"
        case False:
            return "no"
        case list():
            return ", ".join(_nested(item) for item in cast(list[object], value) if not _is_empty(item))
        case dict():
            fields = cast(dict[str, object], value).items()
            return ", ".join(f"{_label(name)}: {_nested(item)}" for name, item in fields if not _is_empty(item))
        case _:
            return encode_text(value)


def _nested(value: object) -> str:
    text = _inline(value)
    if isinstance(value, list | dict):
        return f"({text})"
    return text


def _is_empty(value: object) -> bool:
    """Return whether a value has no text for people; also true of lists and objects with only empty parts."""
    match value:
        case None | "":
            return True
        case list():
            return all(map(_is_empty, cast(list[object], value)))
        case dict():
            return all(map(_is_empty, cast(dict[str, object], value).values()))
        case _:
            return False


def _label(name: str) -> str:
    """Return the label of a field name, such as "Issue key" for `issue_key`."""
    words = name.replace("_", " ").strip() or name
    return words[:1].upper() + words[1:]
