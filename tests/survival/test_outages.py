"""Outages of outside systems: visible to people and operators."""

from collections.abc import Sequence
from functools import cache

import pytest

from support.simulation.outage_table import NOT_ASKED, SOURCES, Row, Source, calls_of, rows_of

MINUTE = 60

LAST = ("Here you are.", "I could not finish this", "I could not read ", "I could not look up ")
"""Beginnings of the last message to people, where a person asked for the run."""


def name(source: Source) -> str:
    return source.name


@cache
def played(name: str) -> Sequence[Row]:
    """Return the rows of each outage before each call of a source, played once for all tests."""
    (source,) = (one for one in SOURCES if one.name == name)
    return list(rows_of(source))


@pytest.mark.parametrize("source", SOURCES, ids=name)
def test_outage_is_visible_to_people_and_operators(source: Source) -> None:
    for row in played(source.name):
        assert all([row.person, row.operator, all(row.person), all(row.operator)]), row
        assert row.person[-1].startswith((NOT_ASKED, *LAST)), row


@pytest.mark.parametrize("source", SOURCES, ids=name)
def test_outages_are_played_before_each_call_of_a_run(source: Source) -> None:
    calls = calls_of(source)
    assert {"1.0", "2.0"} <= set(calls)
    asked = {"answer/1", "context/1"} if source.reply != "none" else set[str]()
    assert asked <= set(calls)


@pytest.mark.parametrize("source", [source for source in SOURCES if source.reply != "none"], ids=name)
def test_outage_of_a_minute_costs_no_answer(source: Source) -> None:
    short = [row for row in played(source.name) if row.seconds == MINUTE]
    assert {row.call for row in short} >= {"1.0", "2.0", "answer/1"}
    for row in short:
        assert row.person[-1].startswith("Here you are."), row
