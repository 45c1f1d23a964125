"""The name that a stranger gave to a file, shown so that it is nothing but a name."""

import unicodedata

LONGEST = 255
"""Bytes of a name."""

LONGEST_PATH = 1_000
"""Characters of a path in an archive."""

_SLASHES = "/\\"
_SEEMS_EMPTY = "unnamed"


def display(name: str) -> str:
    """Return the name without folders, without characters that hide or turn its parts, and not too long; never empty.

    Only for people and models to read: nothing is ever stored under it.
    """
    for slash in _SLASHES:
        name = name.rsplit(slash, 1)[-1]
    shown = _visible(name).lstrip(".")
    stem, dot, extension = shown.rpartition(".")
    if len(shown.encode("utf-8", "replace")) > LONGEST:
        ending = f"…{dot}{extension}" if stem and len(extension) < 16 else "…"
        kept = (stem if ending != "…" else shown).encode("utf-8", "replace")
        shown = kept[: LONGEST - len(ending.encode())].decode("utf-8", "ignore") + ending
    return shown or _SEEMS_EMPTY


def display_path(path: str) -> str:
    """Return a path in an archive with its folders, without characters that hide or turn its parts; never empty.

    It names a member and leads nowhere, so `..` and a leading slash stay.
    """
    return _visible(path)[:LONGEST_PATH] or _SEEMS_EMPTY


def _visible(name: str) -> str:
    shown = "".join(char for char in name if unicodedata.category(char)[0] not in ("C", "Z") or char == " ")
    return " ".join(shown.split())
