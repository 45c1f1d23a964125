"""The services of replays: all tools without any system, and a model only if it is asked for."""

import asyncio
import contextlib
import random
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import httpx2

from gofer.app.http import SharedHttp, http_client
from gofer.app.model_endpoints import models_of
from gofer.app.settings import Settings, read_settings
from gofer.app.toolbox import build_tools
from gofer.engine.services import Links, Services
from gofer.models.served_model import stand_in_prices
from gofer.replay.changes import Changes
from gofer.replay.isolation import NoModel, no_stores
from gofer.replay.recorded_run import RecordedRun
from gofer.replay.replay import UNCHANGED, Replay
from gofer.replay.replay import replay as replay_run
from gofer.sources.workflow_files import load_catalog
from gofer.tools.company import CompanyTool, load_company
from gofer.values.errors import ConfigError
from gofer.values.installation_key import InstallationKey
from gofer.values.outside import Outside, SystemClock, random_id, random_key
from gofer.values.secret import Secret
from gofer.workflows.load import Catalog
from gofer.workflows.schema import Defaults

AT_ONCE = 8
"""The most replays that ask a live model at once."""


@dataclass(frozen=True, slots=True)
class Replayer:
    """Replays runs with the tools and scripts of a folder."""

    services: Services
    catalog: Catalog

    async def replay(self, recorded: RecordedRun, changes: Changes = UNCHANGED) -> Replay:
        """Replay a recorded run. Raises ConfigError for a prompt or a call that the run does not have."""
        check_calls(recorded, changes)
        return await replay_run(recorded, self.services, self.catalog, changes)

    async def replay_times(self, recorded: RecordedRun, changes: Changes, times: int) -> Sequence[Replay]:
        """Replay a recorded run several times, at most AT_ONCE at once. Raises ConfigError."""
        check_calls(recorded, changes)
        places = asyncio.Semaphore(AT_ONCE)

        async def one() -> Replay:
            async with places:
                return await self.replay(recorded, changes)

        return await asyncio.gather(*(one() for _ in range(times)))


@contextlib.asynccontextmanager
async def open_replayer(settings: Settings, root: Path, *, live: bool) -> AsyncGenerator[Replayer]:
    """Open a replayer for the folder with `agents/`, if there is one.

    With `live`, the models in the settings answer; nothing else outside is ever reached. Raises ConfigError.
    """
    catalog = Catalog({}, Defaults())
    if (root / "agents").is_dir():
        catalog = load_catalog(root / "agents")
    async with http_client(settings.proxies) as http:
        replayer = replayer_of(catalog, load_company(root), http)
        if live:
            models = models_of(settings, http)
            services = replace(replayer.services, model=models.default, reach=models.reach)
            replayer = replace(replayer, services=services)
        yield replayer


def replayer_of(catalog: Catalog, company: Sequence[CompanyTool], http: httpx2.AsyncClient) -> Replayer:
    """Return a replayer without a model, for the workflows and the tools of a folder."""
    outside = Outside(SharedHttp(http), SystemClock(), random_id, random.SystemRandom(), random_key)
    services = Services(
        stores=no_stores(outside.clock),
        model=NoModel(),
        tools=build_tools(read_settings({}), company=company),
        prices=stand_in_prices(),
        links=Links(""),
        outside=outside,
        installation_key=InstallationKey(Secret(random_key().hex())),
    )
    return Replayer(services, catalog)


def check_calls(recorded: RecordedRun, changes: Changes) -> None:
    """Raise ConfigError if the changes name a call that the recorded run does not have."""
    known = recorded.calls
    for call in [*changes.overrides, *filter(None, [changes.until])]:
        if call not in known:
            listed = ", ".join(known) or "none"
            raise ConfigError(
                f"The run has no call {call[:80]!r}; `gofer trace --full` shows its calls: {listed[:500]}."
            )
