"""The search for a run that a person complains about: by time, channel, person, tool, skill, check or words.

Heads answer most conditions. People and channels are tokens there, so the search reads one run for each of them, and
`text` reads the journal of each candidate. Private runs are never found.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from itertools import chain
from typing import Literal

from gofer.journal import entries as e
from gofer.journal.coordination import Head, HeadStatus
from gofer.journal.head_facts import HeadFacts, decode
from gofer.journal.store import Store
from gofer.runtime.run_origins import Origin, origin_of
from gofer.runtime.run_reader import RunRecord
from gofer.runtime.run_readings import RunReadings
from gofer.values.errors import Corrupt, Gone

MOST_CANDIDATES = 10_000
"""The most runs whose conditions are checked, the nearest or newest ones first."""
MOST_READ = 500
"""The most journals that a command reads to check the conditions of one search."""
MOST_FOUND = 200
"""The most found runs, each of which is read to show its person and channel."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """The conditions of a search, all of which a run has to meet. Empty ones do not count. Times are unix ms."""

    since: int = 0
    until: int = 2**62
    around: int | None = None
    """The time that the found runs are nearest to; with None, the newest runs come first."""
    workflow: str = ""
    status: HeadStatus | None = None
    person: str = ""
    """The id, name or handle of the person who asked."""
    channel: str = ""
    """The id or the name of the channel."""
    tool: str = ""
    """The name of a called tool."""
    skill: str = ""
    check: str = ""
    """The name of a failed check."""
    feedback: Literal["", "good", "bad", "any"] = ""
    """The feedback that a person gave."""
    not_effective: bool = False
    """Whether a review has to have found that the run was not effective."""
    text: str = ""
    """Words that all stand in the run, in any order."""

    @property
    def is_about_facts(self) -> bool:
        """Whether the facts of a run decide about a condition."""
        return bool(self.tool or self.skill or self.check or self.feedback or self.not_effective)

    def holds_of(self, facts: HeadFacts) -> bool:
        """Return whether the facts of a run meet the conditions about them."""
        return (
            (not self.tool or self.tool in facts.tools)
            and (not self.skill or self.skill in facts.skills)
            and (not self.check or self.check in facts.checks)
            and (not self.not_effective or facts.effective is False)
            and self._has_feedback(facts)
        )

    def _has_feedback(self, facts: HeadFacts) -> bool:
        match self.feedback:
            case "":
                return True
            case "good":
                return facts.good > 0
            case "bad":
                return facts.bad > 0
            case "any":
                return facts.has_feedback

    def order(self, head: Head) -> tuple[int, str]:
        """Return the key that sorts found runs."""
        if self.around is None:
            return -head.accepted_at, head.run
        return abs(head.accepted_at - self.around), head.run


@dataclass(frozen=True, slots=True)
class FoundRun:
    """A found run."""

    head: Head
    origin: Origin | None = None
    """None if the run cannot be read, as is its record."""
    record: RunRecord | None = None
    damage: str = ""
    """Why the run, or the rest of its journal, cannot be read."""


@dataclass(frozen=True, slots=True)
class Found:
    """The result of a search."""

    runs: Sequence[FoundRun]
    candidates: int
    """The number of runs that the heads alone did not rule out, at most MOST_CANDIDATES."""
    searched: int
    """The number of candidates that were checked until enough runs were found."""
    unread: int
    """The number of candidates that the search could not check, because it may read no more journals."""
    damaged: int
    """The number of candidates that were read and have no end, because they are damaged or deleted."""


async def search(wanted: Wanted, readings: RunReadings, limit: int) -> Found:
    """Return up to `limit` runs, the nearest or newest first, at most MOST_FOUND. Raises TemporaryError."""
    candidates = await _candidates(wanted, readings.runs.stores.journals)
    found: list[FoundRun] = []
    searched = 0
    for head in candidates:
        if len(found) == min(limit, MOST_FOUND):
            break
        searched += 1
        if await _meets(wanted, head, readings):
            shown = await _shown(head, readings)
            if shown is not None:
                found.append(shown)
    return Found(found, len(candidates), searched, len(readings.skipped), len(readings.damaged))


async def _candidates(wanted: Wanted, store: Store) -> Sequence[Head]:
    """Return the runs that their heads do not rule out, in the order of the search."""
    kept: list[Head] = []
    async for page in store.listed(wanted.since):
        kept += [head for head in page if _fits(wanted, head)]
        if len(kept) > 2 * MOST_CANDIDATES:
            kept = nsmallest(MOST_CANDIDATES, kept, key=wanted.order)
    return nsmallest(MOST_CANDIDATES, kept, key=wanted.order)


def _fits(wanted: Wanted, head: Head) -> bool:
    """Return whether a head meets the conditions that it can answer."""
    known = (
        head.accepted_at <= wanted.until
        and wanted.workflow in ("", head.workflow)
        and wanted.status in (None, head.status)
    )
    if not known or not wanted.is_about_facts:
        return known
    facts = decode(head.facts)
    return facts is None or wanted.holds_of(facts)


async def _meets(wanted: Wanted, head: Head, readings: RunReadings) -> bool:
    """Return whether a run meets all conditions; the cheap ones come first."""
    return (
        await _has_facts(wanted, head, readings)
        and await _is_by(wanted.person, head, readings)
        and await _is_in(wanted.channel, head, readings)
        and await _has_text(wanted.text, head, readings)
    )


async def _has_facts(wanted: Wanted, head: Head, readings: RunReadings) -> bool:
    if not wanted.is_about_facts:
        return True
    facts = await readings.facts(head)
    return facts is not None and wanted.holds_of(facts)


async def _is_by(person: str, head: Head, readings: RunReadings) -> bool:
    if not person:
        return True
    origin = await readings.person(head)
    return origin is not None and origin.is_by(person)


async def _is_in(channel: str, head: Head, readings: RunReadings) -> bool:
    if not channel:
        return True
    origin = await readings.channel(head)
    return origin is not None and origin.is_in(channel)


async def _has_text(text: str, head: Head, readings: RunReadings) -> bool:
    if not text:
        return True
    record = await readings.record(head)
    if record is None:
        return False
    missing = set(text.casefold().split())
    for part in _texts(record):
        lower = part.casefold()
        missing = {word for word in missing if word not in lower}
        if not missing:
            return True
    return False


def _texts(record: RunRecord) -> Iterator[str]:
    """Yield the texts of a run and its subagents: the event, messages, answers, arguments and results."""
    for recorded in chain(record.entries, *record.subagents.journals.values()):
        match recorded.entry:
            case e.RunAccepted(event=event):
                yield event.text
            case e.MessageReceived(text=text) | e.ToolResult(text=text) | e.SubagentFinished(text=text):
                yield text
            case e.LlmResponse(text=text, tool_calls=asks):
                yield text
                yield from (ask.arguments for ask in asks)
            case e.RunConcluded(text=text):
                yield text
            case _:
                pass


async def _shown(head: Head, readings: RunReadings) -> FoundRun | None:
    """Return a found run with its origin; None if the reader may not see it."""
    try:
        record = await readings.runs.read(head.run, readings.reader)
    except (Corrupt, Gone) as error:
        return FoundRun(head, damage=str(error))
    if record is None:
        return None
    return FoundRun(head, origin_of(record.progress), record, record.damage)
