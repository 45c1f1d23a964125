"""Word documents: all readable text in document order."""

import pytest

from gofer.files.extract import word
from support.documents.made_by_hand import WORD, docx, package, paragraph, relations, word_table


def text_of(data: bytes) -> str:
    return word.read(data).text


STYLES = (
    '<w:style w:styleId="H1"><w:name w:val="heading 1"/></w:style>'
    '<w:style w:styleId="T"><w:name w:val="Title"/></w:style>'
    '<w:style w:styleId="Own"><w:name w:val="Our chapter"/><w:pPr><w:outlineLvl w:val="1"/></w:pPr></w:style>'
)


def listed(text: str, level: int = 0, number: int = 1) -> str:
    return paragraph(text, more=f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{number}"/></w:numPr>')


def test_word_headings_paragraphs_and_tables_keep_their_order() -> None:
    table = word_table([["Item", "Price"], ["Apple | pear", "1.20"]])
    body = paragraph("Report", "T") + paragraph("Costs", "H1") + table + paragraph("Between", "Own") + paragraph("End.")
    assert text_of(docx(body, styles=STYLES)) == (
        "# Report\n\n# Costs\n\n| Item | Price |\n| --- | --- |\n| Apple \\| pear | 1.20 |\n\n## Between\n\nEnd."
    )


def test_word_merged_cells_keep_their_columns() -> None:
    wide = '<w:tcPr><w:gridSpan w:val="2"/></w:tcPr>Both'
    top = '<w:tcPr><w:vMerge w:val="restart"/></w:tcPr>Tall'
    below = "<w:tcPr><w:vMerge/></w:tcPr>"
    table = word_table([["A", wide], [top, "b", "c"], [below, "d", "e"]])
    assert text_of(docx(table)) == "| A | Both |  |\n| --- | --- | --- |\n| Tall | b | c |\n|  | d | e |"


def test_word_lists_have_the_displayed_numbers() -> None:
    levels = (
        '<w:lvl w:ilvl="0"><w:start w:val="3"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl>'
        '<w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="lowerLetter"/><w:lvlText w:val="%1.%2)"/></w:lvl>'
    )
    numbering = (
        f'<w:abstractNum w:abstractNumId="7">{levels}</w:abstractNum>'
        '<w:abstractNum w:abstractNumId="8"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/></w:lvl></w:abstractNum>'
        '<w:num w:numId="1"><w:abstractNumId w:val="7"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="8"/></w:num>'
    )
    body = listed("three") + listed("deep", 1) + listed("deeper", 1) + listed("four") + listed("again", 1)
    body += listed("point", 0, 2)
    assert text_of(docx(body, numbering=numbering)).split("\n\n") == [
        "3. three", "  3.a) deep", "  3.b) deeper", "4. four", "  4.a) again", "- point",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("form", "number", "said"),
    [("upperRoman", 14, "XIV"), ("lowerRoman", 4000, "4000"), ("upperLetter", 28, "BB"), ("decimalZero", 7, "7")],
)
def test_word_list_numbers_are_written_in_the_declared_format(form: str, number: int, said: str) -> None:
    level = f'<w:lvl w:ilvl="0"><w:start w:val="{number}"/><w:numFmt w:val="{form}"/><w:lvlText w:val="%1)"/></w:lvl>'
    numbering = (
        f'<w:abstractNum w:abstractNumId="7">{level}</w:abstractNum>'
        '<w:num w:numId="1"><w:abstractNumId w:val="7"/></w:num>'
    )
    assert text_of(docx(listed("item"), numbering=numbering)) == f"{said}) item"


def test_word_notes_comments_headers_and_footers_are_read() -> None:
    reference = '<w:r><w:footnoteReference w:id="2"/></w:r><w:r><w:endnoteReference w:id="5"/></w:r>'
    body = f'<w:p><w:r><w:t>Claim</w:t></w:r>{reference}<w:r><w:commentReference w:id="0"/></w:r></w:p>'
    text = text_of(
        docx(
            body,
            footnotes=f'<w:footnote w:id="-1">{paragraph("separator")}</w:footnote>'
            f'<w:footnote w:id="2">{paragraph("See page 9.")}</w:footnote>',
            endnotes=f'<w:endnote w:id="5">{paragraph("At the end.")}</w:endnote>',
            comments=f'<w:comment w:id="0" w:author="Ana">{paragraph("Really?")}</w:comment>',
            header1=paragraph("Confidential"),
            footer1=paragraph("Page 1"),
        )
    )
    assert text.split("\n\n") == [
        "[header] Confidential",
        "Claim[^1][^e1][comment 1]",
        "[footer] Page 1",
        "[^1]: See page 9.",
        "[^e1]: At the end.",
        "[comment 1] Ana: Really?",
    ]


def test_word_tracked_changes_show_inserted_and_deleted_text() -> None:
    body = (
        "<w:p><w:r><w:t>We pay </w:t></w:r><w:del><w:r><w:delText>10</w:delText></w:r></w:del>"
        "<w:ins><w:r><w:t>12</w:t></w:r></w:ins><w:r><w:t> euros</w:t></w:r></w:p>"
    )
    assert text_of(docx(body)) == (
        "We pay ~~10~~12 euros\n\n[tracked changes: 1 deleted passages are ~~struck through~~]"
    )


def test_word_links_breaks_symbols_and_text_boxes_are_read_once() -> None:
    box = f"<w:txbxContent>{paragraph('Boxed')}</w:txbxContent>"
    body = (
        '<w:p><w:hyperlink r:id="x"><w:r><w:t>our site</w:t></w:r></w:hyperlink><w:r><w:br/><w:t>next</w:t><w:tab/>'
        '<w:noBreakHyphen/><w:sym w:font="Symbol" w:char="F0B7"/></w:r></w:p>'
        f"<w:p><w:r><mc:AlternateContent><mc:Choice><wps:txbx>{box}</wps:txbx></mc:Choice>"
        f"<mc:Fallback><v:textbox>{box}</v:textbox></mc:Fallback></mc:AlternateContent></w:r></w:p>"
        '<w:p><w:r><w:drawing><wp:inline><wp:docPr id="1" descr="A chart"/></wp:inline></w:drawing></w:r></w:p>'
        "<w:sdt><w:sdtContent><w:p><w:r><w:t>In a control</w:t></w:r></w:p></w:sdtContent></w:sdt>"
    )
    text = text_of(docx(body, rels=relations(("x", "hyperlink", "https://example.com/"))))
    assert text == "[our site](https://example.com/)\nnext\t-•\n\nBoxed\n\n[image: A chart]\n\nIn a control"


@pytest.mark.parametrize(
    "text", ["مرحبا بالعالم", "שלום עולם", "日本語の文章。", "한국어", "emoji 👩‍👩‍👧", "naïve Größe"]
)
def test_word_text_of_every_script_is_read_unchanged(text: str) -> None:
    assert text_of(docx(paragraph(text))) == text


def test_word_strict_document_is_read() -> None:
    strict = WORD.replace("schemas.openxmlformats.org", "purl.oclc.org/ooxml").replace("/2006", "")
    body = f'<w:document xmlns:w="{strict}"><w:body>{paragraph("Strict")}</w:body></w:document>'
    assert text_of(package({"word/document.xml": body})) == "Strict"


def test_word_document_without_text_reads_as_empty() -> None:
    assert text_of(docx("<w:p/>")) == ""


def test_word_document_of_images_only_reports_the_missing_text() -> None:
    data = package({"word/document.xml": f'<w:document xmlns:w="{WORD}"/>', "word/media/image1.png": b"x"})
    assert [gap.part for gap in word.read(data).missing] == ["the text in its images"]


@pytest.mark.parametrize("number", ["²", "9" * 5_000, "-1"])
def test_word_invalid_numeric_attributes_leave_the_text_unchanged(number: str) -> None:
    styles = (
        f'<w:style w:styleId="A"><w:name w:val="heading {number}"/></w:style>'
        f'<w:style w:styleId="B"><w:name w:val="x"/><w:pPr><w:outlineLvl w:val="{number}"/></w:pPr></w:style>'
    )
    cell = f'<w:tcPr><w:gridSpan w:val="{number}"/></w:tcPr>Both'
    body = paragraph("One", "A") + paragraph("Two", "B") + word_table([[cell, "x"], ["a", "b"]])
    assert text_of(docx(body, styles=styles)) == "One\n\nTwo\n\n| Both | x |\n| --- | --- |\n| a | b |"
