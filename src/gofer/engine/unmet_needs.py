"""The end of a run that did not get what it needed of a system outside."""

from collections.abc import Mapping
from typing import assert_never

from gofer.engine.outages import OUTAGE_CODE
from gofer.engine.permitted_call import OUTAGE
from gofer.journal.entries import ToolResult, ToolUnknown
from gofer.sources.part_values import Need, Outcome
from gofer.values.canonical_json import as_object, as_text
from gofer.values.errors import Cause, RunStopped

NEVER_BEGAN = "Something in me failed before I could begin. Please tell {owner}."
"""What a colleague reads when Gofer itself failed before the run began."""
_CAUSES: Mapping[str, Cause] = {"credential": "credential", "permission": "permission"}
"""By what a refusal says of Gofer's access."""
_LIMITED = frozenset({"ratelimited", "rate_limited"})
"""Codes of vendors for an app that made too many requests."""
PERSON = Need("the person who asked could not be looked up", "look up who asked")


def stopped(need: Need, outcome: Outcome, system: str) -> RunStopped:
    """Return the error that ends the run; `system` is the name of the system outside."""
    cause = cause_of(outcome)
    told = _told(need, cause, _code(outcome), system)
    return RunStopped(f"{need.missed}: {outcome.text}", cause=cause, system=system, told=told)


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


def _told(need: Need, cause: Cause, code: str, system: str) -> str:
    """Return the sentences for the colleague, with `{owner}` for the owner of the workflow."""
    aim = need.aim
    match cause:
        case "outage":
            minutes = round(OUTAGE / 60)
            return f"I could not {aim}, because {system} did not answer for {minutes} minutes. Please ask again."
        case "credential":
            return f"I cannot read {system} now, because my access has expired. Please tell {{owner}}."
        case "permission":
            return f"I am not allowed to {aim}. Please tell {{owner}}."
        case "refused" if code in need.refused:
            return need.refused[code]
        case "refused" if code in _LIMITED:
            return f"I could not {aim}, because {system} takes no more requests now. Please ask again later."
        case "refused":
            return f"I could not {aim}, because {system} refused it. Please tell {{owner}}."
        case _:
            return f"I could not {aim}. Please tell {{owner}}."


def _code(outcome: Outcome) -> str:
    """Return the reason in the vendor's words; empty where there is none."""
    match outcome:
        case ToolResult(details=details):
            return as_text(as_object(details).get("code"))
        case _:
            return ""
