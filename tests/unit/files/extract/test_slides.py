"""Presentations: slides in the displayed order, with notes, tables, charts and comments."""

import zipfile
from io import BytesIO

import pytest

from gofer.files.extract import slides
from gofer.values.errors import ToolError
from support.documents.made_by_hand import CHART, package, pptx, relations, shape, slide_part, slide_table


def text_of(data: bytes) -> str:
    return slides.read(data).text


def test_slides_have_the_displayed_order_and_begin_with_the_title() -> None:
    text = text_of(pptx([shape("Text") + shape("Second", "title"), shape("First", "ctrTitle")], order=[2, 1]))
    assert text == "[slide 1 of 2]\n\n## First\n\n[slide 2 of 2]\n\n## Second\n\nText"


def test_slide_tables_groups_bullets_and_pictures_are_read() -> None:
    picture = '<p:pic><p:nvPicPr><p:cNvPr id="4" name="x" descr="Team photo"/></p:nvPicPr></p:pic>'
    bullets = (
        '<p:sp><p:txBody><a:p><a:pPr><a:buChar char="•"/></a:pPr><a:r><a:t>one</a:t></a:r></a:p>'
        '<a:p><a:pPr lvl="1"/><a:r><a:t>two</a:t></a:r><a:br/><a:r><a:t>more</a:t></a:r></a:p></p:txBody></p:sp>'
    )
    tree = slide_table([["A", "B"], ["1", "2"]]) + f"<p:grpSp>{shape('Grouped')}</p:grpSp>" + bullets + picture
    assert text_of(pptx([tree])) == (
        "[slide 1 of 1]\n\n| A | B |\n| --- | --- |\n| 1 | 2 |\n\nGrouped\n\n"
        "- one\n  - two\nmore\n\n[image: Team photo]"
    )


def test_slide_notes_and_comments_follow_their_slide() -> None:
    notes = slide_part(
        "p:notes", f"<p:cSld><p:spTree>{shape('Say hello.', 'body')}{shape('7', 'sldNum')}</p:spTree></p:cSld>"
    )
    data = pptx(
        [shape("Shown")],
        slides___rels_slide1_xml=relations(
            ("n", "notesSlide", "../notesSlides/notesSlide1.xml"), ("c", "comments", "../comments/comment1.xml")
        ),
        notesSlides__notesSlide1_xml=notes,
        comments__comment1_xml=slide_part("p:cmLst", '<p:cm authorId="0"><p:text>Too long?</p:text></p:cm>'),
        commentAuthors_xml=slide_part("p:cmAuthorLst", '<p:cmAuthor id="0" name="Ana"/>'),
    )
    assert text_of(data) == "[slide 1 of 1]\n\nShown\n\n[notes] Say hello.\n\n[comment] Ana: Too long?"


def test_slide_chart_becomes_the_table_of_the_chart_data() -> None:
    def series(name: str, *values: str) -> str:
        cat = "".join(f"<c:pt><c:v>{one}</c:v></c:pt>" for one in ("Q1", "Q2"))
        val = "".join(f"<c:pt><c:v>{one}</c:v></c:pt>" for one in values)
        return f"<c:ser><c:tx><c:v>{name}</c:v></c:tx><c:cat>{cat}</c:cat><c:val>{val}</c:val></c:ser>"

    plot = f"<c:plotArea><c:barChart>{series('North', '1.5', '2')}{series('South', '3', '4')}</c:barChart></c:plotArea>"
    title = "<c:title><c:tx><c:rich><a:p><a:r><a:t>Sales</a:t></a:r></a:p></c:rich></c:tx></c:title>"
    inner = f'<c:chart xmlns:c="{CHART}" r:id="ch"/>'
    frame = f"<p:graphicFrame><a:graphic><a:graphicData>{inner}</a:graphicData></a:graphic></p:graphicFrame>"
    data = pptx(
        [frame],
        slides___rels_slide1_xml=relations(("ch", "chart", "../charts/chart1.xml")),
        charts__chart1_xml=slide_part("c:chartSpace", f"<c:chart>{title}{plot}</c:chart>"),
    )
    assert text_of(data) == (
        "[slide 1 of 1]\n\n[chart: Sales]\n\n"
        "|  | North | South |\n| --- | --- | --- |\n| Q1 | 1.5 | 3 |\n| Q2 | 2 | 4 |"
    )


