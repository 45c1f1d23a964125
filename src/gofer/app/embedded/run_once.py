"""One workflow on one event, for `gofer run`: how the run ended, and what is different in the world afterwards."""

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gofer.app.catalog import checked_catalog
from gofer.app.embedded.models_asked import of_settings
from gofer.app.embedded.offline import model_in_words, offline_unless_set_up
from gofer.app.embedded.run_stores import folder_stores
from gofer.app.embedded.runner import Tools, open_runner
from gofer.app.embedded.simulated import Simulated, simulate
from gofer.app.embedded.world_difference import difference
from gofer.app.embedded.worlds import MOCKED, apart, move_apart
from gofer.app.http import http_client
from gofer.app.settings import Settings
from gofer.projections.progress import Progress
from gofer.runtime.retention import Purger
from gofer.tools.company import load_company
from gofer.tools.mocks import Overrides, mocked
from gofer.values.events import Event
from gofer.values.model_script import Script
from gofer.values.outside import SystemClock


@dataclass(frozen=True, slots=True)
class Outcome:
    """One run by hand."""

    run: str
    done: Progress
    seconds: float
    world: Mapping[str, object]
    """What is different in the simulated world, as `difference` lists it."""
    simulated: Sequence[str]
    """The systems that were simulated."""
    model: str
    """What answered, for people."""
    data: Path
    """The folder that keeps the run."""


async def run_once(
    settings: Settings,
    root: Path,
    workflow: str,
    event: Event,
    body: bytes,
    world: Mapping[str, object] | None,
    scripts: Sequence[Script] | None,
    mocks: Overrides | None = None,
) -> Outcome:
    """Run a workflow on an event that `body` was translated to.

    A world is simulated when one is given, the model when scripts are. With `mocks` no tool reaches anything, and the
    run is kept in a state of its own, which no process with real tools continues.
    Raises ConfigError when a file or setting is wrong, when the offline model would write into a real system, or when
    another process serves the state.
    """
    catalog = checked_catalog(root / "agents")
    company = load_company(root)
    if mocks is not None:
        settings = replace(settings, data=settings.data / MOCKED)
        world = {}
    elif world is not None:
        settings = apart(settings)
    else:
        move_apart(settings.data)
    clock = SystemClock()
    async with contextlib.AsyncExitStack() as stack:
        stores = await stack.enter_async_context(folder_stores(settings.data, clock))
        http = await stack.enter_async_context(http_client())
        simulated = Simulated()
        if world is not None:
            simulated, settings = await simulate(stack, settings, world, http)
        settings = await offline_unless_set_up(stack, settings, scripts, simulated=world is not None)
        models = of_settings(settings, http)
        if mocks is not None:
            # No process serves this state, so what is due there is deleted now.
            await Purger(stores.stores, clock).purge()

        def equip(tools: Tools) -> Tools:
            if mocks is None:
                return tools
            return mocked(tools, mocks)

        opening = open_runner(settings, catalog, stores, models, http, clock, equip, company)
        runner = await stack.enter_async_context(opening)
        simulated.adopt(event, body)
        before = simulated.state()
        began = clock.monotonic()
        run = await runner.work(await runner.start(event, workflow))
        seconds = clock.monotonic() - began
        await simulated.settled()
        changed = difference(before, simulated.state())
        words = model_in_words(settings)
        return Outcome(run.id, run.progress, seconds, changed, tuple(simulated.systems), words, settings.data)
