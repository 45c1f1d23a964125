"""Questions and refusals say their rule, and who could read what the run had read, in trace and steps alike."""

from collections.abc import Sequence

import pytest

from gofer.journal.approval_entries import About
from gofer.journal.entries import ApprovalRequested, Entry, Recorded, RunAccepted, RunOwned, RunStarted, ToolResult
from gofer.projections.tracing.outline import about
from gofer.projections.tracing.trace import project
from gofer.projections.words.step_headlines import headline
from gofer.projections.words.step_writer import steps
from gofer.projections.words.steps import ReadJournal
from support.stand_ins import mention

UNKNOWN = "people whom Notion does not name"


def journal(*entries: Entry, private: bool = False) -> Sequence[Recorded]:
    beginning = [RunAccepted(mention(), "answer-here"), RunOwned(), RunStarted("b", private)]
    return [Recorded(n, 0, n * 1_000, "me", entry) for n, entry in enumerate([*beginning, *entries], start=1)]


def lines(entries: Sequence[Recorded]) -> Sequence[tuple[str, str]]:
    """Return the last line of the trace and of the steps."""
    *_, span = project(entries)
    *_, step = (one for one in steps(ReadJournal("r", entries), {}) if one.kind != "state.transition")
    return [("trace", about(span)), ("step", headline(step))]


def asked(about: About) -> Entry:
    return ApprovalRequested("1.0", "slack_post_message", "ab", ("requester",), 9_000_000, about)


def read(**details: object) -> Entry:
    return ToolResult("1.0", "ok", "Text.", "read a page", details)


@pytest.mark.parametrize(
    ("question", "because"),
    [
        ("call", "the workflow file lists the tool under `approve`"),
        ("leaving", "the run began where only some people read, and the call reaches another place"),
        ("elsewhere", "nor the words of the asker allow the place"),
    ],
)
def test_question_names_its_rule(question: About, because: str) -> None:
    for where, line in lines(journal(asked(question))):
        assert because in line, where
        assert line.endswith("what the run had read could be read by all members"), where


@pytest.mark.parametrize(
    ("code", "because"),
    [
        ("elsewhere", "because the workflow file does not allow the run to write there, and no person can be asked"),
        ("most", "because the run made as many calls of the tool as `most` allows"),
        ("bounded", "because `arguments` of the workflow file does not allow these values"),
    ],
)
def test_refused_call_names_its_rule_and_the_readers_of_earlier_reads(code: str, because: str) -> None:
    refused = ToolResult("1.1", "refused", "Not called: …", details={"code": code})
    for where, line in lines(journal(read(readers=UNKNOWN), refused)):
        assert line.endswith(f"{code}; {because}; what the run had read could be read by {UNKNOWN}"), where


@pytest.mark.parametrize("status", ["ok", "error"])
def test_hidden_object_has_no_rule(status: str) -> None:
    hidden = ToolResult("1.1", "refused" if status == "ok" else "error", "Not found.", details={"code": "not_found"})
    for where, line in lines(journal(read(readers=UNKNOWN), hidden)):
        assert line.endswith("not_found"), where


def test_address_that_a_tool_refuses_names_its_rule() -> None:
    failed = ToolResult("1.1", "error", "Nothing was sent.", details={"code": "unread_address"})
    assert all("because no source that the run read has the address" in line for _, line in lines(journal(failed)))


def test_code_of_a_vendor_is_no_rule() -> None:
    failed = ToolResult("1.1", "error", "That address is private.", details={"code": "elsewhere"})
    assert all("because" not in line for _, line in lines(journal(failed)))


@pytest.mark.parametrize(
    ("details", "readers"),
    [
        ({"readers": UNKNOWN, "private": True}, UNKNOWN),
        ({"private": True}, "people who can read that place"),
        ({"readers": "x" * 1_000}, "x" * 100),
    ],
)
def test_read_of_a_restricted_place_names_its_readers(details: dict[str, object], readers: str) -> None:
    for where, line in lines(journal(read(**details))):
        assert line.endswith(f"read a page; could be read by {readers}"), where


def test_read_that_all_members_may_make_names_no_readers() -> None:
    assert all(line.endswith("read a page") for _, line in lines(journal(read(private=False))))


def test_private_run_names_the_readers_of_its_place_at_its_start_and_at_a_refusal() -> None:
    there = "could be read by people who can read the place where the run began"
    assert about(project(journal(private=True))[0]) == there
    refused = ToolResult("1.1", "refused", "Not called: …", details={"code": "stays_private"})
    assert all(line.endswith(there) for _, line in lines(journal(refused, private=True)))
