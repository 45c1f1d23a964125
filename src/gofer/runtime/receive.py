"""The way of a request to its response: verify, translate, claim, enqueue; nothing else.

Nothing is written before the signature is verified, and no 2xx is sent before the claim is durable. A duplicate repeats
the last steps that another delivery may have left out (`claimed_start.py`). A delivery that starts nothing has one
reason, which the sender gets and the log counts.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

from gofer.journal import inbox
from gofer.journal.coordination import AGED_MS
from gofer.journal.entries import ApprovalClicked, Recorded, Route, RunAccepted, RunCancelled
from gofer.journal.lineage import root_of, run_ids
from gofer.journal.log import Pen, open_claim
from gofer.runtime.cancel import cancel
from gofer.runtime.claimed_start import start_run
from gofer.runtime.concurrency import each
from gofer.runtime.receive_feedback import NO_FEEDBACK, take_feedback
from gofer.sources.delivery_log import DeliveryLog, Outcome, operator_clause
from gofer.sources.near_miss import near_miss
from gofer.sources.receiver import (
    ACT_NOW,
    BODY_LIMIT,
    Click,
    ForWorkflows,
    Handshake,
    Ignored,
    PossibleFeedback,
    RawRequest,
    Receiver,
    Registration,
    Reply,
    Stop,
    Tested,
)
from gofer.sources.receivers import events_of, known
from gofer.sources.signed_decision import read_token
from gofer.stores.one_place import FrontStores
from gofer.stores.queue import line_of
from gofer.values.errors import BadRequest, Corrupt, Gone, RefusalCode, TemporaryError
from gofer.values.events import Event
from gofer.values.installation_key import InstallationKey
from gofer.values.outside import Outside
from gofer.values.row_tokens import Tokens
from gofer.workflows.routes import Routes

_ELSEWHERE = "an unknown path"
"""Replaces every path without a receiver, so that no text of a sender is counted or logged."""
_PROBES = frozenset({"no_receiver"})
"""Refusals that any visitor of a public address causes."""
_UNLOGGED = frozenset({"own_act", "click_too_late", "no_feedback"})
"""Codes of expected deliveries. A log line about them would reveal runs, also in private places."""
SENT_AGAIN_WITHIN = 60
"""Seconds within which a second message with the id of the first one is the first one, sent again."""
_SENT_AGAIN = Ignored("sent_again", "its sender's program sent the same message twice within a minute")
_NO_NAMES = (
    "no workflow's conditions are met; no workflow is named, because the delivery may be about a private place: "
    "`gofer explain` names it"
)


async def _refuse_registration(offered: Registration) -> None:
    raise BadRequest(403, "Gofer does not expect a secret now.", code="window_closed")


@dataclass(frozen=True, slots=True)
class Ingress:
    """The receiving side of Gofer: turns a request into claimed runs."""

    receivers: Mapping[str, Receiver]
    """The receivers by their paths."""
    routes: Routes
    stores: FrontStores
    installation_key: InstallationKey
    outside: Outside
    register: Callable[[Registration], Awaitable[None]] = _refuse_registration
    """Keep the secret that a vendor offers if a person waits for it. Raises TemporaryError."""
    log: DeliveryLog = field(default_factory=DeliveryLog)
    settings: Mapping[str, str] = field(default_factory=dict[str, str])
    """The setting with the secret of each source by path, including sources that are not set up."""

    @property
    def _tokens(self) -> Tokens:
        return Tokens(self.installation_key)

    async def receive(self, request: RawRequest) -> Reply:
        """Return the response to a request. Raises nothing that a sender can cause."""
        receiver = self.receivers.get(request.path)
        if isinstance(receiver, Tested):
            handshake = receiver.handshake(request)
            if handshake is not None:
                return handshake.reply()
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
        """Return the response to a refused request, and log the reason."""
        place = _ELSEWHERE
        if path in self.receivers or path in self.settings:
            place = path
        level = logging.WARNING
        if error.code in _PROBES:
            level = logging.INFO
        clause = operator_clause(error.code, self.settings.get(path, ""))
        self._note(place, Outcome(verb="refused", code=error.code, reason=clause, level=level))
        headers: Sequence[tuple[str, str]] = ()
        if error.code == "password_wrong":
            # Many clients send a password only after this header asks for one.
            headers = (("WWW-Authenticate", 'Basic realm="Gofer"'),)
        return Reply(error.status, str(error).encode(), headers=headers)

    def _no_receiver(self, path: str) -> BadRequest:
        code: RefusalCode = "no_receiver"
        if path in self.settings:
            code = "not_set_up"
        return BadRequest(404, "There is nothing at this path.", code=code)

    def _ignore(self, path: str, ignored: Ignored) -> Reply:
        """Return the response to a genuine delivery that starts nothing, and log the reason."""
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
        """Return the response to a delivery from a verified sender, such as a socket that Gofer opened."""
        try:
            _check_size(request.body)
            return await self._process(receiver, request)
        except BadRequest as error:
            return self.refuse(request.path, error)
        except (TemporaryError, Corrupt) as error:
            # An event that is not stored is not accepted: the sender must send it again.
            self._note(
                request.path,
                Outcome(verb="turned away", code="not_stored", reason=_not_stored(error), level=logging.ERROR),
            )
            return Reply(503, b"Gofer cannot store the event now. Send it again.")

    async def _process(self, receiver: Receiver, request: RawRequest) -> Reply:
        match receiver.translate(request):
            case Handshake() as handshake:
                return handshake.reply()
            case Registration() as offered:
                await self.register(offered)
                return Reply(200)
            case Ignored() as ignored:
                return self._ignore(request.path, ignored)
            case Stop() as stop:
                if await self.stop(stop):
                    return Reply(200, b"Accepted.")
                return self._ignore(request.path, Ignored("nothing_to_stop", "it concerns no unfinished run"))
            case Click() as click:
                if ignored := await self.press(click):
                    return self._ignore(request.path, ignored)
                # The response to a valid click is empty.
                return Reply(200)
            case PossibleFeedback() as possible:
                return await self._take_feedback(request.path, possible)
            case Event() as event:
                if await self.accept(event, receiver):
                    return Reply(200, b"Accepted.")
                return self._unmatched(request.path, event)

    async def _take_feedback(self, path: str, possible: PossibleFeedback) -> Reply:
        """Take feedback and the event of the same delivery. A reply that is feedback starts no workflow."""
        outcome = await take_feedback(possible, self.routes.feedback, self.stores, self._tokens)
        event = possible.event
        is_feedback = outcome != NO_FEEDBACK
        if event is not None and not (is_feedback and possible.in_thread):
            started = await self.accept(event)
            if started or outcome == "taken":
                return Reply(200, b"Accepted.")
            if not is_feedback:
                return self._unmatched(path, event)
        if outcome == "taken":
            return Reply(200, b"Accepted.")
        return self._ignore(path, outcome)

    def _unmatched(self, path: str, event: Event) -> Reply:
        """Return the response to an event that starts no workflow; the log names no workflow of a private place."""
        if self.routes.matching(event.kind, known(event)):
            return self._ignore(path, _SENT_AGAIN)
        miss = near_miss(self.routes, event)
        if not miss.workflow:
            return self._ignore(path, Ignored("no_listener", miss.tell()))
        logged = _NO_NAMES
        if event.private is False:
            logged = ""
        return self._ignore(path, Ignored("conditions", miss.tell(), logged=logged))

    async def accept(self, event: Event, receiver: Receiver | None = None) -> Sequence[str]:
        """Claim and enqueue a run for every workflow that the event starts; return the run ids.

        A `receiver` may keep parts of the event from the runs of a workflow.
        """
        matched = await self._as_accepted(event, self.routes.matching(event.kind, known(event)))
        workflows = sorted({route.workflow for route in matched})
        if workflows and await self._is_sent_again(event):
            return ()
        # Every run of the event decides by this list which workflow wins. A single workflow needs no list.
        rivals: tuple[Route, ...] = ()
        if len(workflows) > 1:
            rivals = tuple(matched)
        events = {workflow: _for_workflow(receiver, event, workflow) for workflow in workflows}
        return await asyncio.gather(*(self.start(events[workflow], workflow, rivals) for workflow in workflows))

    async def _is_sent_again(self, event: Event) -> bool:
        """Return whether an event is a message that its sender's program sent again, as a second one."""
        sending = events_of(event.source).sending(event)
        if sending is None:
            return False
        memo = self._tokens.memory("sending", event.source, *sending.key)
        own = f"{sending.at} {self._tokens.item('sending', *event.identity)}"
        at = int(self.outside.clock.now() * 1000) - AGED_MS
        first = await self.stores.journals.exchange_memo(memo, None, own, at)
        if first == own:
            return False
        if abs(sending.at - int(first.partition(" ")[0])) <= SENT_AGAIN_WITHIN:
            return True
        await self.stores.journals.exchange_memo(memo, first, own, at)
        return False

    async def _as_accepted(self, event: Event, matched: Sequence[Route]) -> Sequence[Route]:
        """Return the routes that an earlier delivery of the event matched, or else the matching routes.

        Workflows may be published between two deliveries of one event. An event with a single workflow needs no reads.
        """
        workflows = sorted({route.workflow for route in matched})
        if len(workflows) < 2 or event.window:
            return matched
        for workflow in workflows:
            claimed = await self._claimed_under_any_key(event, workflow)
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
        """Put a click into the inbox of the run that asked, or return why it is ignored.

        Nothing is written for a button that this Gofer did not make. Raises TemporaryError.
        """
        stamp = read_token(self.installation_key, click.token)
        if stamp is None:
            return Ignored("no_own_button", "Gofer did not make the button")
        # Queue messages name roots only, so the inbox of the root gets the click.
        run = root_of(stamp.run)
        head = await self.stores.journals.head(run)
        if head is None or head.ended:
            return Ignored("click_too_late", "the run that asked has ended")
        decision = (stamp.call, stamp.about, stamp.arguments_sha256, stamp.decision, click.actor.id, click.at)
        # The id sorts by time, and is the same for every delivery of a click.
        item = f"click-{click.at:015d}-{self._tokens.item('click', *decision)}"
        subagent = ""
        if stamp.run != run:
            subagent = stamp.run
        try:
            await inbox.put(self.stores.journals, run, item, ApprovalClicked(*decision, run=subagent))
        except Gone:
            return Ignored("click_too_late", "the run that asked was deleted")
        await self.stores.queue.enqueue(run, line=line_of(head, people=True))
        return None

    async def start(self, event: Event, workflow: str, routes: tuple[Route, ...] = ()) -> str:
        """Claim the run of one workflow for one event: write frame 1 and the head, and enqueue the run.

        `routes` are the routes that the event matched if they lead to several workflows. Raises TemporaryError, and
        BadRequest(409) when another delivery with the same key was accepted.
        """
        if event.window:
            event = await self._within_window(event, workflow)
        pen = Pen("ingress", self.outside)
        return await start_run(event, workflow, pen, self.stores, self.installation_key, routes=routes)

    async def _within_window(self, event: Event, workflow: str) -> Event:
        """Return the event with its time slice: the previous one if an equal event was claimed there in the window."""
        now = self.outside.clock.now()
        current = int(now // event.window)
        earlier = _in_slice(event, current - 1)
        runs = run_ids(self.installation_key, earlier, workflow)
        claimed_at = max([await self._claimed_at(run) for run in runs])
        if now * 1000 - claimed_at < event.window * 1000:
            return earlier
        return _in_slice(event, current)

    async def _claimed_under_any_key(self, event: Event, workflow: str) -> Recorded | None:
        """Return the claim of an earlier delivery of an event, or None."""
        for run in run_ids(self.installation_key, event, workflow):
            if claimed := await self._claimed(run):
                return claimed
        return None

    async def _claimed_at(self, run: str) -> int:
        """Return the time of the claim of a run in unix milliseconds; 0 if there is none."""
        if claimed := await self._claimed(run):
            return claimed.at
        # A deleted run still has its head.
        head = await self.stores.journals.head(run)
        if head is None:
            return 0
        return head.accepted_at

    async def _claimed(self, run: str) -> Recorded | None:
        """Return the entry in frame 1 of a run, or None if the run does not exist or was deleted."""
        frames = await self.stores.journals.frames(run)
        if not frames:
            return None
        return await open_claim(run, frames[0], self.stores.journals, self.stores.blobs)

    async def stop(self, stop: Stop) -> Sequence[str]:
        """Send a cancellation to all runs that it concerns; return those that had not ended.

        Raises TemporaryError. Its sender then repeats the delivery, which changes nothing for runs that have the
        cancellation already.
        """
        cancellation = RunCancelled(stop.by, actor=stop.of, message=stop.on, silent=stop.silent)
        item = self._tokens.item("stop", stop.item)
        candidates = list(dict.fromkeys([run async for run in self._candidate_runs(stop)]))

        async def stop_run(run: str) -> bool:
            return await cancel(run, cancellation, self.stores.journals, self.stores.queue, item)

        # A place may have hundreds of open runs, and a sender waits a few seconds for the response.
        stopped = await each(stop_run, candidates)
        return [run for run, was_open in zip(candidates, stopped, strict=True) if was_open]

    async def _candidate_runs(self, stop: Stop) -> AsyncIterator[str]:
        """Yield the runs that a cancellation may concern; the owner of each run decides."""
        requests = (stop, *stop.former)
        for kind in stop.kinds:
            for workflow in self.routes.workflows(kind):
                for tokens, one in product(self._tokens.every, requests):
                    yield tokens.run(stop.source, kind, one.identity, workflow)
        for tokens, one in product(self._tokens.every, requests if stop.conversation else ()):
            async for page in self.stores.journals.open_runs(tokens.conversations(one.conversation)):
                for head in page:
                    yield head.run


def _not_stored(error: TemporaryError | Corrupt) -> str:
    """Return why a delivery was not stored, without names in the error."""
    if isinstance(error, Corrupt):
        return "the stored data of the same event is damaged; see `gofer runs` and the log of the worker"
    return f"it could not be stored ({error}); if its sender does not retry by itself, let it send the event again"


def _no_delivery(*, known: bool) -> Reply:
    """Return the response to a request that delivers nothing, such as a visit of a browser; it is not logged."""
    if known:
        return Reply(405, b"Use POST.")
    return Reply(404, b"There is nothing at this path.")


def _for_workflow(receiver: Receiver | None, event: Event, workflow: str) -> Event:
    if isinstance(receiver, ForWorkflows):
        return receiver.for_workflow(event, workflow)
    return event


def _in_slice(event: Event, number: int) -> Event:
    """Return an event and its conversation in a time slice; runs do not continue across slices."""
    identity = (*event.identity, str(number))
    conversation = f"{event.conversation}:{number}"
    return replace(event, identity=identity, conversation=conversation)


def _check_size(body: bytes) -> None:
    if len(body) > BODY_LIMIT:
        raise BadRequest(413, f"The body is larger than {BODY_LIMIT} bytes.", code="body_too_large")
