"""Right-to-left lines of a PDF that contain Latin words and numbers, in reading order."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.files.extract import pdf as reader
from gofer.files.extract.pdf_lines import in_order
from support.documents.made_by_hand import any_line, pdf

HEBREW = "שלום עולם וכל מי שבו"


def seen(*words: str, gap: int = 6, below: str = "") -> str:
    """Return the first line read from a page with these words, left to right as displayed, 12 wide and high."""
    content, x = b"", 72
    for word in words:
        leftward = word[0] >= "\u0590"
        content += any_line(word[::-1] if leftward else word, x=x)
        # A punctuation mark is close to the next word.
        x += 12 * len(word) + (gap if len(word) > 1 or word.isalnum() else 0)
    content += any_line(below, y=500) if below else b""
    return reader.read(pdf([content])).text.removeprefix("[page 1 of 1]\n").split("\n")[0]


@pytest.mark.parametrize(
    ("words", "read"),
    [
        (["Cloud", "Google", "שלום"], "שלום Cloud Google"),
        ([".", "Google", "Cloud", "שלום"], "שלום Google Cloud."),
        ([".", "21.11.2026", "מתאריך"], "מתאריך 21.11.2026."),
        (["עם", "AWS", "Lambda", "ועם", "Google", "Cloud", "דוח"], "דוח Google Cloud ועם AWS Lambda עם"),
        (["1,200", "300", "סכום"], "סכום 300 1,200"),
        (["17%", "מעמ"], "מעמ 17%"),
    ],
)
def test_pdf_right_to_left_line_keeps_the_order_of_latin_words(words: list[str], read: str) -> None:
    assert seen(*words, below=HEBREW[::-1]) == read


def test_pdf_right_to_left_line_does_not_join_latin_cells_far_apart() -> None:
    assert seen("API", "300", "דרום", gap=60, below=HEBREW[::-1]) == "דרום 300 API"


def test_pdf_line_of_latin_letters_keeps_the_order() -> None:
    assert in_order("The word שלום here", lambda at: None, leftward=False) == "The word שלום here"


@given(st.text("אבגabc12.,()% ", max_size=30), st.data())
def test_pdf_right_to_left_order_keeps_every_character(line: str, data: st.DataObject) -> None:
    side = st.floats(0, 600)
    boxes = data.draw(st.lists(st.none() | st.tuples(side, side, side, side), min_size=len(line), max_size=len(line)))
    said = in_order(line, boxes.__getitem__, leftward=True)
    assert sorted(said.replace(" ", "")) == sorted(line.replace(" ", ""))
