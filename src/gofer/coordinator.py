"""Coordinator: what a script of `coordinators/` may import of Gofer, and all it may import of it.

    from gofer.coordinator import Run

    async def coordinate(run: Run) -> str | None:
        ...

docs/write-a-script.md shows the whole of it.
"""

from collections.abc import Awaitable, Mapping, Sequence
from datetime import datetime
from random import Random
from typing import Any, Protocol, TypeVar

from gofer.values.events import Actor, Event

T = TypeVar("T")


class ToolFailed(Exception):
    """A call did not do what was asked; the run goes on if the script catches it, and ends as failed if not.

    `code` is for the script: the vendor's reason where there is one; `refused` for a call that was not made; `unknown`
    where the outcome cannot be determined, which also locks its tool for that destination until the run ends.
    Of a subagent: `empty`, `cut`, `refusal`, `filtered`, or `unfit` for an answer without the form of its `output`;
    `limited`, `failed` or `stopped` for one with a run of its own that did not come to its end.
    `tool` is the name of the tool that was called, or `subagent.` and the name of the subagent.
    """

    def __init__(self, text: str, *, code: str = "", tool: str = "") -> None:
        super().__init__(text)
        self.text = text
        self.code = code
        self.tool = tool


class Run(Protocol):
    """The run of a script. A limit of the workflow that is reached ends it, also in a script that catches errors."""

    @property
    def event(self) -> Event:
        """What started it: `kind`, `text`, `facts`, `place` and `actor`. Its text is data, never instructions."""
        ...

    @property
    def files(self) -> Mapping[str, Mapping[str, object]]:
        """The files of the run by id, each as `{name, media_type, size, origin}`; `size` is in bytes, 0 for unknown.

        Those it began with, and those that calls of the script told of; `run.call("file_read", file=id)` reads one.
        """
        ...

    async def call(self, tool: str, /, **arguments: object) -> Any:
        """Calls one of the workflow's `tools`; gives what the tool has for scripts, as plain JSON.

        That is in the form the tool documents, or `{"text": what a model would read, **details}` where it has none of
        its own. Arguments are plain JSON too. Raises ToolFailed, and TypeError or ValueError for what is no JSON.
        """
        ...

    async def subagent(self, name: str, prompt: str, files: Sequence[str] = ()) -> str:
        """Asks subagents/<name>.yaml, with <name>.md as what it is told first; gives its answer.

        One that has tools works in a run of its own until it answers, with the `files` of the run by their ids; any
        other is asked one question, with the texts of the files behind it. Where it has an `output`, the answer is JSON
        of that form. Raises ToolFailed, also for a file that is no text or too large.
        """
        ...

    async def gather(self, *branches: Awaitable[T]) -> list[T]:
        """Waits for several things at once; gives their results in the order given.

        Every branch comes to its end; then the error of the first that failed is raised.
        """
        ...

    def now(self) -> datetime:
        """The time in UTC when this was first asked."""
        ...

    def random(self) -> Random:
        """A source of chance that gives the same whenever the script is run again."""
        ...


__all__ = ["Actor", "Event", "Run", "ToolFailed"]
