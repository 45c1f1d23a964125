"""What a caller of this process gets of one run: its answer, its status and its journal."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from gofer.journal.codec import to_json
from gofer.journal.entries import Recorded, Status
from gofer.projections.progress import Progress

RunStatus = Status | Literal["parked", "handed_over"]
"""How a run ended; `parked` while it waits, and `handed_over` when its Gofer was closed before its end."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run as it was when the call returned."""

    id: str
    progress: Progress
    """What it used, and all else that its journal says of its way; without contents where these were deleted."""
    journal: Sequence[Recorded]
    """All entries, oldest first. Empty for a private run that ended, because its contents are deleted then."""

    @property
    def status(self) -> RunStatus:
        """How it ended, or why it has not."""
        if self.progress.finished is not None:
            return self.progress.finished.status
        return "parked" if self.progress.parked is not None else "handed_over"

    @property
    def reason(self) -> str:
        """Why it ended as it did, or what it waits for; empty when there is nothing to explain."""
        if self.progress.finished is not None:
            return self.progress.finished.reason
        return self.progress.why_parked if self.progress.parked is not None else ""

    @property
    def text(self) -> str:
        """The answer as people read it, or the sentence that says why there is none; empty before the end."""
        return self.progress.concluded.text if self.progress.concluded is not None else ""

    @property
    def answer(self) -> str | Mapping[str, object]:
        """The answer: the value that the workflow's `output` asks for where it has one, and the text where not."""
        concluded = self.progress.concluded
        if concluded is not None and concluded.output is not None:
            return concluded.output
        return self.text

    def to_json(self) -> Iterator[str]:
        """Yield the journal as lines of JSON, one entry each, with its address and its time."""
        for recorded in self.journal:
            entry = {"address": recorded.address, "at": recorded.at, **to_json(recorded.entry)}
            yield json.dumps(entry, ensure_ascii=False)


def without_contents(progress: Progress) -> Progress:
    """Return the progress of a private run that ended, without what was said in it but its answer."""
    return replace(progress, event=None, outcomes={}, in_doubt={}, clicks=[], approvals={}, waits={})
