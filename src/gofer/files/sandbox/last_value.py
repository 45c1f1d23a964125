"""How is the last value of code shown? As Python writes it, and the same on every machine."""

from collections.abc import Mapping
from typing import cast

from pydantic_monty import MontyClassProxy, MontyClassTypeProxy, MontyStdTypeProxy


def shown(value: object) -> str:
    """A text as it is, everything else as Python writes it. Raises RecursionError for what is nested too deep."""
    return value if isinstance(value, str) else _written(value)


def _written(value: object) -> str:
    match value:
        case dict():
            pairs = cast(Mapping[object, object], value).items()
            return "{" + ", ".join(f"{_written(key)}: {_written(item)}" for key, item in pairs) + "}"
        case list():
            return f"[{_joined(cast(list[object], value))}]"
        case tuple() if not hasattr(cast(object, value), "_fields"):
            items = cast(tuple[object, ...], value)
            return f"({_joined(items)}{',' if len(items) == 1 else ''})"
        case set() | frozenset():
            # A set has no order of its own, and Python's changes from process to process.
            inner = ", ".join(sorted(_written(item) for item in cast(set[object], value)))
            braced = f"{{{inner}}}" if inner else ""
            frozen = isinstance(value, frozenset)
            return braced if braced and not frozen else f"{'frozenset' if frozen else 'set'}({braced})"
        case MontyClassProxy():
            fields = ", ".join(f"{key}={_written(item)}" for key, item in value.attributes.items())
            return f"{value.name}({fields})"
        case MontyClassTypeProxy() | MontyStdTypeProxy():
            return f"<{value.name}>"
        case _:
            return repr(value)


def _joined(items: list[object] | tuple[object, ...]) -> str:
    return ", ".join(_written(item) for item in items)
