"""What does the owner of a run see of its journal while it grows?"""

from collections.abc import Sequence

from gofer.journal.entries import Recorded
from gofer.projections import account, conversation, progress, repetition, replay, workspace


class Views:
    """The projections that a run is worked by, folded as its journal grows."""

    def __init__(self, entries: Sequence[Recorded]) -> None:
        self.progress = progress.project(entries)
        self.conversation = conversation.project(entries)
        self.repetition = repetition.project(entries)
        self.replay = replay.project(entries)
        self.workspace = workspace.project(entries)
        self.account = account.project(entries)

    def see(self, recorded: Recorded) -> None:
        """Folds one more entry into all of them."""
        self.progress = progress.fold(self.progress, recorded)
        self.conversation = conversation.fold(self.conversation, recorded)
        self.repetition = repetition.fold(self.repetition, recorded)
        self.replay = replay.fold(self.replay, recorded)
        self.workspace = workspace.fold(self.workspace, recorded)
        self.account = account.fold(self.account, recorded)
