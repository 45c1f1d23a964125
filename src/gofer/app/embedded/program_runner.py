"""The runner for a program, which passes settings and additional tools as values."""

import contextlib
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, NoReturn

import httpx2

from gofer.app.catalog import checked_catalog, company_tools
from gofer.app.embedded.runner import Runner, RunStores, Tools, folder_stores, memory_stores, open_runner
from gofer.app.embedded.simulated import Simulated, simulate
from gofer.app.embedded.worlds import apart, move_apart
from gofer.app.http import http_client
from gofer.app.model_endpoints import ModelAccess, models_of, only
from gofer.app.settings import Settings
from gofer.models.language_model import DEPLOYED, Model
from gofer.models.remote import remote_endpoint
from gofer.runtime.retention import Purger
from gofer.sources.receivers import RECEIVERS
from gofer.tools.definition import AnyTool, Arguments, Call
from gofer.tools.mocks import keeping_state
from gofer.values.errors import ConfigError, ToolError
from gofer.values.outside import Clock, SystemClock, is_base_url

OwnTools = Sequence[AnyTool]
BY_SYSTEM = {spec.system: spec for spec in RECEIVERS}
"""The sources with credentials, by the name that tools use for their system."""


@dataclass(frozen=True, slots=True)
class Embedding:
    """The parts of a Gofer that a program chooses."""

    folder: Path
    """The folder with `agents/`, and optionally `skills/`, `subagents/`, `coordinators/` and `tools/`."""
    store: Literal["memory"] | Path
    settings: Settings
    tools: OwnTools = ()
    """Additional tools. Each one replaces a tool of Gofer with the same name."""
    model: Model | str | None = None
    """A model or a base URL that replaces every endpoint. None means the models of the settings."""
    world: Mapping[str, object] | None = None
    """The initial contents of simulators that replace the outside systems. None means the real systems."""


@dataclass(frozen=True, slots=True)
class ProgramRunner:
    """The runner of a program, and its simulators."""

    runner: Runner
    simulated: Simulated


@contextlib.asynccontextmanager
async def open_program_runner(given: Embedding) -> AsyncGenerator[ProgramRunner]:
    """Open the runner for a program. Raises ConfigError with every mistake in the folder, or for a state in use."""
    catalog = checked_catalog(given.folder / "agents", given.tools)
    company = company_tools(given.folder)
    clock = SystemClock()
    async with contextlib.AsyncExitStack() as stack:
        stores, settings = await _stores(stack, given, clock)
        http = await stack.enter_async_context(http_client(settings.proxies))
        simulated = Simulated()
        if given.world is not None:
            simulated, settings = await simulate(stack, settings, given.world, http)
        models = _models(given, settings, http)

        def equip(tools: Tools) -> Tools:
            if given.world is not None:
                tools = keeping_state(tools, simulated.kept)
            reachable = {name: _unless_closed(tool, settings) for name, tool in tools.items()}
            return {**reachable, **{tool.name: tool for tool in given.tools}}

        opening = open_runner(settings, catalog, stores, models, http, clock, equip, company)
        yield ProgramRunner(await stack.enter_async_context(opening), simulated)


async def _stores(stack: contextlib.AsyncExitStack, given: Embedding, clock: Clock) -> tuple[RunStores, Settings]:
    """Return the stores, and the settings with the folder that holds them."""
    if given.store == "memory":
        return memory_stores(), given.settings
    settings = replace(given.settings, data=given.store)
    if given.world is None:
        move_apart(given.store)
    else:
        settings = apart(settings)
    stores = await stack.enter_async_context(folder_stores(settings.data, clock))
    await Purger(stores.stores, clock).purge()
    return stores, settings


def _models(given: Embedding, settings: Settings, http: httpx2.AsyncClient) -> ModelAccess:
    match given.model:
        case None:
            return models_of(settings, http)
        case str(url):
            if not is_base_url(url):
                raise ConfigError(
                    "`model` is not a base URL; write one such as https://api.example.com/v1, or pass a model."
                )
            return only(remote_endpoint(http, url, replace(DEPLOYED, key=settings.openai_api_key)))
        case model:
            return only(model)


def _unless_closed(tool: AnyTool, settings: Settings) -> AnyTool:
    """Return `tool`. If its system has no credentials, return a tool that refuses calls and says what to set up."""
    spec = BY_SYSTEM.get(tool.target.system)
    if spec is None or settings.sources[spec.token]:
        return tool
    setting = spec.token.name

    async def refuse(call: Call, arguments: Arguments) -> NoReturn:
        raise ToolError(f"{tool.target.system} is not set up here: set {setting}, or pass a world.", code="not_set_up")

    if tool.in_doubt.look is None:
        return replace(tool, act=refuse)
    # Without access, no check can find out whether an earlier attempt had an effect.
    return replace(tool, act=refuse, in_doubt=replace(tool.in_doubt, look=refuse))
