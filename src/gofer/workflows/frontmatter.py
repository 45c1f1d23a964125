"""The fields between the two `---` lines of a SKILL.md, validated against the Agent Skills format.

The format allows a subset of YAML in which every scalar is text: no flow style, anchors, tags or repeated keys.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

import yaml

from gofer.workflows.yaml_source import events

FIELDS = ("name", "description", "license", "compatibility", "metadata", "allowed-tools")
NAME_LIMIT = 64
DESCRIPTION_LIMIT = 1_024
COMPATIBILITY_LIMIT = 500
"""The most characters of each field that the format allows."""
_FENCE = "---"
_MERGE = "<<"
_COMMENT = re.compile(r"(?<!\S)#[^\n]*")
_BLOCK = re.compile(r"[|>][-+0-9]{0,2}( +#[^\n]*| *)$", re.MULTILINE)
_ODD_ENDS = re.compile("[\x85\u2028\u2029]")
"""Characters that some YAML parsers read as line ends."""

_IN_QUOTES = {
    "mapping values are not allowed": "a value holds a colon before a space",
    "cannot start any token": "a value begins with a sign of YAML",
    "alphabetic or numeric character": "a value begins with `*` or `&`",
}
"""What is wrong with a value that lacks quotes, by a part of the parser's message."""

Value = str | list[object] | dict[str, object]


@dataclass(slots=True)
class _Open:
    """A list or a mapping that the parser has not finished."""

    value: list[object] | dict[str, object]
    key: str | None = None
    """The key of a mapping that waits for its value."""
    indents: set[int] = field(default_factory=set[int])
    """The columns in which the mappings inside a mapping begin."""


def divide(text: str) -> tuple[dict[str, object], str]:
    """Return the fields and the body of a SKILL.md.

    Raises ValueError whose message is the end of a sentence about what is wrong.
    """
    # Editors show all three line ends alike, so the result must not depend on them.
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if not text.startswith(_FENCE):
        raise ValueError("does not begin with a line of `---` and its fields")
    parts = text.split(_FENCE, 2)
    if len(parts) < 3:
        raise ValueError("has no line of `---` after its fields")
    value = _read(parts[1])
    if not isinstance(value, dict):
        raise ValueError("has no fields between its lines of `---`")  # noqa: TRY004
    return value, parts[2].strip()


def flaws(fields: Mapping[str, object], folder: str) -> Sequence[str]:
    """Return the violations of the format in a skill's fields, as sentences without full stops.

    `folder` is the name of the skill's folder, which must be the skill's name.
    """
    unknown = sorted(set(fields) - set(FIELDS))
    found: list[str] = []
    if unknown:
        found.append(f"Unknown fields: {', '.join(unknown)[:200]}; there are {', '.join(FIELDS)}")
    if "name" in fields:
        found += _name(fields.get("name"), folder)
    else:
        found += ["`name` is missing"]
    found += _text("description", fields.get("description"), DESCRIPTION_LIMIT)
    if "compatibility" in fields:
        found += _text("compatibility", fields["compatibility"], COMPATIBILITY_LIMIT, blank=True)
    return found


def skill_name(name: str) -> str:
    """Return the normalized form of a name."""
    return unicodedata.normalize("NFKC", name.strip())


def _name(given: object, folder: str) -> list[str]:
    if not isinstance(given, str) or not given.strip():
        return ["`name` is not text"]
    name = skill_name(given)
    quoted = f"`name: {name[:80]}`"
    checks = [
        (len(name) > NAME_LIMIT, f"{quoted} is longer than {NAME_LIMIT} characters"),
        (name != name.lower(), f"{quoted} is not in lower case"),
        (name.startswith("-") or name.endswith("-"), f"{quoted} begins or ends with a hyphen"),
        ("--" in name, f"{quoted} has two hyphens in a row"),
        (
            not all(char.isalnum() or char == "-" for char in name),
            f"{quoted} contains characters other than letters, digits and hyphens",
        ),
        (unicodedata.normalize("NFKC", folder) != name, f"{quoted} is not the name of its folder, `{folder[:80]}`"),
    ]
    return [sentence for is_wrong, sentence in checks if is_wrong]


