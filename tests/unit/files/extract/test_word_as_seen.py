"""Word documents as displayed: lists of styles, superscript, hidden and struck text, formulas, charts."""

import random

import pytest

from gofer.files.extract import word
from support.documents.made_by_hand import CHART, WORD, docx, paragraph, relations, word_table


def text_of(data: bytes) -> str:
    return word.read(data).text


MATH = "http://schemas.openxmlformats.org/officeDocument/2006/math"
BULLET = '<w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/></w:lvl>'
DECIMAL = '<w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl>'


def kind(number: int, levels: str) -> str:
    return f'<w:abstractNum w:abstractNumId="{number}">{levels}</w:abstractNum>'


def num(number: int, of: int, more: str = "") -> str:
    return f'<w:num w:numId="{number}"><w:abstractNumId w:val="{of}"/>{more}</w:num>'


def style(name: str, number: int | None = None, based: str = "", called: str = "") -> str:
    listed = f'<w:pPr><w:numPr><w:numId w:val="{number}"/></w:numPr></w:pPr>' if number is not None else ""
    on = f'<w:basedOn w:val="{based}"/>' if based else ""
    return f'<w:style w:styleId="{name}"><w:name w:val="{called or name}"/>{on}{listed}</w:style>'


def listed(text: str, number: int) -> str:
    return paragraph(text, more=f'<w:numPr><w:ilvl w:val="0"/><w:numId w:val="{number}"/></w:numPr>')


def run(text: str, about: str) -> str:
    return f"<w:p><w:r><w:t>a</w:t></w:r><w:r><w:rPr>{about}</w:rPr><w:t>{text}</w:t></w:r></w:p>"


def test_word_paragraph_takes_the_list_of_the_style_or_the_base_style() -> None:
    styles = style("Bullet", 1) + style("Step", 2) + style("Own", based="Step")
    numbering = kind(7, BULLET) + kind(8, DECIMAL) + num(1, 7) + num(2, 8)
    body = paragraph("point", "Bullet") + paragraph("one", "Step") + paragraph("two", "Own")
    body += paragraph("none", "Own", '<w:numPr><w:numId w:val="0"/></w:numPr>') + paragraph("three", "Step")
    text = text_of(docx(body, styles=styles, numbering=numbering))
    assert text.split("\n\n") == ["- point", "1. one", "2. two", "none", "3. three"]


def test_word_numbered_headings_take_the_level_of_their_style() -> None:
    levels = "".join(
        f'<w:lvl w:ilvl="{at}"><w:numFmt w:val="decimal"/><w:pStyle w:val="H{at + 1}"/>'
        f'<w:lvlText w:val="{text}"/></w:lvl>'
        for at, text in enumerate(("%1", "%1.%2"))
    )
    styles = style("H1", 1, called="heading 1") + style("H2", 1, called="heading 2")
    body = paragraph("Scope", "H1") + paragraph("Terms", "H2") + paragraph("Places", "H2") + paragraph("Price", "H1")
    text = text_of(docx(body, styles=styles, numbering=kind(7, levels) + num(1, 7)))
    assert text.split("\n\n") == ["# 1 Scope", "## 1.1 Terms", "## 1.2 Places", "# 2 Price"]


def test_word_list_continues_the_numbering_unless_a_restart_is_declared() -> None:
    again = '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="5"/></w:lvlOverride>'
    numbering = kind(7, DECIMAL) + num(1, 7) + num(2, 7) + num(3, 7, again)
    body = listed("one", 1) + listed("goes on", 2) + listed("anew", 3) + listed("six", 3)
    assert text_of(docx(body, numbering=numbering)).split("\n\n") == ["1. one", "2. goes on", "5. anew", "6. six"]


def test_word_list_follows_a_link_to_a_list_style() -> None:
    numbering = kind(7, '<w:numStyleLink w:val="Ours"/>') + kind(8, DECIMAL) + num(1, 7) + num(2, 8)
    assert text_of(docx(listed("one", 1), styles=style("Ours", 2), numbering=numbering)) == "1. one"


@pytest.mark.parametrize(
    ("about", "said"),
    [
        ('<w:vertAlign w:val="superscript"/>', "a⁻⁵"),
        ('<w:vertAlign w:val="subscript"/>', "a-5"),
        ("<w:strike/>", "a~~-5~~"),
        ('<w:strike w:val="0"/>', "a-5"),
        ("<w:vanish/>", "a"),
        ('<w:vanish w:val="false"/>', "a-5"),
    ],
)
def test_word_superscript_struck_and_hidden_text_is_read_as_displayed(about: str, said: str) -> None:
    assert text_of(docx(run("-5", about))) == said


def test_word_superscript_letters_stay_letters_and_struck_runs_are_joined() -> None:
    struck = "".join(f"<w:r><w:rPr><w:strike/></w:rPr><w:t>{text}</w:t></w:r>" for text in ("old", "er"))
    body = run("st", '<w:vertAlign w:val="superscript"/>') + f"<w:p>{struck}</w:p>"
    assert text_of(docx(body)) == "ast\n\n~~older~~"


