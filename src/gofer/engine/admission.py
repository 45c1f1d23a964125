"""What did the event not say, and does the run start? The first steps of every run, journaled like all others."""

from collections.abc import Awaitable, Collection, Sequence
from dataclasses import dataclass
from typing import TypeVar

from gofer.blobs.store import blob_key
from gofer.engine.allowance import enter
from gofer.engine.material import read_material
from gofer.engine.meant import check_conditions, check_hops, check_precedence, check_speaker, meets, routes_of
from gofer.engine.preload import preload
from gofer.engine.services import Services
from gofer.engine.status import look
from gofer.engine.step import Step
from gofer.engine.who import look_up, may_start, turn_away
from gofer.errors import Damaged, Gone, RunStopped
from gofer.events import Event
from gofer.journal.coordination import Head
from gofer.journal.entries import MessageReceived, Route, RunStarted
from gofer.journal.lineage import run_id
from gofer.journal.log import read_journal
from gofer.journal.workspace import FileAdded, PlanUpdated, Todo
from gofer.projections import workspace
from gofer.projections.progress import project
from gofer.projections.recap import handles, recap
from gofer.workflows.bundle import FOLDER, Bundle, decode_bundle, encode_bundle
from gofer.workflows.load import Loaded
from gofer.workflows.routes import known
from gofer.workflows.when import CONTINUING

TOOLS = ("slack_read_thread", "slack_get_file")
"""Tools that every run calls by itself before the model is asked."""
_PAGE = 500
_EVER = 2**62
"""Unix milliseconds after everything."""
_LOOKED_BACK = 50
"""Earlier runs of a conversation that are looked at, when none of those after them came to anything."""


@dataclass(frozen=True, slots=True)
class Past:
    """What an earlier run of the conversation left to the one that goes on from it."""

    run: str = ""
    told: str = ""
    """What is worth knowing of it."""
    files: Sequence[FileAdded] = ()
    plan: tuple[Todo, ...] = ()


async def admit(step: Step, event: Event, loaded: Loaded) -> RunStarted:
    """Read the source context of the event, pin the bundle and write the first message.

    Raises RunStopped, NotMeant, NotNow, Cancelled, OutOfTime.
    """
    step.heed_cancel()
    check_hops(event)
    provenance = step.provenance(loaded.prompt_file)
    accepted = step.progress.routes
    routes = routes_of(event, loaded, accepted)
    person = await _speaking(step, event, look_up(step, event, provenance))
    welcome = await may_start(step, person, loaded, provenance)
    facts = {**known(event), **person.facts}
    # With rivals it is not known yet which workflow the event is for: only that one turns people away.
    if not welcome and not accepted and meets(routes, facts):
        raise await turn_away(step, event, person, loaded, provenance)
    material = await _speaking(step, event, read_material(step, event, person, provenance))
    followed = await _followed(step, event, accepted or routes)
    facts |= {**material.facts, "followed": loaded.name in followed}
    status = await look(step, event, loaded, facts, material.properties)
    facts |= {"status": status.changes}
    check_conditions(event, routes, facts, status.reason)
    check_precedence(event, loaded.name, accepted, lambda name: {**facts, "followed": name in followed})
    if not welcome:
        raise await turn_away(step, event, person, loaded, provenance)
    left = await enter(step, event, loaded)
    preloaded = await preload(step, loaded, provenance)
    # From here on nothing is called: what is noted now stands in one frame with the beginning of the run.
    continued = await _earlier(step, event, loaded.name) if event.kind in CONTINUING else None
    past = await _recall(step, continued, private=material.private)
    tools = [tool.schema() for tool in step.services.offered(loaded)]
    raw = encode_bundle(Bundle(loaded, tools))
    key = blob_key(FOLDER, raw)
    await step.services.blobs.put(key, raw)
    started = RunStarted(key.rpartition("/")[2], material.private, past.run, left.usd, left.of)
    step.note(started)
    for handle in past.files:
        step.note(handle)
    if any(todo.status != "completed" for todo in past.plan):
        step.note(PlanUpdated(past.plan))
    said = "\n\n".join(filter(None, [material.text, preloaded.text, past.told])).strip()
    step.note(MessageReceived(said, media=tuple(preloaded.media)))
    return started


async def pinned(services: Services, started: RunStarted) -> Bundle:
    """The bundle a run keeps. Raises Damaged."""
    return decode_bundle(await services.blobs.get(f"{FOLDER}/{started.bundle}"))


Read = TypeVar("Read")


async def _speaking(step: Step, event: Event, reading: Awaitable[Read]) -> Read:
    """Read what every run of an event reads. When that fails, one of these runs reports it.

    Raises NotMeant when that is another run, and what `reading` raises.
    """
    try:
        return await reading
    except RunStopped:
        check_speaker(event, step.progress.workflow, step.progress.routes, known(event))
        raise


async def _earlier(step: Step, event: Event, workflow: str) -> Head | None:
    """Return the newest ended run of a workflow in the conversation that was let in, before this event."""
    before = step.progress.accepted_at
    same_event = run_id(step.services.installation_key, event, workflow)
    for _ in range(_LOOKED_BACK):
        head = await step.services.store.previous(event.conversation, workflow, before)
        if head is None or (head.status != "ignored" and head.run != same_event):
            return head
        before = head.accepted_at
    return None


async def _followed(step: Step, event: Event, routes: Sequence[Route]) -> Collection[str]:
    """Return the workflows that ask whether they answered in this conversation before, and did or are about to."""
    asking = {route.workflow for route in routes if "followed" in route.where}
    answered = {name for name in asking if await _earlier(step, event, name)}
    if answered == asking:
        return answered
    return answered | await _under_way(step, event, asking - answered)


async def _under_way(step: Step, event: Event, workflows: Collection[str]) -> set[str]:
    """Return which of the workflows have an earlier run of the conversation that has not ended."""
    store = step.services.store
    found = set[str]()
    same_event = {run_id(step.services.installation_key, event, workflow) for workflow in workflows}
    page: Sequence[Head] = await store.unfinished(_EVER, _PAGE)
    while page:
        found |= {
            head.workflow
            for head in page
            if head.conversation == event.conversation
            and head.workflow in workflows
            and head.accepted_at < step.progress.accepted_at
            and head.run not in same_event
        }
        page = await store.unfinished(_EVER, _PAGE, after=page[-1])
    return found


async def _recall(step: Step, head: Head | None, *, private: bool) -> Past:
    """What the run that this one goes on from left; nothing when there is none."""
    if head is None:
        return Past()
    try:
        journal = await read_journal(head.run, step.services.store, step.services.blobs)
    except (Damaged, Gone):
        return Past()
    # Its head may lie; what it left in the journal counts.
    earlier = project(journal)
    if earlier.finished is None or earlier.started is None:
        return Past()
    if earlier.started.private and not private:
        # What was for some people only does not go to where everybody can look: neither files, nor what was read.
        return Past(head.run)
    told = recap(head.run, journal)
    files = [file for file in handles(head.run, journal) if not _held(step, file)]
    return Past(head.run, told, files, workspace.project(journal).plan)


def _held(step: Step, file: FileAdded) -> bool:
    known = step.workspace.files.get(file.file)
    return known is not None and (known.fetched or not file.body)
