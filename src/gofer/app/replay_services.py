"""Replays with the tools and workflows of a repository; nothing outside is reached."""

import contextlib
import random
from collections.abc import Generator
from pathlib import Path

from gofer.app.catalog import checked_catalog
from gofer.app.embedded.runner import FixedCatalog, memory_stores
from gofer.app.model_endpoints import only
from gofer.app.settings import read_settings
from gofer.app.worker import ChildProcesses, Installation, build_worker
from gofer.engine.services import Links
from gofer.evals.goldens.replayed_case import Replaying
from gofer.files.child import Children
from gofer.files.sandbox.python import sandbox
from gofer.replay.isolation import NoModel, NoNetwork
from gofer.replay.recorded_run import RecordedRun
from gofer.replay.replay import Replay, replay
from gofer.tools.company import load_company
from gofer.values.outside import Outside, SystemClock, random_id, random_key


@contextlib.contextmanager
def open_replaying(root: Path) -> Generator[Replaying]:
    """Open the function that replays recorded runs with the code of a repository.

    Raises ConfigError with every mistake in the repository's files.
    """
    catalog = checked_catalog(root / "agents")
    clock = SystemClock()
    stores = memory_stores(clock)
    outside = Outside(NoNetwork(), clock, random_id, random.Random(0), random_key)  # noqa: S311
    with contextlib.closing(Children()) as children, contextlib.closing(sandbox()) as python:
        worker = build_worker(
            # Without a token no tool could reach its system, even if a replay asked it to.
            read_settings({}),
            Installation(stores.stores, stores.key, Links(""), outside, alone=True),
            FixedCatalog(catalog),
            only(NoModel()),
            ChildProcesses(children, python),
            company=load_company(root),
        )

        async def replaying(recorded: RecordedRun) -> Replay:
            return await replay(recorded, worker.services, catalog)

        yield replaying
