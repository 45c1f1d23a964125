"""The differences between a recorded run and its replay, and how a replay ends."""

from dataclasses import dataclass
from typing import Literal

Cause = Literal["", "input", "sampling", "world", "version", "upgrade", "setting"]
"""What moved: an input of the replay, the model's choice, an outcome from outside, the code of Gofer or a tool, Gofer
since another version made the recording, or a setting. Empty where Gofer only words or adds something."""

Kind = Literal["reworded", "added", "read", "different", "missing", "extra"]
"""Other sentences of code for people; a message that Gofer adds for people, or leaves out; another text for the model;
another content of the same step; a step that the replay did not make, or made in addition."""


@dataclass(frozen=True, slots=True)
class Divergence:
    """One difference between the recording and the replay."""

    kind: Kind
    run: str
    """The run or subagent run."""
    address: str
    """The address of the recorded entry; for an extra step, of the entry before it."""
    step: str
    """The kind of the entry, and the call that it is about."""
    field: str
    original: object
    replayed: object
    cause: Cause = ""

    @property
    def leaves_the_path(self) -> bool:
        """Whether the replay went another way than the recording from here on."""
        return self.kind in ("different", "missing", "extra")

    @property
    def counts(self) -> bool:
        """Whether the difference makes the run another one. Requests that another Gofer worded otherwise do not."""
        return self.leaves_the_path or (self.kind == "read" and self.cause != "upgrade")


class OwnerEnded(BaseException):
    """The recorded owner did nothing more at this point: its process crashed, or the recording ends here."""


class ReplayStopped(BaseException):
    """The replay came to the call before which it was to end."""


class ReplayEnded(BaseException):
    """The replay cannot or should not go on: the message says why."""
