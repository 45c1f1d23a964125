"""The HTML report: one safe file, failures first, with stable anchors."""

from html.parser import HTMLParser

from typing_extensions import override

from gofer.evals.reports.html_report import anchor, html_report
from support.evals.suite_results import affected, hostile_suite, large_suite, pull_request

VOID = {"meta", "br", "img", "link", "input"}


class Page(HTMLParser):
    """The elements of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(text)

    @override
    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    @override
    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def values(self, name: str) -> list[str]:
        return [value for _, attributes in self.tags if (value := attributes.get(name))]


def test_page_has_no_script_and_no_reference_to_the_outside() -> None:
    for result in (pull_request(), hostile_suite(3)):
        page = Page(html_report(result, affected()))
        assert page.open == []
        assert {tag for tag, _ in page.tags} & {"script", "img", "iframe", "link", "object", "form"} == set()
        assert page.values("src") == []
        assert all(href.startswith("#") for href in page.values("href"))


def test_every_link_of_the_page_has_its_target_and_every_id_is_unique() -> None:
    page = Page(html_report(pull_request(), affected()))
    ids = page.values("id")
    assert len(ids) == len(set(ids))
    assert {href[1:] for href in page.values("href")} <= set(ids)


def test_anchor_depends_on_the_name_of_the_case_only() -> None:
    assert anchor("file-ticket/outage-thread") == "case-file-ticket/outage-thread"
    assert anchor("A b/c").startswith("case-")
    assert anchor("A b/c") != anchor("a b/c")


def test_failures_come_before_the_tables() -> None:
    text = html_report(pull_request())
    assert text.index("jira_create_issue was called") < text.index("id=workflows") < text.index("id=cases")
    assert text.index("file-ticket/outage-thread") < text.index("answer-here/question")


def test_page_follows_the_light_or_dark_choice_and_narrow_screens() -> None:
    text = html_report(pull_request())
    assert "prefers-color-scheme: dark" in text
    assert 'name="viewport"' in text
    assert "max-width: 40rem" in text


def test_tables_have_headings_for_rows_and_columns() -> None:
    page = Page(html_report(pull_request()))
    assert {attributes.get("scope") for tag, attributes in page.tags if tag == "th"} == {"row", "col"}


def test_page_of_many_failed_cases_stays_below_three_megabytes() -> None:
    assert len(html_report(large_suite(5_000, failing=True))) < 3_000_000
