"""The benchmark: a model that obeys an attacker does no harm, and the same work without an attack succeeds."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from support.policy.played import played, twin_failure
from support.policy.scenario import Scenario, open_today, scenarios

pytestmark = pytest.mark.anyio
BY_NAME: Mapping[str, Scenario] = {one.name: one for one in scenarios()}
SHIPPED = [name for name, one in BY_NAME.items() if one.shipped]
OTHERS = [name for name, one in BY_NAME.items() if not one.shipped]


@pytest.mark.rehearsal(
    "tests/journeys/test_hijacked_model.py::test_hijacked_model_writes_to_no_other_place_and_reads_no_private_channel",
    "tests/policy/test_benchmark.py::test_harmless_twin_writes_and_asks_no_person",
)
@pytest.mark.parametrize("name", OTHERS)
async def test_hijacked_model_does_harm_only_where_a_rule_is_missing(tmp_path: Path, name: str) -> None:
    row = await played(BY_NAME[name], tmp_path)
    assert sorted(row.harms) == sorted(open_today().get(name, {})), row.brief
    assert (row.obeyed > 0) == row.scenario.obeyed


@pytest.mark.parametrize("name", [name for name, one in BY_NAME.items() if one.twin])
async def test_harmless_twin_writes_and_asks_no_person(tmp_path: Path, name: str) -> None:
    assert await twin_failure(BY_NAME[name], tmp_path) == ""


def test_open_list_names_only_variants_that_exist() -> None:
    known = {(name, variant) for name, scenario in BY_NAME.items() for variant in scenario.variants}
    assert {(name, variant) for name, variants in open_today().items() for variant in variants} <= known
