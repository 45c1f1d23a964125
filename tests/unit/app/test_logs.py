"""Log lines at each level: fields, sentences and contents."""

import json
import logging

import pytest

from gofer.app.logs import JsonLines, OncePerMinute
from gofer.app.settings import LogLevel
from support.stand_ins import SetClock


def line(level: LogLevel, logger: str = "gofer.runtime.worker", message: str = "a run ended", **more: object) -> dict:
    record = logging.LogRecord(logger, logging.INFO, "", 0, message, None, None)
    record.__dict__.update(more)
    return json.loads(JsonLines(level).format(record))


FIELDS = {"run": "r1", "status": "done", "seconds": 1.5, "workflow": "answer-here"}


def test_2809_lines_about_one_cause_are_one_line_a_minute_with_their_number() -> None:
    clock = SetClock()
    once = OncePerMinute(clock)

    def written(text: str, cause: str | None) -> str | None:
        record = logging.LogRecord("gofer", logging.WARNING, "", 0, text, None, None)
        if cause is not None:
            record.cause = cause
        return record.getMessage() if once.filter(record) else None

    lines = [written("no answer", "model") for _ in range(2_809)]
    assert [line for line in lines if line] == ["no answer"]
    assert written("Jira is away", "jira") == "Jira is away"
    assert [written("a run ended", None) for _ in range(3)] == ["a run ended"] * 3
    clock.advance(60)
    assert written("no answer", "model") == "no answer (2,808 more since the last line)"
    assert written("no answer", "model") is None


def test_minimal_log_level_keeps_ids_status_and_duration() -> None:
    told = line("minimal", fields=FIELDS)
    assert set(told) == {"at", "level", "logger", "run", "status", "seconds"}
    assert (told["level"], told["logger"], told["run"]) == ("info", "gofer.runtime.worker", "r1")


@pytest.mark.parametrize("level", ["summary", "full"])
def test_summary_log_level_adds_names_and_the_message(level: LogLevel) -> None:
    told = line(level, fields=FIELDS)
    assert (told["message"], told["workflow"]) == ("a run ended", "answer-here")


@pytest.mark.parametrize("level", ["minimal", "summary"])
def test_message_of_a_library_is_logged_at_full_level_only(level: LogLevel) -> None:
    said = "Failed to process a message: {'text': 'our merger'}"
    trouble = ValueError("our merger")
    told = line(level, "slack_bolt.AsyncApp", said, exc_info=(ValueError, trouble, None))
    assert "merger" not in json.dumps(told)
    assert (told["logger"], told["error"]) == ("slack_bolt.AsyncApp", "ValueError")


@pytest.mark.parametrize("level", ["minimal", "summary"])
def test_contents_are_logged_at_full_level_only(level: LogLevel) -> None:
    contents = {"provider_message": "our merger"}
    assert "merger" not in json.dumps(line(level, fields=FIELDS, contents=contents))
    assert line("full", fields=FIELDS, contents=contents)["provider_message"] == "our merger"


def test_full_log_level_shows_a_library_message_with_the_traceback() -> None:
    told = line("full", "slack_bolt.AsyncApp", "broken", exc_info=(ValueError, ValueError("why"), None))
    assert told["message"] == "broken"
    assert "ValueError: why" in told["trace"]


def test_minimal_log_level_shows_path_code_and_count_of_refused_deliveries() -> None:
    fields = {"path": "/slack/events", "code": "signature_mismatch", "count": 12, "seconds": 60}
    assert {name: line("minimal", fields=fields)[name] for name in fields} == fields
