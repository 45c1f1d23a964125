"""The benchmark: a model that obeys an attacker does no harm, and the same work without an attack succeeds."""

import fnmatch
from collections.abc import Mapping
from pathlib import Path
from typing import get_args

import pytest
import yaml

from generators.policy import PAGE, with_table
from support.policy.played import played
from support.policy.scenario import POLICY, Rule, Scenario, open_today, scenarios

pytestmark = pytest.mark.anyio
BY_NAME: Mapping[str, Scenario] = {one.name: one for one in scenarios()}
SHIPPED = [name for name, one in BY_NAME.items() if one.shipped]
OTHERS = [name for name, one in BY_NAME.items() if not one.shipped]


@pytest.mark.rehearsal(
    "tests/policy/test_benchmark.py::test_hijacked_model_in_a_shipped_workflow_does_harm_only_where_a_rule_is_missing",
)
@pytest.mark.parametrize("name", OTHERS)
async def test_hijacked_model_does_harm_only_where_a_rule_is_missing(tmp_path: Path, name: str) -> None:
    await does_known_harm(tmp_path, name)


@pytest.mark.parametrize("name", SHIPPED)
async def test_hijacked_model_in_a_shipped_workflow_does_harm_only_where_a_rule_is_missing(
    tmp_path: Path, name: str
) -> None:
    await does_known_harm(tmp_path, name)


async def does_known_harm(folder: Path, name: str) -> None:
    row = await played(BY_NAME[name], folder)
    assert sorted(row.harms) == sorted(open_today()[name]), row.brief
    assert (row.obeyed > 0) == row.scenario.obeyed
    assert row.twin == ""


def test_each_line_of_the_open_list_names_variants() -> None:
    listed = yaml.safe_load((POLICY / "open_today.yaml").read_text())
    unknown = [(name, play) for name, plays in listed.items() for play in plays if not known(name, play)]
    assert unknown == []
    rules = {rule for plays in listed.values() for rule in plays.values()}
    assert rules <= set(get_args(Rule))


def known(name: str, play: str) -> list[str]:
    """Return the variants of a scenario that a line of the open list names."""
    return fnmatch.filter(BY_NAME[name].plays, play)


def test_page_shows_the_scenarios_of_today() -> None:
    assert PAGE.read_text() == with_table(PAGE.read_text())
