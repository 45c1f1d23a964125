"""The checks of runs: silent for healthy runs, and each finds the fault that it is there for."""

from itertools import islice

import pytest

from generators.healthy_runs import CHECKS, alarms_of, is_error, table
from support.health.planted import PLANTED
from support.health.plays import healthy

SAMPLE = 30
"""Healthy runs of this test; `make healthy` plays 1,000."""


def test_checks_that_alert_are_silent_for_healthy_runs() -> None:
    alarms = alarms_of(healthy(), SAMPLE)
    assert alarms.roots >= SAMPLE
    errors = {check: count for (check, _), count in alarms.failed.items() if is_error(check)}
    # Of these runs one is compacted with a first message that fills more than a fifth of its window, and so loses it.
    assert errors == {"context-window-headroom": 1}
    assert {name for name, count in alarms.seen.items() if not count} == set()


def test_table_of_false_alarms_has_a_line_for_each_check() -> None:
    lines = list(table(alarms_of(islice(healthy(), 2), 1)))
    assert [check for check in CHECKS if not any(line.startswith(check) for line in lines)] == []


@pytest.mark.parametrize("name", PLANTED)
def test_planted_fault_is_found_by_its_check(name: str) -> None:
    fault = PLANTED[name]
    failed = {verdict.check for verdict in fault.plant() if not verdict.passed}
    assert fault.check in failed
