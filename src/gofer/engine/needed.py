"""The end of a run that did not get what it needed of a system outside."""

from collections.abc import Mapping
from typing import assert_never

from gofer.canonical import as_object, as_text
from gofer.engine.outages import OUTAGE_CODE
from gofer.engine.permitted import Outcome
from gofer.errors import Cause, RunStopped
from gofer.journal.entries import ToolResult, ToolUnknown

_CAUSES: Mapping[str, Cause] = {"credential": "credential", "permission": "permission"}
"""By what a refusal says of Gofer's access."""


def stopped(missed: str, outcome: Outcome, system: str) -> RunStopped:
    """Return what ends the run: `missed` is what it could not do, `system` the name of the system outside."""
    return RunStopped(f"{missed}: {outcome.text}", cause=cause_of(outcome), system=system)


def cause_of(outcome: Outcome) -> Cause:
    """Return why a call did not do what it was made for, for code; empty where that is not known."""
    match outcome:
        case ToolResult(status="ok"):
            return ""
        case ToolResult(details=details):
            fields = as_object(details)
            if fields.get("code") == OUTAGE_CODE:
                return "outage"
            return _CAUSES.get(as_text(fields.get("access")), "refused")
        case ToolUnknown():
            return ""
        case _:
            assert_never(outcome)