def test_word_links_in_notes_use_the_relations_of_the_notes() -> None:
    link = '<w:hyperlink r:id="r1"><w:r><w:t>here</w:t></w:r></w:hyperlink>'
    data = docx(
        f'<w:p>{link}<w:r><w:footnoteReference w:id="1"/></w:r></w:p>',
        rels=relations(("r1", "hyperlink", "https://a.example/")),
        footnotes=f'<w:footnote w:id="1"><w:p>{link}</w:p></w:footnote>',
        footnotes_rels=relations(("r1", "hyperlink", "https://b.example/")),
    )
    assert text_of(data) == "[here](https://a.example/)[^1]\n\n[^1]: [here](https://b.example/)"


def test_word_table_inside_a_cell_becomes_lines_of_that_cell() -> None:
    inner = word_table([["a", "b|c"], ["", "d"]])
    table = f"<w:tbl><w:tr><w:tc>{paragraph('Out')}</w:tc><w:tc>{inner}{paragraph('')}</w:tc></w:tr></w:tbl>"
    assert text_of(docx(table)) == "| Out | a; b\\|c<br>d |\n| --- | --- |"


def test_word_formulas_are_read_on_a_single_line() -> None:
    def text(said: str) -> str:
        return f"<m:r><m:t>{said}</m:t></m:r>"

    half = f"<m:f><m:num>{text('a+b')}</m:num><m:den>{text('2')}</m:den></m:f>"
    power = f"<m:sSup><m:e>{text('x')}</m:e><m:sup>{text('10')}</m:sup></m:sSup>"
    index = f"<m:sSub><m:e>{text('y')}</m:e><m:sub>{text('i+1')}</m:sub></m:sSub>"
    root = f"<m:rad><m:e>{text('z')}</m:e></m:rad><m:d><m:e>{text('q')}</m:e></m:d>"
    sums = f"<m:nary><m:sub>{text('0')}</m:sub><m:sup>{text('1')}</m:sup><m:e>{text('t')}</m:e></m:nary>"
    body = f'<w:p><m:oMath xmlns:m="{MATH}">{half}{text("=")}{power}{index}{root}{sums}</m:oMath></w:p>'
    assert text_of(docx(body)) == "(a+b)/2=x^10y_(i+1)√z(q)∫_0^1 t"


def test_word_chart_becomes_the_table_of_the_chart_data() -> None:
    points = '<c:pt idx="0"><c:v>1</c:v></c:pt><c:pt idx="2"><c:v>3</c:v></c:pt>'
    names = "".join(f'<c:pt idx="{at}"><c:v>{name}</c:v></c:pt>' for at, name in enumerate("ABC"))
    series = f"<c:ser><c:cat>{names}</c:cat><c:val>{points}</c:val></c:ser>"
    chart = f'<c:chartSpace xmlns:c="{CHART}"><c:chart>{series}</c:chart></c:chartSpace>'
    body = f'<w:p><w:r><w:drawing><c:chart xmlns:c="{CHART}" xmlns:w="{WORD}" r:id="r1"/></w:drawing></w:r></w:p>'
    data = docx(body, rels=relations(("r1", "chart", "charts/chart1.xml")), chart1=chart)
    assert text_of(data) == "[chart]\n\n| A | 1 |\n| --- | --- |\n| B |  |\n| C | 3 |"


def test_word_document_too_large_for_a_tree_is_read_as_a_stream() -> None:
    chance = random.Random(7)
    texts = [f"{at} {chance.randbytes(1_000).hex()}" for at in range(4_500)]
    body = "".join(map(paragraph, texts)) + word_table([["a", "b"], ["c", "d"]]) + paragraph("End.")
    assert len(body) > 8 << 20
    *paragraphs, table, end = text_of(docx(body)).split("\n\n")
    assert paragraphs == texts
    assert (table, end) == ("| a | b |\n| --- | --- |\n| c | d |", "End.")


@pytest.mark.parametrize(
    ("about", "said"),
    [
        ('<w:color w:val="FFFFFF"/>', "a[hidden: b]"),
        ('<w:sz w:val="2"/>', "a[hidden: b]"),
        ('<w:color w:val="FFFFFF"/><w:shd w:val="clear" w:fill="000000"/>', "ab"),
        ('<w:color w:val="FFFFFF"/><w:highlight w:val="black"/>', "ab"),
        ('<w:color w:val="FF0000"/><w:sz w:val="16"/>', "ab"),
    ],
)
def test_white_or_tiny_word_text_is_marked_as_hidden(about: str, said: str) -> None:
    assert text_of(docx(run("b", about))) == said


def test_word_white_text_in_a_dark_cell_is_seen() -> None:
    white = '<w:r><w:rPr><w:color w:val="FFFFFF"/></w:rPr><w:t>head</w:t></w:r>'
    dark = f'<w:tc><w:tcPr><w:shd w:fill="1F3864"/></w:tcPr><w:p>{white}</w:p></w:tc>'
    plain = f"<w:tc><w:p>{white}</w:p></w:tc>"
    assert text_of(docx(f"<w:tbl><w:tr>{dark}{plain}</w:tr></w:tbl>")).startswith("| head | [hidden: head] |")
