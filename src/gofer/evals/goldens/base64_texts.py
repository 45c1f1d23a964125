"""Texts that other texts hold in base64, such as the values of buttons."""

import base64
import binascii
import re
from collections.abc import Callable, Iterator

_BASE64 = re.compile(r"(?<![A-Za-z0-9+/_=-])[A-Za-z0-9+/_-]{12,}={0,2}(?![A-Za-z0-9+/_=-])")


def texts_in_base64(text: str) -> Iterator[str]:
    """Yield the texts that a text holds in base64."""
    for token in _BASE64.findall(text):
        inner = _decoded(token)
        if inner is not None:
            yield inner


def within_base64(text: str, change: Callable[[str], str]) -> str:
    """Return a text in which each text in base64 is changed."""

    def changed(found: re.Match[str]) -> str:
        inner = _decoded(found[0])
        if inner is None:
            return found[0]
        replaced = change(inner)
        if replaced == inner:
            return found[0]
        return _encoded(replaced, found[0])

    return _BASE64.sub(changed, text)


def _decoded(token: str) -> str | None:
    """Return the text that base64 holds; None for other words."""
    if len(token.rstrip("=")) % 4 == 1:
        return None
    padded = token.rstrip("=") + "=" * (-len(token.rstrip("=")) % 4)
    try:
        text = base64.b64decode(padded.replace("-", "+").replace("_", "/"), validate=True).decode()
    except (binascii.Error, ValueError):
        return None
    if not all(char.isprintable() or char in "\n\r\t" for char in text):
        return None
    return text


def _encoded(text: str, like: str) -> str:
    made = base64.b64encode(text.encode()).decode()
    if "-" in like or "_" in like:
        made = made.replace("+", "-").replace("/", "_")
    if not like.endswith("="):
        made = made.rstrip("=")
    return made
