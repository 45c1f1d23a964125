"""The projections of one run, folded in place as its journal grows."""

from collections.abc import Sequence

from gofer.journal.entries import Recorded
from gofer.projections import conversation, progress, repetition, script_replay, token_account, workspace


class Views:
    """The projections that a run is worked by, folded as its journal grows."""

    def __init__(self, entries: Sequence[Recorded]) -> None:
        self.progress = progress.project(entries)
        self.conversation = conversation.project(entries)
        self.repetition = repetition.project(entries)
        self.replay = script_replay.project(entries)
        self.workspace = workspace.project(entries)
        self.account = token_account.project(entries)

    def see(self, recorded: Recorded) -> None:
        """Folds one more entry into all of them."""
        progress.fold(self.progress, recorded)
        conversation.fold(self.conversation, recorded)
        repetition.fold(self.repetition, recorded)
        script_replay.fold(self.replay, recorded)
        workspace.fold(self.workspace, recorded)
        token_account.fold(self.account, recorded)
