"""PDFs as displayed: filled forms, comments, superscripts, lines, and right-to-left text."""

import pypdfium2
import pytest

from gofer.files.extract import pdf as reader
from gofer.files.extract.pdf_lines import Lines, reread
from support.documents.made_by_hand import any_line, assembled, cells, lines, pdf, stream

FONT = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"


def one_page(content: bytes, *annotations: bytes, form: bool = False) -> bytes:
    """Return a PDF of one page with these annotations, which are fields of a form if `form` is true."""
    numbers = b" ".join(b"%d 0 R" % at for at in range(6, 6 + len(annotations)))
    of_form = b" /AcroForm << /Fields [%s] /DA (/F1 9 Tf) >>" % numbers if form else b""
    page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Annots [%s]" % numbers
    return assembled(
        [
            b"<< /Type /Catalog /Pages 2 0 R%s >>" % of_form,
            b"<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
            page + b" /Resources << /Font << /F1 5 0 R >> >> >>",
            stream(content),
            FONT,
            *annotations,
        ]
    )


def annotation(kind: bytes, more: bytes) -> bytes:
    return b"<< /Type /Annot /Subtype /%s /Rect [72 600 172 620] %s >>" % (kind, more)


def said(data: bytes) -> str:
    return reader.read(data).text.removeprefix("[page 1 of 1]\n")


def test_pdf_comments_follow_the_text_of_their_page() -> None:
    ana = annotation(b"Text", b"/T (Ana) /Contents (Is this\nright?)")
    marked = annotation(b"Highlight", b"/Contents (Yes)")
    hidden = annotation(b"Text", b"/F 2 /Contents (unseen)")
    silent = annotation(b"Text", b"/T (Bo)")
    link = annotation(b"Link", b"/Contents (a link)")
    data = one_page(lines(["Text"]), ana, marked, hidden, silent, link)
    assert said(data) == "Text\n\n[comment] Ana: Is this right?\n[comment] Yes"


def test_pdf_filled_form_fields_are_read() -> None:
    name = annotation(b"Widget", b"/FT /Tx /T (Name) /V (Dana Levi)")
    empty = annotation(b"Widget", b"/FT /Tx /T (Address)")
    town = annotation(b"Widget", b"/FT /Ch /Ff 131072 /T (Town) /Opt [(Haifa) (Akko)] /V (Akko)")
    states = b"/AP << /N << /Yes 4 0 R /Off 4 0 R >> >>"
    agreed = annotation(b"Widget", b"/FT /Btn /T (Agreed) /V /Yes /AS /Yes " + states)
    news = annotation(b"Widget", b"/FT /Btn /T (News) /V /Off /AS /Off " + states)
    text = said(one_page(b"", name, empty, town, agreed, news, form=True))
    assert text == "[field Name] Dana Levi\n[field Town] Akko\n[x] Agreed\n[ ] News"


def test_pdf_superscript_stays_in_the_line_and_apart_from_the_number_before() -> None:
    content = (
        b"BT /F1 12 Tf 72 700 Td (Offices) Tj /F1 7 Tf 5 Ts (1) Tj /F1 12 Tf 0 Ts ( have 10) Tj /F1 7 Tf 5 Ts (5) Tj"
        b" /F1 12 Tf 0 Ts ( files) Tj 0 -16 Td (and H) Tj /F1 7 Tf -5 Ts (2) Tj /F1 12 Tf 0 Ts (O a) Tj"
        b" 0 -16 Td (of 12) Tj 0 -16 Td (more.) Tj ET"
    )
    assert said(one_page(content)) == "Offices¹ have 10⁵ files\nand H2O a\nof 12\nmore."


def test_pdf_short_line_below_another_stays_a_line() -> None:
    content = b"BT /F1 12 Tf 72 700 Td (First) Tj 0 -16 Td ( * second) Tj 0 -16 Td (; third) Tj ET"
    assert [line.strip() for line in said(one_page(content)).split("\n")] == ["First", "* second", "; third"]


def test_pdf_merged_lines_are_split_where_the_text_moves_down_and_back() -> None:
    content = b"BT /F1 40 Tf 40 TL 72 700 Td (Points) Tj T* (* Top) Tj T* (- Sub) Tj ET"
    page = pypdfium2.PdfDocument(one_page(content))[0].get_textpage()
    taken_for_one = page.get_text_range().replace("\r\n", "  ")
    assert Lines(page, taken_for_one).with_line_ends(3) == "Points\n* Top\n- Sub"
    assert Lines(page, taken_for_one).with_line_ends(1) == taken_for_one


def test_pdf_overlapping_tables_are_each_read_once() -> None:
    rows = [["Alpha", "Beta", "Gamma"], ["One", "Two", "Three"], ["Red", "Green", "Blue"]]
    over = cells(rows, [72, 250, 400]) + cells(rows, [80, 260, 405], y=497)
    text = said(pdf([over]))
    assert text.count("Gamma") == 2
    assert text.count("Green") == 2


@pytest.mark.parametrize(
    ("seen", "read"),
    [
        (")הערה( שלום", "(הערה) שלום"),
        (".שלום עולם", "שלום עולם."),
        (".שלום )עולם( 12", "שלום (עולם) 12."),
        ("?مرحبا", "مرحبا?"),
        ("1) שלום", "1) שלום"),
        ("שלום (עולם).", "שלום (עולם)."),
        (".NET runs", ".NET runs"),
        ("(a) b", "(a) b"),
    ],
)
def test_pdf_right_to_left_line_ends_with_the_closing_punctuation(seen: str, read: str) -> None:
    assert reread(seen) == read


def test_pdf_right_to_left_page_keeps_brackets_and_punctuation() -> None:
    # The displayed order from the left, with brackets by their meaning.
    assert said(pdf([any_line("." + "(שלום) עולם"[::-1])])) == "(שלום) עולם."
