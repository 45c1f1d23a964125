"""Web pages as Markdown: the text a reader sees."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.files.extract import html as web

PAGE = """<!doctype html><html><head><title>Guide</title><style>p {color: red}</style></head><body>
<h1>Deploying</h1><p>Read <a href="https://example.com/a">the guide</a> and <b>wait</b>.<br>Then go.
<script>alert("no")</script><noscript>no</noscript><div hidden>no<p hidden>no<b style="display:none">no</b></p></div>
<span style="display: none">no</span>
<ul><li>one<ul><li>inner</li></ul></li><li>two</li></ul>
<ol start="4"><li>four</li><li>five</li></ol>
<table><caption>Prices</caption><tr><th>Item<th>Price<tr><td>Tea | milk<td>2.50</table>
<pre><code>if x:
    y()</code></pre><blockquote>Said once.</blockquote>
<img src="x.png" alt="The team"><a href="javascript:alert(1)">click</a></body></html>"""


def test_html_page_becomes_the_markdown_of_the_visible_text() -> None:
    assert web.read(PAGE.encode()) == (
        "[page title: Guide]\n\n# Deploying\n\nRead [the guide](https://example.com/a) and wait.\nThen go.\n\n"
        "- one\n  - inner\n- two\n\n4. four\n5. five\n\n"
        "Prices\n| Item | Price |\n| --- | --- |\n| Tea \\| milk | 2.50 |\n\n"
        "```\nif x:\n    y()\n```\n\n> Said once.\n[image: The team]click"
    )


def test_html_layout_tables_are_read_as_plain_lines() -> None:
    inner = "<table><tr><td>a</td><td>b</td></tr></table>"
    html = f"<table><tr><td><p>Dear Ana,</p>{inner}</td></tr><tr><td>Bye</td></tr></table>"
    assert web.read_text(html) == "Dear Ana,\na b\nBye"


@pytest.mark.parametrize(
    "data",
    [
        '<meta charset="windows-1251"><p>Привет</p>'.encode("cp1251"),
        '<meta http-equiv="Content-Type" content="text/html; charset=shift_jis"><p>日本語</p>'.encode("shift_jis"),
        "<p>שלום &amp; مرحبا</p>".encode(),
        "\ufeff<p>한국어</p>".encode("utf-16"),
    ],
)
def test_html_is_read_in_every_script_and_encoding(data: bytes) -> None:
    assert web.read(data) in ("Привет", "日本語", "שלום & مرحبا", "한국어")


@pytest.mark.parametrize(
    "html", ["<div>" * 20_000 + "deep", "<table><tr><td>" * 2_000 + "deep", "<ul><li>" * 2_000 + "deep"]
)
def test_html_text_in_deep_nesting_is_kept(html: str) -> None:
    assert "deep" in web.read_text(html)


tags = st.sampled_from(
    [
        "<p>",
        "</p>",
        "<table>",
        "</table>",
        "<tr>",
        "<td>",
        "</td>",
        "<li>",
        "<ul>",
        "</ul>",
        "<pre>",
        "</pre>",
        "<a href='https://x.y'>",
        "</a>",
        "<h2>",
        "</h2>",
        "<br>",
        "<ol start='x'>",
        "</ol>",
        "<blockquote>",
        "<!--",
        "-->",
        "<dd>",
        "<input type=checkbox>",
    ]
)


@given(st.lists(tags | st.sampled_from(["word7", "wordé", " "]), max_size=40))
def test_html_of_any_form_is_read_without_losing_a_visible_word(parts: list[str]) -> None:
    html = "".join(part for part in parts if part not in ("<!--", "-->"))
    text = web.read_text(html)
    assert text.count("word7") == html.count("word7")
    assert isinstance(web.read_text("".join(parts)), str)


def test_empty_html_page_has_no_text() -> None:
    assert web.read(b"<html><body><script>1</script></body></html>") == ""


def test_html_merged_cells_keep_their_columns() -> None:
    table = (
        "<table><tr><th colspan=2>Both<th>Cost</tr><tr><td rowspan=2>East<td>one<td>1</tr><tr><td>two<td>2</tr>"
        "<tr><td>West<td rowspan='x'>three<td rowspan=9>3</tr><tr><td>North<td>four</tr></table>"
    )
    assert web.read(table.encode()).split("\n") == [
        "| Both |  | Cost |",
        "| --- | --- | --- |",
        "| East | one | 1 |",
        "|  | two | 2 |",
        "| West | three | 3 |",
        "| North | four |  |",
    ]


def test_html_superscript_and_struck_text_is_marked() -> None:
    page = "<p>10<sup>5</sup> m, note<sup><a href='#n'>12</a></sup>, 1<sup>st</sup>, <del>100</del> <s>90</s> 80 EUR"
    assert web.read(page.encode()) == "10⁵ m, note¹², 1st, ~~100~~ ~~90~~ 80 EUR"


@pytest.mark.parametrize("start", ["²", "9" * 5_000, "-1"])
def test_html_list_with_an_invalid_start_begins_with_number_one(start: str) -> None:
    assert web.read(f"<ol start='{start}'><li>a</li></ol>".encode()) == "1. a"


@pytest.mark.parametrize(
    ("html", "said"),
    [
        ('<p>a <span style="color: #FFF">b <b>c</b></span> d</p>', "a [hidden: b c] d"),
        ('<p style="color:white">a</p>', "[hidden: a]"),
        ('<p style="opacity: 0">a</p>', "[hidden: a]"),
        ('<p style="font-size:0px; margin: 1px">a</p>', "[hidden: a]"),
        ('<p style="color:white; background: black">a</p>', "a"),
        ('<p style="background-color:white">a</p>', "a"),
        ('<p style="color:#ffff00">a</p>', "a"),
        ('<p style="opacity: 0.5; font-size: 10px">a</p>', "a"),
        ("<p>a<!-- b --></p>", "a"),
    ],
)
def test_html_text_without_contrast_or_size_is_marked_as_hidden(html: str, said: str) -> None:
    assert web.read_text(html) == said