def test_slide_diagrams_links_and_alternate_drawings_are_read() -> None:
    office = "http://schemas.openxmlformats.org/"
    diagram = f'<d:relIds xmlns:d="{office}drawingml/2006/diagram" r:dm="d"/>'
    linked = '<a:r><a:rPr><a:hlinkClick r:id="l"/></a:rPr><a:t>our site</a:t></a:r>'
    tree = (
        f"<p:graphicFrame><a:graphic><a:graphicData>{diagram}</a:graphicData></a:graphic></p:graphicFrame>"
        f"<p:sp><p:txBody><a:p>{linked}</a:p></p:txBody></p:sp>"
        f'<mc:AlternateContent xmlns:mc="{office}markup-compatibility/2006"><mc:Choice>{shape("Newer")}</mc:Choice>'
        f"<mc:Fallback>{shape('Older')}</mc:Fallback></mc:AlternateContent>"
    )
    data = pptx(
        [tree],
        slides___rels_slide1_xml=relations(
            ("d", "diagramData", "../diagrams/data1.xml"), ("l", "hyperlink", "https://x.y/")
        ),
        diagrams__data1_xml=slide_part(
            "a:model", "<a:p><a:r><a:t>Plan</a:t></a:r></a:p><a:p><a:r><a:t>Do</a:t></a:r></a:p>"
        ),
    )
    assert text_of(data) == "[slide 1 of 1]\n\n- Plan\n- Do\n\n[our site](https://x.y/)\n\nNewer"


def test_empty_and_missing_slides_are_marked() -> None:
    assert text_of(pptx([""])) == "[slide 1 of 1]\n\n(This slide has no text.)"
    listed = slide_part("p:presentation", '<p:sldIdLst><p:sldId id="256" r:id="r1"/></p:sldIdLst>')
    to = relations(("r1", "slide", "slides/slide1.xml"))
    data = package({"ppt/presentation.xml": listed, "ppt/_rels/presentation.xml.rels": to})
    assert text_of(data) == "[slide 1 of 1: missing]"


def test_presentation_without_slides_is_refused() -> None:
    with pytest.raises(ToolError, match="has no slides"):
        text_of(pptx([]))


def chart_of(*series: str) -> str:
    inner = f'<c:chart xmlns:c="{CHART}" r:id="ch"/>'
    frame = f"<p:graphicFrame><a:graphic><a:graphicData>{inner}</a:graphicData></a:graphic></p:graphicFrame>"
    chart = slide_part("c:chartSpace", f"<c:chart><c:plotArea>{''.join(series)}</c:plotArea></c:chart>")
    told = relations(("ch", "chart", "../charts/chart1.xml"))
    text = text_of(pptx([frame], slides___rels_slide1_xml=told, charts__chart1_xml=chart))
    return text.removeprefix("[slide 1 of 1]\n\n[chart]\n\n")


def points(**values: str) -> str:
    return "".join(f'<c:pt idx="{at[1:]}"><c:v>{value}</c:v></c:pt>' for at, value in values.items())


def test_chart_value_is_in_the_row_of_the_category_index() -> None:
    names = points(_0="East", _1="West", _2="Mid")
    first = f"<c:ser><c:tx><c:v>Q1</c:v></c:tx><c:cat>{names}</c:cat><c:val>{points(_0='19', _2='17')}</c:val></c:ser>"
    second = f"<c:ser><c:tx><c:v>Q2</c:v></c:tx><c:cat>{names}</c:cat><c:val>{points(_1='2')}</c:val></c:ser>"
    assert chart_of(first, second) == (
        "|  | Q1 | Q2 |\n| --- | --- | --- |\n| East | 19 |  |\n| West |  | 2 |\n| Mid | 17 |  |"
    )


