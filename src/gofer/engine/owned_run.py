"""A run and its owner: the journal, its projections, the inbox, and the permit to send.

Both kinds of steps use it: `own_step.py` makes the run's own calls, and `working_step.py` makes the calls of a model or
a script.
"""

import contextlib
import math
from collections.abc import Sequence
from dataclasses import replace

from gofer.engine.drift import Drift
from gofer.engine.effects import LastFrame, Permit, longest_quiet
from gofer.engine.results import DisplayLimits, shorten, unknown
from gofer.engine.run_files import RunFiles
from gofer.engine.services import Services
from gofer.journal import entries as e
from gofer.journal import head_facts, inbox
from gofer.journal.child_runs import has_inbox_items
from gofer.journal.hidden_runs import is_hidden
from gofer.journal.log import Journal, read_body
from gofer.journal.purposes import is_own
from gofer.projections import conversation, read_addresses, repetition, run_facts, script_replay, workspace
from gofer.projections.checks import run_checks
from gofer.projections.checks.run_checks import CheckState
from gofer.projections.requests import token_account
from gofer.projections.requests.context import DriftCause
from gofer.projections.tracing.span_ids import traceparent
from gofer.tools.definition import ANYWHERE, Provenance
from gofer.values.errors import Cancelled, ConfigError, Fenced, OutOfTime, TemporaryError
from gofer.values.outside import Clock
from gofer.workflows.bundle import Bundle

MARGIN = 20.0
"""Seconds reserved to record the outcome of the last call and to leave the run in good order."""


class Deadline:
    """The deadline of one worker, on its own monotonic clock. Without a time limit it is infinite until `end`."""

    def __init__(self, clock: Clock, seconds: float = math.inf) -> None:
        self._clock = clock
        self._end = clock.monotonic() + seconds
        self.handed_over = False
        """Whether a run was handed over because the time left was too short for its next step."""

    def end(self) -> None:
        """End the worker's time, so that nothing new begins."""
        self._end = -math.inf

    def note_hand_over(self) -> None:
        """Note that a run needs more time than is left, so that its worker does not receive it again."""
        self.handed_over = True

    @property
    def over(self) -> bool:
        """Whether `end` was called."""
        return self._end == -math.inf

    @property
    def left(self) -> float:
        """Seconds left for calls, without the margin."""
        return self._end - MARGIN - self._clock.monotonic()


