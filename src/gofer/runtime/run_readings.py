"""Bounded readings of journals, for statistics and searches that otherwise read heads only."""

from collections import Counter
from dataclasses import dataclass, field

from gofer.journal.coordination import Head
from gofer.journal.head_facts import HeadFacts, decode
from gofer.projections import calls, run_facts
from gofer.runtime.run_origins import Origin, origin_of
from gofer.runtime.run_reader import Reader, RunReader, RunRecord
from gofer.values.canonical_json import as_object, as_text
from gofer.values.errors import Corrupt, Gone

_MOST_TRIES = 3
"""The most runs that are read for the name of one person or channel; some end before they learn it."""


@dataclass(slots=True)
class RunReadings:
    """The readings of one statistic or search. Each method may raise TemporaryError."""

    runs: RunReader
    reader: Reader
    left: int
    """The number of journals that may still be read."""
    skipped: set[str] = field(default_factory=set[str])
    """The runs that were not read because the limit was reached."""
    damaged: set[str] = field(default_factory=set[str])
    """The runs that could not be read to their end, because they are damaged or deleted."""
    _origins: dict[str, Origin] = field(default_factory=dict[str, Origin])
    """The known origins, by the token of a person or a channel."""
    _tries: Counter[str] = field(default_factory=Counter[str])
    """How many runs were read for each token."""

    async def record(self, head: Head) -> RunRecord | None:
        """Return a run as the reader may see it; None if it is hidden, cannot be read, or the limit is reached."""
        if not head.has_contents:
            self.damaged.add(head.run)
            return None
        if not self.left:
            self.skipped.add(head.run)
            return None
        self.left -= 1
        try:
            record = await self.runs.read(head.run, self.reader)
        except (Corrupt, Gone):
            self.damaged.add(head.run)
            return None
        if record is not None and record.damage:
            self.damaged.add(head.run)
        return record

    async def facts(self, head: Head) -> HeadFacts | None:
        """Return the facts of a run from its head, or else from its journal, without tokens."""
        facts = decode(head.facts)
        if facts is not None:
            return facts
        record = await self.record(head)
        if record is None:
            return None
        unwritten = run_facts.project(record.entries)
        made = calls.project(record.entries)
        return run_facts.counted_facts(unwritten, made, record.progress, _tools_of(record))

    async def person(self, head: Head) -> Origin | None:
        """Return an origin with the person of a run, read once for each person; None if it is not known."""
        facts = decode(head.facts)
        if facts is None:
            return await self._read_origin(head)
        return await self._known_origin(head, facts.person)

    async def channel(self, head: Head) -> Origin | None:
        """Return an origin with the channel of a run, read once for each channel; None if it is not known."""
        facts = decode(head.facts)
        if facts is None:
            return await self._read_origin(head)
        return await self._known_origin(head, facts.channel)

    async def _known_origin(self, head: Head, token: str) -> Origin | None:
        if not token:
            return None
        known = self._origins.get(token)
        if (known is None or not known.is_named) and self._tries[token] < _MOST_TRIES:
            self._tries[token] += 1
            known = await self._read_origin(head) or known
            if known is not None:
                self._origins[token] = known
        return known

    async def _read_origin(self, head: Head) -> Origin | None:
        record = await self.record(head)
        if record is None:
            return None
        return origin_of(record.progress)


def _tools_of(record: RunRecord) -> set[str]:
    """Return the names of the tools that a run could call."""
    if record.bundle is None:
        return set()
    return {as_text(as_object(schema.get("function")).get("name")) for schema in record.bundle.tools}
