"""Keys without a value: YAML reads them as null, and null would silently mean off, or all."""

import re
from collections.abc import Iterator

from gofer.canonical import as_list, as_object
from gofer.workflows.source import Loc, Source

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
