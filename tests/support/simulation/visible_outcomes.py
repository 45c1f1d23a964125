"""What people and operators see of the ended runs of a schedule."""

from collections.abc import Mapping, Sequence

from gofer.journal import entries as e
from gofer.journal.coordination import Head
from gofer.journal.store import Store
from gofer.journal.unlisted_ends import recent
from support.simulation.judge import Journal, Report
from support.simulation.world import World

TOLD = ("answer", "turned-away", "decision", "answer-part", "status-deleted", "done-before")
"""Purposes of calls that say how a run ended, in the place where it was asked for."""


async def unseen(journals: Mapping[str, Journal], world: World, store: Store, now: int, report: Report) -> list[str]:
    """Return the runs that ended without an answer, and without a reason that a person or an operator can see."""
    counted = sum(ends.count for ends in await recent(store, now))
    silent: list[str] = []
    for run, journal in journals.items():
        report.waited += sum(isinstance(r.entry, e.RunParked) and r.entry.reason == "outage" for r in journal)
        finished = [r.entry for r in journal if isinstance(r.entry, e.RunFinished)]
        if "." in run or not finished or finished[-1].status == "ignored" or _told(run, world):
            continue
        head = await store.head(run)
        if head is None or not _listed(head, finished[-1]):
            silent.append(finished[-1].reason)
    # Private runs, which no list shows, are counted.
    over = len(silent) - counted
    return [f"{over} runs ended where neither people nor operators see why: {_some(silent)}"] if over > 0 else []


def _told(run: str, world: World) -> bool:
    keys = [key for key, texts in world.landed.items() if texts and key.startswith(f"{run}/")]
    return any(key.removeprefix(f"{run}/").partition("/")[0] in TOLD for key in keys)


def _listed(head: Head, finished: e.RunFinished) -> bool:
    """Return whether the run list has the status and the reason of a run."""
    return not head.private and bool(head.reason) and head.status == finished.status


def _some(reasons: Sequence[str]) -> str:
    return "; ".join(sorted({reason or "no reason" for reason in reasons})[:3])
