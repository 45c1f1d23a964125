"""Workbooks and tables: every sheet, dates as dates, numbers with all digits."""

import csv
import io
import zipfile

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gofer.files.completeness import Reading, Wanted, incomplete, of_file
from gofer.files.extract import separated, sheets
from gofer.values.errors import ToolError
from support.documents.made_by_hand import BOXES, DRAWING, SHEETS, ods, package, relations, row, xls, xlsx


def text_of(data: bytes) -> str:
    return sheets.read(data).text


def test_workbook_sheets_become_tables_with_dates_numbers_and_errors() -> None:
    data = xlsx(
        {
            "Costs": row(1, "Item", "Price", "When")
            + row(2, "a|b", "1.5", '<c r="C2" s="1"><v>45000</v></c>')
            + row(3, "12345678901234567", "0.30000000000000004", '<c r="C3" s="2"><v>45000.5</v></c>')
            + row(5, "x", '<c r="B5" t="b"><v>1</v></c>', '<c r="C5" t="e"><v>#DIV/0!</v></c>'),
            "Nothing": "",
            "Secret": row(3, "", "deep"),
        },
        hidden=["Secret"],
    )
    assert text_of(data) == (
        '[sheet "Costs": 5 rows × 3 columns]\n'
        "| Item | Price | When |\n| --- | --- | --- |\n| a\\|b | 1.5 | 2023-03-15 |\n"
        "| 12345678901234567 | 0.30000000000000004 | 2023-03-15 12:00:00 |\n| x | TRUE | #DIV/0! |\n\n"
        '[sheet "Nothing": empty]\n\n'
        '[sheet "Secret", hidden: 1 row × 1 column from B3]\n| deep |\n| --- |'
    )


def test_workbook_names_its_hidden_rows_and_columns_below_the_table() -> None:
    hidden = "".join(f"<row r='{at}' hidden='1'><c r='A{at}'><v>{at}</v></c></row>" for at in (2, 3, 5))
    columns = '<cols><col min="2" max="2" hidden="1"/><col min="4" max="5" hidden="true"/><col min="7" max="7"/></cols>'
    data = xlsx({"A": row(1, "Item", "Price") + hidden, "B": row(1, "x")})
    data = data_with(data, "xl/worksheets/sheet1.xml", "<sheetData>", f"{columns}<sheetData>")
    assert text_of(data).split("\n\n")[1:] == [
        "[hidden: rows 2 to 3, 5 and columns B, D to E]",
        '[sheet "B": 1 row × 1 column]\n| x |\n| --- |',
    ]


def data_with(data: bytes, part: str, before: str, after: str) -> bytes:
    """Return a package with one text of a part replaced."""
    with zipfile.ZipFile(io.BytesIO(data)) as read:
        parts: dict[str, str | bytes] = {name: read.read(name) for name in read.namelist()}
    text = parts[part]
    assert isinstance(text, bytes)
    parts[part] = text.decode().replace(before, after)
    return package(parts)


def test_uncomputed_formula_is_shown_as_a_formula() -> None:
    cells = '<c r="A2"><f>SUM(A1:B1)&amp;"x"</f></c><c r="B2"><f>A1*2</f><v></v></c><c r="C2"><f>1+1</f><v>2</v></c>'
    text = text_of(xlsx({"A": row(1, "1", "2", "3") + f'<row r="2">{cells}</row>'}))
    assert text.endswith('| 1 | 2 | 3 |\n| --- | --- | --- |\n| =SUM(A1:B1)&"x" | =A1*2 | 2 |')


def test_formulas_outside_the_range_of_values_keep_their_cells() -> None:
    first = '<row r="1"><c r="C1"><f>C3*2</f></c></row>'
    last = '<row r="4"><c r="B4"><f>SUM(C3:C3)</f><v></v></c><c r="E4"><f>1+1</f></c></row>'
    text = text_of(xlsx({"A": f'{first}<row r="3"><c r="C3"><v>5</v></c></row>{last}', "B": last}))
    assert text == (
        '[sheet "A": 4 rows × 4 columns from B1]\n|  | =C3*2 |  |  |\n| --- | --- | --- | --- |\n|  | 5 |  |  |\n'
        "| =SUM(C3:C3) |  |  | =1+1 |\n\n"
        '[sheet "B": 1 row × 4 columns from B4]\n| =SUM(C3:C3) |  |  | =1+1 |\n| --- | --- | --- | --- |'
    )


def missing(reading: Reading) -> str:
    return incomplete(of_file(reading.missing, "file_1"), "text_1")


