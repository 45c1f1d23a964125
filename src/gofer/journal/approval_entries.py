"""Entries about approvals: what a call waits for, which button was pressed, and what was decided."""

from dataclasses import dataclass
from typing import Literal

Decision = Literal["approved", "denied", "expired"]
"""What became of a request for approval; only `approved` lets the call happen."""

About = Literal["call", "leaving", "elsewhere"]
"""What a person is asked: may a call be made, may it take something out of a private channel, or write elsewhere?"""


@dataclass(frozen=True, slots=True)
class ApprovalRequested:
    """`approval.requested`: a permitted call waits for a person. It holds for these exact arguments and no others."""

    call: str
    tool: str
    arguments_sha256: str
    by: tuple[str, ...]
    """Who may decide, as the workflow file says it."""
    until: int
    """Unix milliseconds; without a decision by then it has expired."""
    about: About = "call"


@dataclass(frozen=True, slots=True)
class ApprovalClicked:
    """`approval.clicked`: a person pressed a button of Gofer's; it decides nothing until the owner looked at it."""

    call: str
    about: About
    arguments_sha256: str
    """Of the call that the button was made for."""
    decision: Literal["approved", "denied"]
    actor: str
    """The source's id of who pressed it."""
    at: int
    """When, in unix milliseconds, by the source's clock."""
    item: str = ""
    """Id of the inbox item it came in."""
    run: str = ""
    """The subagent's run that asked; its root passes the press on. Empty is the run that has this inbox."""


@dataclass(frozen=True, slots=True)
class ApprovalDecided:
    """`approval.decided`: what holds for a request, once and for all."""

    call: str
    decision: Decision
    by: str = ""
    """The name of who decided, as people read it; empty when no person did."""
    item: str = ""
    """Id of the inbox item that decided it."""
    about: About = "call"
