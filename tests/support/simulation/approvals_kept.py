"""The judge of approvals: the journal of a run against the presses of people."""

from collections.abc import Sequence

from gofer.journal import entries as e
from support.simulation.people import People
from support.simulation.plans import Plan

Name = tuple[str, str]
"""What a request is about, and its call."""


def approvals(run: str, journal: Sequence[e.Recorded], plan: Plan, people: People) -> list[str]:
    """Return the violations in how one run asked, decided and acted."""
    found: list[str] = []
    event = next(r.entry.event for r in journal if isinstance(r.entry, e.RunAccepted))
    requested: dict[Name, e.ApprovalRequested] = {}
    decided: dict[Name, e.ApprovalDecided] = {}
    clicks: list[e.ApprovalClicked] = []
    words: set[str] = set()
    answered: set[str] = set()
    for recorded in journal:
        match recorded.entry:
            case e.ApprovalRequested(about=about, call=call) as one:
                found += ["a call was asked for twice"] if (about, call) in requested else []
                requested[about, call] = one
            case e.ApprovalClicked() as click:
                found += ["a press that nobody made"] if people.press_of(run, click) is None else []
                clicks.append(click)
            case e.ApprovalDecided(about=about, call=call) as one:
                found += ["a request was decided twice"] if (about, call) in decided else []
                found += _decision(run, one, requested[about, call], recorded.at, clicks, words, people)
                decided[about, call] = one
            # Branches of a script wait one after the other: a press for the second is read after the first.
            case e.RunParked(reason="approval") if not plan.script:
                # A call that another run made meanwhile needs no decision any more.
                waiting = [name for name in requested if name not in decided and name[1] not in answered]
                counting = [item for name in waiting for item in _counting(run, name, clicks, people)]
                found += [] if words >= set(counting) else ["it waits although somebody decided"]
            case e.ToolCall(call=call) if call.startswith("objection/"):
                words.add(call.removeprefix("objection/"))
            case e.ToolCall(call=call, tool=tool, effect=effect) if "/" not in call:
                gates = plan.gates(event, tool, effect)
                allowed = [decided[about, call].decision for about in gates if (about, call) in decided]
                found += ["a call that nobody approved"] if allowed != ["approved"] * len(gates) else []
                pressed = all(people.approved(run, about, call) for about in gates)
                found += [] if pressed else ["a call that nobody pressed a button for"]
            case e.ToolResult(call=call) | e.ToolUnknown(call=call):
                answered.add(call)
            case _:
                pass
    return found + _told(journal, decided) + _lost(run, journal, clicks, people)


def _decision(
    run: str,
    decided: e.ApprovalDecided,
    requested: e.ApprovalRequested,
    at: int,
    clicks: Sequence[e.ApprovalClicked],
    words: set[str],
    people: People,
) -> list[str]:
    """Check that the first valid press decided; without one, only expiry or a missing approver may decide."""
    counting = _counting(run, (decided.about, decided.call), clicks, people)
    if decided.item:
        (click,) = [one for one in clicks if one.item == decided.item]
        before = counting[: counting.index(click.item)] if click.item in counting else None
        if before is None or click.decision != decided.decision:
            return ["a press that does not count decided"]
        return [] if all(item in words for item in before) else ["another press than the first that counts decided"]
    # A person who could not be looked up was asked to press again.
    overlooked = [item for item in counting if item not in words]
    match decided.decision:
        case "expired" if at < requested.until or overlooked:
            return ["a request expired too early"]
        case "approved":
            return ["a request was approved by nobody"]
        case _:
            return []


def _counting(run: str, name: Name, clicks: Sequence[e.ApprovalClicked], people: People) -> list[str]:
    """Return the items of the valid presses for one request, in the order of the journal."""
    own = [(click.item, people.press_of(run, click)) for click in clicks if (click.about, click.call) == name]
    return [item for item, press in own if press is not None and press.counts]


def _told(journal: Sequence[e.Recorded], decided: dict[Name, e.ApprovalDecided]) -> list[str]:
    """Check that a denied or expired call was answered as refused."""
    against = {call for (_, call), one in decided.items() if one.decision != "approved"}
    outcomes = [r.entry for r in journal if isinstance(r.entry, e.ToolResult | e.ToolUnknown)]
    wrong = [one for one in outcomes if one.call in against and getattr(one, "status", "") != "refused"]
    return [f"{len(wrong)} calls were denied and not refused"] if wrong else []


def _lost(run: str, journal: Sequence[e.Recorded], clicks: Sequence[e.ApprovalClicked], people: People) -> list[str]:
    """Check that an accepted press was journaled, unless the run had ended."""
    if any(isinstance(r.entry, e.RunFinished) for r in journal):
        return []
    known = {(run, one.about, one.call, one.decision, one.actor, one.at) for one in clicks}
    lost = [what for what in people.heard if what[0] == run and what in people.made and what not in known]
    return [f"{len(lost)} accepted presses were lost"] if lost else []
