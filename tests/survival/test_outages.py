"""Outages of the systems outside: people and operators see each of them."""

import pytest

from support.simulation.outage_table import NOT_ASKED, SECONDS, SOURCES, Row, Run, Source, calls_of

LAST = ("Here you are.", "I could not finish this", "I could not read ", "I could not look up ")
"""How what people read last begins, where a run was asked for."""


def name(source: Source) -> str:
    return source.name


def rows_of(source: Source) -> list[Row]:
    return [Run(source, call, seconds).play() for call in calls_of(source) for seconds in SECONDS]


@pytest.mark.parametrize("source", SOURCES, ids=name)
def test_people_and_operators_see_every_outage(source: Source) -> None:
    for row in rows_of(source):
        assert all([row.person, row.operator, all(row.person), all(row.operator)]), row
        assert row.person[-1].startswith((NOT_ASKED, *LAST)), row


@pytest.mark.parametrize("source", SOURCES, ids=name)
def test_an_outage_before_each_call_is_one_that_the_run_makes(source: Source) -> None:
    calls = calls_of(source)
    assert {"1.0", "2.0"} <= set(calls)
    asked = {"answer/1", "context/1"} if source.reply != "none" else set[str]()
    assert asked <= set(calls)


def test_an_outage_of_a_minute_costs_no_answer() -> None:
    for source in SOURCES:
        if source.reply == "none":
            continue
        for call in calls_of(source):
            assert Run(source, call, 60).play().person[-1].startswith("Here you are."), (source.name, call)
