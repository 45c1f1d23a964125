"""Does a script that is run again still ask for what its journal has? If not, nothing new may happen outside.

What a script only read may change with its code: reads and subagents that are new or not asked for any more are let
through. Of effects every one on record has to be asked for again, before a new one happens that is not beside it.
"""

from collections.abc import Mapping

from gofer.engine.script_branches import Asked, Path, beside, path_of
from gofer.journal.entries import ToolCall
from gofer.values.canonical_json import encode_text
from gofer.values.errors import RunStopped

QUOTED = 300
"""Characters of arguments that people are shown."""


class Diverged(RunStopped):
    """The message is for lists and names no contents; `told` shows whoever asked what differs."""

    def __init__(self, reason: str, recorded: str, asked: str) -> None:
        super().__init__(f"diverged: {reason}")
        self.told = (
            "I stopped: my script was changed while I was at work, and what it asks for now does not follow from what "
            f"I did. Please check what I did.\n\n```\n- {recorded}\n+ {asked}\n```"
        )


class Ledger:
    """The effects on record that a script has not asked for again yet."""

    def __init__(self, effects: Mapping[str, ToolCall]) -> None:
        self._left = dict(effects)

    def account(self, call: str) -> None:
        """The script asks for it again."""
        self._left.pop(call, None)

    def check(self, asked: Asked) -> None:
        """Raises Diverged when a new effect would follow one that is on record and was not asked for."""
        if (recorded := self._first(asked.path, asked.tool)) is None:
            return
        other = _other_arguments(recorded, asked) if recorded.tool == asked.tool else ""
        raise Diverged(
            f"{asked.place} asks for {asked.tool}, and the journal has {recorded.tool}{other} instead",
            f"{_shown(recorded.tool, recorded.arguments)}   (the journal, call {recorded.call})",
            f"{_shown(asked.tool, asked.arguments)}   ({asked.place})",
        )

    def check_end(self, path: Path, place: str) -> None:
        """Raises Diverged when a branch ended and something within it is on record that was not asked for."""
        within = [call for call in self._left.values() if path_of(call.call)[: len(path)] == path]
        if not within:
            return
        recorded = within[0]
        raise Diverged(
            f"{place} ended without asking for {recorded.tool}, which the journal has",
            f"{_shown(recorded.tool, recorded.arguments)}   (the journal, call {recorded.call})",
            f"nothing more   ({place})",
        )

    def _first(self, path: Path, tool: str) -> ToolCall | None:
        """The one that was probably meant: of the same tool, if there is one."""
        found = [call for call in self._left.values() if not beside(path_of(call.call), path)]
        return next((call for call in found if call.tool == tool), found[0] if found else None)


def _other_arguments(recorded: ToolCall, asked: Asked) -> str:
    before = recorded.arguments or {}
    names = sorted(name for name in {*before, *asked.arguments} if before.get(name) != asked.arguments.get(name))
    return f" with other {', '.join(names)}" if names else ""


def _shown(tool: str, arguments: Mapping[str, object] | None) -> str:
    written = encode_text(arguments or {}).replace("`", "\\u0060")
    return f"{tool} {written if len(written) <= QUOTED else written[:QUOTED] + ' [cut]'}"
