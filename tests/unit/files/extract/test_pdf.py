"""Text of PDFs: pages in order, hyphenated words joined, tables, and missing parts reported."""

import pytest

from gofer.files.completeness import Reading, Wanted, incomplete, of_file
from gofer.files.extract import pdf as reader
from gofer.files.extract.pdf_missing import PAGES
from gofer.values.errors import ToolError
from support.documents.made_by_hand import any_line, assembled, cells, lines, pdf


def text_of(data: bytes) -> str:
    return reader.read(data).text


def test_pdf_pages_have_markers_with_their_numbers() -> None:
    assert text_of(pdf([lines(["One"]), lines(["Two", "more"])])) == "[page 1 of 2]\nOne\n\n[page 2 of 2]\nTwo\nmore"


def test_pdf_words_hyphenated_at_a_line_end_are_joined() -> None:
    text = text_of(pdf([lines(["All exam-", "ples of a well-", "known thing, well-known", "in 2024-", "2025."])]))
    assert "All examples of a well-known thing" in text
    assert "2024-2025" in text or "2024-\n2025" in text


def test_pdf_rows_and_columns_become_a_table() -> None:
    table = cells([["Item", "Qty", "Price"], ["Apple", "3", "1.20"], ["Pear tart", "", "12.00"]], [72, 250, 400])
    text = text_of(pdf([lines(["A heading", "and a line."]) + table + lines(["Below."], y=300)]))
    assert text == (
        "[page 1 of 1]\nA heading\nand a line.\n\n| Item | Qty | Price |\n| --- | --- | --- |\n"
        "| Apple | 3 | 1.20 |\n| Pear tart |  | 12.00 |\n\nBelow."
    )


def test_pdf_two_columns_of_prose_are_read_one_after_the_other() -> None:
    left = [
        "This column tells a story that",
        "goes on from line to line and",
        "does not stop before its end,",
        "not even here.",
    ]
    right = [
        "While the other column speaks",
        "of something else altogether",
        "and is read after the first,",
        "as people do.",
    ]
    text = text_of(pdf([lines(left, x=50) + lines(right, x=330)]))
    assert "| ---" not in text
    assert text.index("not even here.") < text.index("While the other")


@pytest.mark.parametrize("text", ["日本語の文章", "中文文件", "한국어 문서", "Ελληνικά", "Привет"])
def test_pdf_text_of_every_script_is_read_unchanged(text: str) -> None:
    assert text_of(pdf([any_line(text)])) == f"[page 1 of 1]\n{text}"


@pytest.mark.parametrize("text", ["שלום עולם", "مرحبا بالعالم"])
def test_pdf_text_from_right_to_left_is_read_in_reading_order(text: str) -> None:
    # A page stores the displayed order, from the left.
    assert text_of(pdf([any_line(text[::-1])])) == f"[page 1 of 1]\n{text}"


SCAN = b"q 612 0 0 792 0 0 cm BI /W 1 /H 1 /CS /G /BPC 8 ID \x00 EI Q"
"""A page that is one image."""


def missing(reading: Reading) -> str:
    """Return the note on missing parts that answers over the text contain."""
    return incomplete(of_file(reading.missing, "file_1"), "text_1")


def test_pdf_scanned_pages_are_reported_missing() -> None:
    pages = [lines([f"Page {n} says in plain words what it says, at length."]) for n in range(1, 41)]
    for scan in (4, 17, 18):
        pages[scan - 1] = SCAN
    reading = reader.read(pdf(pages))
    assert "[page 17 of 40]\n(no text: this page is an image or a drawing)" in reading.text
    assert missing(reading) == (
        "text_1 is incomplete. Missing: the text of pages 4, 17 to 18, because images or drawings take the place of "
        'text; get it with load_file(file="file_1", first_page=4, last_page=4), and the other pages in the same way.'
    )


def test_pdf_scan_with_a_text_stamp_is_reported_missing() -> None:
    reading = reader.read(pdf([SCAN + lines(["Scanned with a telephone"])]))
    assert reading.text == "[page 1 of 1]\nScanned with a telephone"
    assert [gap.unit for gap in reading.missing] == ["scans"]


