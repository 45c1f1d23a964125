"""The flaws of a JSON Schema that is the `output` of a workflow.

Validation time must grow only with the length of the value, because a model writes the value. So
`json_pattern.py` matches patterns; a schema may not refer to other documents or to itself; and sizes are limited.
"""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol, cast

from gofer.values.canonical_json import MAX_DEPTH, as_list, as_object, deeper_than, encode_text
from gofer.workflows.json_pattern import matcher

SCHEMA_LIMIT = 20_000
"""The longest schema, in characters. Every request to a model contains the whole schema."""
NODES_LIMIT = 2_000
"""The most parts of a schema. A part counts once for each reference to it."""
LEVELS_LIMIT = 40
"""The deepest nesting of parts, references included; each level takes a few frames of Python's stack."""
QUOTED = 200
"""The most characters of a quotation in a message."""
DIALECT = "https://json-schema.org/draft/2020-12/schema"
LOOK_UP = "Write a JSON Schema as docs/workflow-file.md describes."

_NAMED = ("properties", "$defs", "definitions", "dependentSchemas")
"""Keywords whose values map names of the author to schemas."""
_DATA = ("enum", "const", "default", "examples", "required", "dependentRequired")
"""Keywords that contain plain values instead of schemas."""
_REFUSED = ("$id", "$anchor", "$dynamicRef", "$dynamicAnchor", "patternProperties")
_TYPE_NAMES = ("string", "number", "integer", "boolean", "object", "array", "null")
_TYPES = f"Write {', '.join(f'`{name}`' for name in _TYPE_NAMES)}, or a list of them."
_DEEP = f"its parts are nested deeper than {LEVELS_LIMIT} levels, references included"

Schema = Mapping[str, object]
SchemaPath = tuple[int | str, ...]
"""The path to a part: keys and positions from the top of the schema."""


@dataclass(frozen=True, slots=True)
class Violation:
    """A place where a schema violates the meta-schema."""

    path: SchemaPath
    message: str
    """The library's message, at most QUOTED + 1 characters."""
    wrong_type: str = ""
    """The name in place of a type, if that is the mistake."""


class Validation(Protocol):
    """The module `json_schema`."""

    def violations(self, written: str) -> tuple[Violation, ...]:
        """Return where a schema, written as JSON, violates the meta-schema."""
        ...

    def mistakes(self, schema: Schema, value: object, most: int) -> list[str]:
        """Return up to `most` mistakes of a value. Raises OverflowError for a number too large."""
        ...


def validation() -> Validation:
    """Return the module that validates with the library jsonschema; it is loaded with the first schema."""
    return cast(Validation, importlib.import_module("gofer.workflows.json_schema"))


@dataclass(frozen=True, slots=True)
class Flaw:
    """A reason why a schema cannot be used."""

    path: SchemaPath
    reason: str
    """What is wrong: the end of a sentence, without its full stop."""
    hint: str = LOOK_UP
    """What to write instead: one sentence."""


def flaws(schema: object) -> list[Flaw]:
    """Return the flaws of a schema, at most one for each part; empty when the schema may be an `output`."""
    known = as_object(schema)
    if "type" not in known:
        if isinstance(schema, dict):
            reason = "it has no `type: object`"
        else:
            reason = "it is not a mapping of keywords"
        hint = f"Write a JSON Schema, such as `{_example(known)}`, or the name of a .json file that contains one."
        return [Flaw((), reason, hint)]
    if known["type"] != "object":
        return [Flaw(("type",), "an answer must be one object", "Write `object`.")]
    if too_large := _too_large(known):
        return [too_large]
    if known.get("$schema", DIALECT) != DIALECT:
        return [Flaw(("$schema",), "this names an unsupported dialect", f"Leave it out, or write {DIALECT}.")]
    found = _Census(known).flaws()
    if any(not flaw.path for flaw in found):
        # A schema over our limits may also exceed the recursion limit of the meta-schema's validator.
        return found
    found += _no_schema(encode_text(schema))
    return sorted({flaw.path: flaw for flaw in found}.values(), key=lambda flaw: [str(part) for part in flaw.path])


def _example(fields: Mapping[str, object]) -> str:
    """Return a JSON Schema of an object whose types are written as `{summary: string}`, or of any example."""
    typed = [f"{name[:20]}: {{type: {kind}}}" for name, kind in fields.items() if kind in _TYPE_NAMES]
    return f"{{type: object, properties: {{{', '.join(typed[:3]) or 'summary: {type: string}'}}}}}"


@lru_cache(maxsize=64)
def _no_schema(written: str) -> tuple[Flaw, ...]:
    """Return the violations of the meta-schema. Cached because validation is slow and files are read repeatedly."""
    return tuple(map(_flaw, validation().violations(written)))


