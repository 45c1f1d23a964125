"""Texts that other texts hold in base64, such as the values of buttons."""

import base64
import binascii
import re
from collections.abc import Callable, Iterator

_BASE64 = re.compile(r"(?<![A-Za-z0-9+/_=-])[A-Za-z0-9+/_-]{12,}={0,2}(?![A-Za-z0-9+/_=-])")
_WRAPPED = re.compile(
    r"(?<![A-Za-z0-9+/_=-])[A-Za-z0-9+/_-]{56,76}(?:(?:\r?\n|\\n)[A-Za-z0-9+/_-]{1,76}){1,200000}={0,2}(?![A-Za-z0-9+/_=-])"
)
"""Base64 in lines, as e-mails and files of keys hold it."""
_LINE_BREAK = re.compile(r"\r?\n|\\n")


def texts_in_base64(text: str) -> Iterator[str]:
    """Yield the texts that a text holds in base64."""
    tokens: list[str] = _BASE64.findall(text)
    tokens += [_LINE_BREAK.sub("", block) for block in _WRAPPED.findall(text)]
    for token in tokens:
        inner = _decoded(token)
        if inner is not None:
            yield inner


def within_base64(text: str, change: Callable[[str], str]) -> str:
    """Return a text in which each text in base64 is changed."""

    def changed(token: str) -> str:
        inner = _decoded(token)
        if inner is None:
            return token
        replaced = change(inner)
        if replaced == inner:
            return token
        return _encoded(replaced, token)

    wrapped = _WRAPPED.sub(lambda found: _with_breaks(changed(_LINE_BREAK.sub("", found[0])), found[0]), text)
    return _BASE64.sub(lambda found: changed(found[0]), wrapped)


def _with_breaks(token: str, like: str) -> str:
    """Return base64 with line breaks where another block has them."""
    lines: list[str] = []
    at = 0
    for part in _LINE_BREAK.split(like):
        lines.append(token[at : at + len(part)])
        at += len(part)
    breaks = [*_LINE_BREAK.findall(like), ""]
    lines[-1] += token[at:]
    return "".join(line + end for line, end in zip(lines, breaks, strict=True))


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