def test_pdf_blank_page_is_not_reported_missing() -> None:
    reading = reader.read(pdf([lines(["Text"]), b""]))
    assert reading.text.endswith("[page 2 of 2]\n(nothing is on this page)")
    assert reading.missing == ()


def test_pdf_without_text_says_so() -> None:
    assert text_of(pdf([SCAN] * 3)) == "(There is no text on any of the 3 pages.)"
    assert text_of(pdf([SCAN])) == "(There is no text on the only page.)"
    assert "blank, or their contents are damaged" in missing(reader.read(pdf([b""] * 3)))


def test_pdf_damaged_page_is_reported_as_damaged_and_not_as_a_scan() -> None:
    data = pdf([lines(["One"]), lines(["Two"]), lines(["Three"])])
    broken = data.replace(b"/Kids [9 0 R 11 0 R 13 0 R]", b"/Kids [9 0 R 99 0 R 13 0 R]")
    assert broken != data
    reading = reader.read(broken)
    assert "[page 2 of 3]\n(this page is damaged and could not be read)" in reading.text
    assert missing(reading) == (
        "text_1 is incomplete. Missing: page 2, because the file is damaged there; ask for the file to be sent again."
    )


def test_pdf_cut_off_reports_the_missing_end() -> None:
    reading = reader.read(pdf([lines(["x"])]).removesuffix(b"%%EOF\n"))
    assert "the end of the file, because the PDF is cut off before its end mark" in missing(reading)


def test_pdf_text_ends_after_2000_pages_and_names_the_call_for_the_rest() -> None:
    data = pdf([lines([f"Sheet {n}"]) for n in range(1, PAGES + 301)])
    reading = reader.read(data)
    assert reading.text.endswith("[page 2000 of 2300]\nSheet 2000\n\n[pages 2,001 to 2,300 missing here]")
    assert missing(reading) == (
        "text_1 is incomplete. Missing: pages 2,001 to 2,300, because one text holds at most 2,000 pages and about "
        '20,000,000 characters; get it with extract_file(file="file_1", first_page=2001).'
    )
    rest = reader.read(data, Wanted(first_page=PAGES + 1))
    assert rest.text.startswith("[page 2001 of 2300]\nSheet 2001\n\n[page 2002 of 2300]\nSheet 2002")
    assert [gap.part for gap in rest.missing] == ["pages 1 to 2,000"]
    with pytest.raises(ToolError, match="2,300 pages; there is no page 5,000"):
        reader.read(data, Wanted(first_page=5000))


def test_pdf_range_of_pages_reports_the_other_pages() -> None:
    data = pdf([lines([f"Sheet {n}"]) for n in range(1, 9)])
    reading = reader.read(data, Wanted(first_page=3, last_page=4))
    assert reading.text.startswith("[page 3 of 8]\nSheet 3\n\n[page 4 of 8]\nSheet 4")
    assert [(gap.part, gap.reason) for gap in reading.missing] == [
        ("pages 1 to 2", "only a part was asked for"),
        ("pages 5 to 8", "only a part was asked for"),
    ]
    with pytest.raises(ToolError, match="last_page 2 is before first_page 3"):
        reader.read(data, Wanted(first_page=3, last_page=2))


def test_pdf_text_is_cut_by_characters_always_at_the_same_page() -> None:
    data = pdf([lines([f"Sheet {n}"]) for n in range(1, 9)])
    reading = reader.read(data, most=20)
    assert reader.read(data, most=20) == reading
    assert [gap.part for gap in reading.missing] == ["pages 4 to 8"]


def test_pdf_with_a_password_is_refused_with_advice() -> None:
    catalog = [b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Count 0 /Kids [] >>"]
    key = b"<" + b"ab" * 32 + b">"
    catalog.append(b"<< /Filter /Standard /V 2 /R 3 /Length 128 /P -4 /O %s /U %s >>" % (key, key))
    data = assembled(catalog, b"/Encrypt 3 0 R /ID [<00> <00>]")
    with pytest.raises(ToolError, match="has a password; ask for it without one"):
        text_of(data)


@pytest.mark.parametrize("data", [b"%PDF-1.7", b"%PDF-1.7\n" + b"x" * 500, pdf([lines(["x"])])[:200]])
def test_damaged_pdf_is_refused(data: bytes) -> None:
    with pytest.raises(ToolError, match="damaged or cut off"):
        text_of(data)
