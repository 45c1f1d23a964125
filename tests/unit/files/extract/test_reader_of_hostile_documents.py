"""Hostile documents: each ends in one sentence within time and memory limits, and the next document is read."""

import asyncio
import contextlib
import gzip
import re
import struct
import zlib
from collections.abc import Callable, Iterator
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.files.child import Children
from gofer.files.completeness import Wanted
from gofer.files.document import extract, images_of
from gofer.values.errors import ToolError
from support.documents.made_by_hand import (
    WORD,
    assembled,
    cells,
    compound,
    docx,
    lines,
    ods,
    odt,
    package,
    paragraph,
    pdf,
    pptx,
    row,
    shape,
    xls,
    xlsx,
)
from support.processes.jobs_in_this_process import InThisProcess
from support.property_examples import examples

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def children() -> Iterator[Children]:
    made = Children(at_once=2)
    yield made
    made.close()


@pytest.fixture(scope="module")
def hurried() -> Iterator[Children]:
    """Child processes with a short time limit, for documents that keep a processor busy until they are stopped."""
    made = Children(at_once=2, seconds=1.0)
    yield made
    made.close()


def word(raw: str | bytes) -> bytes:
    return package({"word/document.xml": raw})


def entities(declared: str, used: str) -> bytes:
    body = f"<w:body><w:p><w:r><w:t>{used}</w:t></w:r></w:p></w:body>"
    return word(f'<!DOCTYPE w [{declared}]><w:document xmlns:w="{WORD}">{body}</w:document>')


@cache
def unpacked_to(size: int) -> bytes:
    return word(bytes(size))


def lying() -> bytes:
    """Return a document that declares 100 bytes and unpacks to twenty million."""
    data = bytearray(word(b"x" * 20_000_000))
    for magic, at in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        struct.pack_into("<I", data, data.index(magic) + at, 100)
    return bytes(data)


def overlapping() -> bytes:
    """Return an archive of a hundred entries over the same bytes."""
    once = word(b"x" * 1000)
    directory = once[once.index(b"PK\x01\x02") : once.index(b"PK\x05\x06")]
    body = once[: once.index(b"PK\x01\x02")]
    end = struct.pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, 100, 100, len(directory) * 100, len(body), 0)
    return body + directory * 100 + end


@cache
def many_entries() -> bytes:
    return package({f"word/document{n}.xml": b"" for n in range(12_000)})


def archive_in_archive() -> bytes:
    data = b"the innermost"
    for depth in range(50):
        data = package({f"inside{depth}.zip": data})
    return data


def encrypted_entry() -> bytes:
    data = bytearray(word(b"x"))
    for magic, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(magic) + at] |= 1
    return bytes(data)


def shared_string_bomb() -> bytes:
    text = f"<si><t>{'long ' * 6000}</t></si>"
    cells = "".join(f'<row r="{n}"><c r="A{n}" t="s"><v>0</v></c></row>' for n in range(1, 100_001))
    return xlsx({"A": cells}, shared=text)


def far_corner() -> bytes:
    return xlsx({"A": row(1, "x") + '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'})


