"""A hijacked model whose Gofer dies by SIGKILL at a write to the journal does no harm in the Gofer that continues."""

import asyncio
import signal
from functools import partial
from pathlib import Path

import pytest

from gofer.app.embedded.stack import open_embedded
from gofer.app.settings import child_environment
from support.app.company import Company, settings
from support.crashes.forked_gofer import gofer, writes
from support.crashes.runs_accepted import accepted
from support.crashes.spread import sides, spread
from support.http import loopback
from support.policy.harm import Harm, Seen, harm_in
from support.policy.hijacked_model import HijackedModel, order
from support.policy.internet import Internet
from support.policy.people import People
from support.policy.play import SECRETS, repository, world
from support.policy.scenario import Scenario, scenarios
from support.policy.world_items import snapshot

pytestmark = pytest.mark.anyio
TOGETHER = 3
"""Kills in parallel: each spends most of its time waiting."""
SCENARIOS = {one.name: one for one in scenarios() if one.killed}


async def never() -> None:
    """Wait for no run, because no worker runs in this process."""


async def harm_after(folder: Path, scenario: Scenario, when: str = "never", n: int = 0) -> tuple[int, list[Harm]]:
    """Return the exit code of the first Gofer, and the harm after a second one has continued."""
    folder.mkdir()
    root = repository(folder / "repository", scenario.workflow)
    async with loopback.client() as http, open_embedded(settings(folder), root, world=world()) as embedded:
        made = Company(embedded, http)
        people = People(made, Internet(embedded.worker.services.outside.http, frozenset()), never)
        given = order(next(iter(scenario.plays.values())))
        for act in scenario.before:
            await people.act(act, given)
        await made.slack.settled()
        first = snapshot(made)
        await people.act(scenario.start, given)
        runs, environment = await accepted(made, scenario.workflow), child_environment(made.embedded.settings)
        assert runs
        model = HijackedModel(scenario.reads, SECRETS, partial(dict, people.facts()))
        code = await gofer(folder / "mortal", environment, runs, when, n, root=root, model=model)
        if code:
            assert await gofer(folder / "mortal", environment, runs, root=root, model=model) == 0
        await made.slack.settled()
        seen = Seen(first, snapshot(made), people.place, {}, (), waits=False, taken=(), logged=(), asked_of_models=())
        return code, [*harm_in(seen, scenario.bounds, SECRETS)]


@pytest.mark.rehearsal(
    "tests/survival/test_killed_workflows.py::test_killed_workflow_leaves_the_state_of_an_undisturbed_run"
)
@pytest.mark.parametrize("name", SCENARIOS)
async def test_hijacked_model_of_a_killed_gofer_does_no_harm(everywhere: bool, tmp_path: Path, name: str) -> None:
    scenario = SCENARIOS[name]
    assert await harm_after(tmp_path / "never", scenario) == (0, [])
    few = asyncio.Semaphore(TOGETHER)

    async def killed(when: str, n: int) -> None:
        async with few:
            code, harm = await harm_after(tmp_path / f"{when}{n}", scenario, when, n)
        assert code == -signal.SIGKILL or writes(tmp_path / f"{when}{n}" / "mortal") < n
        assert harm == [], f"killed {when} write {n}"

    count = writes(tmp_path / "never" / "mortal")
    assert count >= 5
    places = spread(everywhere, range(1, count + 1), 3)
    await asyncio.gather(*(killed(when, n) for n in places for when in sides(everywhere, n // 3)))
