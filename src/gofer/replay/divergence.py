"""The differences between a recorded run and its replay, and how a replay ends."""

from dataclasses import dataclass
from typing import Literal

Cause = Literal["", "input", "sampling", "world", "version", "setting"]
"""What moved: an input of the replay, the model's choice, an outcome from outside, the code of Gofer or a tool, or a
setting. Empty where Gofer only words something else."""

Kind = Literal["reworded", "different", "missing", "extra"]
"""Other words of Gofer; another content of the same step; a step that the replay did not make, or made in addition."""


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


class OwnerEnded(BaseException):
    """The recorded owner did nothing more at this point: its process crashed, or the recording ends here."""


class ReplayStopped(BaseException):
    """The replay came to the call before which it was to end."""


class ReplayEnded(BaseException):
    """The replay cannot or should not go on: the message says why."""
