"""The store of a replay: rows beside the journal, as far as the recorded run shows what it found in them."""

from collections.abc import Sequence

from typing_extensions import override

from gofer.journal.coordination import Head
from gofer.journal.entries import Recorded, RunAccepted, RunStarted, ToolCall
from gofer.journal.purposes import OWNER_NOTICE
from gofer.runtime.run_reports import FAILURE
from gofer.stores.memory.journal import MemoryStore

_UNKNOWN = "unknown"
"""The id of an earlier run that the recording does not name."""


class RecordedRows(MemoryStore):
    """A store that nothing outlives. It knows the earlier run of the conversation that the recorded run found."""

    def __init__(self, entries: Sequence[Recorded]) -> None:
        super().__init__()
        self.were_read = False
        """Whether the replay asked for a row that may have been another one then."""
        self._accepted = next(recorded for recorded in entries if isinstance(recorded.entry, RunAccepted))
        self._notified = any(_is_owner_notice(recorded) for recorded in entries)
        self._started = next((item.entry for item in entries if isinstance(item.entry, RunStarted)), None)

    @override
    async def previous(self, conversation: str, workflow: str, before: int) -> Head | None:
        self.were_read = True
        accepted = self._accepted.entry
        if self._started is None or not isinstance(accepted, RunAccepted) or workflow != accepted.workflow:
            return None
        followed = any(route.workflow == workflow and "followed" in route.where for route in accepted.routes)
        if not self._started.continues and not followed:
            return None
        run = self._started.continues or _UNKNOWN
        return Head(
            run=run,
            workflow=workflow,
            conversation=conversation,
            accepted_at=before - 1,
            status="done",
            private=False,
        )

    @override
    async def memo(self, key: str) -> str | None:
        self.were_read = True
        return await super().memo(key)

    @override
    async def exchange_memo(self, key: str, was: str | None, value: str, at: int) -> str:
        self.were_read = True
        if key.startswith(FAILURE) and not self._notified:
            # Another run had notified the owner within the same hour.
            return _UNKNOWN
        return await super().exchange_memo(key, was, value, at)


def _is_owner_notice(recorded: Recorded) -> bool:
    return isinstance(recorded.entry, ToolCall) and recorded.entry.call == OWNER_NOTICE
