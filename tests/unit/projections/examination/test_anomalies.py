"""Unusual runs against their workflow's earlier runs, and the measured rate of false alarms."""

import random
from dataclasses import replace

import pytest

from gofer.projections import progress
from gofer.projections.examination.anomalies import LEAST_RUNS, Traits, anomalies, traits
from support.engine.memory_run import memory_run, says

pytestmark = pytest.mark.anyio


def usual(tokens: float = 1_000, **numbers: float) -> Traits:
    counted = {"tokens": tokens, "cost": 0.01, "duration": 5_000.0, "model calls": 3.0, "refused calls": 0.0, **numbers}
    return Traits(counted, frozenset({"look"}), frozenset({("look", "look")}), "given")  # type: ignore[arg-type]


def earlier(count: int = 100) -> list[Traits]:
    chance = random.Random(7)
    return [usual(tokens=chance.gauss(1_000, 100), duration=chance.gauss(5_000, 900)) for _ in range(count)]


def test_usual_run_has_no_anomaly() -> None:
    found = anomalies(usual(), earlier())
    assert (found.found, found.runs, found.has_baseline) == ([], 100, True)


def test_fewer_than_twenty_earlier_runs_are_no_baseline() -> None:
    found = anomalies(usual(tokens=90_000), earlier(LEAST_RUNS - 1))
    assert (found.has_baseline, found.found) == (False, ())
    assert anomalies(usual(tokens=90_000), earlier(LEAST_RUNS)).has_baseline


@pytest.mark.parametrize(
    ("run", "rule"),
    [
        (usual(tokens=9_000), "tokens"),
        (usual(cost=0.2), "cost"),
        (usual(duration=90_000), "duration"),
        (usual(**{"model calls": 9}), "model calls"),
        (usual(**{"refused calls": 5}), "refused calls"),
        (replace(usual(), tools=frozenset({"erase"})), "unseen tool"),
        (replace(usual(), pairs=frozenset({("look", "post")})), "unseen pair of tools"),
        (replace(usual(), answer="empty"), "answer"),
        (replace(usual(), answer="cut off"), "answer"),
    ],
)
def test_unusual_trait_is_found_with_its_rate_of_false_alarms(run: Traits, rule: str) -> None:
    (found,) = anomalies(run, earlier()).found
    assert found.rule == rule
    assert found.finding
    assert found.false_alarms == 0


def test_false_alarms_are_the_earlier_runs_that_the_rule_flags_against_the_others() -> None:
    runs = [*earlier(98), usual(tokens=8_000), usual(tokens=9_000)]
    found = anomalies(usual(tokens=8_500), runs)
    assert [(one.rule, one.false_alarms) for one in found.found] == [("tokens", 2)]
    assert found.flagged_runs == 2


def test_small_change_of_runs_that_are_all_alike_is_usual() -> None:
    assert anomalies(usual(tokens=1_200), [usual()] * 50).found == []


async def test_traits_of_a_run_are_its_counts_its_tools_and_its_answer() -> None:
    made = memory_run(says("", ("look", {"text": "a"}), ("post", {})), says("", ("erase all", {})), says("done"))
    made.tool("look", "read")
    made.tool("post", "keyed")
    await made.run()
    entries = await made.journal()
    found = traits(entries, progress.project(entries), made.bundle().tools)
    assert found.tools == {"look", "post", "an unknown tool"}
    assert ("look", "post") in found.pairs
    assert (found.numbers["model calls"], found.numbers["refused calls"], found.answer) == (3, 1, "given")
