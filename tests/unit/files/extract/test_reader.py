"""The reader of each kind of file, and the advice for kinds that have none."""

import io
import re

import pytest
from PIL import Image

from gofer.files.child import Children
from gofer.files.completeness import ALL, Wanted, exact_call, incomplete, of_file
from gofer.files.document import Document, extract
from gofer.values.errors import ToolError
from gofer.values.missing import Missing
from support.documents.made_by_hand import (
    compound,
    docx,
    lines,
    odt,
    package,
    paragraph,
    pdf,
    pptx,
    row,
    shape,
    word_table,
    xls,
    xlsx,
)
from support.processes.jobs_in_this_process import InThisProcess

pytestmark = pytest.mark.anyio


async def read(data: bytes, name: str = "", wanted: Wanted = ALL, encoding: str = "") -> Document:
    return await extract(InThisProcess(), data, name=name, wanted=wanted, encoding=encoding)  # type: ignore[arg-type]


def image(form: str) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (3, 2)).save(buffer, form)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("data", "kind", "text"),
    [
        (pdf([lines(["Some text"])]), "pdf", "Some text"),
        (docx(paragraph("Some text")), "docx", "Some text"),
        (pptx([shape("Some text")]), "pptx", "Some text"),
        (xlsx({"A": row(1, "Some text")}), "xlsx", "Some text"),
        (xls([["Some text"]]), "xls", "Some text"),
        (b"<html><p>Some text", "html", "Some text"),
        (b"From: a@b\nTo: c@d\nSubject: x\n\nSome text", "eml", "Some text"),
        ("Größe".encode("cp1252"), "text", "Größe"),
        (b'{"a": 1}', "json", '{"a": 1}'),
        (image("WEBP"), "webp", "WEBP, 3 × 2 pixels"),
        (package({"a/b.txt": "x", "a/": ""}), "zip", "a ZIP archive, files: 1, "),
    ],
)
async def test_file_is_read_by_the_reader_of_the_detected_kind(data: bytes, kind: str, text: str) -> None:
    found = await read(data)
    assert found.kind.name == kind
    assert text in found.text
    assert bool(found.missing) == (kind == "webp")


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le"])
async def test_text_that_looks_binary_is_read_in_the_named_encoding(encoding: str) -> None:
    data = "Имя;Город\nИван;Москва\n".encode(encoding)
    with pytest.raises(ToolError, match=r"If it is a text, name its `encoding`: utf-16-le\."):
        await read(data, "a.csv")
    table = await read(data, "a.csv", encoding=encoding)
    assert (table.kind.name, table.notes) == ("csv", ())
    assert "| Иван | Москва |" in table.text
    assert (await read(data, "a.bin", encoding=encoding)).text == "Имя;Город\nИван;Москва\n"


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "The file is empty: it has 0 bytes."),
        (compound({"WordDocument": b""}), "save it as .docx or PDF"),
        (compound({"PowerPoint Document": b""}), "save it as .pptx or PDF"),
        (compound({"EncryptedPackage": b""}), "has a password; ask for it without one"),
        (b"{\\rtf1}", "Rich Text document, which is not read here"),
        (b"\x7fELF\0", "This is a program"),
        (b"\0\0\0\x18ftypheic", "save it as JPEG or PNG"),
    ],
)
async def test_unreadable_kind_is_refused_with_advice(data: bytes, said: str) -> None:
    with pytest.raises(ToolError) as caught:
        await read(data)
    assert said in caught.value.message_to_model


@pytest.mark.parametrize(
    ("data", "title"),
    [(docx("<w:p/>"), "a Word document"), (b"<html></html>", "a web page"), (b" \n ", "a plain text")],
)
async def test_document_without_text_is_reported_as_empty(data: bytes, title: str) -> None:
    assert (await read(data)).text == f"(This is {title}, and there is no text in it.)"


async def test_wrong_file_name_is_noted_with_the_text_and_with_the_refusal() -> None:
    note = "The name ends like a Word document, but this is a PDF."
    assert (await read(pdf([lines(["x"])]), "a.docx")).notes == (note,)
    with pytest.raises(ToolError, match=r"this is a PDF\. The PDF is damaged or cut off"):
        await read(b"%PDF-1.4 broken", "a.docx")


async def test_pdf_can_be_read_from_a_given_page() -> None:
    data = pdf([lines([f"sheet {n}"]) for n in range(1, 4)])
    assert (await read(data, wanted=Wanted(first_page=3))).text == "[page 3 of 3]\nsheet 3"


def missing(document: Document) -> str:
    return incomplete(of_file(document.missing, "file_1"), "text_1")


def first_row_of(gap: Missing) -> int:
    """Return the first row named in the call that reads a missing part."""
    found = re.search(r"first_row=(\d+)", exact_call(gap))
    assert found is not None
    return int(found[1])


