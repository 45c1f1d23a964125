"""The drift of a context is said while the run goes on, once for each run and cause."""

import logging
from dataclasses import replace

import pytest

from gofer.engine.drift import Drift, log_drift
from gofer.engine.own_step import OwnStep
from gofer.journal import entries as e
from gofer.journal.workspace_entries import ContextCompacted, Weights
from gofer.values.messages import Usage
from support.engine.memory_run import MemoryRun, memory_run

pytestmark = pytest.mark.anyio


def request(expected: int) -> e.LlmRequest:
    return e.LlmRequest("1.0", "ab", {"model": "m"}, "]}", Weights({}, {}, 48_000, expected))


async def watched(made: MemoryRun, reports: list[Drift]) -> OwnStep:
    """Return a step of a run, which adds each drift to `reports`."""
    step = await made.step()
    step.services = replace(step.services, report_drift=reports.append)
    return step


async def test_full_request_is_reported_once_and_before_the_run_ends() -> None:
    reports: list[Drift] = []
    step = await watched(memory_run(), reports)
    step.note(request(43_200))
    (drift,) = reports
    assert (drift.cause, drift.share, drift.window, drift.lost) == ("full", 0.9, 48_000, 0)
    assert drift.run == step.run
    step.note(e.LlmResponse("", (), "stop", "m", Usage(45_000, 1, 0), 0.0, 1))
    step.note(request(45_000))
    assert len(reports) == 1


async def test_each_cause_is_reported_by_itself() -> None:
    reports: list[Drift] = []
    step = await watched(memory_run(), reports)
    step.note(ContextCompacted("what was", "history_1", 0, 2, (1, 1), "code"))
    step.note(request(40_000))
    assert [drift.cause for drift in reports] == ["lost", "stayed_high"]


async def test_next_owner_of_a_run_does_not_repeat_a_report() -> None:
    reports: list[Drift] = []
    made = memory_run()
    step = await watched(made, reports)
    step.note(request(43_200))
    await step.commit()
    again = await watched(made, reports)
    again.note(request(43_500))
    assert len(reports) == 1


async def test_private_run_reports_no_drift() -> None:
    reports: list[Drift] = []
    step = await watched(memory_run(), reports)
    step.note(e.RunStarted("b", private=True))
    step.note(request(47_000))
    assert reports == []


def test_log_line_has_the_run_its_workflow_and_numbers(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "gofer.engine.drift"):
        log_drift(Drift("run1", "answer-here", "full", 0.91234, 48_000, 0))
    (record,) = caplog.records
    assert record.getMessage() == "a request nearly fills the context window of its run"
    assert record.fields == {  # type: ignore[attr-defined]
        "run": "run1",
        "workflow": "answer-here",
        "cause": "full",
        "utilisation": 0.912,
        "window": 48_000,
        "lost": 0,
    }
