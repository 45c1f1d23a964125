"""PDFs: pages in order, divided words whole, tables as tables, and what is missing said."""

import pytest

from documents import any_line, assembled, cells, lines, pdf
from gofer.errors import ToolError
from gofer.files.extract import pdf as reader
from gofer.files.extract.pdf import PAGES, SECONDS


def test_pages_stand_under_their_markers() -> None:
    assert (
        reader.read(pdf([lines(["One"]), lines(["Two", "more"])])) == "[page 1 of 2]\nOne\n\n[page 2 of 2]\nTwo\nmore"
    )


def test_words_divided_at_the_end_of_a_line_are_whole() -> None:
    text = reader.read(pdf([lines(["All exam-", "ples of a well-", "known thing, well-known", "in 2024-", "2025."])]))
    assert "All examples of a well-known thing" in text
    assert "2024-2025" in text or "2024-\n2025" in text


def test_rows_and_columns_become_a_table_among_the_text() -> None:
    table = cells([["Item", "Qty", "Price"], ["Apple", "3", "1.20"], ["Pear tart", "", "12.00"]], [72, 250, 400])
    text = reader.read(pdf([lines(["A heading", "and a line."]) + table + lines(["Below."], y=300)]))
    assert text == (
        "[page 1 of 1]\nA heading\nand a line.\n\n| Item | Qty | Price |\n| --- | --- | --- |\n"
        "| Apple | 3 | 1.20 |\n| Pear tart |  | 12.00 |\n\nBelow."
    )


def test_two_columns_of_prose_are_no_table() -> None:
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
    text = reader.read(pdf([lines(left, x=50) + lines(right, x=330)]))
    assert "| ---" not in text
    assert text.index("not even here.") < text.index("While the other")


@pytest.mark.parametrize("text", ["日本語の文章", "中文文件", "한국어 문서", "Ελληνικά", "Привет"])
def test_every_script_comes_out_as_it_went_in(text: str) -> None:
    assert reader.read(pdf([any_line(text)])) == f"[page 1 of 1]\n{text}"


@pytest.mark.parametrize("text", ["שלום עולם", "مرحبا بالعالم"])
def test_what_runs_from_right_to_left_is_read_so(text: str) -> None:
    # A page holds what is seen, from the left.
    assert reader.read(pdf([any_line(text[::-1])])) == f"[page 1 of 1]\n{text}"


def test_pages_without_text_are_said() -> None:
    text = reader.read(pdf([b""] * 3))
    assert text.startswith("(No text in any of the 3 pages: probably scans or drawings, and ")
    assert reader.read(pdf([b""])).startswith("(No text in the only page: probably a scan or a drawing, and text in ")
    mixed = reader.read(pdf([lines(["Text"]), b"", b""]))
    assert mixed.startswith("(No text on 2 pages: 2-3; probably scans or drawings.)")
    assert "[page 2 of 3]\n(no text on this page)" in mixed


def test_a_long_document_is_read_in_parts() -> None:
    data = pdf([lines([f"Sheet {n}"]) for n in range(1, PAGES + 3)])
    first = reader.read(data)
    assert first.startswith(f"(2 more pages follow; extract again from page {PAGES + 1:,}.)")
    rest = reader.read(data, PAGES + 1)
    assert rest == "[page 2001 of 2002]\nSheet 2001\n\n[page 2002 of 2002]\nSheet 2002"
    with pytest.raises(ToolError, match="2,002 pages; there is no page 5,000"):
        reader.read(data, 5000)


def test_a_pdf_with_a_password_is_refused_with_what_to_do() -> None:
    catalog = [b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Count 0 /Kids [] >>"]
    key = b"<" + b"ab" * 32 + b">"
    catalog.append(b"<< /Filter /Standard /V 2 /R 3 /Length 128 /P -4 /O %s /U %s >>" % (key, key))
    data = assembled(catalog, b"/Encrypt 3 0 R /ID [<00> <00>]")
    with pytest.raises(ToolError, match="has a password; ask for it without one"):
        reader.read(data)


@pytest.mark.parametrize("data", [b"%PDF-1.7", b"%PDF-1.7\n" + b"x" * 500, pdf([lines(["x"])])[:200]])
def test_a_damaged_pdf_is_refused(data: bytes) -> None:
    with pytest.raises(ToolError, match="damaged or cut off"):
        reader.read(data)


class Hurried:
    """A clock on which time flies whenever it is looked at."""

    def __init__(self) -> None:
        self._moment = 0.0

    def now(self) -> float:
        return self.monotonic()

    def monotonic(self) -> float:
        self._moment += SECONDS / 2
        return self._moment


def test_what_takes_long_is_read_in_parts() -> None:
    data = pdf([lines([f"Sheet {n}"]) for n in range(1, 9)])
    assert reader.read(data, 3, Hurried()) == (
        "(3 more pages follow; extract again from page 6.)\n\n"
        "[page 3 of 8]\nSheet 3\n\n[page 4 of 8]\nSheet 4\n\n[page 5 of 8]\nSheet 5"
    )
