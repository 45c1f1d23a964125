"""Entries about approvals: the request, the pressed button, and the decision."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Decision = Literal["approved", "denied", "expired"]
"""The outcome of an approval request; only `approved` lets the call be made."""

About = Literal["call", "leaving", "elsewhere"]
"""The question of an approval: may the call be made, may it take content out of a private channel, or may it write
elsewhere?"""


@dataclass(frozen=True, slots=True)
class ApprovalRequested:
    """`approval.requested`: a permitted call waits for an approval of exactly these arguments."""

    call: str
    tool: str
    arguments_sha256: str
    by: tuple[str, ...]
    """The approvers as the workflow file names them."""
    until: int
    """Unix milliseconds; a request without a decision by then has expired."""
    about: About = "call"
    arguments: Mapping[str, object] | None = None
    """The arguments, if the texts for people in them were rebuilt; None if they are those that were asked for."""


@dataclass(frozen=True, slots=True)
class ApprovalClicked:
    """`approval.clicked`: a person pressed a button of Gofer. It decides nothing until the run's owner checks it."""

    call: str
    about: About
    arguments_sha256: str
    """The hash of the arguments of the call that the button was made for."""
    decision: Literal["approved", "denied"]
    actor: str
    """The source's id of the person who pressed the button."""
    at: int
    """The time of the press by the clock of the source, unix milliseconds."""
    item: str = ""
    """The id of the inbox item with the press."""
    run: str = ""
    """The subagent run that asked, to which the root passes the press on; empty means the run with this inbox."""


@dataclass(frozen=True, slots=True)
class ApprovalDecided:
    """`approval.decided`: the final decision about a request."""

    call: str
    decision: Decision
    by: str = ""
    """The display name of the person who decided; empty if no person did."""
    item: str = ""
    """The id of the inbox item with the decision."""
    about: About = "call"
