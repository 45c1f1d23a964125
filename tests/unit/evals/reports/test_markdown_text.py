"""Texts in Markdown: rendered, they are exactly one code span, whatever they contain."""

import re
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from gofer.evals.reports.markdown import markdown_report
from gofer.evals.reports.markdown_text import BoundedText, block, cell, code
from gofer.evals.reports.wording import short
from support.evals.suite_results import HOSTILE, affected, hostile_suite

RENDERER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
PIECES = ["`", "``", "|", "\\", "\n", "<b>", "-->", "@all", "#1", "[a](b)", "*", "_", "~", "  ", "a", "&lt;", "</code>"]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=12).map("".join) | st.text(max_size=40)


@given(TEXTS)
def test_any_text_is_rendered_as_one_code_span(text: str) -> None:
    rendered = RENDERER.render(f"- a: {code(text)} b").strip()
    inner = re.fullmatch(r"<ul>\n<li>a: (?:<code>([^<]*)</code>)? b</li>\n</ul>", rendered)
    shown = short(text, 200)
    if shown:
        assert inner is not None
        assert unescape(inner[1]).strip() == shown


@given(TEXTS)
def test_any_text_in_a_cell_leaves_the_table_with_its_columns(text: str) -> None:
    rendered = RENDERER.render(f"| a | b |\n|---|---|\n| {cell(text)} | x |\n")
    assert rendered.count("<td>") == 2
    assert "<td>x</td>" in rendered


@given(st.lists(TEXTS, max_size=4))
def test_any_lines_stay_inside_their_code_block(lines: list[str]) -> None:
    rendered = RENDERER.render("\n".join([*block(lines, "diff"), "", "after"]))
    assert re.fullmatch(r'<pre><code class="language-diff">[^<]*</code></pre>\n<p>after</p>\n', rendered)


def test_hostile_texts_in_a_whole_report_make_no_elements_and_no_links() -> None:
    rendered = RENDERER.render(markdown_report(hostile_suite(3), affected=affected()))
    without_code = re.sub(r"<code[^>]*>[^<]*</code>", "", rendered)
    for forbidden in ("<script", "<a ", "<img", "@everyone", "#1", "Title"):
        assert forbidden not in without_code
    assert without_code.count("<details>") == without_code.count("</details>") == 3
    assert rendered.count("<!--") == 1


def test_rows_that_do_not_fit_are_counted_and_the_closing_line_is_kept() -> None:
    page = BoundedText(200)
    page.add_rows(["<details>"], [["x" * 30]] * 10, ["</details>"], most=100)
    assert page.text().startswith("<details>\n")
    assert page.text().endswith("</details>\n")
    assert "more are in the HTML report" in page.text()
    assert len(page.text().encode()) <= 200


@pytest.mark.parametrize("most", [0, 5, 50])
def test_text_never_has_more_bytes_than_allowed(most: int) -> None:
    page = BoundedText(most)
    page.add([HOSTILE])
    page.add_rows(["a"], [["ä"]] * 5, ["b"], most=3)
    assert len(page.text().encode()) <= most