def test_sheet_rows_beyond_a_million_cells_are_read_from_a_given_row() -> None:
    rows = "".join(f"<row r='{n}'><c r='A{n}'><v>{n}</v></c><c r='P{n}'><v>1</v></c></row>" for n in range(1, 70_001))
    data = xlsx({"A": rows, "B": row(1, "x")})
    reading = sheets.read(data)
    assert "[rows 65,537 to 70,000 missing here]" in reading.text
    assert missing(reading) == (
        'text_1 is incomplete. Missing: rows 65,537 to 70,000 of the sheet "A", because one text holds about 1,000,000 '
        'cells and 20,000,000 characters; get it with extract_file(file="file_1", sheet="A", first_row=65537). '
        'Missing: the sheet "B", because one text holds about 1,000,000 cells and 20,000,000 characters; get it with '
        'extract_file(file="file_1", sheet="B").'
    )
    rest = sheets.read(data, Wanted(sheet="A", first_row=65_537))
    begins, first, _, second, *_ = rest.text.split("\n")
    assert begins == '[sheet "A": 70,000 rows × 16 columns; row 1, then rows 65,537 to 70,000]'
    assert (first[:5], second[:9]) == ("| 1 |", "| 65537 |")
    assert rest.text.split("\n")[-1].startswith("| 70000 |")
    assert [gap.part for gap in rest.missing] == ['the sheet "B"', 'rows 2 to 65,536 of the sheet "A"']


def test_single_sheet_is_read_by_name_and_the_others_are_reported() -> None:
    data = xlsx({"A": row(1, "x"), "B": row(1, "y"), "C": row(1, "z")})
    reading = sheets.read(data, Wanted(sheet="B"))
    assert reading.text.startswith('[sheet "B": 1 row × 1 column]\n| y |')
    assert missing(reading) == (
        'text_1 is incomplete. Missing: the sheets "A", "C", because only a part was asked for; get it with '
        'extract_file(file="file_1", sheet="A"), and the other sheets in the same way.'
    )
    assert sheets.read(data).missing == ()


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        (Wanted(sheet="D"), 'no sheet \'D\'; it has the sheets "A", "B"'),
        (Wanted(sheet="A", first_row=9), 'The sheet "A" ends in row 1; there is no row 9'),
        (Wanted(first_row=9), 'first_row needs `sheet`, as the workbook has the sheets "A", "B"'),
    ],
)
def test_unknown_sheet_or_row_is_refused_with_the_existing_sheets(wanted: Wanted, said: str) -> None:
    with pytest.raises(ToolError, match=said):
        sheets.read(xlsx({"A": row(1, "x"), "B": row(1, "y")}), wanted)


def test_damaged_workbook_is_refused() -> None:
    with pytest.raises(ToolError, match="damaged"):
        text_of(package({"xl/workbook.xml": "<workbook", "[Content_Types].xml": "<x/>"}))


def comments(at: str, text: str) -> str:
    return (
        f'<comments xmlns="{SHEETS}"><authors><author>Ana</author></authors><commentList>'
        f'<comment ref="{at}" authorId="0"><text><r><t>{text}</t></r></text></comment></commentList></comments>'
    )


def test_sheet_comments_follow_the_sheet_with_cell_and_author() -> None:
    data = xlsx(
        {"A": row(1, "x"), "B": row(1, "y")},
        worksheets___rels_sheet1_xml=relations(("c", "comments", "../comments7.xml")),
        comments7=comments("B2", "Is this net?"),
    )
    assert text_of(data) == (
        '[sheet "A": 1 row × 1 column]\n| x |\n| --- |\n\n[comment at B2] Ana: Is this net?\n\n'
        '[sheet "B": 1 row × 1 column]\n| y |\n| --- |'
    )


def test_sheet_threaded_comments_and_text_boxes_are_read() -> None:
    talk = "http://schemas.microsoft.com/office/spreadsheetml/2018/threadedcomments"
    said = "".join(
        f'<threadedComment ref="A1" personId="{who}"><text>{text}</text></threadedComment>'
        for who, text in (("p1", "Net?"), ("p2", "Yes."))
    )
    lines = "".join(f"<a:p><a:r><a:t>{text}</a:t></a:r></a:p>" for text in ("Read", "me"))
    box = f"<xdr:sp><xdr:txBody>{lines}</xdr:txBody></xdr:sp>"
    data = xlsx(
        {"A": row(1, "x")},
        worksheets___rels_sheet1_xml=relations(
            ("c", "comments", "../comments1.xml"),
            ("t", "threadedComment", "../threadedComments/one.xml"),
            ("d", "drawing", "../drawings/one.xml"),
        ),
        comments1=comments("A1", "[Threaded comment] Your version of Excel"),
        threadedComments__one_xml=f'<ThreadedComments xmlns="{talk}">{said}</ThreadedComments>',
        persons__person_xml=f'<personList xmlns="{talk}"><person id="p1" displayName="Ana"/></personList>',
        drawings__one_xml=f'<xdr:wsDr xmlns:xdr="{BOXES}" xmlns:a="{DRAWING}">{box}</xdr:wsDr>',
    )
    assert text_of(data).split("\n\n")[1] == "[comment at A1] Ana: Net?\n[comment at A1] Yes.\n[text box] Read\nme"


