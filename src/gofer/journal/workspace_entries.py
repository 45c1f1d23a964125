"""Entries about the workspace of a run: its files, its skills and its plan."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from gofer.values.missing import Missing


@dataclass(frozen=True, slots=True)
class FileAdded:
    """`file.added`: a file that the run can read by its id, without having it in its context window.

    An attachment has two entries: one when the run learns of the file, and one when the file was fetched.
    """

    file: str
    """The id for tools: `<prefix>_<first digits of a hash>`."""
    name: str
    """The name for people and models: may come from an outsider, and is reduced to plain text."""
    media_type: str
    size: int
    """Bytes; before the file was fetched, the size that its origin reports."""
    origin: str
    """The origin in a few words: a system, a tool, or `extracted from file_1a2b3c4d`."""
    body: str = ""
    """The hash of the sealed content; empty before the file was fetched."""
    run: str = ""
    """The run that stores the content; empty means this run."""
    source: Mapping[str, object] | None = None
    """The `tool` that fetches the file and its `arguments`; None for a file that the run itself made."""
    preloaded: bool = False
    """Whether the first message holds the whole content."""
    missing: tuple[Missing, ...] = ()
    """The parts of the document that this text lacks; empty for a complete file."""


@dataclass(frozen=True, slots=True)
class FileRead:
    """`file.read`: a part of a file was shown to the model.

    Lines and pages count from 1, bytes from 0. `stop` is included for lines and pages, and excluded for bytes.
    """

    file: str
    unit: Literal["lines", "bytes", "pages", "matches"]
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class SkillLoaded:
    """`skill.loaded`: the text of a skill, or of one file of its folder, was shown to the model."""

    skill: str
    file: str = ""
    """The path below the skill's folder; empty means SKILL.md."""


TodoStatus = Literal["pending", "in_progress", "completed", "blocked"]


@dataclass(frozen=True, slots=True)
class Todo:
    """One step of a plan."""

    id: str
    description: str
    status: TodoStatus = "pending"
    needs: str = ""
    """For a blocked step: what a person must provide."""


@dataclass(frozen=True, slots=True)
class PlanUpdated:
    """`plan.updated`: the whole plan from now on."""

    todos: tuple[Todo, ...]


@dataclass(frozen=True, slots=True)
class Weights:
    """The estimated tokens of one request, before a provider counts them."""

    roles: Mapping[str, int]
    """Tokens by role: system, tools, skills, files, history, tail."""
    kinds: Mapping[str, int]
    """Tokens by kind of content, because tokenizers differ by kind."""
    window: int = 0
    """The most tokens that the model accepts, answer included."""
    expected: int = 0
    """The expected tokens of the request, from earlier counts and these estimates."""


@dataclass(frozen=True, slots=True)
class ContextCompacted:
    """`context.compacted`: a summary and a file replace the beginning of the history in the context window."""

    summary: str
    file: str
    """The id of the file with the exact text of the removed messages."""
    kept: int
    """The number of messages at the beginning that stay, before the summary."""
    folded: int
    """The number of removed messages after those."""
    turns: tuple[int, int]
    """The first and the last model turn among the removed messages, counted from 1."""
    by: Literal["model", "code"]
    """The author of the summary: the model, or code if the model returned no usable summary."""


FINISH = "finish"
"""The name of the tool that ends the work."""
BOOKKEEPING = frozenset({"todo_write", "todo_update", "todo_read", FINISH})
"""The tools for the run's own plan and end; they count toward no limit of tool calls."""

Fact = FileAdded | FileRead | SkillLoaded | PlanUpdated
"""Changes of the workspace that a tool returns; the step that called the tool journals them with its result."""
