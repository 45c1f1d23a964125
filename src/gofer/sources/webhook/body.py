"""Bodies of webhooks: JSON, a form or text, and how a model reads them."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl

from gofer.values.canonical_json import as_list, as_object, clean, decode, decode_text
from gofer.values.errors import BadRequest

INDENTED = 40_000
"""Characters of a body that is short enough to be read at once, and so is laid out for reading."""
FIELDS = 1_000
"""Fields of a form at most."""
_JSON = re.compile(r"application/(?:[\w.+-]+\+)?json", re.ASCII)
_INDEX = re.compile(r"0|[1-9][0-9]{0,6}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Content:
    """A body that was read."""

    value: object
    """The JSON value, or the fields of a form as one; None for text."""
    text: str
    """As it was sent, without lone surrogates."""

    def shown(self) -> str:
        """The whole body for a model: laid out where it is short, and else as it was sent."""
        if self.value is not None:
            indented = clean(json.dumps(self.value, indent=2, ensure_ascii=False))
            if len(indented) <= INDENTED:
                return indented
        return self.text


def read_content(body: bytes, media_type: str) -> Content:
    """A body by its Content-Type, or as JSON where it looks like it. Raises BadRequest(400)."""
    text = decode_text(body)
    declared = media_type.partition(";")[0].strip().lower()
    if not text.strip():
        return Content(None, text)
    if _JSON.fullmatch(declared):
        return Content(decode(body), text)
    if text.lstrip().startswith(("{", "[")):
        # Many tools send JSON under whatever type is their default.
        try:
            return Content(decode(body), text)
        except BadRequest:
            pass
    if declared == "application/x-www-form-urlencoded":
        return Content(_form(text), text)
    return Content(None, text)


def _form(text: str) -> Mapping[str, object]:
    try:
        pairs = parse_qsl(text, keep_blank_values=True, max_num_fields=FIELDS)
    except ValueError as error:
        raise BadRequest(400, f"The form has more than {FIELDS} fields.", code="form_too_many_fields") from error
    fields: dict[str, list[str]] = {}
    for name, value in pairs:
        fields.setdefault(name, []).append(value)
    return {name: values[0] if len(values) == 1 else values for name, values in fields.items()}


def value_at(value: object, pointer: str) -> object:
    """What stands at a JSON pointer (RFC 6901), or None."""
    for part in pointer.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, list):
            items = as_list(value)  # pyright: ignore[reportUnknownArgumentType]
            at = int(name) if _INDEX.fullmatch(name) else len(items)
            value = items[at] if at < len(items) else None
        else:
            value = as_object(value).get(name)
    return value
