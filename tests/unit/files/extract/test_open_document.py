"""OpenDocument texts and presentations as displayed: list numbers, headers, notes, comments, slides, charts."""

import pytest

from gofer.files.extract import open_document
from support.documents.made_by_hand import odt


def listed(style: str, *items: str, more: str = "") -> str:
    inner = "".join(
        item if item.startswith("<") else f"<text:list-item><text:p>{item}</text:p></text:list-item>" for item in items
    )
    return f'<text:list text:style-name="{style}"{more}>{inner}</text:list>'


def level(at: int, form: str, more: str = "") -> str:
    return f'<text:list-level-style-number text:level="{at}" style:num-format="{form}" style:num-suffix="." {more}/>'


def test_odt_lists_have_the_displayed_numbers() -> None:
    deeper = level(2, "a", 'text:display-levels="2"')
    styles = "".join(
        f'<text:list-style style:name="{name}">{inner}</text:list-style>'
        for name, inner in (
            ("L", level(1, "1") + deeper),
            ("S", level(1, "I", 'text:start-value="4"')),
            ("B", '<text:list-level-style-bullet text:level="1"/>'),
        )
    )
    deep = "<text:list-item><text:p>two</text:p><text:p>more</text:p><text:list>{}</text:list></text:list-item>"
    inner = "".join(f"<text:list-item><text:p>{text}</text:p></text:list-item>" for text in ("x", "y"))
    again = '<text:list-item text:start-value="9"><text:p>nine</text:p></text:list-item>'
    body = listed("L", "one", deep.format(inner)) + listed("L", "three", more=' text:continue-numbering="true"')
    body += listed("L", "anew", again) + listed("S", "four") + listed("B", "point") + listed("unknown", "other")
    assert open_document.read(odt(body, styles=styles)).split("\n\n") == [
        "1. one\n2. two\n   more\n  2.a. x\n  2.b. y", "3. three", "1. anew\n9. nine", "IV. four", "- point", "- other",
    ]  # fmt: skip


def test_odt_headers_notes_and_comments_are_read() -> None:
    around = "".join(
        f"<style:{name}><text:p>{text}</text:p></style:{name}>"
        for name, text in (("header", "Top"), ("header-left", "Left"), ("footer", "Foot"), ("footer-first", "Foot"))
    )
    styles = f"<office:master-styles><style:master-page>{around}</style:master-page></office:master-styles>"
    end = '<text:note text:note-class="endnote"><text:note-body><text:p>Ends.</text:p></text:note-body></text:note>'
    asked = (
        "<office:annotation><dc:creator>Ana</dc:creator><text:p>Why</text:p><text:p>so?</text:p></office:annotation>"
    )
    text = open_document.read(odt(f"<text:p>Said{end}{asked}</text:p>", styles=styles))
    assert text.split("\n\n") == [
        "[header] Top",
        "[header] Left",
        "Said[^e1][comment 1]",
        "[footer] Foot",
        "[^e1]: Ends.",
        "[comment 1] Ana: Why so?",
    ]


@pytest.mark.parametrize(
    ("about", "said"),
    [
        ('style:text-position="super 58%"', "10⁵"),
        ('style:text-position="sub 58%"', "105"),
        ('style:text-line-through-style="solid"', "10~~5~~"),
        ('style:text-line-through-style="none"', "105"),
    ],
)
def test_odt_superscript_and_struck_text_is_marked(about: str, said: str) -> None:
    styles = f'<style:style style:name="X"><style:text-properties {about}/></style:style>'
    body = '<text:p>10<text:span text:style-name="X">5</text:span></text:p>'
    assert open_document.read(odt(body, styles=styles)) == said


def test_odt_table_inside_a_cell_becomes_lines_of_that_cell() -> None:
    def cell(inner: str) -> str:
        return f"<table:table-cell>{inner}</table:table-cell>"

    row = f"<table:table-row>{cell('<text:p>a</text:p>')}{cell('<text:p>b</text:p>')}</table:table-row>"
    inner = f"<table:table><table:table-header-rows>{row}</table:table-header-rows>{row}</table:table>"
    body = f"<table:table><table:table-row>{cell('<text:p>Out</text:p>')}{cell(inner)}</table:table-row></table:table>"
    assert open_document.read(odt(body)) == "| Out | a; b<br>a; b |\n| --- | --- |"


def test_odp_slides_have_numbers_titles_and_a_hidden_mark() -> None:
    def frame(kind: str, text: str) -> str:
        inner = f"<draw:text-box><text:p>{text}</text:p></draw:text-box>"
        return f'<draw:frame presentation:class="{kind}">{inner}</draw:frame>'

    first = f"<draw:page>{frame('outline', 'Text')}{frame('title', 'Head')}{frame('footer', 'ACME')}</draw:page>"
    notes = f"<presentation:notes>{frame('notes', 'Say it')}{frame('page-number', '1')}</presentation:notes>"
    second = f'<draw:page draw:style-name="H">{frame("title", "Secret")}{notes}</draw:page>'
    hidden = (
        '<style:style style:name="H"><style:drawing-page-properties presentation:visibility="hidden"/></style:style>'
    )
    text = open_document.read(odt(first + second, "presentation", styles=hidden))
    assert text.split("\n\n") == [
        "[slide 1 of 2]", "## Head", "Text", "[slide 2 of 2, hidden]", "## Secret", "[notes] Say it",
    ]  # fmt: skip


def test_odt_chart_becomes_the_table_of_the_chart_data() -> None:
    def row(*values: str) -> str:
        cells = "".join(f"<table:table-cell><text:p>{value}</text:p></table:table-cell>" for value in values)
        return f"<table:table-row>{cells}</table:table-row>"

    table = f"<table:table>{row('', 'Q1')}{row('East', '19')}{row('West', 'NaN')}</table:table>"
    chart = f"<chart:chart><chart:title><text:p>Sales</text:p></chart:title>{table}</chart:chart>"
    body = '<text:p><draw:frame><draw:object xlink:href="./one"/></draw:frame></text:p>'
    assert open_document.read(odt(body, one=chart)) == (
        "[chart: Sales]\n\n|  | Q1 |\n| --- | --- |\n| East | 19 |\n| West |  |"
    )
    assert open_document.read(odt(body.replace("one", "../../etc"))) == ""


@pytest.mark.parametrize("number", ["²", "9" * 5_000, "-1"])
def test_odt_invalid_numeric_attributes_leave_the_text_unchanged(number: str) -> None:
    heading = f'<text:h text:outline-level="{number}">Head</text:h>'
    spaces = f'<text:p>a<text:s text:c="{number}"/>b</text:p>'
    again = f'<text:list-item text:start-value="{number}"><text:p>x</text:p></text:list-item>'
    assert open_document.read(odt(heading + spaces + listed("S", again))) == "# Head\n\na b\n\n- x"