def _flaw(violation: Violation) -> Flaw:
    if violation.wrong_type:
        return Flaw(violation.path, f"{_cut(violation.wrong_type)!r} is not a type", _TYPES)
    return Flaw(violation.path, _cut(violation.message))


def _too_large(schema: Schema) -> Flaw | None:
    if deeper_than(schema, MAX_DEPTH):
        return Flaw((), f"the schema is nested deeper than {MAX_DEPTH} levels", "Write it flat.")
    try:
        size = len(encode_text(schema))
    except (TypeError, ValueError) as error:
        return Flaw((), f"the schema is not JSON: {_cut(str(error))}", "Write numbers, text, lists and mappings only.")
    if size > SCHEMA_LIMIT:
        return Flaw((), f"the schema is longer than {SCHEMA_LIMIT} characters", "Reduce the schema.")
    return None


@dataclass(frozen=True, slots=True)
class _Size:
    parts: int = 1
    levels: int = 1


class _TooMuch(Exception):
    """A size is over its limit; counting stops."""


class _Census:
    """The check of every part of a schema: its keywords, references and sizes."""

    def __init__(self, root: Schema) -> None:
        self._root = root
        self._sizes: dict[str, _Size | None] = {}
        """The size of each definition by its reference; None while the definition is being counted."""
        self._found: list[Flaw] = []

    def flaws(self) -> list[Flaw]:
        """Return the flaws; a flaw with an empty path concerns the whole schema."""
        try:
            self._count(self._root, (), 1)
        except _TooMuch as error:
            return [Flaw((), str(error), "Reduce the schema.")]
        return self._found

    def _count(self, schema: object, path: SchemaPath, level: int) -> _Size:
        if level > LEVELS_LIMIT:
            raise _TooMuch(_DEEP)
        parts = [self._part(key, value, (*path, key), level) for key, value in as_object(schema).items()]
        size = _Size(1 + sum(part.parts for part in parts), 1 + max((part.levels for part in parts), default=0))
        if size.parts > NODES_LIMIT:
            raise _TooMuch(f"the schema has more than {NODES_LIMIT} parts, with those it refers to")
        if size.levels > LEVELS_LIMIT:
            # The first check misses levels in a definition that was counted before.
            raise _TooMuch(_DEEP)
        return size

    def _part(self, keyword: str, value: object, path: SchemaPath, level: int) -> _Size:
        if keyword in _REFUSED or (keyword == "$schema" and len(path) > 1):
            # A part with a dialect of its own would be validated by that dialect, whose patterns backtrack.
            hint = "List the properties by name, and define shared parts under `$defs`."
            self._found.append(Flaw(path, "Gofer does not support this keyword here", hint))
            return _Size(0, 0)
        if keyword == "pattern":
            self._check_pattern(value, path)
        if keyword == "$ref":
            return self._referred(str(value), path, level)
        if keyword in _DATA:
            return _Size(0, 0)
        if keyword in _NAMED:
            inner = as_object(value).items()
        else:
            inner = enumerate(as_list(value))
        sizes = [self._count(part, (*path, name), level + 1) for name, part in inner]
        if keyword not in _NAMED:
            sizes.append(self._count(value, path, level + 1))
        return _Size(sum(size.parts for size in sizes), max((size.levels for size in sizes), default=0))

    def _check_pattern(self, value: object, path: SchemaPath) -> None:
        try:
            matcher(str(value))
        except ValueError as error:
            self._found.append(Flaw(path, str(error), "Write a pattern without look-around and back-references."))

    def _referred(self, ref: str, path: SchemaPath, level: int) -> _Size:
        start, _, name = ref.rpartition("/")
        where = start.removeprefix("#/")
        definitions = as_object(self._root.get(where))
        if start not in ("#/$defs", "#/definitions") or name not in definitions:
            hint = "Refer to `#/$defs/…`, and define it there."
            self._found.append(Flaw(path, f"`$ref: {_cut(ref)}` refers to nothing in this schema", hint))
            return _Size()
        if ref not in self._sizes:
            self._sizes[ref] = None
            self._sizes[ref] = self._count(definitions[name], (where, name), level + 1)
        size = self._sizes[ref]
        if size is None:
            reason = f"`$ref: {_cut(ref)}` refers to itself, directly or through others"
            self._found.append(Flaw(path, reason, "Write out as many levels as you need."))
        return size or _Size()


def _cut(text: str) -> str:
    if len(text) <= QUOTED:
        return text
    return f"{text[: QUOTED - 1]}…"
