"""The requests that recorded runs answered: what a person wrote, and which tools the run called for it."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from gofer.evals.public_runs import REPORT_READER
from gofer.journal.coordination import Head
from gofer.journal.head_facts import decode
from gofer.projections.calls import project as calls_of
from gofer.runtime.run_reader import RunReader
from gofer.runtime.run_record import RunRecord
from gofer.values.errors import Corrupt, Gone

FREE_KINDS = frozenset({"mention", "direct", "commented", "comment"})
"""The kinds of events, without their source, in which a person asks Gofer for anything. Each other kind starts a
workflow that was made for it."""
MOST_READ = 2_000
"""The most journals that are read, the newest first."""
_AT_ONCE = 10


@dataclass(frozen=True, slots=True)
class Request:
    """A request and the run that answered it."""

    run: str
    workflow: str
    kind: str
    """The kind of the event, as workflow files name it."""
    at: int
    """Unix milliseconds."""
    person: str
    """The id of the person in the source. It is only counted."""
    text: str
    tools: Sequence[str]
    """The tools of the successful calls in their order, each once."""
    skills: Sequence[str]
    usd: float | None


@dataclass(frozen=True, slots=True)
class ReadRequests:
    """The requests of some days."""

    requests: Sequence[Request]
    looked_at: int
    """The number of public ended runs of these days."""
    unread: int
    """The runs beyond MOST_READ."""


async def read_requests(runs: RunReader, since: int) -> ReadRequests:
    """Return the requests since a time (unix milliseconds), the newest first. Raises TemporaryError.

    Private and hidden runs are left out, damaged and deleted ones too, and runs on repositories that are not known to
    be public.
    """
    heads: list[Head] = []
    async for page in runs.stores.journals.listed(since):
        heads += [head for head in page if head.ended and not head.private and head.status != "ignored"]
    heads.sort(key=lambda head: (-head.accepted_at, head.run))
    chosen = heads[:MOST_READ]
    found: list[Request] = []
    for first in range(0, len(chosen), _AT_ONCE):
        read = await asyncio.gather(*(_read(runs, head) for head in chosen[first : first + _AT_ONCE]))
        found += [request for request in read if request is not None]
    return ReadRequests(found, len(heads), len(heads) - len(chosen))


async def _read(runs: RunReader, head: Head) -> Request | None:
    try:
        record = await runs.read(head.run, REPORT_READER)
    except (Corrupt, Gone):
        return None
    if record is None or record.damage or record.progress.private:
        return None
    facts = decode(head.facts)
    return request_of(record, head.accepted_at, facts.skills if facts is not None else ())


def request_of(record: RunRecord, at: int, skills: Sequence[str] = ()) -> Request | None:
    """Return the request of a run; None unless a person asked freely and a model decided the run."""
    event = record.progress.event
    if event is None or record.bundle is None or record.bundle.loaded.workflow.coordinator != "llm":
        return None
    if event.kind.rpartition(".")[2] not in FREE_KINDS:
        return None
    granted = record.bundle.loaded.workflow.tool_names
    made = calls_of(record.entries).calls.values()
    tools = dict.fromkeys(call.tool for call in made if call.status == "ok" and call.tool in granted)
    return Request(
        run=record.run,
        workflow=record.progress.workflow,
        kind=event.kind,
        at=at,
        person=event.actor.id,
        text=event.text,
        tools=tuple(tools),
        skills=skills,
        usd=record.progress.cost_usd,
    )
