"""The start of a run: the claim of its first frame, its head and its queue message, in this order.

Receivers, schedules and what follows other runs start runs this way, so it imports no engine. Each repetition of a
start does the rest of what an earlier one did not finish. Once the run has a head, the sweeper finds it, so a second
delivery that follows at once writes nothing.
"""

from gofer.journal.coordination import Head
from gofer.journal.entries import Route, RunAccepted
from gofer.journal.lineage import run_id
from gofer.journal.log import Pen, claim, open_claim
from gofer.stores.one_place import FrontStores
from gofer.values.errors import BadRequest
from gofer.values.events import Event
from gofer.values.row_tokens import Tokens
from gofer.values.secret import Secret

PROMPT = 3.0
"""Seconds after its acceptance in which another delivery may still be about to enqueue a run."""


async def start_run(
    event: Event, workflow: str, pen: Pen, stores: FrontStores, key: Secret, *, routes: tuple[Route, ...] = ()
) -> str:
    """Start the run of one workflow for one event, and return its id. `key` is the key of the installation.

    `routes` are the routes that the event matched if their workflows compete for it. Raises TemporaryError, and
    BadRequest(409) when another delivery with the same key was accepted.
    """
    run = run_id(key, event, workflow)
    accepted = RunAccepted(event, workflow, routes=routes)
    existing = await claim(run, accepted, pen, stores.journals, stores.blobs)
    if existing is not None and event.digest:
        await _check_same(run, existing, event, stores)
    if existing is not None and await _needs_nothing(run, pen.at(), stores):
        return run
    # A run with an unknown place counts as private and is not listed until admission knows its place.
    private = event.private is not False
    conversation = Tokens(key).conversation(event.conversation)
    head = Head(run=run, workflow=workflow, conversation=conversation, accepted_at=pen.at(), private=private, frames=1)
    await stores.journals.create_head(head)
    await stores.queue.enqueue(run)
    return run


async def _needs_nothing(run: str, now: int, stores: FrontStores) -> bool:
    """Return whether the head of a claimed run shows that another delivery or a worker has it. `now` is in unix ms.

    If the other delivery crashed before it enqueued the run, its sender repeats it, or the sweeper enqueues the run.
    """
    head = await stores.journals.head(run)
    if head is None:
        return False
    return head.status != "queued" or now - head.accepted_at < PROMPT * 1000


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