def test_chart_nested_categories_and_dates_are_read() -> None:
    inner, outer = points(_0="CA", _1="NY", _2="DF"), points(_0="USA", _2="Mexico")
    names = f"<c:multiLvlStrRef><c:lvl>{inner}</c:lvl><c:lvl>{outer}</c:lvl></c:multiLvlStrRef>"
    values = f"<c:val>{points(_0='1', _1='2', _2='3')}</c:val>"
    assert chart_of(f"<c:ser><c:cat>{names}</c:cat>{values}</c:ser>") == (
        "| USA / CA | 1 |\n| --- | --- |\n| USA / NY | 2 |\n| Mexico / DF | 3 |"
    )
    days = f"<c:formatCode>[$-409]d/m/yyyy</c:formatCode>{points(_0='46023', _1='46023.5', _2='soon', _3='1e99')}"
    four = f"<c:val>{points(_0='1', _1='2', _2='3', _3='4')}</c:val>"
    assert chart_of(f"<c:ser><c:cat>{days}</c:cat>{four}</c:ser>") == (
        "| 2026-01-01 | 1 |\n| --- | --- |\n| 2026-01-01 12:00:00 | 2 |\n| soon | 3 |\n| 1e99 | 4 |"
    )


def test_scatter_chart_series_each_have_an_x_column() -> None:
    def cloud(name: str, x: str, y: str) -> str:
        places = f"<c:xVal>{points(_0=x)}</c:xVal><c:yVal>{points(_0=y)}</c:yVal>"
        return f"<c:ser><c:tx><c:v>{name}</c:v></c:tx>{places}</c:ser>"

    assert chart_of(cloud("A", "1", "10"), cloud("B", "5", "50")) == (
        "|  | A |  | B |\n| --- | --- | --- | --- |\n| 1 | 10 | 5 | 50 |"
    )


def test_chart_point_with_an_excessive_index_is_left_out() -> None:
    assert chart_of(f"<c:ser><c:val>{points(_0='1', _999999999='2')}</c:val></c:ser>") == "| 1 |\n| --- |"


def test_slide_superscript_and_struck_text_is_marked() -> None:
    def run(text: str, about: str) -> str:
        return f"<a:r><a:rPr {about}/><a:t>{text}</a:t></a:r>"

    runs = run("10", 'baseline="0"') + run("5", 'baseline="30000"') + run("2", 'baseline="-25000"')
    tree = (
        f"<p:sp><p:txBody><a:p>{runs}{run(' old', 'strike=' + chr(34) + 'sngStrike' + chr(34))}</a:p></p:txBody></p:sp>"
    )
    assert text_of(pptx([tree])) == "[slide 1 of 1]\n\n10⁵2~~ old~~"


def test_slide_of_pictures_only_is_reported_missing() -> None:
    picture = "<p:pic><p:nvPicPr><p:cNvPr/></p:nvPicPr></p:pic>"
    reading = slides.read(pptx([shape("Text") + picture, picture, ""]))
    assert [(gap.unit, gap.part) for gap in reading.missing] == [("scans", "the text of slide 2")]


def test_slide_absent_from_the_file_is_reported_missing() -> None:
    data = pptx([shape("One"), shape("Two")])
    with zipfile.ZipFile(BytesIO(data)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist() if name != "ppt/slides/slide2.xml"}
    assert [gap.part for gap in slides.read(package(parts)).missing] == ["slide 2"]


@pytest.mark.parametrize("level", ["²", "9" * 5_000, "-1"])
def test_slide_invalid_list_level_leaves_the_text_unchanged(level: str) -> None:
    body = f'<p:sp><p:txBody><a:p><a:pPr lvl="{level}"/><a:r><a:t>one</a:t></a:r></a:p></p:txBody></p:sp>'
    assert text_of(pptx([body])) == "[slide 1 of 1]\n\none"


def test_hidden_shape_of_a_slide_is_marked_as_hidden() -> None:
    about = '<p:nvSpPr><p:cNvPr id="4" name="x" hidden="1"/></p:nvSpPr>'
    text = "<p:txBody><a:p><a:r><a:t>Pay now</a:t></a:r></a:p></p:txBody>"
    made = text_of(pptx([shape("Shown") + f"<p:sp>{about}{text}</p:sp>"]))
    assert made == "[slide 1 of 1]\n\nShown\n\n[hidden: Pay now]"
