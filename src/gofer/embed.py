"""Gofer for programs: a notebook, a test, an eval or a service runs workflows in its own process.

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
    """A program runner that is open within the block."""

    stack: contextlib.AsyncExitStack
    program: ProgramRunner


class Gofer:
    """Gofer in the process of a program, with one folder of workflows. It does not read the environment."""

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
        """Take the settings of a program; `async with` opens everything.

        `folder` is the folder that contains `agents/`. `store` keeps runs in memory, or in a folder that no other
        process may use at the same time. `tools` are added to the tools of Gofer, and replace tools of the same name.
        `model` answers in place of every endpoint: a model, or the base URL of a model. `settings` are the variables
        that `gofer serve` reads, by name. `world` is the initial content of the simulators, by name. Raises ConfigError
        for a wrong setting.
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
        """Return a Gofer with the settings of this process: its environment, then `.env` of the current folder.

        Raises ConfigError for a wrong setting.
        """
        return cls(folder, store=store, tools=tools, model=model, settings=process_settings(), world=world)

    async def __aenter__(self) -> "Gofer":
        """Check the folder and open everything.

        Raises ConfigError with all mistakes in the folder, when no model is set up, and when another process uses the
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
        """Hand over unfinished runs within five seconds, and close everything."""
        opened = self._open()
        self._opened = None
        await opened.stack.__aexit__(kind, error, trace)

    @property
    def simulated(self) -> Simulated:
        """The simulators of `world`, to look at the effects of a run; without a world there are none."""
        return self._program().simulated

    def event(self, workflow: str, body: bytes, *, source: str = "", headers: Headers = (), hook: str = "") -> Event:
        """Return the event of a payload, as its sender sends it; the signature is not checked.

        `source` names the sender if several are possible. Some systems name the event in `headers`, and `hook` names
        the webhook that is called. Objects that the payload names and the simulated world lacks are added to the world.
        Raises ConfigError for a payload that starts nothing.
        """
        opened = self._program()
        given = EventInput("the payload", body, source, headers, hook, PARAMETERS)
        event = event_input(opened.runner.catalog, workflow, given, opened.runner.now())
        opened.simulated.adopt(event, body)
        return event

    async def run(self, workflow: str, event: Event | str, *, by: str = "") -> Run:
        """Run a workflow on an event or a question, and return the run when it ended or waits.

        `by` names the person who asks a question. Each call is a run of its own, even for an equal event. Raises
        ConfigError for an unknown workflow, and TemporaryError when the store fails. Every other failure is in the
        status and the reason of the run.
        """
        runner = self._program().runner
        if isinstance(event, str):
            event = question(event, by, random_id())
        elif by:
            raise ConfigError("An event says who acted: leave out `by`, or pass the question as a text.")
        return await self.resume(await runner.start(event, workflow))

    async def resume(self, run: str) -> Run:
        """Continue a run that was parked or handed over, and return it when it ended or waits again.

        Raises ConfigError for a run that is not in the store, and TemporaryError when the store fails.
        """
        return await self._program().runner.work(run)

    def _program(self) -> ProgramRunner:
        return self._open().program

    def _open(self) -> _Opened:
        if self._opened is None:
            raise ConfigError("This Gofer is closed; call it inside of `async with Gofer(…) as gofer:`.")
        return self._opened
