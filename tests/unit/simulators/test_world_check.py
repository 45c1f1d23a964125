"""The check of worlds: the same mistakes as the start of a simulator reports."""

import httpx2
import pytest

from gofer.values.errors import ConfigError
from gofer_simulators.demo import demo_world
from gofer_simulators.json_values import object_of
from gofer_simulators.registry import SIMULATORS
from gofer_simulators.world_check import SYSTEMS, check_part
from support.stand_ins import NOON


def test_checked_systems_are_the_simulated_ones() -> None:
    assert tuple(SIMULATORS) == SYSTEMS


def test_parts_of_the_demo_world_have_no_mistake() -> None:
    world = demo_world()
    for system in world:
        check_part(system, object_of(world, system), NOON)


@pytest.mark.anyio
@pytest.mark.parametrize("system", SYSTEMS)
async def test_check_and_simulator_report_the_same_mistake(system: str) -> None:
    part = {"nonsense": 1}
    async with httpx2.AsyncClient() as http:
        with pytest.raises(ConfigError) as started:
            SIMULATORS[system](part, clock=lambda: NOON, http=http, token="t", secret="s")
    with pytest.raises(ConfigError) as checked:
        check_part(system, part, NOON)
    assert str(checked.value) == str(started.value)