class OwnedRun:
    """One run, as its owner sees it: the journal, and the projections that each new entry updates in place."""

    def __init__(
        self,
        journal: Journal,
        services: Services,
        entries: Sequence[e.Recorded],
        deadline: Deadline,
        above: "OwnedRun | None" = None,
    ) -> None:
        self.checks = run_checks.project(entries)
        self.progress = self.checks.progress
        self.utilisation = self.checks.utilisation
        self.conversation = conversation.project(entries)
        self.repetition = repetition.project(entries)
        self.replay = script_replay.project(entries)
        self.workspace = workspace.project(entries)
        self.account = token_account.project(entries)
        self.addresses = read_addresses.project(entries)
        self.facts = run_facts.project(entries)
        self.run = journal.run
        self.pen = journal.pen
        self.services = services
        self.deadline = deadline
        self.above = above
        """The parent run; None unless this is the run of a subagent."""
        self.hidden = False
        """Whether the place of the run had become private when this owner last looked."""
        self.bundle: Bundle | None = None
        """The bundle of the run, once it was read."""
        self.claims: set[str] = set()
        """The calls that the owner of the run and of its subagents has claimed (`once.py`), as `<run>/<call>`."""
        self.reserved: set[tuple[str, str, str]] = set()
        """Tool, run and id of the calls that count against the `most` of the tool (`family.py`)."""
        self.family: dict[str, CheckState] = {}
        """The states of the run and of the subagent runs that this owner has opened or read, by run."""
        self.names: dict[str, str] = {}
        """The names of people that the owner of the run and of its subagents has looked up, as `RunAtHand.names`."""
        self.files = RunFiles(journal, services, self.workspace)
        self._journal = journal
        self._begun = False
        if above is not None:
            self.claims = above.claims
            self.reserved = above.reserved
            self.family = above.family
            self.names = above.names
            self._begun = above.has_begun
        self.family[self.run] = self.checks
        self._last_frame = LastFrame(services.outside.clock)

    @property
    def root(self) -> "OwnedRun":
        """The run that people started: the run itself, or the run above all subagents."""
        top = self
        while top.above is not None:
            top = top.above
        return top

    @property
    def permit(self) -> Permit:
        """The right to send a request for the run.

        The permit refers to the run and not the run to it, so that an ended run leaves memory at once.
        """
        above: Permit | None = None
        if self.above is not None:
            above = self.above.permit
        return Permit(self.services.patience, self._last_frame, self._renew_permit, above)

    def note(self, entry: e.Entry) -> e.Recorded:
        """Add an entry to the next frame, and return it with its address.

        The next intent or `commit` makes it durable.
        """
        recorded = self._journal.add(entry)
        known = self.utilisation.causes
        # The checks hold the progress, the calls and the utilisation.
        run_checks.fold(self.checks, recorded)
        conversation.fold(self.conversation, recorded)
        repetition.fold(self.repetition, recorded)
        script_replay.fold(self.replay, recorded)
        workspace.fold(self.workspace, recorded)
        token_account.fold(self.account, recorded)
        read_addresses.fold(self.addresses, recorded)
        run_facts.fold(self.facts, recorded)
        self._report_drift(known)
        return recorded

    def _report_drift(self, known: frozenset[DriftCause]) -> None:
        """Report each cause of drift that was not `known` before the last entry; a private run reports none."""
        if self.is_private:
            return
        for cause in sorted(self.utilisation.causes - known):
            drift = Drift(
                run=self.run,
                workflow=self.progress.workflow,
                cause=cause,
                share=self.utilisation.share,
                window=self.utilisation.window,
                lost=len(self.utilisation.lost),
            )
            self.services.report_drift(drift)

    def head_facts(self) -> str:
        """Return the facts of the run for its head; empty before its end."""
        if self.progress.finished is None:
            return ""
        services = self.services
        facts = run_facts.named_facts(self.facts, self.checks.calls, self.progress, services.tools, services.tokens)
        return head_facts.encode(facts)

    async def commit(self) -> None:
        """Make everything noted so far durable. Raises Fenced, TemporaryError."""
        if self._journal.drafted:
            await self._last_frame.write(self._journal.commit)

    async def confirm_ownership(self) -> None:
        """Write a frame of this run and of each run above it, which another owner would prevent.

        Raises Fenced, TemporaryError.
        """
        if self.above is not None:
            await self.above.confirm_ownership()
        await self._last_frame.write(self._renew_permit)

    async def confirm_storage(self) -> None:
        """Store and read a small body, because an owner must not pay a model again while a store takes none.

        Raises TemporaryError, ConfigError.
        """
        name = await self._journal.keep(self.pen.owner.encode())
        await read_body(self.run, name, self.services.store, self.services.blobs)

    async def leave_after_failure(self, left: e.RunHandedOver) -> None:
        """Leave the run after a failure: commit the draft with `left`, or `left` alone if the draft is not writable."""
        with contextlib.suppress(TemporaryError, ConfigError, Fenced):
            try:
                # The draft may already hold the end or the wait of the run, and no entry may follow that.
                if self.progress.finished is None and self.progress.parked is None:
                    self.note(left)
                await self.commit()
            except (TemporaryError, ConfigError):
                self._journal.discard()
                self._journal.add(left)
                await self._journal.commit()

    async def look_whether_hidden(self) -> None:
        """Look whether the place of the run became private after the run began. Raises TemporaryError."""
        self.hidden = await is_hidden(self.run, self.services.store)

    @property
    def is_private(self) -> bool:
        """Whether the run began in a place that only some people can see now; unknown counts as private."""
        if self.above is not None and self.above.is_private:
            return True
        return self.progress.private or self.hidden

    @property
    def stopping(self) -> bool:
        """Whether the worker was told to stop."""
        return self.deadline.over

    @property
    def has_begun(self) -> bool:
        """Whether this owner has begun a step of the run, or had begun one of the parent run before."""
        return self._begun

    @property
    def frames(self) -> int:
        """How many frames of the run are durable."""
        return self._journal.frames

    def traceparent(self, request: e.Recorded) -> str:
        """Return the header that names the span of a request to a model; empty for a private run."""
        if self.is_private:
            return ""
        sampled = "00"
        if self.services.exports_spans:
            sampled = "01"
        return traceparent(self.run, request, sampled)

    def provenance(self, prompt_file: str) -> Provenance:
        """Return the links at the end of every text that this run writes."""
        workflow = self.progress.workflow
        return self.services.links.provenance(workflow, prompt_file, self.run, self.progress.private)

    def now_ms(self) -> int:
        """Return the time of the wall clock, in unix milliseconds."""
        return int(self.services.outside.clock.now() * 1000)

    async def shorten(self, text: str, name: str, origin: str, shown: DisplayLimits) -> str:
        """Return a text within the display limits; note the file that a long text becomes. Raises TemporaryError."""
        shown_text, added = await shorten(text, name, origin, self.files, shown)
        if added is not None:
            self.note(added)
        return shown_text

    async def begin(self, seconds: float, calls: Sequence[str]) -> None:
        """Take the inbox, and return if a step of so many seconds may begin. Raises Cancelled, OutOfTime.

        `calls` are the calls that the step begins.
        """
        await self.take_inbox()
        self.heed_cancel()
        # A new owner may always start one step; otherwise a step longer than any worker's deadline would never run.
        if self.deadline.over or (self._begun and seconds > self.deadline.left):
            raise OutOfTime(f"Run {self.run} goes on with the next worker.")
        self._begun = True

    async def has_news(self) -> bool:
        """Return whether the inbox of the run, or of a subagent at work, holds an item."""
        return await has_inbox_items(
            self.run, [one.run for one in self.progress.children.values()], self.services.store
        )

    async def take_inbox(self) -> None:
        """Journal the items of the inbox and remove them; an item that was journaled before a crash is only removed."""
        if self.above is not None:
            await self.above.take_inbox()
        await self.drop(await self.journal_inbox())

    async def journal_inbox(self) -> Sequence[e.Item]:
        """Journal the items of the inbox that are due, and return them; the caller removes them by `drop`."""
        items = [item for item in await self._inbox() if self._is_due(item)]
        taken = self.progress.taken | self.progress.follow_ups.taken
        for item in items:
            if isinstance(item, e.ApprovalClicked) and item.run:
                await inbox.put(self.services.store, item.run, item.item, replace(item, run="", item=""))
            elif item.item not in taken:
                self.note(item)
        if items:
            await self.commit()
        return items

    def _is_due(self, item: e.Item) -> bool:
        """Return whether the run journals an item now: feedback and the review after its end, the others before."""
        return isinstance(item, e.FollowUp) == (self.progress.finished is not None)

    async def drop_late_items(self) -> None:
        """Remove the items that came too late for an ended run, such as a cancellation."""
        await self.drop([item for item in await self._inbox() if not self._is_due(item)])

    async def _inbox(self) -> Sequence[e.Item]:
        return await inbox.read(self.services.store, self._journal.seal)

    async def drop(self, items: Sequence[e.Item]) -> None:
        """Remove journaled items from the inbox."""
        if items:
            await self.services.store.drop_items(self.run, [item.item for item in items])

    def heed_cancel(self) -> None:
        """Raise Cancelled when a person asked the run to stop and the run has not been concluded."""
        if (cancelled := self.progress.cancelled) and self.progress.stopping:
            raise Cancelled(f"cancelled by {cancelled.by}")
        if self.above is not None:
            self.above.heed_cancel()

    @property
    def is_wanted(self) -> bool:
        """Whether no person asked this run, or a run above it, to stop."""
        return not self.progress.stopping and (self.above is None or self.above.is_wanted)

    @property
    def locked(self) -> set[tuple[str, str]]:
        """Tool and destination of the calls of unknown outcome, in this run and the runs above it."""
        if self.above is None:
            return self.progress.locked
        return self.progress.locked | self.above.locked

    def record_unknown_calls(self, reason: str, *, own: bool = True) -> None:
        """Record the writes in doubt as unknown, because no later owner will look for them.

        `own` False leaves out the calls of the run itself, which its end repeats.
        """
        doubtful = [call for call in self.progress.in_doubt.values() if own or not is_own(call.call)]
        for call in [call for call in doubtful if call.effect != "read"]:
            self.note(unknown(call.call, call.tool, reason, ANYWHERE))

    def quiet_left(self, predecessor_is_dead: bool) -> float:
        """Return the seconds until the last requests of a crashed owner must have had their effect."""
        doubtful = (call.tool for call in self.progress.in_doubt.values() if call.effect == "lookup")
        tools = (self.services.tools.get(name) for name in doubtful)
        most = longest_quiet(tools, self.services.patience, predecessor_is_dead=predecessor_is_dead)
        until = self.progress.quiet_until or self.progress.owned_at + int(most * 1000)
        return min(max(0.0, (until - self.now_ms()) / 1000), most)

    async def _renew_permit(self) -> bool:
        self.note(e.PermitRenewed())
        return await self._journal.commit()
