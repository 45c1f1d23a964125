"""The registry of simulators: one for each source with deliveries, and the settings that point Gofer to it."""

from collections.abc import Mapping

import httpx2
import pytest

from gofer.sources.receivers import BY_SOURCE
from gofer.sources.settings import read_source_settings
from gofer_simulators.demo import demo_world
from gofer_simulators.json_values import object_of
from gofer_simulators.registry import SIMULATORS
from support.http import loopback

pytestmark = pytest.mark.anyio
URL = "http://127.0.0.1:8001"


def settings(source: str, http: httpx2.AsyncClient) -> Mapping[str, str]:
    part = object_of(demo_world(), source)
    started = SIMULATORS[source](part, clock=lambda: 1_763_700_000.0, http=http, token="a-token", secret="a-secret")
    return started.settings(URL)


async def test_every_source_with_deliveries_has_a_simulator() -> None:
    assert set(SIMULATORS) == set(BY_SOURCE)


@pytest.mark.parametrize("source", SIMULATORS)
async def test_simulator_names_the_settings_of_the_source(source: str) -> None:
    spec = BY_SOURCE[source]
    async with loopback.client() as http:
        texts = settings(source, http)
    named = {setting.name: setting for setting in spec.settings}
    assert texts.keys() <= named.keys()
    read = read_source_settings([named[name] for name in texts], texts)
    assert read[spec.token].reveal() == "a-token"
    assert [secret.reveal() for secret in read[spec.secret]] == ["a-secret"]
    assert any(text.startswith(URL) for text in texts.values())
