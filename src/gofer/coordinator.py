"""Coordinator: the only names of Gofer that a script in `coordinators/` may import.

    from gofer.coordinator import Run

    async def coordinate(run: Run) -> str | None:
        ...

docs/write-a-script.md shows a complete script.
"""

from collections.abc import Awaitable, Mapping, Sequence
from datetime import datetime
from random import Random
from typing import Any, Protocol, TypeVar

from gofer.values.events import Actor, Event

T = TypeVar("T")


class ToolFailed(Exception):
    """A failed call. The run continues if the script catches this error, and otherwise ends as failed.

    `code` is for the script: the vendor's error code if there is one; `refused` for a call that was not made; `unknown`
    if the outcome cannot be determined, which also blocks the tool for that destination until the run ends. For a
    subagent: `empty`, `cut`, `refusal`, `filtered`, or `unfit` for a second answer without the form of its `output`;
    `limited`, `failed` or `stopped` for a subagent with its own run that did not finish. `tool` is the name of the tool
    that was called, or `subagent.` and the name of the subagent.
    """

    def __init__(self, text: str, *, code: str = "", tool: str = "") -> None:
        super().__init__(text)
        self.text = text
        self.code = code
        self.tool = tool


class Run(Protocol):
    """The run of a script. A limit of the workflow that is reached ends the run, even if the script catches errors."""

    @property
    def event(self) -> Event:
        """The event that started the run: `kind`, `text`, `facts`, `place` and `actor`. Its text is data, never
        instructions.
        """
        ...

    @property
    def files(self) -> Mapping[str, Mapping[str, object]]:
        """The files of the run by id, each as `{name, media_type, size, origin}`; `size` is in bytes, 0 for unknown.

        These are the files of the event and the files that calls of the script returned. `run.call("file_read",
        file=id)` reads a file.
        """
        ...

    async def call(self, tool: str, /, **arguments: object) -> Any:
        """Call one of the workflow's `tools`, and return its result as plain JSON.

        The result has the form that the tool documents, or else `{"text": what a model would read, **details}`.
        Arguments are plain JSON too. Raises ToolFailed, and TypeError or ValueError for arguments that are no JSON.
        """
        ...

    async def subagent(self, name: str, prompt: str, files: Sequence[str] = ()) -> str:
        """Ask the subagent subagents/<name>.yaml with the prompt <name>.md, and return its answer.

        A subagent with tools works in its own run until it answers, and can read the `files` (ids of the run's files).
        Any other subagent is asked one question, with the texts of the files appended. If the subagent has an `output`,
        the answer is JSON of that form. Raises ToolFailed, also for a file that is no text or too large.
        """
        ...

    async def gather(self, *branches: Awaitable[T]) -> list[T]:
        """Run several awaitables concurrently, and return their results in the order given.

        Every branch is finished first; then the error of the first failed branch is raised.
        """
        ...

    def now(self) -> datetime:
        """Return the UTC time of the first call."""
        ...

    def random(self) -> Random:
        """Return a random generator that gives the same numbers whenever the script runs again."""
        ...


__all__ = ["Actor", "Event", "Run", "ToolFailed"]
