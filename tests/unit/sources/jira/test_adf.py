"""Markdown to Atlassian documents that Jira accepts, and any document to text."""

import json
import re
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gofer.sources.jira.adf import TEXT_LIMIT, document
from gofer.sources.jira.adf_text import NODES as NODES_READ
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


def test_adf_document_of_every_markdown_form_is_valid() -> None:
    made = document(ALL, FROM)
    assert mistake_in_document(made) == ""
    kinds = [block["type"] for block in made["content"]]  # type: ignore[union-attr, index]
    assert kinds[:2] == ["heading", "paragraph"]
    assert {"blockquote", "orderedList", "bulletList", "table", "rule"} <= set(kinds)
    assert adf_text(made).endswith("file-ticket prompt (https://g.example/p) · run 01234567 (https://g.example/r)")


def test_adf_document_embeds_no_media_and_links_only_to_https() -> None:
    raw = json.dumps(document(ALL, NOWHERE))
    assert "media" not in raw
    assert all(address.startswith("https://") for address in re.findall(r'"href": "([^"]*)', raw))
    assert "[bad](javascript:alert(1))" in raw
    assert "pic" in raw


def test_adf_document_shows_html_as_written() -> None:
    text = "<div>\nuse `List<A>` or List<String>, see <https://b.example> [x](<c d>)\n</div>\n\n```\na < b\n```"
    said = adf_text(document(text, NOWHERE))
    assert "<div> use `List<A>` or List<String>, see https://b.example" in said
    assert "</div>" in said
    assert "a < b" in said


def test_adf_document_links_bare_addresses_outside_code() -> None:
    raw = json.dumps(document("See https://a.example/x_y?z=1. **Or (https://b.example)** `https://c.example`", NOWHERE))
    assert '"https://a.example/x_y?z=1"' in raw
    assert raw.count('"href"') == 2
    assert '{"type": "strong"}, {"type": "link", "attrs": {"href": "https://b.example"}}' in raw


@pytest.mark.parametrize("bit", ["[a](", "[a](" * 300 + ")", "![", "> ", "**_"])
def test_adf_document_of_unclosed_markdown_is_built_in_linear_time(bit: str) -> None:
    assert mistake_in_document(document((bit * 30_000)[:30_000], NOWHERE)) == ""
    # A parser that searches for the end of each open link would take minutes.
    with pytest.raises(ToolError, match="longer than Jira accepts"):
        document((bit * 100_000)[:100_000], NOWHERE)


def test_adf_document_links_only_closed_links() -> None:
    assert adf_text(document("[a](https://a.example) and [b](https://b.example", NOWHERE)) == (
        "a (https://a.example) and [b](https://b.example"
    )


def test_adf_document_mentions_no_person() -> None:
    assert '"mention"' not in json.dumps(document("[~accountid:5b10a2844c20165700ede21g] @Ada @[Ada](x)", NOWHERE))


def test_adf_document_of_the_same_text_is_the_same() -> None:
    assert document(ALL, FROM) == document(ALL, FROM)


@pytest.mark.parametrize("text", ["", "  \n", "[a]: https://acme.example"])
def test_adf_document_of_an_empty_text_is_refused(text: str) -> None:
    with pytest.raises(ToolError, match="text is empty"):
        document(text, FROM)


def test_adf_document_of_a_too_long_text_is_refused() -> None:
    with pytest.raises(ToolError, match="longer than Jira accepts"):
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
def test_adf_document_of_any_markdown_is_valid(text: str) -> None:
    try:
        made = document(text, FROM)
    except ToolError as told:
        assert "text is empty" in told.message_to_model  # noqa: PT017
        return
    assert mistake_in_document(json.loads(json.dumps(made))) == ""
    json.dumps(made, ensure_ascii=False).encode()


def test_adf_text_reads_mentions_cards_media_unknown_blocks_and_code() -> None:
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
        *("@Ada", "a", "", "https://acme.example", "(file: without a name; the attachments have it)"),
        *("(node that Gofer does not know: somethingNew)", "in", "```", "x", "y", "```"),
    ]
    assert adf_text(" wiki text of Data Center ") == "wiki text of Data Center"


def text_node(text: str, *marks: str, **attributes: object) -> dict[str, object]:
    return {"type": "text", "text": text, "marks": [{"type": mark, "attrs": attributes} for mark in marks]}


def node(kind: str, *content: dict[str, object], **attributes: object) -> dict[str, object]:
    return {"type": kind, "attrs": attributes, "content": list(content)}


def test_adf_text_marks_struck_raised_and_unknown_text_and_keeps_white_space_outside() -> None:
    parts = [
        text_node("Ship on Friday ", "strong", "strike"),
        text_node("Ship on Monday", "underline", color="#ff0000"),
        text_node(" 10"),
        text_node("6", "subsup", type="sup"),
        text_node(" x"),
        text_node("max", "subsup", type="sub"),
        text_node(" "),
        text_node("ls -l", "strike", "code"),
        text_node(" odd", "sparkle"),
    ]
    assert adf_text(node("doc", node("paragraph", *parts))) == (
        "~~Ship on Friday~~ Ship on Monday 10^6 x_(max) ~~`ls -l`~~ odd (mark that Gofer does not know: sparkle)"
    )


