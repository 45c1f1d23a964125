"""The form of a tool's results: the keys and JSON types that its own mock returns for example arguments.

The check calls the mock with several examples. A key that one of the results has may be there, and a key that all of
them have must be in a `value`. If the mock refuses every example, the tool has no known form, and its entries are not
compared.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from typing_extensions import override

from gofer.tool import sample_call
from gofer.tools.argument_schema import parameters_of
from gofer.tools.definition import AnyTool, ToolResult
from gofer.tools.mocks import Override
from gofer.values.canonical_json import as_list, as_object, as_text
from gofer.values.errors import ToolError
from gofer.values.outside import Http, HttpRequest, HttpResponse
from gofer.workflows.yaml_source import Loc

_TEXTS = ("example", "OPS-7", "owner/name", "0" * 32)
"""The texts of examples: a word, the key of an issue, the name of a repository, and the hexadecimal digits of an id."""
_MOST_KEYS = 8
"""The most keys that a sentence lists."""
_NULL = "null"
_OBJECT = "an object"
_TYPES: Mapping[type, str] = {
    str: "a text",
    bool: "true or false",
    int: "a number",
    float: "a number",
    list: "a list",
    dict: _OBJECT,
}
"""The JSON types in words. Any other value, such as null, fits to every type."""


class _Unreachable(Http):
    """A network that refuses every request."""

    @override
    async def send(self, request: HttpRequest) -> HttpResponse:
        raise ToolError("A mock sends no requests.")


@dataclass(frozen=True, slots=True)
class ResultForm:
    """The results of a tool's mock for example arguments."""

    details: Sequence[object]
    values: Sequence[object]
    """The values for scripts; empty if the tool gives scripts its details."""


@dataclass(frozen=True, slots=True)
class FormMistake:
    """A part of an entry of `mocks` that differs from the results of its tool."""

    loc: Loc
    """The path of the part, from the entry."""
    message: str


def form_of(tool: AnyTool) -> ResultForm | None:
    """Return the form of a tool's results; None if it has no mock, or if its mock refuses every example."""
    if tool.mock is None:
        return None
    samples = [_sample(tool, arguments) for arguments in _examples(tool)]
    results = [result for result in samples if result is not None]
    if not results:
        return None
    values = [result.value for result in results if result.value is not None]
    return ResultForm([dict(result.details) for result in results], values)


def differences(entry: Override, form: ResultForm) -> Iterator[FormMistake]:
    """Yield the parts of an entry that the tool's results do not have, or have with another type.

    `details` may leave keys out, because those of the mock remain. `value` replaces the whole value.
    """
    if entry.details is not None:
        yield from _compared(entry.details, form.details, ("details",), complete=False)
    if form.values:
        yield from _compared(entry.value, form.values, ("value",), complete=True)


def _sample(tool: AnyTool, arguments: Mapping[str, object]) -> ToolResult | None:
    """Return the result of a tool's mock; None if it refuses the arguments."""
    if tool.mock is None:
        return None
    try:
        return tool.mock(sample_call(_Unreachable(), {}), tool.parse(arguments))
    except Exception:  # noqa: BLE001
        # Examples may break rules of the tool, and the code of a company's mock may raise any error.
        return None


def _examples(tool: AnyTool) -> Iterator[Mapping[str, object]]:
    """Yield example arguments: the required ones, those with one text more, all of them, and all but one text."""
    schema = parameters_of(tool.arguments)
    required = as_list(schema.get("required"))
    properties = {name: as_object(part) for name, part in as_object(schema.get("properties")).items()}
    optional = [name for name, part in properties.items() if name not in required and part.get("type") == "string"]
    chosen = [*(set(optional) - {name} for name in optional), *({name} for name in optional), set(optional), set[str]()]
    for text in _TEXTS:
        for names in chosen:
            left_out = set(optional) - names
            yield {name: _example(part, text) for name, part in properties.items() if name not in left_out}


def _example(schema: Mapping[str, object], text: str) -> object:
    """Return a value of a JSON Schema without references. Every text in it is the same."""
    if options := as_list(schema.get("enum")):
        return options[0]
    if options := as_list(schema.get("anyOf")):
        return _example(as_object(options[0]), text)
    match as_text(schema.get("type")):
        case "integer" | "number":
            return schema.get("minimum", 1)
        case "boolean":
            return False
        case "array":
            return [_example(as_object(schema.get("items")), text)]
        case "object":
            parts = as_object(schema.get("properties")) or {text: schema.get("additionalProperties")}
            return {name: _example(as_object(part), text) for name, part in parts.items()}
        case _:
            return text


def _compared(given: object, samples: Sequence[object], loc: Loc, *, complete: bool) -> Iterator[FormMistake]:
    """Yield the differences of a value from samples. `complete`: the value must have the keys of every sample."""
    known = {_type(sample) for sample in samples} - {_NULL}
    kind = _type(given)
    if not known or kind == _NULL:
        return
    if kind not in known:
        yield FormMistake(loc, f"is {kind}, and the tool returns {' or '.join(sorted(known))}")
        return
    items = [item for sample in samples for item in as_list(sample)]
    for at, item in enumerate(as_list(given)):
        yield from _compared(item, items, (*loc, at), complete=complete)
    objects = [fields for sample in samples if (fields := as_object(sample))]
    # The keys of an object in an object may be data, such as the properties of a page.
    in_object = len(loc) > 1 and isinstance(loc[-1], str)
    if kind == _OBJECT and objects and not in_object:
        yield from _fields(as_object(given), objects, loc, complete=complete)


def _fields(
    given: Mapping[str, object], samples: Sequence[Mapping[str, object]], loc: Loc, *, complete: bool
) -> Iterator[FormMistake]:
    allowed = list(dict.fromkeys(key for sample in samples for key in sample))
    for key, value in given.items():
        if key in allowed:
            inner = [sample[key] for sample in samples if key in sample]
            yield from _compared(value, inner, (*loc, key), complete=complete)
        else:
            yield FormMistake((*loc, key), f"is no key that the tool returns; it returns {_named(allowed)}")
    missing = [key for key in allowed if key not in given and all(key in sample for sample in samples)]
    if complete and missing:
        yield FormMistake(loc, f"lacks {_named(missing)}, which the tool returns")


def _type(value: object) -> str:
    return _TYPES.get(type(value), _NULL)


def _named(keys: Sequence[str]) -> str:
    return ", ".join(f"`{key[:80]}`" for key in keys[:_MOST_KEYS])
