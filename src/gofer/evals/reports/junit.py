"""The JUnit report: one test case for each case, for the test views of build servers."""

from typing import assert_never
from xml.etree import ElementTree

from gofer.evals.reports import wording
from gofer.evals.reports.suite_notes import suite_notes
from gofer.evals.results import CaseResult, SuiteResult
from gofer.values.amounts import money

MOST_TEXT = 2_000
"""The most characters of one message."""


def junit_xml(result: SuiteResult) -> str:
    """Return the report as XML text."""
    suites = ElementTree.Element("testsuites", name="gofer eval", time=f"{result.seconds:.3f}")
    suite = ElementTree.SubElement(suites, "testsuite", name="gofer eval", time=f"{result.seconds:.3f}")
    for case in result.cases:
        suite.append(_case(case))
    notes = "\n".join(suite_notes(result))
    if notes:
        ElementTree.SubElement(suite, "system-out").text = _text(notes)
    counted = {"failures": "failure", "errors": "error", "skipped": "skipped"}
    suite.set("tests", str(len(result.cases)))
    for attribute, tag in counted.items():
        suite.set(attribute, str(len(suite.findall(f"testcase/{tag}"))))
    ElementTree.indent(suites)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(suites, encoding="unicode")}\n'


def _case(case: CaseResult) -> ElementTree.Element:
    seconds = sum(run.measured_ms or 0 for run in case.runs) / 1000
    element = ElementTree.Element(
        "testcase", classname=_text(case.workflow), name=_text(case.case), time=f"{seconds:.3f}"
    )
    properties = ElementTree.SubElement(element, "properties")
    values = {
        "passed": wording.tally(case),
        "required": f"{case.required}/{case.planned}",
        "interval": wording.interval_text(case.interval),
        "consistency": wording.share_text(case.consistency),
        "pass@k, pass^k": wording.repeated_text(case) or "–",
        "cost": money(wording.cost_of([case])),
        "evidence": wording.evidence_text(case),
    }
    for name, value in values.items():
        ElementTree.SubElement(properties, "property", name=name, value=_text(value))
    _add_outcome(element, case)
    return element


def _add_outcome(element: ElementTree.Element, case: CaseResult) -> None:
    state = case.outcome
    match state:
        case "passed":
            return
        case "failed" | "over_budget":
            tag = "failure"
        case "infrastructure":
            tag = "error"
        case "quarantined" | "no_evidence" | "not_played":
            tag = "skipped"
        case _:
            assert_never(state)
    lines = wording.failure_of(case, kept=False).lines()
    message = wording.state_sentence(case)
    outcome = ElementTree.SubElement(element, tag, message=_text(message))
    if tag != "skipped":
        outcome.set("type", state)
        outcome.text = _text("\n".join(f"{label}: {text}" for label, text in lines))


def _text(text: str) -> str:
    """Return a text without the characters that XML forbids, at most MOST_TEXT characters."""
    return "".join(char for char in text[:MOST_TEXT] if char in "\n\t" or char.isprintable())
