"""The safe display of file names and archive paths from outside."""

import unicodedata

LONGEST = 255
"""The most bytes of a displayed name."""

LONGEST_PATH = 1_000
"""The most characters of a displayed archive path."""

_SLASHES = "/\\"
_UNNAMED = "unnamed"


def display(name: str) -> str:
    """Return the name without folders and without invisible or direction-changing characters, shortened, never empty.

    The result is for people and models to read. Gofer never stores a file under it.
    """
    for slash in _SLASHES:
        name = name.rsplit(slash, 1)[-1]
    visible = _visible(name).lstrip(".")
    stem, dot, extension = visible.rpartition(".")
    if len(visible.encode("utf-8", "replace")) > LONGEST:
        ending = f"…{dot}{extension}" if stem and len(extension) < 16 else "…"
        kept = (stem if ending != "…" else visible).encode("utf-8", "replace")
        visible = kept[: LONGEST - len(ending.encode())].decode("utf-8", "ignore") + ending
    return visible or _UNNAMED


def display_path(path: str) -> str:
    """Return an archive path with its folders, without invisible or direction-changing characters, never empty.

    Gofer never opens the path, so `..` and a leading slash remain.
    """
    return _visible(path)[:LONGEST_PATH] or _UNNAMED


def _visible(name: str) -> str:
    visible = "".join(char for char in name if unicodedata.category(char)[0] not in ("C", "Z") or char == " ")
    return " ".join(visible.split())
