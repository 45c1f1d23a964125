"""Markdown becomes documents that Jira takes, whatever it is; documents become text, whatever they are."""

import json
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gofer.sources.jira.adf import TEXT_LIMIT, document
from gofer.sources.jira.adf_text import adf_text
from gofer.tools.definition import Provenance
from gofer.values.errors import ToolError
from gofer_simulators.jira.adf import mistake_in_document

NOWHERE = Provenance("w", "", "run1", None)
FROM = Provenance("file-ticket", "https://g.example/p", "0123456789abcdef", "https://g.example/r")

ALL = """# Title

Some *words*, **bold `code`**, ~~gone~~ and a [link](https://acme.example/a?b=1).
Next line\\
after a break.

> ## quoted
> > twice
> | a | b |
> |---|---|
> | 1 | 2 |

1. one
   - two
     > said
   - # loud
2. three

   ```python
   x = 1
   ```

- [x] done
  - [ ] open

| h | i |
|---|---|
| **a** | ![pic](https://x.example/p.png) |

---
![](https://x.example/track.gif)

<b>html</b> [bad](javascript:alert(1))
"""


def test_every_form_of_markdown_gets_through() -> None:
    made = document(ALL, FROM)
    assert mistake_in_document(made) == ""
    kinds = [block["type"] for block in made["content"]]  # type: ignore[union-attr, index]
    assert kinds[:2] == ["heading", "paragraph"]
    assert {"blockquote", "orderedList", "bulletList", "table", "rule"} <= set(kinds)
    assert adf_text(made).endswith("file-ticket prompt (https://g.example/p) · run 01234567 (https://g.example/r)")


def test_nothing_is_loaded_and_nothing_runs_when_it_is_read() -> None:
    raw = json.dumps(document(ALL, NOWHERE))
    assert "media" not in raw
    assert all(address.startswith("https://") for address in re.findall(r'"href": "([^"]*)', raw))
    assert "[bad](javascript:alert(1))" in raw
    assert "pic" in raw


def test_what_looks_like_html_is_shown_as_it_was_written() -> None:
    text = "<div>\nuse `List<A>` or List<String>, see <https://b.example> [x](<c d>)\n</div>\n\n```\na < b\n```"
    said = adf_text(document(text, NOWHERE))
    assert "<div> use List<A> or List<String>, see https://b.example" in said
    assert "</div>" in said
    assert "a < b" in said


def test_addresses_can_be_followed() -> None:
    raw = json.dumps(document("See https://a.example/x_y?z=1. **Or (https://b.example)** `https://c.example`", NOWHERE))
    assert '"https://a.example/x_y?z=1"' in raw
    assert raw.count('"href"') == 2
    assert '{"type": "strong"}, {"type": "link", "attrs": {"href": "https://b.example"}}' in raw


@pytest.mark.parametrize("bit", ["[a](", "[a](" * 300 + ")", "![", "> ", "**_"])
def test_a_text_that_begins_much_and_ends_nothing_is_read_at_once(bit: str) -> None:
    assert mistake_in_document(document((bit * 30_000)[:30_000], NOWHERE)) == ""
    # Without care for links that never end this is minutes.
    with pytest.raises(ToolError, match="longer than Jira takes"):
        document((bit * 100_000)[:100_000], NOWHERE)


def test_links_with_an_end_are_links_and_others_are_shown() -> None:
    assert adf_text(document("[a](https://a.example) and [b](https://b.example", NOWHERE)) == (
        "a (https://a.example) and [b](https://b.example"
    )


def test_nobody_is_paged() -> None:
    assert '"mention"' not in json.dumps(document("[~accountid:5b10a2844c20165700ede21g] @Ada @[Ada](x)", NOWHERE))


def test_the_same_text_is_the_same_document() -> None:
    assert document(ALL, FROM) == document(ALL, FROM)


@pytest.mark.parametrize("text", ["", "  \n", "[a]: https://acme.example"])
def test_a_text_that_says_nothing_is_told(text: str) -> None:
    with pytest.raises(ToolError, match="says nothing"):
        document(text, FROM)


def test_a_text_that_is_too_long_is_told() -> None:
    with pytest.raises(ToolError, match="longer than Jira takes"):
        document("x" * (TEXT_LIMIT + 1), NOWHERE)


BITS = [
    *("# ", "> ", "- ", "1. ", "- [ ] ", "- [x] ", "    ", "\n", "\n\n", "```", "`", "**", "*", "_", "~~", "[", "]("),
    *("https://a.example", ")", "![", "|", "| a | b |\n|---|---|\n| c | d |\n", "---\n", "\\\n", "<b>", "<!-- "),
    *("&amp;", "\ue000", "<div>\n", "<https://b.example>", "\0", "\ud800", "\u2028", "word", " ", "\t"),
    *("[~accountid:x]", "999999999999. ", "\r\n"),
]


@given(st.lists(st.sampled_from(BITS) | st.text(max_size=4), max_size=40).map("".join))
@example("> " * 400 + "x")
@example("- " * 400 + "x")
@example("[" * 2000)
@example("**_" * 500 + "x")
def test_whatever_is_written_jira_takes_it(text: str) -> None:
    try:
        made = document(text, FROM)
    except ToolError as told:
        assert "says nothing" in told.message_to_model  # noqa: PT017
        return
    assert mistake_in_document(json.loads(json.dumps(made))) == ""
    json.dumps(made, ensure_ascii=False).encode()


def test_a_document_reads_as_text() -> None:
    node = {
        "type": "doc",
        "content": [
            {"type": "paragraph", "content": [{"type": "mention", "attrs": {"id": "x", "text": "@Ada"}}]},
            {"type": "paragraph", "content": [{"type": "text", "text": "a"}, {"type": "hardBreak"}]},
            {"type": "paragraph", "content": [{"type": "inlineCard", "attrs": {"url": "https://acme.example"}}]},
            {"type": "mediaSingle", "content": [{"type": "media", "attrs": {}}]},
            {"type": "somethingNew", "content": [{"type": "paragraph", "content": [{"type": "text", "text": "in"}]}]},
            {"type": "codeBlock", "content": [{"type": "text", "text": "x\ny"}]},
        ],
    }
    assert adf_text(node).split("\n") == [
        *("@Ada", "a", "", "https://acme.example", "[attachment]", "in", "```", "x", "y", "```"),
    ]
    assert adf_text(" wiki text of Data Center ") == "wiki text of Data Center"


KINDS = ["doc", "text", "paragraph", "bulletList", "orderedList", "listItem", "mention", "date", "tableRow", "media"]
VALUES = st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.just("\ud800") | st.lists(st.integers())
NODES = st.recursive(
    VALUES,
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(KINDS) | VALUES,
            "text": VALUES,
            "attrs": st.dictionaries(st.sampled_from(["text", "order", "url", "timestamp", "state"]), VALUES) | VALUES,
            "marks": st.lists(inner, max_size=2) | VALUES,
            "content": st.lists(inner, max_size=3) | VALUES,
        },
    ),
    max_leaves=10,
)


@given(NODES)
def test_no_document_is_an_exception(node: object) -> None:
    adf_text(node).encode()
