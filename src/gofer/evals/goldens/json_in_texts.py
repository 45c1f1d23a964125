"""JSON that texts hold: bodies of webhooks, answers of tools, blocks in messages."""

import json
import re
from collections.abc import Iterator

from gofer.values.canonical_json import MAX_DEPTH, deeper_than

_START = re.compile(r"[{\[](?=\s*[\"{\[])")
"""A bracket that may begin an object, or a list of texts, objects or lists."""
_FIELD = re.compile(r"\"([A-Za-z_]{3,40})\"\s{0,8}:\s{0,8}\"((?:[^\"\\\n]|\\.){1,200})\"")
_MOST_MISTAKES = 50
"""The brackets of one text that may begin something else than JSON."""
_decoder = json.JSONDecoder(strict=False)


def values_in(text: str) -> Iterator[object]:
    """Yield the objects and lists that a text holds as JSON, also between other words."""
    mistakes = 0
    start = _START.search(text)
    while start is not None and mistakes < _MOST_MISTAKES:
        end = start.end()
        try:
            value, end = _decoder.raw_decode(text, start.start())
        except (ValueError, RecursionError):
            mistakes += 1
        else:
            if not deeper_than(value, MAX_DEPTH):
                yield value
        start = _START.search(text, end)


def fields_in(text: str) -> Iterator[tuple[str, str]]:
    """Yield the fields with texts in JSON that is cut, or that is no JSON as a whole, as key and text."""
    for key, escaped in _FIELD.findall(text):
        try:
            yield key, str(json.loads(f'"{escaped}"', strict=False))
        except ValueError:
            yield key, escaped
