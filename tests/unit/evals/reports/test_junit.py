"""The JUnit report: one test case for each case, with its state in the words of build servers."""

from xml.etree import ElementTree

from gofer.evals.reports.junit import junit_xml
from gofer.evals.results import SuiteResult
from support.evals.suite_results import hostile_suite, pull_request


def parsed(result: SuiteResult) -> ElementTree.Element:
    return ElementTree.fromstring(junit_xml(result).encode())


def case_named(root: ElementTree.Element, name: str) -> ElementTree.Element:
    found = root.find(f".//testcase[@name='{name}']")
    assert found is not None
    return found


def test_report_counts_failures_errors_and_skipped_cases() -> None:
    suite = parsed(pull_request()).find("testsuite")
    assert suite is not None
    counts = {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": "42", "failures": "1", "errors": "1", "skipped": "2"}


def test_failed_case_has_its_four_lines_and_its_k_of_n() -> None:
    case = case_named(parsed(pull_request()), "file-ticket/outage-thread")
    failure = case.find("failure")
    assert failure is not None
    assert (failure.text or "").splitlines() == [
        "expected: no call of jira_create_issue",
        "happened: jira_create_issue was called with project OPS",
        "first diverging step: 2.0",
        "replay: gofer eval file-ticket/outage-thread --live",
    ]
    properties = {item.get("name"): item.get("value") for item in case.iter("property")}
    assert properties["passed"] == "1/3"
    assert properties["required"] == "2/3"


def test_quarantined_and_unproved_cases_are_skipped_with_a_message() -> None:
    root = parsed(pull_request())
    for name, words in {
        "weekly-digest/many-channels": "In quarantine until 2026-12-15",
        "review-rfc/short-rfc": "No evidence",
    }.items():
        skipped = case_named(root, name).find("skipped")
        assert skipped is not None
        assert words in (skipped.get("message") or "")


def test_failure_of_infrastructure_is_an_error() -> None:
    error = case_named(parsed(pull_request()), "answer-in-jira/comment").find("error")
    assert error is not None
    assert "The provider answered 503" in (error.get("message") or "")


def test_scripted_case_is_labelled_as_harness_only() -> None:
    case = case_named(parsed(pull_request()), "welcome-channel/new-channel")
    properties = {item.get("name"): item.get("value") for item in case.iter("property")}
    assert (properties["evidence"] or "").startswith("harness only")


def test_texts_of_models_with_control_characters_make_valid_xml() -> None:
    assert parsed(hostile_suite()).find(".//failure") is not None
