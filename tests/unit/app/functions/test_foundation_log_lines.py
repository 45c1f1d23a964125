"""Logs and metrics of a function: typed lines without contents."""

import itertools
import json
import logging
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from gofer.app.functions.foundation import start_lines
from gofer.app.functions.refused_deliveries import count_refused
from gofer.app.functions.schedule import measuring_tokens
from gofer.app.functions.worker import measure, measure_drift, measure_start
from gofer.app.settings import LogLevel, read_settings
from gofer.engine.drift import Drift
from gofer.journal.coordination import HeadStatus
from gofer.journal.entries import RunStarted
from gofer.journal.unlisted_ends import Ends
from gofer.projections.progress import Progress
from gofer.projections.requests.context import Utilisation
from gofer.runtime.run_reports import Ended
from gofer.values.errors import ConfigError
from gofer.values.messages import Usage

NUMBERS = itertools.count(1)
SECRET = "the text of a message"


@dataclass
class Context:
    function_name: str = "gofer-test-worker"
    memory_limit_in_mb: str = "1024"
    invoked_function_arn: str = "arn:aws:lambda:eu-west-1:123456789012:function:gofer-test-worker"
    aws_request_id: str = "request-1"


@pytest.fixture(autouse=True)
def loggers_as_before(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    # Powertools keeps a logger per service, with its first stream.
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", f"gofer-test-{next(NUMBERS)}")
    root, ours = logging.getLogger(), logging.getLogger("gofer")
    handlers, levels = list(root.handlers), (root.level, ours.level)
    yield
    root.handlers[:] = handlers
    root.setLevel(levels[0])
    ours.setLevel(levels[1])


def said(capsys: pytest.CaptureFixture[str]) -> list[dict]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def lines(level: LogLevel, capsys: pytest.CaptureFixture[str]) -> list[dict]:
    """Return the lines of a function while one run ends, one error is logged and a library logs."""
    logger = start_lines(level)

    @logger.inject_lambda_context
    def work(event: object, context: object) -> None:
        fields = {"run": "run1", "status": "done", "seconds": 1.5, "workflow": "answer-here"}
        logging.getLogger("gofer.runtime.worker").info("a run ended", extra={"fields": fields})
        logging.getLogger("botocore").warning("sent %s", SECRET)
        try:
            raise ValueError(SECRET)
        except ValueError:
            logging.getLogger("gofer.x").exception("it broke")

    work({"body": SECRET}, Context())
    return said(capsys)


@pytest.mark.parametrize("level", ["minimal", "summary"])
def test_function_log_lines_hold_no_contents(level: LogLevel, capsys: pytest.CaptureFixture[str]) -> None:
    assert SECRET not in json.dumps(lines(level, capsys))


def test_function_log_line_names_the_invocation_and_the_run(capsys: pytest.CaptureFixture[str]) -> None:
    ended, library, broke = lines("summary", capsys)
    assert (ended["function_request_id"], ended["service"][:11]) == ("request-1", "gofer-test-")
    assert (ended["message"], ended["run"], ended["seconds"]) == ("a run ended", "run1", 1.5)
    assert (library["logger"], "message" in library) == ("botocore", False)
    assert (broke["message"], broke["error"]) == ("it broke", "ValueError")


def test_minimal_log_level_keeps_ids_status_and_seconds(capsys: pytest.CaptureFixture[str]) -> None:
    ended = lines("minimal", capsys)[0]
    assert ended.keys() >= {"run", "status", "seconds"}
    assert not ended.keys() & {"workflow", "message"}


def metrics(told: list[dict]) -> dict[str, tuple[object, list[list[str]]]]:
    """Values and dimensions by the name of the metric, from lines in the embedded format."""
    found: dict[str, tuple[object, list[list[str]]]] = {}
    for line in told:
        for rule in line["_aws"]["CloudWatchMetrics"]:
            assert rule["Namespace"] == "Gofer"
            for metric in rule["Metrics"]:
                found[metric["Name"]] = (line[metric["Name"]], rule["Dimensions"])
    return found


def test_finished_run_is_measured_by_service_and_status_only(capsys: pytest.CaptureFixture[str]) -> None:
    progress = Progress(started=RunStarted("b", private=False), cost_usd=0.25)
    measure(Ended("done", 12.5, progress, utilisation=Utilisation([0.5, 0.25]), is_private=False))
    assert metrics(said(capsys)) == {
        "RunsEnded": ([1.0], [["status", "service"]]),
        "RunSeconds": ([12.5], [["service"]]),
        "RunFailed": ([0.0], [["service"]]),
        "PeakContextUtilisation": ([50.0], [["service"]]),
        "CostUsd": ([0.25], [["service"]]),
    }


@pytest.mark.parametrize("private", [True, False])
def test_unknown_cost_and_the_context_of_a_private_run_are_not_measured(
    private: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    progress = Progress(started=RunStarted("b", private=private), cost_usd=None)
    measure(Ended("done", 1.0, progress, utilisation=Utilisation([0.5]), is_private=private))
    expected = {"RunsEnded", "RunSeconds", "RunFailed", "RunsWithoutCost", "TokensWithoutCost"}
    if not private:
        expected.add("PeakContextUtilisation")
    assert metrics(said(capsys)).keys() == expected


def test_drift_of_a_context_is_measured_by_service_and_cause_only(capsys: pytest.CaptureFixture[str]) -> None:
    measure_drift(Drift("run1", "answer-here", "full", 0.93, 48_000, 0))
    assert metrics(said(capsys)) == {
        "ContextDrift": ([1.0], [["service"]]),
        "ContextDriftByCause": ([1.0], [["cause", "service"]]),
    }


@pytest.mark.parametrize(
    ("status", "expected"),
    [("done", [0.0]), ("limited", [0.0]), ("cancelled", [0.0]), ("failed", [1.0]), ("needs_attention", [1.0])],
)
def test_failed_run_is_measured_as_one_and_any_other_as_zero(
    status: HeadStatus, expected: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    measure(Ended(status, 1.0))
    assert metrics(said(capsys))["RunFailed"] == (expected, [["service"]])


def test_ignored_run_is_no_part_of_the_share_of_failed_runs(capsys: pytest.CaptureFixture[str]) -> None:
    measure(Ended("ignored", 1.0))
    assert metrics(said(capsys)).keys() == {"RunsEnded", "RunSeconds"}


def test_known_part_of_an_unknown_cost_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    measure(Ended("done", 1.0, Progress(cost_usd=None, spent_usd=0.5, usage=Usage(10, 5))))
    found = metrics(said(capsys))
    assert (found["CostUsd"][0], found["TokensWithoutCost"]) == ([0.5], ([15.0], [["service"]]))


def test_start_and_refused_deliveries_are_measured_by_service_only(capsys: pytest.CaptureFixture[str]) -> None:
    measure_start(1.5)
    count_refused(12)
    assert metrics(said(capsys)) == {
        "SecondsToBegin": ([1.5], [["service"]]),
        "RefusedDeliveries": ([12.0], [["service"]]),
    }


@pytest.mark.parametrize(("trouble", "name"), [("poison", "PoisonRuns"), ("corrupt", "CorruptRuns")])
def test_poison_and_corrupt_runs_are_counted_for_their_alarms(
    trouble: str, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    measure(Ended("needs_attention", 1.0, trouble=trouble))  # type: ignore[arg-type]
    assert metrics(said(capsys))[name] == ([1.0], [["service"]])


def test_unlisted_end_is_counted_by_cause_and_system(capsys: pytest.CaptureFixture[str]) -> None:
    measure(Ended("failed", 1.0, unlisted=Ends(0, "begin", "outage", "Slack", 1)))
    told = said(capsys)
    found = metrics(told)
    assert found["UnlistedEnds"] == ([1.0], [["service"]])
    value, ((*dimensions,),) = found["UnlistedEndsByCause"]
    assert (value, sorted(dimensions)) == ([1.0], ["cause", "service", "system"])
    (by_cause,) = [line for line in told if "UnlistedEndsByCause" in line]
    assert (by_cause["cause"], by_cause["system"]) == ("outage", "Slack")


def test_days_until_tokens_expire_are_measured(capsys: pytest.CaptureFixture[str]) -> None:
    settings = read_settings({"TOKENS_EXPIRE": "JIRA_API_TOKEN=2026-12-01, NOTION_TOKEN = 2026-11-20"})
    measuring_tokens(settings.tokens_expire)(1_795_262_400.0)
    values = [line["TokenExpiresInDays"] for line in said(capsys)]
    assert values == [[10.0], [-1.0]]


@pytest.mark.parametrize("bad", ["JIRA_API_TOKEN", "x=tomorrow", "=;", "A=2026-13-01"])
def test_invalid_token_expiry_day_is_refused(bad: str) -> None:
    with pytest.raises(ConfigError, match="TOKENS_EXPIRE cannot be read at"):
        read_settings({"TOKENS_EXPIRE": bad})
