"""The way of a raw request to its 2xx: verify, translate, claim, ring; nothing else.

Nothing is written before the signature holds, and no 2xx leaves before the claim is durable. A duplicate repeats
the last steps, so that a claim of which the queue message was lost is enqueued again. What starts nothing has one
reason, which the sender is told and the log counts.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from gofer.journal import inbox
from gofer.journal.coordination import Head
from gofer.journal.entries import ApprovalClicked, Recorded, Route, RunAccepted, RunCancelled
from gofer.journal.lineage import root_of, run_id
from gofer.journal.log import Pen, claim, open_claim
from gofer.runtime.cancel import cancel
from gofer.sources.delivery_log import DeliveryLog, Outcome, operator_clause
from gofer.sources.near_miss import near_miss
from gofer.sources.receiver import (
    ACT_NOW,
    BODY_LIMIT,
    Click,
    Handshake,
    Ignored,
    RawRequest,
    Receiver,
    Registration,
    Reply,
    Stop,
)
from gofer.sources.receivers import known
from gofer.sources.signed_decision import read_token
from gofer.stores.one_place import FrontStores
from gofer.values.errors import BadRequest, Corrupt, Gone, RefusalCode, TemporaryError
from gofer.values.events import Event
from gofer.values.outside import Outside
from gofer.values.row_tokens import Tokens
from gofer.values.secret import Secret
from gofer.workflows.routes import Routes, fits

_PAGE = 500
_EVER = 2**62
"""Unix milliseconds after everything."""
_ELSEWHERE = "an unknown path"
"""Stands for every path without a receiver: what a sender writes is neither counted nor logged."""
_PROBES = frozenset({"no_receiver"})
"""Refusals that any visitor of a public address causes."""
_UNLOGGED = frozenset({"own_act", "click_too_late"})
"""Codes of deliveries that are expected, and that would show that a run was at work, also in a private place."""
_UNNAMED = (
    "no workflow's conditions are met; no workflow is named, because the delivery may be about a private place: "
    "`gofer explain` names it"
)


async def _nobody_waits(offered: Registration) -> None:
    raise BadRequest(403, "Nobody waits for a secret of yours.", code="window_closed")


@dataclass(frozen=True, slots=True)
class Ingress:
    """The front of Gofer: from a raw request to a claimed run."""

    receivers: Mapping[str, Receiver]
    """Doors by the path they listen on."""
    routes: Routes
    stores: FrontStores
    installation_key: Secret
    outside: Outside
    register: Callable[[Registration], Awaitable[None]] = _nobody_waits
    """Keep the secret that a vendor offers, where a person waits for it. Raises TemporaryError."""
    log: DeliveryLog = field(default_factory=DeliveryLog)
    settings: Mapping[str, str] = field(default_factory=dict[str, str])
    """The setting with the secret of each source, by path; also of sources that are not set up."""

    @property
    def _tokens(self) -> Tokens:
        return Tokens(self.installation_key)

    async def receive(self, request: RawRequest) -> Reply:
        """The answer to a request; never raises for what a sender can cause."""
        receiver = self.receivers.get(request.path)
        if request.method != "POST":
            return _no_delivery(known=receiver is not None)
        if receiver is None:
            return self.refuse(request.path, self._no_receiver(request.path))
        try:
            _check_size(request.body)
            receiver.verify(request, self.outside.clock.now())
        except BadRequest as error:
            return self.refuse(request.path, error)
        return await self.receive_verified(receiver, request)

    def refuse(self, path: str, error: BadRequest) -> Reply:
        """Return the answer to a request that is refused, and note its reason in the log."""
        place = _ELSEWHERE
        if path in self.receivers or path in self.settings:
            place = path
        level = logging.WARNING
        if error.code in _PROBES:
            level = logging.INFO
        clause = operator_clause(error.code, self.settings.get(path, ""))
        self._note(place, Outcome(verb="refused", code=error.code, reason=clause, level=level))
        return Reply(error.status, str(error).encode())

    def _no_receiver(self, path: str) -> BadRequest:
        code: RefusalCode = "no_receiver"
        if path in self.settings:
            code = "not_set_up"
        return BadRequest(404, "There is nothing at this path.", code=code)

    def _ignore(self, path: str, ignored: Ignored) -> Reply:
        """Return the answer to a genuine delivery that starts nothing, and note its reason in the log."""
        if ignored.code not in _UNLOGGED:
            level = logging.INFO
            if ignored.code in ACT_NOW:
                level = logging.ERROR
            reason = ignored.logged or ignored.reason
            self._note(path, Outcome(verb="ignored", code=ignored.code, reason=reason, level=level))
        return Reply(200, f"Ignored: {ignored.reason}.".encode())

    def _note(self, path: str, outcome: Outcome) -> None:
        self.log.note(path, outcome, self.outside.clock.monotonic())

    async def receive_verified(self, receiver: Receiver, request: RawRequest) -> Reply:
        """Answer a delivery of a sender that is known already, as through a socket that Gofer opened."""
        try:
            _check_size(request.body)
            return await self._enter(receiver, request)
        except BadRequest as error:
            return self.refuse(request.path, error)
        except (TemporaryError, Corrupt) as error:
            # Not stored, so not accepted: the sender is asked to come again.
            self._note(
                request.path,
                Outcome(verb="turned away", code="not_stored", reason=_not_stored(error), level=logging.ERROR),
            )
            return Reply(503, b"Gofer cannot store the event now. Send it again.")

    async def _enter(self, receiver: Receiver, request: RawRequest) -> Reply:
        match receiver.translate(request):
            case Handshake(echo=echo):
                return Reply(200, echo.encode())
            case Registration() as offered:
                await self.register(offered)
                return Reply(200)
            case Ignored() as ignored:
                return self._ignore(request.path, ignored)
            case Stop() as stop:
                if await self.stop(stop):
                    return Reply(200, b"Accepted.")
                return self._ignore(request.path, Ignored("nothing_to_stop", "no run is stopped by it"))
            case Click() as click:
                if ignored := await self.press(click):
                    return self._ignore(request.path, ignored)
                # The answer to a press that counts is empty.
                return Reply(200)
            case Event() as event:
                if await self.accept(event):
                    return Reply(200, b"Accepted.")
                return self._unmatched(request.path, event)

    def _unmatched(self, path: str, event: Event) -> Reply:
        """Return the answer to an event that starts no workflow. A name may tell of a private place."""
        miss = near_miss(self.routes, event)
        if not miss.workflow:
            return self._ignore(path, Ignored("no_listener", miss.tell()))
        logged = _UNNAMED
        if event.private is False:
            logged = ""
        return self._ignore(path, Ignored("conditions", miss.tell(), logged=logged))

    async def accept(self, event: Event) -> Sequence[str]:
        """Claims a run for every workflow the event starts, and rings for it; gives the run ids."""
        matched = await self._as_accepted(event, self.routes.matching(event.kind, known(event)))
        workflows = sorted({route.workflow for route in matched})
        # Every run decides from the same list which workflow wins; where one matched there is nothing to decide.
        rivals: tuple[Route, ...] = ()
        if len(workflows) > 1:
            rivals = tuple(matched)
        return await asyncio.gather(*(self.start(event, workflow, rivals) for workflow in workflows))

    async def _as_accepted(self, event: Event, matched: Sequence[Route]) -> Sequence[Route]:
        """Return the routes that an earlier delivery of the event matched, or else those that match now.

        Between two deliveries of one event workflows may be published. An event of one workflow costs nothing more.
        """
        workflows = sorted({route.workflow for route in matched})
        if len(workflows) < 2 or event.window:
            return matched
        for workflow in workflows:
            claimed = await self._claimed(run_id(self.installation_key, event, workflow))
            if claimed is None:
                continue
            match claimed.entry:
                case RunAccepted(routes=()):
                    return [route for route in matched if route.workflow == workflow]
                case RunAccepted(routes=before):
                    return before
                case _:
                    continue
        return matched

    async def press(self, click: Click) -> Ignored | None:
        """Puts the press of a button into the inbox of the run that asked; returns why it did not, if so.

        Nothing is written for a button that this Gofer did not make. Raises TemporaryError.
        """
        stamp = read_token(self.installation_key, click.token)
        if stamp is None:
            return Ignored("no_own_button", "the button is none that Gofer made")
        # Only a root has an inbox that anybody is rung for.
        run = root_of(stamp.run)
        head = await self.stores.journals.head(run)
        if head is None or head.ended:
            return Ignored("click_too_late", "the run that asked has ended")
        told = (stamp.call, stamp.about, stamp.arguments_sha256, stamp.decision, click.actor.id, click.at)
        # In the order of the clicks, and the same for every delivery of one.
        item = f"click-{click.at:015d}-{self._tokens.item('click', *told)}"
        below = ""
        if stamp.run != run:
            below = stamp.run
        try:
            await inbox.put(self.stores.journals, run, item, ApprovalClicked(*told, run=below))
        except Gone:
            return Ignored("click_too_late", "the run that asked was deleted")
        await self.stores.queue.enqueue(run)
        return None

    async def start(self, event: Event, workflow: str, routes: tuple[Route, ...] = ()) -> str:
        """Claim the run of one workflow for one event: frame 1, head row, queue message.

        `routes` are those that the event matched, where they lead to several workflows.
        Raises TemporaryError, and BadRequest(409) when it was claimed for another delivery.
        """
        if event.window:
            event = await self._within_window(event, workflow)
        run = run_id(self.installation_key, event, workflow)
        pen = Pen("ingress", self.outside)
        accepted = RunAccepted(event, workflow, routes=routes)
        standing = await claim(run, accepted, pen, self.stores.journals, self.stores.blobs)
        if standing is not None and event.digest:
            await self._check_same(run, standing, event)
        # Unknown counts as private: it has no list row until admission knows better.
        private = event.private is not False
        conversation = self._tokens.conversation(event.conversation)
        await self.stores.journals.create_head(
            Head(run=run, workflow=workflow, conversation=conversation, accepted_at=pen.at(), private=private, frames=1)
        )
        await self.stores.queue.enqueue(run)
        return run

    async def _within_window(self, event: Event, workflow: str) -> Event:
        """The event in its slice of time: the one before when an equal event was claimed there within the window."""
        now = self.outside.clock.now()
        current = int(now // event.window)
        earlier = _in_slice(event, current - 1)
        run = run_id(self.installation_key, earlier, workflow)
        began = await self._began(run)
        if now * 1000 - began < event.window * 1000:
            return earlier
        return _in_slice(event, current)

    async def _began(self, run: str) -> int:
        """When a run was claimed, in unix milliseconds; 0 when it never was."""
        if claimed := await self._claimed(run):
            return claimed.at
        # What was deleted left its head.
        head = await self.stores.journals.head(run)
        if head is None:
            return 0
        return head.accepted_at

    async def _claimed(self, run: str) -> Recorded | None:
        """Return what frame 1 of a run says; None when there is no such run, or when it was deleted."""
        frames = await self.stores.journals.frames(run)
        if not frames:
            return None
        return await open_claim(run, frames[0], self.stores.journals, self.stores.blobs)

    async def _check_same(self, run: str, standing: bytes, event: Event) -> None:
        claimed = await open_claim(run, standing, self.stores.journals, self.stores.blobs)
        # What was deleted cannot be compared any more, and counts as the same.
        if claimed is None:
            return
        match claimed.entry:
            case RunAccepted(event=before) if before.digest != event.digest:
                said = "Another body was accepted under this key. Send it under a key of its own."
                raise BadRequest(409, said, code="key_conflict")
            case _:
                return

    async def stop(self, stop: Stop) -> Sequence[str]:
        """Tells the runs that are meant to stop; gives those that had not ended. Raises TemporaryError."""
        wish = RunCancelled(stop.by, actor=stop.of, message=stop.on, silent=stop.silent)
        item = self._tokens.item("stop", stop.item)
        meant = [run async for run in self._meant(stop)]
        return [run for run in meant if await cancel(run, wish, self.stores.journals, self.stores.queue, item)]

    async def _meant(self, stop: Stop) -> AsyncIterator[str]:
        """The runs that a wish may be about; the owner of each knows more."""
        for kind in stop.kinds:
            for workflow in self.routes.workflows(kind):
                yield self._tokens.run(stop.source, kind, stop.identity, workflow)
        if not stop.conversation:
            return
        sought = self._tokens.conversations(stop.conversation)
        page: Sequence[Head] = await self.stores.journals.unfinished(_EVER, _PAGE)
        while page:
            for head in page:
                if fits(sought, head.conversation):
                    yield head.run
            page = await self.stores.journals.unfinished(_EVER, _PAGE, after=page[-1])


def _not_stored(error: TemporaryError | Corrupt) -> str:
    """Return why a delivery was not stored, without what the error may name, such as a run."""
    if isinstance(error, Corrupt):
        return "what is stored of the same event is damaged; `gofer runs` and the log of the worker have more"
    return f"it could not be stored ({error}); have it delivered again if its sender does not do so by itself"


def _no_delivery(*, known: bool) -> Reply:
    """Return the answer to a request that delivers nothing, such as a look at a page; the log leaves it out."""
    if known:
        return Reply(405, b"Use POST.")
    return Reply(404, b"There is nothing at this path.")


def _in_slice(event: Event, number: int) -> Event:
    """An event as one of its slice of time; its conversation too, as runs do not go on from those of other slices."""
    identity = (*event.identity, str(number))
    conversation = f"{event.conversation}:{number}"
    return replace(event, identity=identity, conversation=conversation)


def _check_size(body: bytes) -> None:
    if len(body) > BODY_LIMIT:
        raise BadRequest(413, f"The body is larger than {BODY_LIMIT} bytes.", code="body_too_large")
