"""The rule by which a run asked people about a call or refused it, and who could read what it had read.

The words hold no contents and no names of people or places. An object that is hidden from the run and a missing one
have the same code, which is no rule here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gofer.journal.approval_entries import About, ApprovalRequested
from gofer.journal.entries import Entry, RunStarted, ToolResult

_ASKED: Mapping[About, str] = {
    "call": "the workflow file lists the tool under `approve`",
    "leaving": "the run began where only some people read, and the call reaches another place",
    "elsewhere": "neither the workflow file, nor the place of the request, nor the words of the asker allow the place",
}
"""The rules by the question that the run asked."""
_REFUSED: Mapping[str, str] = {
    "elsewhere": "the workflow file does not allow the run to write there, and no person can be asked",
    "private": "the channel is private, and no person can permit that its texts leave it",
    "stays_private": "the run began where only some people read, and `private_channels` lets it write nowhere else",
    "most": "the run made as many calls of the tool as `most` allows",
    "bounded": "`arguments` of the workflow file does not allow these values",
    "denied_before": "people denied so many calls of the run, or have not decided yet, that it asks no more",
    "not_made_here": "no call of the run made what this call changes",
    "unread_address": "no source that the run read has the address",
    "chosen_address": "the run began where only some people read, and the call did not name the address",
    "locked": "an earlier call of the tool has an unknown outcome",
    "unknown_tool": "the workflow file does not list the tool",
}
"""The rules by the code of the refused call."""
_OF_ADDRESSES = ("unread_address", "chosen_address")
"""The codes with which a tool refuses an address after its call began."""
_LONGEST = 100
"""The most characters of readers, which a company's own tool may write."""


@dataclass(slots=True)
class Rules:
    """The rules that a run met, and who could read what it had read so far, as far as the systems tell."""

    readers: list[str] = field(default_factory=list[str])

    def of(self, entry: Entry) -> Mapping[str, str]:
        """Take note of an entry; return its `rule` and `readers`.

        A read has readers if only some people may read it. A question and a refusal have those of all earlier reads.
        """
        match entry:
            case ToolResult(status="ok", details={"readers": str(readers)}):
                return self._read(readers[:_LONGEST])
            case ToolResult(status="ok", details={"private": True}):
                return self._read("people who can read that place")
            case RunStarted(private=True) if not self.readers:
                return self._read("people who can read the place where the run began")
            case ApprovalRequested(about=about):
                rule = _ASKED[about]
            case ToolResult(status="refused", details={"code": str(code)}) if code in _REFUSED:
                rule = _REFUSED[code]
            case ToolResult(details={"code": str(code)}) if code in _OF_ADDRESSES:
                rule = _REFUSED[code]
            case _:
                return {}
        return {"rule": rule, "readers": ", ".join(self.readers) or "all members"}

    def _read(self, readers: str) -> Mapping[str, str]:
        if readers not in self.readers:
            self.readers.append(readers)
        return {"readers": readers}


def said(*, rule: object, readers: object) -> Sequence[str]:
    """Return a rule and readers as parts of a line; none for an entry without them."""
    if rule:
        return [f"because {rule}", f"what the run had read could be read by {readers}"]
    return [f"could be read by {readers}"] * bool(readers)
