"""The line of progress of `gofer eval`: on terminals only, and from its second second on."""

import io

import pytest
from typing_extensions import override

from gofer.cli.eval_progress import Progress
from support.evals.stand_in_plays import planned_cases
from support.evals.suite_results import case_run
from support.stand_ins import SetClock


class Terminal(io.StringIO):
    """A stream that people see."""

    @override
    def isatty(self) -> bool:
        return True


def shown(stream: io.StringIO, seconds: float) -> str:
    """Return the text on a stream after one run that took some seconds."""
    clock = SetClock()
    (planned,) = planned_cases("one")
    progress = Progress(stream, clock)
    progress.begin([planned], "")
    clock.advance(seconds)
    progress.finished(planned, case_run(outcome="failed"))
    return stream.getvalue()


def test_progress_is_shown_on_a_terminal_from_the_second_second_on() -> None:
    assert shown(Terminal(), 0.9) == ""
    assert "1 of at most 1 runs, 1 failed · " in shown(Terminal(), 1.1)


def test_likely_cost_is_printed_before_the_first_run_also_without_a_terminal() -> None:
    stream = io.StringIO()
    Progress(stream, SetClock()).begin(planned_cases("one"), "That costs 1 USD.")
    assert stream.getvalue() == "That costs 1 USD.\n"


def test_progress_is_not_shown_without_a_terminal() -> None:
    assert shown(io.StringIO(), 5) == ""


@pytest.mark.parametrize("seconds", [0.5, 2])
def test_line_of_progress_is_removed_at_the_end(seconds: float) -> None:
    stream = Terminal()
    clock = SetClock()
    (planned,) = planned_cases("one")
    with Progress(stream, clock) as progress:
        progress.begin([planned], "")
        clock.advance(seconds)
        progress.finished(planned, case_run())
    assert stream.getvalue().endswith("\r\x1b[K") == (seconds > 1)
