"""One finding about an installation."""

from dataclasses import dataclass
from typing import Literal

State = Literal["works", "wrong", "away", "off"]
"""`wrong`: a person must act. `away`: the other side does not answer now, and waiting may help. `off`: not set up."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What one look found."""

    subject: str
    """What was looked at, such as `disk`."""
    state: State
    text: str
    """What was found: one sentence or a part of one, without secrets."""
    remedy: str = ""
    """What a person does about it; empty if there is nothing to do."""


def works(subject: str, text: str) -> Finding:
    """Return the finding that something works."""
    return Finding(subject, "works", text)


def wrong(subject: str, text: str, remedy: str) -> Finding:
    """Return the finding that a person must act."""
    return Finding(subject, "wrong", text, remedy)
