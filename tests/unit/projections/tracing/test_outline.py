"""The outline of a trace: failed checks end it, and the status of a damaged run is in its first line."""

from gofer.journal.check_entries import Verdict
from gofer.journal.entries import Recorded, RunAccepted
from gofer.projections.tracing import trace
from gofer.projections.tracing.outline import outline
from support.stand_ins import mention

SPANS = trace.project([Recorded(1, 0, 0, "", RunAccepted(mention("hello"), "answer-here"))])
LOOP = Verdict("no-tool-loops", passed=False, summary="slack_search was called 3 times.", detail="“secret”")
SLOW = Verdict("execution-time", passed=False, severity="warning", summary="Workers owned the run for 40.0 s.")


def test_failed_check_has_a_line_without_its_detail() -> None:
    lines = outline("r", SPANS, checks={"r": [LOOP], "r.2": [SLOW]})
    assert lines[-2:] == [
        "  ✗ error no-tool-loops: slack_search was called 3 times.",
        "  ! warning execution-time of r.2: Workers owned the run for 40.0 s.",
    ]


def test_status_that_no_span_has_is_in_the_first_line() -> None:
    assert outline("r", SPANS)[0] == "run r"
    assert outline("r", SPANS, status="damaged")[0] == "run r  damaged"
