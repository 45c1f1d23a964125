"""The pages of simulated systems show texts as text, and addresses as links."""

from gofer_simulators.local_links import LocalLinks
from gofer_simulators.web_pages import anchor, facts, linked, web_page


def test_text_with_markup_is_shown_as_text_and_its_addresses_are_links() -> None:
    links = LocalLinks()
    links.use({"https://github.com": "http://127.0.0.1:5"})
    shown = linked("<b>See https://github.com/a/b/pull/1.", links)
    opening = '<a href="http://127.0.0.1:5/a/b/pull/1" rel="noreferrer noopener">'
    assert shown == f"&lt;b&gt;See {opening}https://github.com/a/b/pull/1</a>."


def test_label_with_a_script_as_address_stays_text() -> None:
    assert anchor("javascript:alert(1)", "press & see", LocalLinks()) == "press &amp; see"


def test_page_allows_no_script_and_escapes_its_title() -> None:
    page = web_page("Jira", "<script>", facts([("Status", "<i>"), ("Empty", "")]))
    assert "script-src" not in page.headers["content-security-policy"]
    assert b"<script>" not in page.body
    assert b"<dl><dt>Status</dt><dd>&lt;i&gt;</dd></dl>" in page.body
