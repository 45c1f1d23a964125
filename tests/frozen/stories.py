"""Stories whose journals and questions to models are frozen."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from frozen import window
from frozen.lines import lines
from gofer.journal.blob_store import Bodies
from gofer.journal.child_runs import subagent_runs
from gofer.journal.codec import to_json
from gofer.journal.entries import Recorded
from gofer.journal.log import read_journal
from gofer.journal.store import Store
from support.simulation.schedule import Schedule

SEEDS: Mapping[str, int] = {
    "subagents-in-trouble": 172,
    "script-in-trouble": 143,
    "approvals-of-subagents": 36,
    "once-per-message": 13,
}
"""Schedules of tests/survival, which play three runs among faults, by the name of their story."""


@dataclass(frozen=True)
class Story:
    """The journals of some runs, and the bodies of the requests that their models got."""

    journals: Mapping[str, Sequence[Recorded]]
    questions: Sequence[bytes]


def stories() -> Mapping[str, Story]:
    """Return all stories by name."""
    found = {name: _scheduled(seed) for name, seed in SEEDS.items()}
    made = asyncio.run(window.played())
    return {**found, "full-window": Story({"run1": made.journal}, made.questions)}


def journals(found: Mapping[str, Story]) -> Iterator[tuple[str, str]]:
    """Yield each entry of each story on a line."""
    for name, story in found.items():
        yield f"journals/{name}.jsonl", lines(_entries(story))


def questions(found: Mapping[str, Story]) -> Iterator[tuple[str, str]]:
    """Yield the requests to models of each story, in order."""
    for name, story in found.items():
        yield f"requests/{name}.jsonl", "".join(f"{question.decode()}\n" for question in story.questions)


def _entries(story: Story) -> Iterator[object]:
    for run, journal in sorted(story.journals.items()):
        for recorded in journal:
            yield {
                "run": run,
                "address": recorded.address,
                "at": recorded.at,
                "owner": recorded.owner,
                "entry": to_json(recorded.entry),
            }


def _scheduled(seed: int) -> Story:
    schedule = Schedule(seed)
    report = schedule.run()
    assert report.violations == []
    runs = {run for found in schedule.accepted.values() for run in found}
    read = asyncio.run(_all(sorted(runs), schedule.copy, schedule.blobs))
    return Story(read, schedule.questions)


async def _all(roots: Sequence[str], store: Store, blobs: Bodies) -> Mapping[str, Sequence[Recorded]]:
    found: dict[str, Sequence[Recorded]] = {}
    left = list(roots)
    for run in left:
        found[run] = await read_journal(run, store, blobs)
        left += subagent_runs(found[run])
    return found