def test_open_spreadsheet_comments_name_the_cell() -> None:
    note = "<office:annotation><dc:creator>Ana</dc:creator><text:p>Net?</text:p></office:annotation>"
    empty = '<table:table-row table:number-rows-repeated="2"><table:table-cell/></table:table-row>'
    before = '<table:table-cell table:number-columns-repeated="27"/>'
    cell = f'<table:table-cell office:value-type="string">{note}<text:p>x</text:p></table:table-cell>'
    table = f'<table:table table:name="T">{empty}<table:table-row>{before}{cell}</table:table-row></table:table>'
    assert text_of(ods(table)).endswith("[comment at AB3] Ana: Net?")


def test_sheet_number_beyond_the_stored_precision_ends_in_zeros() -> None:
    assert "| 12345678901234570000 |" in text_of(
        xlsx({"A": '<row r="1"><c r="A1"><v>1.234567890123457E+19</v></c></row>'})
    )


@given(st.lists(st.integers(-(10**30), 10**30), min_size=1, max_size=8))
def test_sheet_whole_numbers_keep_every_digit(numbers: list[int]) -> None:
    data = xlsx({"N": "".join(row(at, str(number)) for at, number in enumerate(numbers, 1))})
    lines = text_of(data).splitlines()
    shown = [lines[1], *lines[3:]]
    assert [int(line.strip("| ")) for line in shown] == numbers


@given(st.lists(st.floats(-1e15, 1e15, allow_nan=False), min_size=1, max_size=8))
def test_sheet_decimal_numbers_keep_their_values(numbers: list[float]) -> None:
    data = xlsx({"N": "".join(f'<row r="{at}"><c r="A{at}"><v>{n!r}</v></c></row>' for at, n in enumerate(numbers, 1))})
    lines = text_of(data).splitlines()
    assert [float(line.strip("| ")) for line in [lines[1], *lines[3:]]] == numbers


def test_xls_and_ods_workbooks_are_read() -> None:
    assert text_of(xls([["Name", "Größe"], ["a", 1.5]])) == (
        '[sheet "Old": 2 rows × 2 columns]\n| Name | Größe |\n| --- | --- |\n| a | 1.5 |'
    )
    table = (
        '<table:table table:name="T"><table:table-row>'
        '<table:table-cell office:value-type="string"><text:p>日本</text:p></table:table-cell>'
        '<table:table-cell office:value-type="float" office:value="2.25"/></table:table-row></table:table>'
    )
    assert text_of(ods(table)) == '[sheet "T": 1 row × 2 columns]\n| 日本 | 2.25 |\n| --- | --- |'


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"a,b\n1,2\n", "[table: 2 rows × 2 columns, separated by commas]\n| a | b |\n| --- | --- |\n| 1 | 2 |"),
        ("Größe;Preis\n1,5;2\n".encode("cp1252"), "| Größe | Preis |\n| --- | --- |\n| 1,5 | 2 |"),
        (b"a\tb\r\n1\t2\r\n", "separated by tabs"),
        (b'a,b\n"x, ""y""\nz",2\n', '| x, "y"<br>z | 2 |'),
        ("a,b\n1,2\n".encode("utf-16"), "| 1 | 2 |"),
        (b"\xef\xbb\xbfa,b\n1\n1,2,3\n", "| a | b |  |\n| --- | --- | --- |\n| 1 |  |  |"),
        (b"just a line\nand another\n", "just a line\nand another\n"),
        (b"007,1.10\n1e5,-0\n", "| 007 | 1.10 |\n| --- | --- |\n| 1e5 | -0 |"),
    ],
)
def test_separated_values_are_read_with_every_separator_and_encoding(data: bytes, said: str) -> None:
    assert said in separated.read(data).text


words = st.text(alphabet="ab |é,;\"'1.", max_size=6)


@given(st.lists(st.lists(words, min_size=3, max_size=3), min_size=4, max_size=9), st.sampled_from(",;\t"))
@example([["", '"', '"|'], ["||", "", ""], ["", "", '"'], ["", '"', '"|']], ",")
def test_separated_values_keep_every_cell(rows: list[list[str]], separator: str) -> None:
    buffer = io.StringIO()
    csv.writer(buffer, delimiter=separator, quoting=csv.QUOTE_ALL).writerows(rows)
    text = separated.read(buffer.getvalue().encode()).text
    for cells in rows:
        for cell in cells:
            assert cell.strip().replace("|", "\\|") in text or cell.strip() in text


def test_damaged_sheet_is_reported_missing_and_the_others_are_read() -> None:
    data = xlsx({"A": row(1, "x"), "B": row(1, "y")})
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    parts["xl/worksheets/sheet1.xml"] = b"<worksheet"
    reading = sheets.read(package(parts))
    assert "| y |" in reading.text
    assert missing(reading) == (
        'text_1 is incomplete. Missing: the sheet "A", because it is damaged; ask for the file to be sent again.'
    )
