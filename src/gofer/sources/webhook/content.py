"""Bodies of webhook calls: JSON, forms, multipart forms and text."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from email import message_from_string
from itertools import pairwise
from typing import cast
from urllib.parse import parse_qsl

from gofer.sources.receiver import FORM
from gofer.values.canonical_json import as_list, as_object, clean, decode, decode_text
from gofer.values.errors import BadRequest

INDENTED = 40_000
"""The most characters of a JSON body that is shown indented. A model reads such a body in one piece."""
FIELDS = 1_000
"""The most fields of a form."""
MULTIPART = "multipart/form-data"
_JSON = re.compile(r"application/(?:[\w.+-]+\+)?json", re.ASCII)
_INDEX = re.compile(r"0|[1-9][0-9]{0,6}", re.ASCII)
_BOUNDARY = re.compile(r';\s*boundary=(?:"([^"]{1,70})"|([^\s;",]{1,70}))', re.ASCII | re.IGNORECASE)
_HEADERS_END = re.compile(rb"\r?\n\r?\n")


@dataclass(frozen=True, slots=True)
class Content:
    """A parsed body."""

    value: object
    """The JSON value, or the fields of a form as an object; None for text."""
    text: str
    """The body as text, without lone surrogates."""
    repeated: bytes
    """The bytes that are equal in repeated calls: the body, without the random boundary of a multipart form."""

    def shown(self) -> str:
        """Return the whole body for a model: short JSON is indented, anything else is unchanged."""
        if self.value is not None:
            indented = clean(json.dumps(self.value, indent=2, ensure_ascii=False))
            if len(indented) <= INDENTED:
                return indented
        return self.text


def read_content(body: bytes, media_type: str) -> Content:
    """Return a body, parsed by its Content-Type, or as JSON if it looks like JSON. Raises BadRequest(400)."""
    declared = media_type.partition(";")[0].strip().lower()
    if declared == MULTIPART:
        boundary = _boundary(media_type)
        form = _fields(_parts(body, boundary))
        return Content(form, clean(json.dumps(form, ensure_ascii=False)), body.replace(boundary, b""))
    text = decode_text(body)
    if not text.strip():
        return Content(None, text, body)
    if _JSON.fullmatch(declared):
        return Content(decode(body), text, body)
    if text.lstrip().startswith(("{", "[")):
        # Many tools send JSON with a default Content-Type.
        try:
            return Content(decode(body), text, body)
        except BadRequest:
            pass
    if declared == FORM:
        try:
            pairs = parse_qsl(text, keep_blank_values=True, max_num_fields=FIELDS)
        except ValueError as error:
            raise _too_many_fields() from error
        return Content(_fields(pairs), text, body)
    return Content(None, text, body)


def _fields(pairs: Iterable[tuple[str, str]]) -> Mapping[str, object]:
    """Return the fields of a form. A field that occurs several times becomes a list."""
    fields: dict[str, list[str]] = {}
    for name, value in pairs:
        fields.setdefault(name, []).append(value)
    form: dict[str, object] = {**fields}
    for name, values in fields.items():
        if len(values) == 1:
            form[name] = values[0]
    return form


def _too_many_fields() -> BadRequest:
    return BadRequest(400, f"The form has more than {FIELDS} fields.", code="form_too_many_fields")


def _boundary(media_type: str) -> bytes:
    found = _BOUNDARY.search(media_type)
    if found is None:
        raise BadRequest(400, "The Content-Type multipart/form-data names no boundary.", code="body_not_form")
    return (found[1] or found[2]).encode()


def _parts(body: bytes, boundary: bytes) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each part of a multipart form. Raises BadRequest(400)."""
    mark = re.compile(rb"(?:\A|\r?\n)--" + re.escape(boundary) + rb"(--)?[ \t]*(?=\r?\n|\Z)")
    marks: list[re.Match[bytes]] = []
    for found in mark.finditer(body):
        marks.append(found)
        if found[1]:
            break
        if len(marks) > FIELDS:
            raise _too_many_fields()
    if not marks or not marks[-1][1]:
        raise BadRequest(400, "The multipart form ends before its last part is complete.", code="body_not_form")
    for begin, end in pairwise(marks):
        head, _, content = _split(body[begin.end() : end.start()])
        yield _part(head, content)


def _split(part: bytes) -> tuple[bytes, bytes, bytes]:
    """Return the headers of a part, the empty line, and the content."""
    found = _HEADERS_END.search(part)
    if found is None:
        return part, b"", b""
    return part[: found.start()], found[0], part[found.end() :]


def _part(head: bytes, content: bytes) -> tuple[str, str]:
    headers = message_from_string(head.decode(errors="replace").strip())
    name = headers.get_param("name", header="content-disposition")
    if not isinstance(name, str):
        raise BadRequest(400, "A part of the multipart form has no name.", code="body_not_form")
    filename = headers.get_filename()
    if filename is not None:
        kept = "Gofer reads no files of a form"
        return name, f"(the file {filename[:200]}, {headers.get_content_type()}, {len(content):,} bytes; {kept})"
    try:
        return name, content.decode(headers.get_content_charset("utf-8"), errors="replace")
    except LookupError:
        return name, content.decode(errors="replace")


def parts_of(text: str, pointers: Iterable[str]) -> str:
    """Return only the parts of a JSON body at some pointers, below their names; `{}` for a body without them."""
    try:
        value = decode(text.encode())
    except BadRequest:
        return "{}"
    kept: dict[str, object] = {}
    for pointer in pointers:
        found = value_at(value, pointer)
        if found is not None:
            _put(kept, pointer, found)
    return json.dumps(kept, indent=2, ensure_ascii=False)


def _put(kept: dict[str, object], pointer: str, found: object) -> None:
    *above, last = _names(pointer)
    for name in above:
        below = kept.setdefault(name, {})
        if not isinstance(below, dict):
            return  # a pointer above this one has put the whole part there
        kept = cast(dict[str, object], below)
    kept[last] = found


def _names(pointer: str) -> list[str]:
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]


def value_at(value: object, pointer: str) -> object:
    """Return the value at a JSON pointer (RFC 6901), or None."""
    for name in _names(pointer):
        if isinstance(value, list):
            items = as_list(value)  # pyright: ignore[reportUnknownArgumentType]
            if not _INDEX.fullmatch(name) or int(name) >= len(items):
                return None
            value = items[int(name)]
        else:
            value = as_object(value).get(name)
    return value
