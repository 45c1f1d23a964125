"""The kind of a file by its bytes, the note about a misleading name, and names safe to display."""

import gzip
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from gofer.files.file_names import LONGEST, display
from gofer.files.kind import KINDS, kind_of, mislabelled
from support.documents.made_by_hand import (
    compound,
    docx,
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


def image(form: str) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (3, 2)).save(buffer, form)
    return buffer.getvalue()


ORDINARY_NAMES = (
    "keyword/documentation.md",
    "projects/word/documents/plan.txt",
    "copy/word/document.xml",
    "x/xl/workbooks/readme.txt",
    "word/documentation.xml",
    "ppt/presentations.txt",
    "mimetype/application/vnd.oasis.opendocument.text",
)
"""Paths in ZIP archives that have the words of an Office document in them."""

CASES = [
    (b"", "empty"),
    (pdf([b""]), "pdf"),
    (b"\n\njunk before " + pdf([b""]), "pdf"),
    (docx(paragraph("x")), "docx"),
    (pptx([shape("x")]), "pptx"),
    (xlsx({"A": row(1, "x")}), "xlsx"),
    (ods(""), "ods"),
    (odt(""), "odt"),
    (odt("", "presentation"), "odp"),
    (xls([["x"]]), "xls"),
    (compound({"WordDocument": b""}), "doc"),
    (compound({"PowerPoint Document": b""}), "ppt"),
    (compound({"__properties_version1.0": b""}), "msg"),
    (compound({"EncryptedPackage": b"", "EncryptionInfo": b""}), "encrypted"),
    (compound({"Other": b""}), "ole"),
    (package({"a.txt": "x"}), "zip"),
    *((package({"a.txt": "x", name: "x"}), "zip") for name in ORDINARY_NAMES),
    (gzip.compress(b"x"), "gzip"),
    *((image(form), form.lower()) for form in ("PNG", "JPEG", "GIF", "WEBP", "TIFF", "BMP")),
    (b"{\\rtf1 x}", "rtf"),
    (b"<!DOCTYPE html><p>x", "html"),
    (b"\xef\xbb\xbf  <html>", "html"),
    (b"<?xml version='1.0'?><svg xmlns='http://www.w3.org/2000/svg'/>", "svg"),
    (b"<?xml version='1.0'?><a/>", "xml"),
    (b'{"a": 1}\n', "json"),
    (b"From: a@b\nTo: c@d\nSubject: x\n\nhello", "eml"),
    (b"just words", "text"),
    ("weite Wörter".encode("utf-16-le"), "text"),
    (b"\x00\x01\x02\x03", "binary"),
    (b"\x7fELF\x02", "program"),
]


@pytest.mark.parametrize(("data", "kind"), CASES)
def test_file_kind_is_decided_by_the_bytes_and_not_by_the_name(data: bytes, kind: str) -> None:
    assert kind_of(data).name == kind
    assert kind_of(data, "holiday.jpg").name == kind


@pytest.mark.parametrize(("data", "kind"), [(docx(paragraph("x")), "docx"), (xlsx({"A": row(1, "x")}), "xlsx")])
def test_office_document_cut_off_keeps_the_file_kind(data: bytes, kind: str) -> None:
    assert kind_of(data[: data.rfind(b"PK\x05\x06") - 10]).name == kind
    assert kind_of(data[: data.find(b"PK\x01\x02")]).name == kind


@pytest.mark.parametrize(
    ("data", "name", "said"),
    [
        (pdf([b""]), "report.docx", "The name ends like a Word document, but this is a PDF."),
        (image("PNG"), "photo.JPG", "The name ends like an image (JPEG), but this is an image (PNG)."),
        (pdf([b""]), "report.pdf", ""),
        (b"a,b", "table.csv", ""),
        (b"# Notes", "notes.md", ""),
        (pdf([b""]), "report.v2", ""),
        (pdf([b""]), "", ""),
        (docx(""), "old.docm", ""),
    ],
)
def test_file_name_that_contradicts_the_bytes_is_noted(data: bytes, name: str, said: str) -> None:
    assert mislabelled(kind_of(data, name), name) == said


@given(st.binary(max_size=200), st.text(max_size=20))
def test_every_file_has_a_known_kind(data: bytes, name: str) -> None:
    assert kind_of(data, name).name in KINDS
    assert kind_of(b"PK\x03\x04" + data, name).name in KINDS


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\x\\report.pdf", "report.pdf"),
        ("invoice\u202efdp.exe", "invoicefdp.exe"),
        ("a\0b\nc.txt", "abc.txt"),
        ("...hidden", "hidden"),
        ("", "unnamed"),
        ("/", "unnamed"),
        ("日本語.pdf", "日本語.pdf"),
        ("two  words.txt", "two words.txt"),
        ("x" * 300 + ".pdf", "x" * 248 + "….pdf"),
        ("x" * 300, "x" * 252 + "…"),
    ],
)
def test_displayed_file_name_has_no_path_or_control_characters(name: str, shown: str) -> None:
    assert display(name) == shown


@given(st.text(max_size=2000))
def test_displayed_file_name_is_never_long_empty_or_a_path(name: str) -> None:
    shown = display(name)
    assert shown
    assert len(shown.encode("utf-8", "replace")) <= LONGEST
    assert not set(shown) & set("/\\\0\n\u202e")
