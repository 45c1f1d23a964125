"""The worker of `gofer sweep`: over the state of a folder, without a front, pages and simulators."""

import contextlib
from collections.abc import AsyncGenerator
from pathlib import Path

from gofer.app.catalog import checked_catalog
from gofer.app.embedded.models_asked import of_settings
from gofer.app.embedded.run_stores import folder_stores
from gofer.app.embedded.runner import Tools, open_runner
from gofer.app.embedded.worlds import move_apart
from gofer.app.http import http_client
from gofer.app.settings import Settings
from gofer.runtime.worker import Worker
from gofer.tools.company import load_company
from gofer.values.outside import SystemClock


@contextlib.asynccontextmanager
async def open_swept(settings: Settings, root: Path) -> AsyncGenerator[Worker]:
    """Open a worker over the state that the settings name, with the real systems.

    Raises ConfigError when a file or setting is wrong, when no model is set up, or when another process serves the
    state.
    """
    catalog = checked_catalog(root / "agents")
    move_apart(settings.data)
    clock = SystemClock()
    async with folder_stores(settings.data, clock) as stores, http_client() as http:
        models = of_settings(settings, http)
        async with open_runner(
            settings, catalog, stores, models, http, clock, _as_they_are, load_company(root)
        ) as runner:
            yield runner.worker


def _as_they_are(tools: Tools) -> Tools:
    return tools
