"""The Markdown parser: every word becomes a node at any depth, and nesting is limited."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.sources.jira.adf import document
from gofer.sources.jira.adf_text import adf_text
from gofer.sources.markdown import followed, outline, parse
from gofer.sources.markdown_nodes import (
    BlockNode,
    Break,
    Code,
    CodeBlock,
    Emphasis,
    Heading,
    Image,
    Item,
    ItemList,
    Link,
    Paragraph,
    Quote,
    Rule,
    Strong,
    Table,
    Text,
    Words,
    every,
    plain,
)
from gofer.sources.notion.markdown import blocks, comment_spans
from gofer.sources.slack.fallback_text import fallback
from gofer.tools.definition import Provenance

NOWHERE = Provenance("w", "", "run1", None)


def words(source: str, *parts: Text | Strong | Emphasis | Code | Link | Image | Break) -> Words:
    return Words(source, parts or (Text(source),))


def test_markdown_blocks_know_the_lines_of_their_source() -> None:
    text = "# A\n\nb\nc\n\n- d\n- [x] e\n\n> f\n\n```py x\ng\n```\n\n    h\n\n| i |\n|---|\n| j |\n\n---"
    assert parse(text) == (
        Heading(range(1), words("A"), 1),
        Paragraph(range(2, 4), words("b\nc", Text("b"), Break(hard=False), Text("c"))),
        ItemList(
            range(5, 8),
            (
                Item(range(5, 6), (Paragraph(range(5, 6), words("d")),), None),
                Item(range(6, 8), (Paragraph(range(6, 7), Words("[x] e", (Text("e"),))),), done=True),
            ),
            None,
        ),
        Quote(range(8, 9), (Paragraph(range(8, 9), words("f")),)),
        CodeBlock(range(10, 13), "g\n", info="py x", fence="```"),
        CodeBlock(range(14, 15), "h\n", info="", fence=""),
        Table(range(16, 19), (words("i"),), ((words("j"),),)),
        Rule(range(20, 21)),
    )


def test_markdown_inline_parts_are_parsed_with_their_nesting() -> None:
    (paragraph,) = parse("*a **b*** `c`  \n[d](HTTPS://e.com) ![*f*](https://e.com/g) <h@i.j> <kk:l>")
    assert isinstance(paragraph, Paragraph)
    assert paragraph.words.parts == (
        Emphasis((Text("a "), Strong((Text("b"),)))),
        *(Text(" "), Code("c"), Break(hard=True), Link("https://e.com", (Text("d"),)), Text(" ")),
        *(Image("https://e.com/g", "f"), Text(" "), Link("mailto:h@i.j", (Text("h@i.j"),)), Text(" ")),
        *(Text("<"), Text("kk:l"), Text(">")),
    )
    assert plain(paragraph.words.parts) == "a b c d f h@i.j <kk:l>"


def test_markdown_links_are_followed_for_http_and_mail_only() -> None:
    addresses = ["http://a", "https://a", "mailto:a@b.c", "slack://a", "javascript:a", "//a", "a", ""]
    assert [followed(address) for address in addresses] == [True] * 3 + [False] * 5


def without_words(nodes: Sequence[BlockNode]) -> list[tuple[str, range]]:
    return [(type(node).__name__, node.lines) for node in every(nodes)]


@given(
    st.lists(
        st.sampled_from(["# ", "- ", "1. ", "> ", "    ", "\n", "\n\n", "```\n", "| a |\n|---|\n", "x", "[x] ", "*"]),
        max_size=30,
    ).map("".join)
)
def test_markdown_outline_has_the_same_blocks_as_the_full_parse(text: str) -> None:
    assert without_words(outline(text)) == without_words(parse(text))


DEEP = [
    "- " * 100 + "word",
    "> " * 100 + "word",
    "> 1. " * 100 + "word",
    "\n".join(f"{'  ' * depth}- level {depth}" for depth in range(60)) + " word",
    "*a **b " * 700 + "word" + " c** d*" * 700,
]


@pytest.mark.parametrize("text", DEEP)
def test_markdown_word_at_any_depth_is_written_by_every_writer(text: str) -> None:
    assert "word" in fallback(text) or len(fallback(text).encode()) > 2_000
    assert "word" in adf_text(document(text, NOWHERE))
    assert "word" in str(blocks(text))
    assert "word" in "".join(span.text for span in comment_spans(text))


def test_markdown_marks_nested_too_deep_are_dropped_and_links_kept() -> None:
    text = "*a **b " * 30 + "[word](https://e.com)" + " c** d*" * 30
    assert "<https://e.com|word>" in fallback(text)
