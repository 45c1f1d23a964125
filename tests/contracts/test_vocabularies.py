"""The tables of vocabularies: each page shows what the code reads."""

from generators.vocabularies import BEGIN, DOCUMENTS, END, PAGES, page
from gofer.sources.vocabulary import Member, Vocabulary

_SHAPES: Vocabulary[str] = Vocabulary(
    "Shapes", "shape", {"line": Member("its text", "reader"), "chart": Member("a chart")}
)


def test_each_page_shows_the_vocabularies_that_the_code_reads() -> None:
    for name, vocabularies in PAGES.items():
        text = (DOCUMENTS / name).read_text()
        assert BEGIN in text, f"docs/{name} has no place for its tables: add {BEGIN!r} and {END!r}."
        assert text == page(text, vocabularies), f"docs/{name} is old: run 'make vocabulary'."


def test_table_shows_read_members_and_named_members() -> None:
    text = page(f"# Page\n{BEGIN}old\n{END}rest\n", [_SHAPES])
    assert '| `line` | its text |\n| `chart` | "(a chart)" |' in text
    assert (text.startswith("# Page\n"), text.endswith(f"{END}rest\n"), "old" in text) == (True, True, False)


def test_member_without_a_reader_and_unknown_member_are_named() -> None:
    assert (_SHAPES.reader("line"), _SHAPES.reader("chart"), _SHAPES.reader("cloud")) == ("reader", None, None)
    assert _SHAPES.named("chart") == "(a chart)"
    assert _SHAPES.named("cloud") == "(shape that Gofer does not know: cloud)"
