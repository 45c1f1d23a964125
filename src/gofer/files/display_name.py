"""How is a file called in front of people and models, whatever an outsider called it?"""

import unicodedata

from gofer.canonical import clean

BYTES = 255
"""Bytes of a name at most."""
NAMELESS = "without a name"
_SPACES = frozenset({"Zs", "Zl", "Zp"})
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
"""What nobody sees: control characters, and those that turn the direction of writing."""
_SEPARATORS = str.maketrans({"/": "_", "\\": "_"})


def display_name(given: str) -> str:
    """A name of one line that is no path, without what nobody sees and without dots at its beginning."""
    kept = "".join(_shown(char) for char in clean(given[: 8 * BYTES]))
    name = " ".join(kept.translate(_SEPARATORS).split()).lstrip(". ")
    return _short(name) or NAMELESS


def _shown(char: str) -> str:
    if char.isspace():
        return " "
    kind = unicodedata.category(char)
    return " " if kind in _SPACES else "" if kind in _HIDDEN else char


def _short(name: str) -> str:
    """At most BYTES of it, its ending kept."""
    if len(name.encode()) <= BYTES:
        return name
    stem, dot, ending = name.rpartition(".")
    ending = f"{dot}{ending}" if stem and len(ending.encode()) <= 16 else ""
    cut = (stem if ending else name).encode()[: BYTES - len(ending.encode())]
    return f"{cut.decode(errors='ignore').rstrip()}{ending}"
