"""What a source remembers of earlier events, kept in the store of the runs."""

from collections.abc import Mapping
from dataclasses import dataclass

from gofer.engine.own_step import OwnStep
from gofer.sources.part_values import Changes, SourceContext
from gofer.sources.registry import source_of
from gofer.values.events import Event
from gofer.values.row_tokens import Tokens
from gofer.workflows.load import Loaded


@dataclass(frozen=True, slots=True)
class RunMemory:
    """The memory as one run sees it."""

    step: OwnStep

    @property
    def run(self) -> str:
        """The id of the run."""
        return self.step.run

    @property
    def workflow(self) -> str:
        """The name of its workflow."""
        return self.step.progress.workflow

    @property
    def tokens(self) -> Tokens:
        """What makes the keys of memos."""
        return self.step.services.tokens

    async def memo(self, key: str) -> str | None:
        """Return the memo of a key; None when there is none."""
        return await self.step.services.store.memo(key)

    async def exchange(self, key: str, before: str | None, text: str) -> str | None:
        """Write a memo where it still is what it was before; return what it is afterwards."""
        return await self.step.services.store.exchange_memo(key, before, text, self.step.now_ms())


async def changes_of(
    step: OwnStep, event: Event, loaded: Loaded, facts: Mapping[str, object], context: SourceContext
) -> Changes:
    """Return what an event changed since the last one, as far as its source compares. Raises TemporaryError."""
    compare = source_of(event).compare
    if compare is None:
        return Changes()
    return await compare(RunMemory(step), event, loaded, facts, context.properties)
