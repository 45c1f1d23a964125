"""The checks of what a model invented: names in its calls, and answers without evidence."""

import re

from gofer.journal.check_entries import Verdict
from gofer.journal.workspace_entries import BOOKKEEPING
from gofer.projections.calls import Call, Calls
from gofer.projections.checks.check_settings import Settings, addresses, passed, quoted
from gofer.projections.checks.named_values import NamedValues, invented, nearest
from gofer.projections.progress import Progress

_QUOTED_NAMES = 3
"""The most invented names that a verdict quotes."""
_INSTRUCTIONS = frozenset({"tool_search", "load_skills", "load_subskill"})
"""Tools whose results tell the model how to work, and are no evidence for an answer."""
_NOTHING = re.compile(
    r"""
    nothing | (?:found|read|listed|returned)\ (?:nothing | none | 0\ in\ [\w\ -]{1,60} | (?:0|zero|no)\ issues?)
    | (?:(?:found|read|listed|returned)\ )?(?:0|zero|no)\ (?:
        answers? | channels? | comments? | commits? | data | documents? | entry | entries | events? | files? | groups?
        | hits? | items? | lines? | match | matches | messages? | output | pages? | people | persons? | pull\ requests?
        | records? | replies | results? | rows? | tables? | tasks? | threads? | tickets? | users?
      )(?:\ (?:in|of)\ [\w\ -]{1,60})?
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""The summary of a result set without members. Other counts of nothing, such as "no failures", may be good news."""
_SHORT = 500
"""The most characters of a text that says that there is nothing."""
_EMPTY_TEXTS = frozenset({"", "[]", "{}", "null", "none", '""', "(no rows)", "no results"})


def no_invented_names(names: NamedValues, settings: Settings) -> Verdict:
    """Return whether each id, channel, table and property in a call stood in an earlier message, file or result."""
    found = invented(names, settings.texts)
    if not found:
        return passed("no-invented-names", "warning")
    quotations: list[str] = []
    for one in found[:_QUOTED_NAMES]:
        near = nearest(names, settings.texts, one.value)
        hint = "nothing like it was seen"
        if near:
            hint = f"the nearest seen is {quoted(near)}"
        quotations.append(f"{quoted(one.value)} in {quoted(one.argument)} of {one.tool}: {hint}")
    return Verdict(
        "no-invented-names",
        passed=False,
        severity="warning",
        summary=f"Names in arguments that stood in no earlier message, file or result: {len(found)}.",
        detail=f"{'; '.join(quotations)}.",
        implies="invented_parameters",
        entries=addresses(one.address for one in found),
    )


def no_empty_evidence(calls: Calls, progress: Progress) -> Verdict:
    """Return whether an answer rests on at least one result, if the run looked for any and some came back empty."""
    results = [call for call in calls.calls.values() if _is_evidence(call)]
    empty = [call for call in results if _is_empty(call)]
    concluded = progress.concluded
    answered = concluded is not None and concluded.status == "done" and bool(concluded.text or concluded.output)
    if not answered or not empty or len(empty) < len(results):
        return passed("no-empty-evidence", "warning")
    return Verdict(
        "no-empty-evidence",
        passed=False,
        severity="warning",
        summary=f"The answer rests on empty results only: {len(empty)}.",
        implies="silent_degradation",
        entries=addresses(call.ended_in for call in empty),
    )


def _is_evidence(call: Call) -> bool:
    return call.status == "ok" and not call.is_own and call.tool not in BOOKKEEPING | _INSTRUCTIONS


def _is_empty(call: Call) -> bool:
    """Return whether a reading call found nothing, by its summary or its whole text."""
    if call.effect != "read":
        return False
    text = call.text.strip()
    counts_nothing = _NOTHING.fullmatch(call.summary.strip(" .")) is not None
    return text.lower() in _EMPTY_TEXTS or (counts_nothing and len(text) <= _SHORT)
