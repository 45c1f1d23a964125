"""Presentations: slides as they are shown, with notes, tables, charts and comments."""

import pytest

from documents import CHART, pptx, relations, shape, slide_part, slide_table
from gofer.errors import ToolError
from gofer.files.extract import slides


def test_slides_come_in_the_order_they_are_shown_with_their_title_first() -> None:
    text = slides.read(pptx([shape("Text") + shape("Second", "title"), shape("First", "ctrTitle")], order=[2, 1]))
    assert text == "[slide 1 of 2]\n\n## First\n\n[slide 2 of 2]\n\n## Second\n\nText"


def test_tables_groups_bullets_and_pictures_are_read() -> None:
    picture = '<p:pic><p:nvPicPr><p:cNvPr id="4" name="x" descr="Team photo"/></p:nvPicPr></p:pic>'
    bullets = (
        '<p:sp><p:txBody><a:p><a:pPr><a:buChar char="•"/></a:pPr><a:r><a:t>one</a:t></a:r></a:p>'
        '<a:p><a:pPr lvl="1"/><a:r><a:t>two</a:t></a:r><a:br/><a:r><a:t>more</a:t></a:r></a:p></p:txBody></p:sp>'
    )
    tree = slide_table([["A", "B"], ["1", "2"]]) + f"<p:grpSp>{shape('Grouped')}</p:grpSp>" + bullets + picture
    assert slides.read(pptx([tree])) == (
        "[slide 1 of 1]\n\n| A | B |\n| --- | --- |\n| 1 | 2 |\n\nGrouped\n\n"
        "- one\n  - two\nmore\n\n[image: Team photo]"
    )


def test_notes_and_comments_stand_below_their_slide() -> None:
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
    assert slides.read(data) == "[slide 1 of 1]\n\nShown\n\n[notes] Say hello.\n\n[comment] Ana: Too long?"


def test_a_chart_is_the_table_it_was_drawn_from() -> None:
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
    assert slides.read(data) == (
        "[slide 1 of 1]\n\n[chart: Sales]\n\n"
        "|  | North | South |\n| --- | --- | --- |\n| Q1 | 1.5 | 3 |\n| Q2 | 2 | 4 |"
    )


def test_hidden_and_empty_slides_say_so() -> None:
    assert "(This slide has no text.)" in slides.read(pptx([""]))


def test_a_presentation_without_slides_is_said() -> None:
    with pytest.raises(ToolError, match="has no slides"):
        slides.read(pptx([]))
