"""Bodies of webhooks in the forms that senders use: byte order marks, forms and multipart forms."""

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.sources.receiver import FORM
from gofer.sources.webhook.content import FIELDS, MULTIPART, parts_of, read_content, value_at
from gofer.sources.webhook.hook import Bearer
from gofer.values.errors import BadRequest
from support.sources.webhook_calls import SECRET, Reception, bearing, hook

pytestmark = pytest.mark.anyio

MARK = b"\xef\xbb\xbf"


def multipart(*parts: bytes, boundary: bytes = b"XX", line: bytes = b"\r\n") -> bytes:
    whole = b"".join(b"--" + boundary + line + part + line for part in parts)
    return whole + b"--" + boundary + b"--" + line


def field(name: str, value: bytes, more: str = "", line: bytes = b"\r\n") -> bytes:
    return f'Content-Disposition: form-data; name="{name}"{more}'.encode() + line + line + value


@pytest.mark.parametrize(
    ("body", "media_type"),
    [
        (MARK + b'{"id": "A1"}', "application/json"),
        (MARK + b'{"id": "A1"}', "text/plain"),
        (MARK + b"id=A1", FORM),
        (multipart(field("id", b"A1")), "multipart/form-data; boundary=XX"),
        (b"a preamble\r\n" + multipart(field("id", b"A1")) + b"and more", 'Multipart/Form-Data; boundary="XX"'),
        (multipart(field("id", b"A1", line=b"\n"), line=b"\n"), "multipart/form-data; charset=utf-8; boundary=XX"),
    ],
)
def test_body_with_a_mark_or_in_parts_has_its_fields(body: bytes, media_type: str) -> None:
    content = read_content(body, media_type)
    assert value_at(content.value, "/id") == "A1"
    assert "\ufeff" not in content.shown()


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_body_in_another_unicode_encoding_is_refused_with_a_sentence(encoding: str) -> None:
    with pytest.raises(BadRequest, match="UTF-16; send it in UTF-8"):
        read_content('{"id": 1}'.encode(encoding), "application/json")


def test_parts_of_a_multipart_form_are_fields_and_files_are_named() -> None:
    body = multipart(
        field("to", b"a@example.com"),
        field("to", b"b@example.com"),
        field("text", "käse".encode("latin-1"), "\r\nContent-Type: text/plain; charset=iso-8859-1"),
        field("rawRequest", b'{"q3": {"first": "Ada"}}\r\n--XY'),
        field("empty", b""),
        field("scan", b"\x89PNG\r\n\0", '; filename="a scan.png"\r\nContent-Type: image/png'),
    )
    value = read_content(body, "multipart/form-data; boundary=XX").value
    assert value == {
        "to": ["a@example.com", "b@example.com"],
        "text": "käse",
        "rawRequest": '{"q3": {"first": "Ada"}}\r\n--XY',
        "empty": "",
        "scan": "(the file a scan.png, image/png, 7 bytes; Gofer reads no files of a form)",
    }


@pytest.mark.parametrize(
    ("body", "media_type", "message"),
    [
        (multipart(field("id", b"A1")), MULTIPART, "names no boundary"),
        (b"--XX\r\n" + field("id", b"A1"), f"{MULTIPART}; boundary=XX", "ends before its last part"),
        (b"", f"{MULTIPART}; boundary=XX", "ends before its last part"),
        (multipart(b"\r\nA1"), f"{MULTIPART}; boundary=XX", "has no name"),
        (multipart(*[field("a", b"")] * (FIELDS + 1)), f"{MULTIPART}; boundary=XX", "more than 1000 fields"),
    ],
)
def test_multipart_form_that_cannot_be_read_is_refused_with_a_sentence(
    body: bytes, media_type: str, message: str
) -> None:
    with pytest.raises(BadRequest, match=message) as refused:
        read_content(body, media_type)
    assert refused.value.status == 400


@given(st.binary(max_size=200), st.lists(st.binary(max_size=40), max_size=4))
def test_multipart_form_of_any_bytes_is_read_or_refused(body: bytes, parts: list[bytes]) -> None:
    for one in (body, multipart(*parts), multipart(*(field("a", part) for part in parts))):
        with contextlib.suppress(BadRequest):
            assert read_content(one, "multipart/form-data; boundary=XX").shown().encode()


async def test_repeated_multipart_call_with_another_boundary_is_the_same_call() -> None:
    reception = Reception([hook(Bearer(), SECRET)])
    for boundary in (b"one", b"two"):
        body = multipart(field("id", b"A1"), boundary=boundary)
        headers = [*bearing(), ("Content-Type", f"multipart/form-data; boundary={boundary.decode()}")]
        assert await reception.send(body, headers) == 200
    assert len(await reception.store.heads(1000)) == 1


@pytest.mark.parametrize(
    ("pointers", "kept"),
    [
        (["/name"], {"name": "Ada"}),
        (["/team/lead", "/team/size"], {"team": {"lead": "Grace", "size": 3}}),
        (["/team", "/team/lead"], {"team": {"lead": "Grace", "size": 3, "cost": 9}}),
        (["/items/1/sku"], {"items": {"1": {"sku": "b"}}}),
        (["/a~1b", "/none", "/name/deeper"], {"a/b": 0}),
        ([], {}),
    ],
)
def test_parts_of_a_body_keep_their_names(pointers: list[str], kept: dict[str, object]) -> None:
    body = {
        "name": "Ada",
        "team": {"lead": "Grace", "size": 3, "cost": 9},
        "items": [{"sku": "a"}, {"sku": "b"}],
        "a/b": 0,
    }
    assert json.loads(parts_of(json.dumps(body), pointers)) == kept


@pytest.mark.parametrize("body", ["a salary of 71000", "71000", '["71000"]', '{"name": '])
def test_body_without_the_parts_loses_everything(body: str) -> None:
    assert parts_of(body, ["/name"]) == "{}"
