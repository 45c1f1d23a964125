"""A Gofer on one machine that serves the real systems, for `gofer serve`."""

import contextlib
import importlib
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from gofer.app.embedded.server import LOCAL
from gofer.app.embedded.stack import EmbeddedStack, open_embedded
from gofer.app.secret_registration import AwaitedSecret
from gofer.app.settings import Settings
from gofer.app.toolbox import unset
from gofer.sources.apps import APPS
from gofer.sources.connections import CONNECTIONS
from gofer.sources.serving import AppSpec, Connecting, InstalledApp
from gofer.values.errors import TemporaryError


@dataclass(frozen=True, slots=True)
class ServedApp:
    """An installed app that Gofer serves."""

    spec: AppSpec
    installed: InstalledApp
    lacking: Sequence[str]
    """Scopes that the workflows need and the app does not have."""


@dataclass(frozen=True, slots=True)
class Service:
    """A Gofer that serves the real systems."""

    embedded: EmbeddedStack
    apps: Sequence[ServedApp]
    unset: Mapping[str, Sequence[str]]
    """Variables that the company's tools need and that are not set, each with the names of those tools."""


@contextlib.asynccontextmanager
async def open_service(
    settings: Settings, root: Path, port: int, awaited: AwaitedSecret | None = None, *, host: str = LOCAL
) -> AsyncGenerator[Service]:
    """Serve while the block runs. At its end the runs are handed over first, while deliveries are still accepted.

    `host` is the address of this machine that the front listens on. `awaited` opens the window in which a source
    registers its secret.
    Raises ConfigError if a setting, a file or a token is wrong, TemporaryError if a system cannot be reached, and
    MachineError if the port is taken.
    """
    async with contextlib.AsyncExitStack() as stack:
        embedded = await stack.enter_async_context(open_embedded(settings, root, port, host=host, awaited=awaited))
        apps = [await _identify(spec, embedded) for spec in APPS if embedded.settings.sources[spec.token]]
        for connection in CONNECTIONS:
            if settings.sources[connection.token]:
                module = cast(Connecting, importlib.import_module(connection.module))
                receive = embedded.editions.receive_verified
                supervisor = embedded.readiness.supervisor
                opened = module.connected(embedded.settings.sources, receive, supervisor, settings.proxies)
                await stack.enter_async_context(opened)
        await stack.enter_async_context(embedded.working())
        yield Service(embedded, apps, unset(embedded.company, settings))


async def _identify(spec: AppSpec, embedded: EmbeddedStack) -> ServedApp:
    services = embedded.worker.services
    try:
        installed = await spec.identify(embedded.settings.sources, services.outside.http)
    except TemporaryError as error:
        raise TemporaryError(
            f"{spec.system} cannot be reached ({error}); check the network, then start again."
        ) from error
    if installed.scopes is None:
        return ServedApp(spec, installed, ())
    scopes = installed.scopes
    workflows = [loaded.workflow for loaded in embedded.catalog.workflows.values()]
    needed = spec.needed(workflows, services.tools.values())
    return ServedApp(spec, installed, [scope for scope in needed if scope not in scopes])
