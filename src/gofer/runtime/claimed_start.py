"""The start of a run: the claim of its first frame, its head and its queue message, in this order.

Receivers, schedules and what follows other runs start runs this way, so it imports no engine. Each repetition of a
start does the rest of what an earlier one did not finish. Once the run has a head, the sweeper finds it, so a second
delivery that follows at once writes nothing.
"""

from collections.abc import Sequence

from gofer.journal.agreed_names import agreed_name
from gofer.journal.conversations import note_conversation
from gofer.journal.coordination import Head
from gofer.journal.entries import Route, RunAccepted
from gofer.journal.lineage import run_ids
from gofer.journal.log import Pen, claim, open_claim
from gofer.journal.store import Store
from gofer.stores.one_place import FrontStores
from gofer.stores.queue import line_of
from gofer.values.errors import BadRequest
from gofer.values.events import Event
from gofer.values.installation_key import InstallationKey
from gofer.values.row_tokens import Tokens

PROMPT = 3.0
"""Seconds after its acceptance in which another delivery may still be about to enqueue a run."""


async def start_run(
    event: Event, workflow: str, pen: Pen, stores: FrontStores, key: InstallationKey, *, routes: tuple[Route, ...] = ()
) -> str:
    """Start the run of one workflow for one event, and return its id. `key` is the key of the installation.

    `routes` are the routes that the event matched if their workflows compete for it. Raises TemporaryError, and
    BadRequest(409) when another delivery with the same key was accepted.
    """
    run = await _agreed_run(run_ids(key, event, workflow), stores.journals, pen)
    accepted = RunAccepted(event, workflow, routes=routes)
    existing = await claim(run, accepted, pen, stores.journals, stores.blobs)
    if existing is not None and event.digest:
        await _check_same(run, existing, event, stores)
    if existing is not None and await _needs_nothing(run, pen.at(), stores):
        return run
    # A run with an unknown place counts as private and is not listed until admission knows its place.
    private = event.private is not False
    conversation = await note_conversation(event.conversation, Tokens(key), stores.journals, pen.at)
    head = Head(
        run=run,
        workflow=workflow,
        conversation=conversation,
        accepted_at=pen.at(),
        private=private,
        frames=1,
        by_person=event.actor.is_person,
    )
    await stores.journals.create_head(head)
    await stores.queue.enqueue(run, line=line_of(head))
    return run


async def _needs_nothing(run: str, now: int, stores: FrontStores) -> bool:
    """Return whether the head of a claimed run shows that another delivery or a worker has it. `now` is in unix ms.

    If the other delivery crashed before it enqueued the run, its sender repeats it, or the sweeper enqueues the run.
    """
    head = await stores.journals.head(run)
    if head is None:
        return False
    return head.status != "queued" or now - head.accepted_at < PROMPT * 1000


async def _agreed_run(runs: Sequence[str], store: Store, pen: Pen) -> str:
    """Return the id of the run that the event has already, or that every receiver gives it."""

    async def exists(run: str) -> bool:
        # A deleted run has a head, and a claim whose receiver crashed has only its frame.
        return await store.head(run) is not None or bool(await store.frames(run))

    return await agreed_name(runs, exists, store, pen.at)


async def _check_same(run: str, existing: bytes, event: Event, stores: FrontStores) -> None:
    claimed = await open_claim(run, existing, stores.journals, stores.blobs)
    # The event of a deleted run cannot be compared, so it counts as the same.
    if claimed is None:
        return
    match claimed.entry:
        case RunAccepted(event=before) if before.digest != event.digest:
            message = "A different body was accepted under this key. Send this one with another key."
            raise BadRequest(409, message, code="key_conflict")
        case _:
            return
