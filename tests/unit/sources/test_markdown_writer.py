"""The writer of Markdown: what it writes is parsed to the same nodes."""

import pytest

from generators.markdown_written import SAMPLES
from gofer.sources.markdown import parse
from gofer.sources.markdown_nodes import Code, Paragraph, Text, Words
from gofer.sources.markdown_writer import fenced, inline, write


@pytest.mark.parametrize(
    "text",
    [
        "# One\n\nTwo *three* **four** ~~five~~ `six` [seven](https://e.com/a_(b)) <https://e.com>",
        "- a\n- [x] b\n  - c\n\n3. d\n4. e\n\n> f\n>\n> - g",
        "| a | b |\n| --- | --- |\n| `c\\|d` | e |",
        "```py\nf\n```\n\n___\n\n````\n```\n````",
        "a  \nb\nc",
    ],
)
def test_plain_markdown_is_written_unchanged(text: str) -> None:
    assert write(parse(text)) == text


@pytest.mark.parametrize(
    "text", ["1. a", "# a", "> a", "- a", "+ a", "* a", "_a_", "`a`", "[a](b)", "<b>", "&amp;", "| a |", "~~a~~", "\\"]
)
def test_marks_in_plain_words_stay_plain_words(text: str) -> None:
    (paragraph,) = parse(write([Paragraph(range(1), Words("", (Text(text),)))]))
    assert isinstance(paragraph, Paragraph)
    assert "".join(part.text for part in paragraph.words.parts if isinstance(part, Text)) == text


@pytest.mark.parametrize("code", ["a", "`", "a`b``c", " a ", "``"])
def test_code_with_backticks_is_parsed_to_the_same_code(code: str) -> None:
    (paragraph,) = parse(inline([Code(code)]))
    assert isinstance(paragraph, Paragraph)
    assert paragraph.words.parts == (Code(code),)


@pytest.mark.parametrize("name", SAMPLES)
def test_written_sample_is_written_the_same_again(name: str) -> None:
    for node in parse(SAMPLES[name]):
        written = write([node])
        assert write(parse(written)) == written


def test_fence_is_longer_than_any_run_of_backticks_inside() -> None:
    assert fenced("a ```` b") == "`````\na ```` b\n`````"