async def test_text_of_more_than_20_million_characters_reports_the_missing_end() -> None:
    document = await read(b"word\n" * 4_100_000)
    assert document.text.endswith("\nword\n[the rest is missing here: 500,000 characters]")
    assert missing(document) == (
        "text_1 is incomplete. Missing: the last 500,000 of 20,500,000 characters, because one text holds about "
        "20,000,000 characters; look for it in the document itself with file_regex."
    )


async def test_csv_rows_beyond_20_million_characters_are_read_from_a_given_row() -> None:
    data = "\n".join(["id,name", *(f"{n},{'x' * 190}" for n in range(2, 110_001))]).encode()
    document = await read(data, "a.csv")
    (gap,) = document.missing
    assert document.text.endswith(f"[{gap.part} missing here]")
    rest = await read(data, "a.csv", Wanted(first_row=first_row_of(gap)))
    begins, head, _, first, *_, last = rest.text.split("\n")
    assert begins.startswith("[table: 110,000 rows × 2 columns")
    assert head == "| id | name |"
    assert gap.part.startswith(f"rows {int(first.split()[1]):,} to 110,000")
    assert last.startswith("| 110000 |")
    assert document.text.count("\n") - 3 + rest.text.count("\n") - 2 == 110_000 - 1


async def test_csv_of_many_short_rows_fits_into_the_memory_of_a_child() -> None:
    data = b"id,name,amount\n" + b"1000000,name,0.50\n" * 1_500_000
    children = Children()
    try:
        document = await extract(children, data, name="a.csv", wanted=Wanted(first_row=1_400_000))
    finally:
        children.close()
    assert document.text.startswith("[table: 1,500,001 rows × 3 columns")
    assert [gap.part for gap in document.missing] == ["rows 2 to 1,399,999"]


@pytest.mark.parametrize(
    ("name", "data", "wanted", "said"),
    [
        ("a.txt", b"x", Wanted(first_page=2), "a plain text, which has no first_page; leave that out"),
        ("a.csv", b"a,b\n1,2", Wanted(sheet="A"), "a table of separated values, which has no sheet; leave that out"),
        ("a.csv", b"a,b\n1,2", Wanted(first_row=3), "The table has 2 rows; there is no row 3"),
        ("a.pdf", pdf([lines(["x"])]), Wanted(first_row=2), "a PDF, which has no first_row; leave that out"),
    ],
)
async def test_part_that_the_kind_of_document_lacks_is_refused(
    name: str, data: bytes, wanted: Wanted, said: str
) -> None:
    with pytest.raises(ToolError, match=said):
        await read(data, name, wanted)


async def test_archive_lists_unsafe_paths_as_plain_names() -> None:
    data = package({f"../../file{n}.txt": "x" for n in range(250)})
    text = (await read(data)).text
    assert "\n- ../../file0.txt (1 bytes)\n" in text
    assert text.endswith("\n- ../../file249.txt (1 bytes)")


async def test_open_documents_are_read_in_document_order() -> None:
    body = (
        '<text:h text:outline-level="2">Head</text:h><text:p>Para<text:note><text:note-body><text:p>foot</text:p>'
        '</text:note-body></text:note><text:s text:c="3"/>more<text:tab/><text:line-break/>'
        '<text:a xlink:href="https://x.y">link</text:a><office:annotation><text:p>Why?</text:p></office:annotation>'
        "<text:span>span</text:span></text:p><text:list><text:list-item><text:p>one</text:p><text:list><text:list-item>"
        "<text:p>two</text:p></text:list-item></text:list></text:list-item></text:list>"
        "<text:section><text:p>In a section</text:p></text:section>"
        "<table:table><table:table-row><table:table-cell><text:p>a</text:p></table:table-cell>"
        "<table:table-cell><text:p>b</text:p></table:table-cell></table:table-row></table:table>"
    )
    assert (await read(odt(body))).text == (
        "## Head\n\nPara[^1]   more\t\n[link](https://x.y)[comment 1]span\n\n- one\n  - two\n\nIn a section\n\n"
        "| a | b |\n| --- | --- |\n\n[^1]: foot\n\n[comment 1] Why?"
    )
    slides = (
        '<draw:page draw:name="First"><draw:frame><draw:text-box><text:p>Hello</text:p></draw:text-box></draw:frame>'
        "<presentation:notes><text:p>Say it</text:p></presentation:notes></draw:page>"
    )
    assert (await read(odt(slides, "presentation"))).text == "[slide 1 of 1]\n\nHello\n\n[notes] Say it"


async def test_word_table_of_a_single_cell_is_read_as_text() -> None:
    assert (await read(docx(word_table([["Only one cell"]])))).text == "Only one cell"
