"""The arguments of one call of the Web API.

JSON bodies, form bodies and the query string carry the same arguments. Forms carry JSON values as text.
"""

import base64
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar
from urllib.parse import parse_qsl

from gofer_simulators.json_values import JsonObject, is_array, is_object, objects, parsed
from gofer_simulators.slack.timestamps import micros
from gofer_simulators.slack.workspace import SlackRefusal

MAX_LIMIT = 999
"""Most items on a page of a list; Slack documents "an integer under 1000"."""
MAX_REPLIES = 1_000
"""Most messages on a page of a thread, which is also the default."""
_LONGEST_LIMIT = 9
_CURSOR = "next:"
_T = TypeVar("_T")


def read_arguments(content_type: str, body: bytes, query: str) -> "Arguments":
    """Return the arguments of one request. Raises SlackRefusal for a body with a wrong form."""
    values: dict[str, object] = dict(parse_qsl(query, keep_blank_values=True))
    kind = content_type.partition(";")[0].strip().lower()
    if kind == "application/json" and body.strip():
        values |= _json_body(body)
    elif kind == "application/x-www-form-urlencoded":
        values |= dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True))
    elif body.strip():
        if not kind:
            raise SlackRefusal("missing_post_type", kind)
        raise SlackRefusal("invalid_post_type", kind)
    return Arguments(values)


def _json_body(body: bytes) -> dict[str, object]:
    try:
        value = parsed(body)
    except ValueError as error:
        raise SlackRefusal("invalid_json") from error
    if not is_object(value):
        raise SlackRefusal("json_not_object")
    return value


@dataclass(frozen=True, slots=True)
class Arguments:
    """The arguments of one call, and the checks of their values."""

    values: JsonObject

    def text(self, key: str) -> str:
        """Return a text, or the empty string if it is missing."""
        value = self.values.get(key)
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            return ""
        return str(value)

    def required(self, key: str) -> str:
        """Return a required text. Raises SlackRefusal if it is missing."""
        value = self.text(key)
        if not value:
            raise SlackRefusal("invalid_arguments", f"[ERROR] missing required field: {key}")
        return value

    def flag(self, key: str) -> bool:
        """Return a boolean in any form that Slack accepts."""
        return self.values.get(key) is True or self.text(key).lower() in {"true", "1"}

    def limit(self, default: int, most: int = MAX_LIMIT) -> int:
        """Return the size of a page. Raises SlackRefusal unless it is between 1 and `most`."""
        text = self.text("limit")
        if not text:
            return default
        if not text.isdecimal() or len(text) > _LONGEST_LIMIT or not 1 <= int(text) <= most:
            raise SlackRefusal("invalid_limit")
        return int(text)

    def instant(self, key: str) -> int | None:
        """Return a `ts` as microseconds, or None if it is missing. Raises SlackRefusal for a text that is no `ts`."""
        text = self.text(key)
        if not text:
            return None
        instant = micros(text)
        if instant is None:
            raise SlackRefusal(f"invalid_ts_{key}")
        return instant

    def thread(self) -> str | None:
        """Return `thread_ts`, or None if it is missing. Raises SlackRefusal for a text that is no `ts`."""
        text = self.text("thread_ts")
        if text and micros(text) is None:
            raise SlackRefusal("invalid_thread_ts")
        return text or None

    def json(self, key: str, refusal: str) -> object:
        """Return a JSON value, which a form carries as text. Raises SlackRefusal(`refusal`) for invalid JSON."""
        value = self.values.get(key)
        if not isinstance(value, str):
            return value
        try:
            if value.strip():
                return parsed(value)
            return None
        except ValueError as error:
            raise SlackRefusal(refusal) from error

    def blocks(self) -> list[dict[str, object]] | None:
        """Return the blocks of a message, or None if it has none. Raises SlackRefusal for a wrong form."""
        value = self.json("blocks", "invalid_blocks_format")
        if value is None:
            return None
        if not is_array(value) or len(objects(value)) < len(value):
            raise SlackRefusal("invalid_blocks_format")
        return objects(value) or None

    def page(self, items: Sequence[_T], key: Callable[[_T], str], default: int = 100) -> tuple[list[_T], str]:
        """Return one page and the cursor of the next page, empty at the end. Raises SlackRefusal."""
        return self.page_of_size(items, key, self.limit(default))

    def page_of_size(self, items: Sequence[_T], key: Callable[[_T], str], size: int) -> tuple[list[_T], str]:
        """Return one page of at most `size` items and the cursor of the next page, empty at the end."""
        start = self._start([key(item) for item in items])
        end = start + size
        page = list(items[start:end])
        if end < len(items):
            return page, _cursor(key(items[end]))
        return page, ""

    def _start(self, keys: Sequence[str]) -> int:
        cursor = self.text("cursor")
        if not cursor:
            return 0
        try:
            word = base64.b64decode(cursor, validate=True).decode()
            return [_CURSOR + key for key in keys].index(word)
        except ValueError as error:
            raise SlackRefusal("invalid_cursor") from error


def _cursor(key: str) -> str:
    return base64.b64encode(f"{_CURSOR}{key}".encode()).decode()
