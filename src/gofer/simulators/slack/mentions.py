"""Whom does a message page, once Slack has read it?

The strictest reading: an entity acts in text, in mrkdwn and anywhere in Markdown, code and links included, as it stands
and with the escapes of HTML and Markdown undone; a plain `@channel` acts where the message asks for it.
"""

import html
import re
from collections.abc import Iterable

from gofer.simulators.json_values import JsonObject, objects, text_of

_ENTITY = re.compile(r"<(!(?:channel|here|everyone|group)|!subteam\^\w+|@[UW]\w+)(?:\|[^<>]*)?>", re.IGNORECASE)
_PLAIN = re.compile(r"(?<![A-Za-z0-9])@(channel|here|everyone)", re.IGNORECASE)
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")


def mentions(text: str, blocks: Iterable[JsonObject], *, plain: bool) -> frozenset[str]:
    """Everybody a message mentions, as `@U…`, `!here` or `!subteam^S…`; `plain` where names are looked for."""
    marked, markdown = _texts(text, blocks)
    readings = [*marked, *markdown, *map(_unescaped, markdown)]
    found = {match[1] for reading in readings for match in _ENTITY.finditer(reading)}
    if plain:
        found |= {f"!{match[1].lower()}" for reading in readings for match in _PLAIN.finditer(reading)}
    return frozenset(found)


def _texts(text: str, blocks: Iterable[JsonObject]) -> tuple[list[str], list[str]]:
    """All texts of a message: those in mrkdwn, and those in Markdown."""
    marked: list[str] = [text]
    markdown: list[str] = []
    waiting: list[JsonObject] = list(blocks)
    while waiting:
        one = waiting.pop()
        (markdown if one.get("type") == "markdown" else marked).append(text_of(one, "text"))
        for value in one.values():
            waiting += objects(value) + objects([value])
    return marked, markdown


def _unescaped(markdown: str) -> str:
    return html.unescape(_ESCAPE.sub(r"\1", markdown))