def _text(key: str, value: object, limit: int, *, blank: bool = False) -> list[str]:
    if not isinstance(value, str) or not (blank or value.strip()):
        if value is not None:
            return [f"`{key}` is not text"]
        return [f"`{key}` is missing"]
    if len(value) > limit:
        return [f"`{key}` is longer than {limit} characters"]
    return []


def _read(text: str) -> Value:
    """Return the value of a YAML text; an empty text is its own value. Raises ValueError."""
    if _ODD_ENDS.search(text):
        raise ValueError("has an invisible line separator among its fields; type the line again")
    root: list[object] = []
    stack = [_Open(root)]
    at = 0
    try:
        for event in events(text):
            _take(stack, event)
            if isinstance(event, yaml.ScalarEvent) and event.style:
                start = event.start_mark.index
                _nothing_hidden(text[at:start])
                if event.style in "|>" and not _BLOCK.match(text, start):
                    raise ValueError(f"has text right after a `{event.style}`; begin the text on the next line")
                at = event.end_mark.index
        _nothing_hidden(text[at:])
    except yaml.MarkedYAMLError as error:
        line = ""
        if error.problem_mark:
            line = f" in line {error.problem_mark.line + 1}"
        raise ValueError(f"has fields that are not YAML{line}: {_explained(error.problem or '')}") from error
    except yaml.YAMLError as error:
        raise ValueError("has a character that YAML does not allow") from error
    if root:
        return cast(Value, root[0])
    return ""


def _explained(problem: str) -> str:
    for words, flaw in _IN_QUOTES.items():
        if words in problem:
            return f"{flaw}; put it in quotes"
    return problem


def _take(stack: list[_Open], event: yaml.Event) -> None:
    match event:
        case yaml.AliasEvent():
            raise ValueError("has a YAML alias, which skills cannot have; put the text in quotes")
        case yaml.ScalarEvent(value=value):
            _plain(event, event.tag)
            # YAML gives a bare equals sign a type of its own, so it is not text.
            if value == "=" and not event.style:
                _put(stack[-1], {})
            else:
                _put(stack[-1], value)
        case yaml.SequenceStartEvent():
            _plain(event, event.tag, event.flow_style)
            stack.append(_Open([]))
        case yaml.MappingStartEvent():
            _plain(event, event.tag, event.flow_style)
            if stack[-1].key is not None:
                stack[-1].indents |= {event.start_mark.column}
            stack.append(_Open({}))
        case yaml.SequenceEndEvent() | yaml.MappingEndEvent():
            closed = stack.pop()
            if len(closed.indents) > 1:
                raise ValueError("has fields whose values are indented in different ways")
            _put(stack[-1], closed.value)
        case _:
            pass


def _nothing_hidden(between: str) -> None:
    """Refuse a tab or a byte order mark outside of quotes and blocks: only some YAML parsers accept them."""
    if "\t" in (outside := _COMMENT.sub("", between)):
        raise ValueError("has a tab outside of quotes; write spaces")
    if "\n\ufeff" in outside:
        raise ValueError("has an invisible byte order mark among its fields; type the line again")


def _plain(event: yaml.NodeEvent, tag: str | None, flow: bool | None = False) -> None:
    if event.anchor is not None:
        raise ValueError("has a YAML anchor, which skills cannot have; put the text in quotes")
    if tag is not None:
        raise ValueError("has a YAML tag, which skills cannot have; put the text in quotes")
    if flow:
        raise ValueError("has `{…}` or `[…]`, which skills cannot have; put the text in quotes, or write a list")


def _put(into: _Open, value: object) -> None:
    if isinstance(into.value, list):
        into.value.append(value)
    elif into.key is None:
        if not isinstance(value, str):
            raise ValueError("has a list or a mapping as a key")  # noqa: TRY004
        if value == _MERGE:
            raise ValueError("has the key `<<`, which skills cannot have")
        if value in into.value:
            raise ValueError(f"has the key `{value[:80]}` twice")
        into.key = value
    else:
        into.value[into.key] = value
        into.key = None
