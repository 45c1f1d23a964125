"""The health of runs: their checks, and the commands that examine, compare, count and find them."""

import json
from datetime import UTC, datetime
from itertools import islice

import pytest

from generators.healthy_runs import CHECKS, alarms_of, is_error, table
from support.app.command_line import Command
from support.app.model_of_each_kind import ANSWERS
from support.app.runs_of_each_kind import PUBLIC, QUESTIONS, Kind, Played
from support.health.planted import PLANTED
from support.health.plays import healthy

SAMPLE = 30
"""Healthy runs of this test; `make healthy` plays 1,000."""


def test_checks_that_alert_are_silent_for_healthy_runs() -> None:
    alarms = alarms_of(healthy(), SAMPLE)
    assert alarms.roots >= SAMPLE
    errors = {check: count for (check, _), count in alarms.failed.items() if is_error(check)}
    # Depending on the simulated schedules, one of these runs is compacted with a first message that fills more than a
    # fifth of its window, and so loses it.
    assert errors in ({}, {"context-window-headroom": 1})
    assert {name for name, count in alarms.seen.items() if not count} == set()


def test_table_of_false_alarms_has_a_line_for_each_check() -> None:
    lines = list(table(alarms_of(islice(healthy(), 2), 1)))
    assert [check for check in CHECKS if not any(line.startswith(check) for line in lines)] == []


@pytest.mark.parametrize("name", PLANTED)
def test_planted_fault_is_found_by_its_check(name: str) -> None:
    fault = PLANTED[name]
    failed = {verdict.check for verdict in fault.plant() if not verdict.passed}
    assert fault.check in failed


@pytest.mark.parametrize("kind", PUBLIC)
def test_health_of_each_kind_of_run_shows_checks_without_words_of_the_run(
    of_each_kind: Played, command: Command, kind: Kind
) -> None:
    code, shown = command("health", of_each_kind.runs[kind])
    words = (QUESTIONS[kind], ANSWERS.get(kind, "words in this thread"), "The rota is out.", "Lunch is ready.")
    assert code == (kind == "damaged")
    assert "0 violations" in shown
    assert "Checks: 0 errors" in shown
    assert [text for text in words if text in shown] == []


def test_health_of_a_compacted_run_names_the_turns_that_left_the_window(of_each_kind: Played, command: Command) -> None:
    _, shown = command("health", of_each_kind.runs["compacted"])
    assert "76% of 8,000" in shown
    assert "-turns 1 to 4" in shown
    assert "+summary of turns 1 to 4" in shown


def test_health_of_a_run_with_malformed_calls_shows_their_cost(of_each_kind: Played, command: Command) -> None:
    _, shown = command("health", of_each_kind.runs["refused"])
    assert "malformed" in shown
    assert "slack_post_message ×1" in shown


def test_diff_of_two_runs_shows_the_prompts_with_which_these_runs_began(of_each_kind: Played, command: Command) -> None:
    _, shown = command("diff", of_each_kind.runs["answered"], of_each_kind.runs["waited"])
    for kind in ("answered", "waited"):
        assert f"heron-{kind}" in shown
        assert QUESTIONS[kind] in shown
    assert "magpie" not in shown
    assert "1 wait," in shown


def test_run_of_a_complaint_is_found_by_time_and_channel(of_each_kind: Played, command: Command) -> None:
    now = f"{datetime.now(UTC):%Y-%m-%dT%H:%M}"
    for words in (("--channel", "#approved"), ("--text", "lunch"), ("--channel", "C0APPROVED", "--status", "done")):
        code, shown = command("runs", "--around", now, *words)
        assert code == 0
        assert of_each_kind.runs["approved"] in shown
        assert of_each_kind.runs["answered"] not in shown


def test_statistics_count_public_runs_with_their_calls_and_no_private_run(
    of_each_kind: Played, command: Command
) -> None:
    _, shown = command("stats", "--json")
    total = json.loads(shown)["total"]
    asked = [body for kind in PUBLIC for body in of_each_kind.sent.get(kind, ())]
    assert total["runs"] == len(PUBLIC)
    assert total["llm_calls"] == len(asked)
    assert total["tokens"]["input"] == sum(len(body) // 4 for body in asked)
    assert total["subagents"] == 3
    assert total["tools"]["slack_post_message"] == {"calls": 3, "errors": 2}
