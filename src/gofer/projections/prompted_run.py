"""A run with its prompt: its journal, its bundle, and the same for each of its subagent runs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from gofer.journal.entries import Recorded
from gofer.values.canonical_json import as_list, as_text


@dataclass(frozen=True, slots=True)
class PromptedRun:
    """A run with its prompt."""

    run: str
    entries: Sequence[Recorded]
    bundle: Mapping[str, object]
    """The bundle as JSON; empty for a run that did not start."""
    subagents: Mapping[str, "PromptedRun"] = field(default_factory=dict[str, "PromptedRun"])
    """The direct subagent runs that can be read, by id."""
    damage: str = ""
    """Why the rest of the journal cannot be read; empty for a complete journal."""

    @property
    def system(self) -> str:
        """The system prompt; empty for a run that did not start."""
        return as_text(self.bundle.get("system"))

    @property
    def tools(self) -> Sequence[Mapping[str, object]]:
        """The tool schemas that the model gets."""
        return cast(Sequence[Mapping[str, object]], as_list(self.bundle.get("tools")))

    def with_subagents(self) -> Iterator["PromptedRun"]:
        """Yield this run, and then the subagent runs at any depth."""
        yield self
        for child in self.subagents.values():
            yield from child.with_subagents()