@pytest.mark.parametrize(
    ("kind", "attributes", "read"),
    [
        ("expand", {"title": "Decision of 20 November"}, "(folded section: Decision of 20 November)\nin"),
        ("panel", {"panelType": "warning"}, "(panel: warning)\nin"),
        ("taskItem", {"state": "DONE"}, "- [x] in"),
        ("blockTaskItem", {"state": "TODO"}, "- [ ] in"),
        ("decisionItem", {"state": "DECIDED"}, "- Decided: in"),
        ("decisionItem", {"state": "UNDECIDED"}, "- Not decided: in"),
        ("codeBlock", {"language": "python"}, "```python\nin\n```"),
        ("tableCell", {"colspan": 2, "rowspan": 3}, "in (2 columns wide) (3 rows high)"),
        ("bodiedExtension", {"extensionKey": "chart", "text": "Errors"}, "(extension chart: Errors)\nin"),
        ("extensionFrame", {}, "in"),
        ("bodiedSyncBlock", {"resourceId": "r1"}, "in"),
        ("date", {"timestamp": "1796688000000"}, "2026-12-08"),
        ("date", {"timestamp": "soon"}, "(a date that cannot be read)"),
        ("inlineCard", {"data": {"name": "Plan", "url": "https://a.example"}}, "Plan (https://a.example)"),
        (
            "blockCard",
            {"datasource": {"parameters": {"jql": "project = A"}}},
            "(a list of what Jira finds with: project = A)",
        ),
        ("embedCard", {}, "(a card)"),
        ("media", {"type": "file", "id": "u-1", "alt": "log.txt"}, "(file: log.txt, attachment 10500)"),
        ("mediaInline", {"type": "file", "__fileName": "log.txt"}, "(file: log.txt, attachment 10500)"),
        ("media", {"type": "external", "url": "https://i.example/a.png"}, "(picture: https://i.example/a.png)"),
        ("mention", {"id": "a1"}, "@Ada"),
        ("mention", {"id": "b2", "text": "@Ben"}, "@Ben"),
        ("mention", {"id": "c3"}, "@c3"),
        ("emoji", {"shortName": ":tada:"}, ":tada:"),
        ("status", {"text": "IN REVIEW", "color": "blue"}, "IN REVIEW"),
        ("placeholder", {"text": "Describe the impact"}, "(to be filled in: Describe the impact)"),
        ("syncBlock", {"resourceId": "r1"}, "(a synced block, whose text is elsewhere: r1)"),
        ("confluenceUnsupportedBlock", {}, "(a part of a Confluence page that Jira does not show)"),
        ("hologram", {}, "(node that Gofer does not know: hologram)"),
    ],
)
def test_adf_text_reads_each_kind_of_node_with_its_meaning(kind: str, attributes: dict[str, object], read: str) -> None:
    inside = [text_node("in")] if "in" in read.split() else []
    found = adf_text(node(kind, *inside, **attributes), {"a1": "@Ada"}, {"log.txt": "10500"})
    assert found == read


def test_adf_text_shows_headings_and_the_nested_tasks_of_lists() -> None:
    head = node("tableRow", node("tableHeader", text_node("a")), node("tableHeader", text_node("b|c")))
    table = node("table", head, node("tableRow", node("tableCell", text_node("1")), node("tableCell", text_node("2"))))
    assert adf_text(table).split("\n") == ["a | b\\|c", "--- | ---", "1 | 2"]
    tasks = node("taskList", node("taskItem", text_node("one"), state="TODO"))
    assert adf_text(node("taskList", node("taskItem", text_node("first"), state="DONE"), tasks)) == (
        "- [x] first\n  - [ ] one"
    )


def test_adf_text_of_a_wide_deep_or_endless_document_names_the_left_out_parts() -> None:
    row = node("tableRow", *(node("tableCell", text_node(str(number))) for number in range(200)))
    assert adf_text(row).endswith("49 | (150 further columns are left out)")
    deep = text_node("in")
    for _ in range(10_000):
        deep = node("expand", deep)
    assert adf_text(deep).endswith("(a part that is nested too deeply to be read)")
    endless = adf_text(node("doc", *(node("paragraph", text_node("x")) for _ in range(100_000))))
    assert endless.endswith("(The rest of this text is left out, because it has too many parts.)")


HOLDERS = [
    name
    for name, member in NODES_READ.members.items()
    if member in (NODES_READ.members["paragraph"], NODES_READ.members["doc"])
]
HOLDERS += [
    "panel",
    "expand",
    "bulletList",
    "taskItem",
    "tableRow",
    "tableCell",
    "bodiedExtension",
    "hologram",
    "codeBlock",
]


@given(
    st.recursive(
        st.just(text_node("(in)")),
        lambda inner: st.builds(
            lambda kind, found: node(kind, *found), st.sampled_from(HOLDERS), st.lists(inner, min_size=1, max_size=3)
        ),
        max_leaves=12,
    )
)
def test_adf_text_never_drops_a_text_in_any_nesting_of_nodes(tree: dict[str, object]) -> None:
    assert adf_text(tree).count("(in)") == json.dumps(tree).count("(in)")


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
def test_adf_text_reads_any_document_without_an_exception(node: object) -> None:
    adf_text(node).encode()


def test_writes_of_the_run_stand_below_the_text() -> None:
    made = document("Done.", replace(FROM, wrote="created PAY-1"))
    assert mistake_in_document(made) == ""
    assert adf_text(made).startswith("Done.\ncreated PAY-1 · ")
