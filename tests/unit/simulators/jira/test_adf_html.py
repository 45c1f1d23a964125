"""Documents of Jira as HTML: text is escaped, and links open on this machine."""

from gofer_simulators.jira.adf_html import adf_html
from gofer_simulators.local_links import LocalLinks


def test_document_is_shown_with_headings_lists_and_links() -> None:
    links = LocalLinks()
    links.use({"https://acme.slack.com": "http://127.0.0.1:5"})
    link = {"type": "link", "attrs": {"href": "https://acme.slack.com/archives/C1/p2"}}
    words: list[dict[str, object]] = [
        {"type": "text", "text": "a <b> "},
        {"type": "text", "text": "thread", "marks": [link]},
        {"type": "hardBreak"},
    ]
    item = {"type": "listItem", "content": [{"type": "paragraph", "content": words}]}
    heading = {"type": "heading", "attrs": {"level": 2}, "content": [{"type": "text", "text": "Known"}]}
    document: dict[str, object] = {"type": "doc", "content": [heading, {"type": "bulletList", "content": [item]}]}
    opening = '<a href="http://127.0.0.1:5/archives/C1/p2" rel="noreferrer noopener">'
    assert adf_html(document, links) == (f"<h3>Known</h3><ul><li><p>a &lt;b&gt; {opening}thread</a><br></p></li></ul>")