def page_tree_loop() -> bytes:
    return assembled([b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Count 9 /Kids [2 0 R 2 0 R] >>"])


def deep_page_tree() -> bytes:
    depth = 20_000
    nodes = [b"<< /Type /Pages /Count 1 /Kids [%d 0 R] >>" % (n + 3) for n in range(depth)]
    return assembled([b"<< /Type /Catalog /Pages 2 0 R >>", *nodes])


def deep_arrays() -> bytes:
    body = b"[" * 200_000 + b"]" * 200_000
    return assembled(
        [b"<< /Type /Catalog /Pages 2 0 R /Deep 3 0 R >>", b"<< /Type /Pages /Count 1 /Kids %s >>" % body, body]
    )


def many_pages() -> bytes:
    kids = b" ".join(b"%d 0 R" % n for n in range(3, 100_003))
    page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] >>"
    return assembled(
        [b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Count 100000 /Kids [%s] >>" % kids, *[page] * 100_000]
    )


def nested_streams() -> bytes:
    """Return a page with content compressed three times over, 300 MB in the end."""
    packed = zlib.compress(zlib.compress(zlib.compress(bytes(300_000_000), 1)))
    content = b"<< /Length %d /Filter [/FlateDecode /FlateDecode /FlateDecode] >>\nstream\n%s\nendstream" % (
        len(packed),
        packed,
    )
    page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R >>"
    return assembled(
        [b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Count 1 /Kids [3 0 R] >>", page, content]
    )


def text_bomb() -> bytes:
    return pdf(
        [b"BT /F1 9 Tf 72 720 Td " + b"(aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa) Tj " * 1_500_000 + b"ET"],
        compress=True,
    )


def nested_message() -> bytes:
    head = b"".join(b"Content-Type: multipart/mixed; boundary=b%d\r\n\r\n--b%d\r\n" % (n, n) for n in range(3_000))
    return b"From: a@b.c\r\n" + head + b"\r\nend"


SENTENCES: dict[str, tuple[Callable[[], bytes], str]] = {
    "zip bomb": (lambda: unpacked_to(120 << 20), "would unpack to 120 MB, 1,0.. times its packed size"),
    "larger zip bomb": (lambda: unpacked_to(200 << 20), "would unpack to 200 MB"),
    "lying size": (lying, "damaged"),
    "overlapping entries": (overlapping, "entries of the archive overlap"),
    "many entries": (many_entries, "more than 10,000 entries"),
    "encrypted entry": (encrypted_entry, "has a password"),
    "billion laughs": (
        lambda: entities(
            '<!ENTITY a0 "ha">' + "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 10)), "&a9;"
        ),
        "declares XML entities",
    ),
    "entity from a file": (lambda: entities('<!ENTITY f SYSTEM "file:///etc/passwd">', "&f;"), "declares XML entities"),
    "deep XML": (lambda: word(f'<w:document xmlns:w="{WORD}">' + "<w:body>" * 100_000), "damaged"),
    "far corner": (far_corner, "memory|damaged"),
    "password": (lambda: compound({"EncryptedPackage": b"x"}), "has a password"),
    "page tree loop": (page_tree_loop, "no pages|damaged|no text|crash"),
    "deep page tree": (deep_page_tree, "no pages|damaged|no text|crash"),
    "deep arrays": (deep_arrays, "no pages|damaged|no text|crash"),
    "100,000 pages": (many_pages, "no text on pages 1 to 2,000"),
    "stream in streams": (nested_streams, "no text|memory|takes more"),
    "text bomb": (text_bomb, r"\[page 1 of 1\]\naaaa|takes more|memory"),
    "shared strings": (shared_string_bomb, "missing here|memory"),
    "archives in archives": (archive_in_archive, r"a ZIP archive, files: 1, .*\n- inside49.zip"),
    "path tricks": (
        lambda: package({"../../etc/cron.d/x": "x", "C:\\a\\..\\b.txt": "y"}),
        r"- \.\./\.\./etc/cron\.d/x \(1 bytes\)",
    ),
    "gzip": (lambda: gzip.compress(bytes(10_000_000)), "unpacks to more than 150 times"),
    "deep page": (lambda: b"<html>" + b"<div>" * 50_000 + b"deep", "deep|takes more"),
    "many attributes": (
        lambda: b"<html><p " + b" ".join(b"a%d=1" % n for n in range(60_000)) + b">text",
        "text|takes more",
    ),
    "wide table": (lambda: b"<html><table><tr>" + b"<td>x" * 200_000, "x|takes more"),
    "one field": (lambda: b'a,"' + b"x" * 30_000_000, "a|xxx"),
    "nested message": (nested_message, "From: a@b.c|crash|damaged"),
    "too large": (lambda: b"x" * (65 << 20), "up to 64 MB"),
    "much text": (lambda: b"word " * 12_000_000, r"word|memory"),
}


HARMLESS_HERE = (
    "zip bomb", "lying size", "overlapping entries", "many entries", "encrypted entry", "billion laughs",
    "entity from a file", "password", "archives in archives", "path tricks", "gzip", "nested message",
)  # fmt: skip


@pytest.mark.parametrize("name", HARMLESS_HERE)
async def test_hostile_document_is_also_answered_without_a_child_process(name: str) -> None:
    make, said = SENTENCES[name]
    try:
        text = (await extract(InThisProcess(), make())).text  # type: ignore[arg-type]
    except ToolError as error:
        text = error.message_to_model
    assert re.search(said, text, re.DOTALL)


@pytest.mark.parametrize("name", SENTENCES)
async def test_hostile_document_ends_in_one_sentence_and_the_next_is_read(
    children: Children, hurried: Children, name: str
) -> None:
    make, said = SENTENCES[name]
    data = make()
    children = hurried if "takes more" in said else children
    await extract(children, b"warm")
    try:
        text = (await extract(children, data, name="report")).text
    except ToolError as error:
        text = error.message_to_model
        assert "\n" not in text
    assert re.search(said, text), text[:500]
    assert (await extract(children, docx(paragraph("next")))).text == "next"


PDFS = ("page tree loop", "deep page tree", "deep arrays", "100,000 pages", "stream in streams", "text bomb")


@pytest.mark.parametrize("name", PDFS)
async def test_hostile_pdf_is_drawn_or_refused_and_the_next_document_is_read(hurried: Children, name: str) -> None:
    data = SENTENCES[name][0]()
    with contextlib.suppress(ToolError):
        assert (await images_of(hurried, data, 1, 2, edge=1_568, most=1_000_000)).images
    assert (await extract(hurried, docx(paragraph("next")))).text == "next"


async def test_document_over_the_time_limit_names_the_part_to_ask_for(hurried: Children) -> None:
    table = [[f"Item {at}", "3", "1.20", "4.50", "12.00", "7"] for at in range(45)]
    data = pdf([cells(table, [60, 150, 240, 330, 420, 510], y=740)] * 900)
    with pytest.raises(ToolError) as caught:
        await extract(hurried, data)
    assert caught.value.message_to_model == (
        "This is a PDF, and it takes more than 1 seconds of processor time and was stopped; ask for fewer pages with "
        "first_page and last_page."
    )
    assert (await extract(hurried, data, wanted=Wanted(last_page=9))).missing[0].part == "pages 10 to 900"


WHOLE = {
    "docx": docx(paragraph("Some text") * 50),
    "pptx": pptx([shape("Some text")] * 3),
    "xlsx": xlsx({"A": row(1, "Some", "text")}),
    "xls": xls([["Some", "text"]]),
    "ods": ods('<table:table table:name="T"/>'),
    "odt": odt("<text:p>Some text</text:p>"),
    "pdf": pdf([lines(["Some text"])] * 3),
}


@examples(0.7)
@given(st.sampled_from(sorted(WHOLE)), st.integers(1, 99), st.integers(0, 255), st.booleans())
def test_truncated_or_corrupted_documents_are_read_or_refused(
    children: Children, name: str, percent: int, byte: int, cut: bool
) -> None:
    data = bytearray(WHOLE[name])
    at = len(data) * percent // 100
    spoilt = bytes(data[:at]) if cut else bytes([*data[:at], byte, *data[at + 1 :]])

    async def play() -> str:
        try:
            return (await extract(children, spoilt, name=f"x.{name}")).text
        except ToolError as error:
            return error.message_to_model

    assert asyncio.run(play()).strip()
