"""The front door for programs: a notebook, a test, an eval or a service runs workflows in its own process.

async with Gofer(Path("."), settings={"OPENAI_API_KEY": key}) as gofer:
    run = await gofer.run("answer-here", "What is the capital of Poland?", by="Ada")
"""

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Literal

from gofer.app.embedded.program_runner import Embedding, ProgramRunner, open_program_runner
from gofer.app.embedded.runner import Run, RunStatus
from gofer.app.embedded.simulated import Simulated
from gofer.app.event_input import PARAMETERS, EventInput, Headers, event_input
from gofer.app.settings import Settings, process_settings, read_settings
from gofer.models.language_model import Model
from gofer.models.scripted import ScriptedModel, scripted
from gofer.sources.program.question import question
from gofer.tools.definition import AnyTool, Arguments, Call, Tool, ToolResult
from gofer.values.errors import ConfigError, TemporaryError, ToolError
from gofer.values.events import Actor, Event
from gofer.values.outside import random_id

__all__ = [
    "Actor",
    "Arguments",
    "Call",
    "ConfigError",
    "Event",
    "Gofer",
    "Model",
    "Run",
    "RunStatus",
    "ScriptedModel",
    "TemporaryError",
    "Tool",
    "ToolError",
    "ToolResult",
    "scripted",
]


@dataclass(frozen=True, slots=True)
class _Opened:
    """A runner that is open within the block."""

    stack: contextlib.AsyncExitStack
    program: ProgramRunner


class Gofer:
    """Gofer in the process of a program, over one folder of workflows. Nothing of the environment is read."""

    def __init__(
        self,
        folder: Path | str,
        *,
        store: Literal["memory"] | Path = "memory",
        tools: Sequence[AnyTool] = (),
        model: Model | str | None = None,
        settings: Settings | Mapping[str, str] | None = None,
        world: Mapping[str, object] | None = None,
    ) -> None:
        """Take the values of a program; nothing is opened before `async with`.

        `folder` is the one with `agents/`. `store` keeps runs in memory, or in a folder that no other process may use
        meanwhile. `tools` are added to those of Gofer, and replace tools with their names. `model` answers in place of
        every endpoint: a model, or the base URL of one. `settings` are the variables that `gofer serve` reads, by
        their names. `world` is what the simulators start with, by their names.
        Raises ConfigError for a setting that is wrong.
        """
        chosen = settings if isinstance(settings, Settings) else read_settings(settings or {})
        kept = store if store == "memory" else Path(store)
        self._given = Embedding(Path(folder), kept, chosen, tuple(tools), model, world)
        self._opened: _Opened | None = None

    @classmethod
    def from_environment(
        cls,
        folder: Path | str,
        *,
        store: Literal["memory"] | Path = "memory",
        tools: Sequence[AnyTool] = (),
        model: Model | str | None = None,
        world: Mapping[str, object] | None = None,
    ) -> "Gofer":
        """Return a Gofer with the settings of this process: its environment, and below it `.env` of the current folder.

        Raises ConfigError for a setting that is wrong.
        """
        return cls(folder, store=store, tools=tools, model=model, settings=process_settings(), world=world)

    async def __aenter__(self) -> "Gofer":
        """Check the folder and open everything.

        Raises ConfigError with every mistake in the folder, when no model is set up, and when another process uses the
        store.
        """
        if self._opened is not None:
            raise ConfigError("This Gofer is open already; make another one for another block.")
        async with contextlib.AsyncExitStack() as stack:
            opened = await stack.enter_async_context(open_program_runner(self._given))
            self._opened = _Opened(stack.pop_all(), opened)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Hand over runs that have not ended, within five seconds, and close everything."""
        opened = self._open()
        self._opened = None
        await opened.stack.__aexit__(kind, error, trace)

    @property
    def simulated(self) -> Simulated:
        """Return the simulators of `world`, for a look at what a run did there; without a world it has none."""
        return self._program().simulated

    def event(self, workflow: str, body: bytes, *, source: str = "", headers: Headers = (), hook: str = "") -> Event:
        """Return the event that a payload is, as its sender sends it; its signature is not asked for.

        `source` says who sends it, where several may. Some systems say in `headers` what happened, and `hook` names the
        webhook that is called. What a payload names and its simulated world lacks is planted there.
        Raises ConfigError for a payload that starts nothing.
        """
        opened = self._program()
        given = EventInput("the payload", body, source, headers, hook, PARAMETERS)
        event = event_input(opened.runner.catalog, workflow, given, opened.runner.now())
        opened.simulated.adopt(event, body)
        return event

    async def run(self, workflow: str, event: Event | str, *, by: str = "") -> Run:
        """Run a workflow on an event, or on a question in words, and return the run when it ended or waits.

        `by` names the person who asks, for a question. Each call is a run of its own, also for an equal event.
        Raises ConfigError for an unknown workflow, TemporaryError when the store fails. Everything else that goes
        wrong is the status and the reason of the run.
        """
        runner = self._program().runner
        if isinstance(event, str):
            event = question(event, by, random_id())
        elif by:
            raise ConfigError("An event says who acted: leave out `by`, or pass the question as a text.")
        return await self.resume(await runner.start(event, workflow))

    async def resume(self, run: str) -> Run:
        """Continue a run that was parked or handed over, and return it when it ended or waits again.

        Raises ConfigError for a run that the store does not have, TemporaryError when the store fails.
        """
        return await self._program().runner.work(run)

    def _program(self) -> ProgramRunner:
        return self._open().program

    def _open(self) -> _Opened:
        if self._opened is None:
            raise ConfigError("This Gofer is closed; call it inside of `async with Gofer(…) as gofer:`.")
        return self._opened
