"""What did the event not say, and does the run start? The first steps of every run, journaled like all others."""

from collections.abc import Sequence
from dataclasses import dataclass

from gofer.blobs.store import blob_key
from gofer.engine.allowance import enter
from gofer.engine.material import read_material
from gofer.engine.meant import asks_for, check_conditions, check_hops, meets
from gofer.engine.preload import preload
from gofer.engine.services import Services
from gofer.engine.status import look
from gofer.engine.step import Step
from gofer.engine.who import look_up, may_start, turn_away
from gofer.errors import Damaged, Gone
from gofer.events import Event
from gofer.journal.coordination import Head
from gofer.journal.entries import MessageReceived, RunStarted
from gofer.journal.log import read_journal
from gofer.journal.workspace import FileAdded, PlanUpdated, Todo
from gofer.projections import workspace
from gofer.projections.progress import project
from gofer.projections.recap import handles, recap
from gofer.workflows.bundle import FOLDER, Bundle, decode_bundle, encode_bundle
from gofer.workflows.load import Loaded

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
    person = await look_up(step, event, provenance)
    welcome = await may_start(step, person, loaded, provenance)
    facts = {**event.facts, **person.facts}
    if not welcome and meets(event, loaded, facts):
        raise await turn_away(step, event, person, loaded, provenance)
    material = await read_material(step, event, person, provenance)
    earlier = await _earlier(step, event)
    followed = earlier is not None or (asks_for(event, loaded, "followed") and await _under_way(step, event))
    facts |= {**material.facts, "followed": followed}
    status = await look(step, event, loaded, facts, material.properties)
    check_conditions(event, loaded, {**facts, "status": status.changes}, status.reason)
    if not welcome:
        raise await turn_away(step, event, person, loaded, provenance)
    left = await enter(step, event, loaded)
    preloaded = await preload(step, loaded, provenance)
    # From here on nothing is called: what is noted now stands in one frame with the beginning of the run.
    past = await _recall(step, earlier, private=material.private)
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


async def _earlier(step: Step, event: Event) -> Head | None:
    """The newest ended run of the conversation that was let in, before this one."""
    token = step.services.tokens.conversation(event.conversation)
    # Earlier versions wrote the name itself, which stays in a table until its rows expire.
    return await _newest(step, token) or await _newest(step, event.conversation)


async def _newest(step: Step, conversation: str) -> Head | None:
    before = step.progress.accepted_at
    for _ in range(_LOOKED_BACK):
        head = await step.services.store.previous(conversation, step.progress.workflow, before)
        if head is None or head.status != "ignored":
            return head
        before = head.accepted_at
    return None


async def _under_way(step: Step, event: Event) -> bool:
    """Whether an earlier run of the conversation has not ended, as one that waits for its model."""
    store, tokens = step.services.store, step.services.tokens
    sought = (tokens.conversation(event.conversation), step.progress.workflow)
    page: Sequence[Head] = await store.unfinished(_EVER, _PAGE)
    while page:
        mine = [head for head in page if (tokens.conversation(head.conversation), head.workflow) == sought]
        if any(head.accepted_at < step.progress.accepted_at for head in mine):
            return True
        page = await store.unfinished(_EVER, _PAGE, after=page[-1])
    return False


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
