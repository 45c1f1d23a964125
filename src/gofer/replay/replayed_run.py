"""A run whose owner lives again: what came from outside is taken from its recording, and the engine does the rest."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace

from typing_extensions import override

from gofer.engine.conditions import DoesNotMatch
from gofer.engine.model_order import Parked, TimedAnswer
from gofer.engine.own_step import OwnStep
from gofer.engine.owned_run import Deadline, OwnedRun
from gofer.engine.permitted_call import Permitted
from gofer.engine.run_files import RunFiles
from gofer.engine.services import Services
from gofer.engine.step import CallContext
from gofer.engine.usage_limits import NotNow
from gofer.journal import entries as e
from gofer.journal.approval_entries import ApprovalRequested
from gofer.journal.log import Journal, Pen
from gofer.journal.purposes import is_own
from gofer.journal.seal import KEY_BYTES, Seal
from gofer.journal.workspace_entries import FileAdded
from gofer.models.served_model import ServedModel
from gofer.projections.states import NOT_MADE
from gofer.replay.divergence import OwnerEnded, ReplayEnded, ReplayStopped
from gofer.replay.recorded_answers import failure, timed_answer
from gofer.replay.recording import Recording
from gofer.replay.signatures import is_made_up, not_recorded, simulated
from gofer.replay.stage import Stage
from gofer.replay.turns import settle, wait_for
from gofer.sources.part_values import Outcome
from gofer.tools.mocks import mocked
from gofer.values.errors import Gone, OutOfTime, RunStopped, TemporaryError


class ReplayedJournal(Journal):
    """A journal that is not stored: its recording says which frame each entry belongs to."""

    def __init__(self, recording: Recording, services: Services) -> None:
        stores = services.stores
        pen = Pen("replay", services.outside)
        super().__init__(stores.journals, stores.blobs, pen, [b""], Seal(recording.run, bytes(range(KEY_BYTES))))
        self._recording = recording

    @override
    def add(self, entry: e.Entry) -> e.Recorded:
        return self._recording.take(entry)

    @property
    @override
    def frames(self) -> int:
        return self._recording.replayed[-1].n

    @property
    @override
    def drafted(self) -> bool:
        return False

    @override
    async def commit(self) -> bool:
        return False


class ReplayedFiles(RunFiles):
    """The files of a replayed run: recorded contents, and the files that the replay makes."""

    def __init__(self, journal: Journal, services: Services, run: OwnedRun, bodies: Mapping[str, bytes]) -> None:
        super().__init__(journal, services, run.workspace)
        self._bodies = bodies

    @override
    async def content(self, added: FileAdded) -> bytes:
        if added.body in self._bodies:
            return self._bodies[added.body]
        return await super().content(added)


class ReplayedRun(OwnStep):
    """One run during its replay, for one owner after the other."""

    def __init__(
        self, stage: Stage, recording: Recording, services: Services, above: "ReplayedRun | None" = None
    ) -> None:
        journal = ReplayedJournal(recording, services)
        super().__init__(journal, services, recording.replayed, Deadline(services.outside.clock), above)
        self.bundle = stage.bundle(recording.run)
        self.files = ReplayedFiles(journal, services, self, stage.recorded.bodies)
        self._stage = stage
        self._recording = recording

    @override
    def note(self, entry: e.Entry) -> e.Recorded:
        if isinstance(entry, e.RunOwned) and self.above is not None and not self._may_be_owned():
            raise OwnerEnded
        if isinstance(entry, e.ToolCall) and self.above is None and entry.call == self._stage.changes.until:
            raise ReplayStopped
        self._stop_without_a_model(entry)
        self._stop_as_recorded(entry)
        for renewed in self._recording.incidental_before(entry):
            super().note(renewed)
        return super().note(self._as_rows_decided(entry))

    def _stop_without_a_model(self, entry: e.Entry) -> None:
        """Raise ReplayEnded if the run is about to wait or to end because no live model answered."""
        waits = isinstance(entry, e.CallDeferred) and entry.until
        if waits or isinstance(entry, e.RunConcluded):
            for (run, _), reason in self._stage.live.failures.items():
                if run == self.run:
                    raise ReplayEnded(f"No model answered: {reason}")

    def _as_rows_decided(self, entry: e.Entry) -> e.Entry:
        """Return the recorded end of a run that did not start, if rows beside the journal had a part in it."""
        if self.progress.started is not None or not self._stage.rows.were_read:
            return entry
        recorded = self._recording.counterpart(entry)
        match entry, recorded:
            case e.RunConcluded(status=status), e.RunConcluded() if recorded.status == status:
                return recorded
            case e.RunFinished(status=status), e.RunFinished() if recorded.status == status:
                return recorded
            case _:
                return entry

    def _stop_as_recorded(self, entry: e.Entry) -> None:
        """Raise the recorded reason why the run did not start, if only rows beside the journal could decide so."""
        ended = self._recording.next_entry
        if self.progress.started is not None or not isinstance(ended, e.RunConcluded):
            return
        if isinstance(entry, e.RunConcluded) or self._recording.counterpart(entry) is not None:
            return
        match ended.status:
            case "ignored":
                raise DoesNotMatch(ended.reason, cause=ended.cause)
            case "limited":
                raise NotNow(ended.reason, ended.text)
            case _:
                return

    @override
    def now_ms(self) -> int:
        return self._recording.now

    @override
    async def commit(self) -> None:
        """Do nothing: no store keeps a replay."""

    @override
    async def look_whether_hidden(self) -> None:
        """Do nothing: a replay reaches no list."""

    @override
    def quiet_left(self, predecessor_is_dead: bool) -> float:
        if self._stage.progress.has_diverged:
            return 0.0
        match self._recording.next_entry:
            case e.RunParked(reason="quiet_time"):
                return 1.0
            case _:
                return 0.0

    @override
    async def has_news(self) -> bool:
        return self._is_continued_here()

    def _may_be_owned(self) -> bool:
        """Return whether this subagent run goes on with the current owner; off the recorded path each one does."""
        return self._stage.progress.has_diverged or self._is_continued_here()

    def _is_continued_here(self) -> bool:
        """Return whether the current owner of the root run also continued this run in the recording."""
        owner = self._recording.next_owner
        root = self._stage.root
        if owner is None or self.above is None:
            return owner is not None
        if owner.owner != root.owner:
            return False
        later = root.next_owner
        return later is None or later.owner != root.owner or owner.at < later.at

    @override
    async def begin(self, seconds: float) -> None:
        if not self._recording.in_last_segment:
            await settle(self._stage.progress)
        await self.take_inbox()
        self.heed_cancel()
        match self._recording.next_entry:
            case e.RunHandedOver(reason="deadline") if not self._stage.progress.has_diverged:
                raise OutOfTime(f"Run {self.run} goes on with the next worker.")
            case _:
                self._begun = True

    @override
    async def take_inbox(self) -> None:
        if isinstance(self.above, ReplayedRun):
            self.above.take_items(self.now_ms())
        self.take_items()

    def take_items(self, until: int | None = None) -> None:
        """Note the items of the inbox that come next; with `until`, those of that time or earlier, in unix ms."""
        if isinstance(self.above, ReplayedRun):
            self.above.take_items(until)
        for item in self._recording.items(until):
            self.note(item)

    @override
    async def attempt(self, item: Permitted, doubt: str, context: CallContext) -> Sequence[e.Entry]:
        await self._stage.delay()
        if self._stage.progress.has_diverged:
            return await self._off_the_path(item, doubt, context)
        found = self._recording.outcome(item.call)
        if found is None:
            await settle(self._stage.progress)
            raise OwnerEnded
        first, entries = found
        if item.for_script and self._stage.changes.order is None:
            await wait_for(self._stage.progress, lambda: self._recording.is_next(first))
        text = self._stage.changes.overrides.get(item.call)
        if text is None or self.above is not None:
            return entries
        self._recording.overridden.add(item.call)
        return [_with_text(entry, text) for entry in entries]

    async def _off_the_path(self, item: Permitted, doubt: str, context: CallContext) -> Sequence[e.Entry]:
        """Return the outcome of a call after the replay left the recorded path; nothing outside is reached."""
        if is_own(item.call) and (found := self._recording.outcome(item.call)) is not None:
            return found[1]
        is_read = item.tool.effect == "read"
        if is_read or not is_own(item.call):
            known = self._stage.outcomes(self.run, self.services.tools).next(item)
            if known is not None:
                return [known]
        if item.tool.base:
            # These tools reach the run's own files, plan and skills only.
            entries = await super().attempt(item, doubt, context)
            if any(map(is_made_up, entries)):
                self._stage.note_made_up(item)
            return entries
        # What Gofer writes by itself, such as a status, decides nothing; what it looks up does.
        if is_read or not is_own(item.call):
            self._stage.note_made_up(item)
        if is_read:
            return [not_recorded(item)]
        if item.tool.mock is None:
            return [simulated(item)]
        (tool,) = mocked({item.tool.name: item.tool}, {}).values()
        return await super().attempt(replace(item, tool=tool), doubt, context)

    @override
    async def ask(self, model: ServedModel, body: bytes, timeout: float, request: e.Recorded) -> TimedAnswer:
        diverged = self._stage.progress.has_diverged
        if diverged and not self._stage.changes.live:
            raise ReplayEnded("No model answered this request, because the recorded run did not send it.")
        if diverged:
            return await self._ask_live(model, body, timeout, request)
        answer = self._recording.answer(request.entry)
        match answer:
            case e.LlmResponse() | e.SubagentFinished():
                # Recorded outages and crashes happen again, so that a live model is asked where a model answered.
                if self._stage.changes.asks_from_the_start:
                    return await self._ask_live(model, body, timeout, request)
                return timed_answer(answer)
            case e.CallDeferred():
                is_last = not self._recording.asks_another_model(request.entry)
                raise failure(answer, self.progress, is_last=is_last)
            case _:
                await settle(self._stage.progress)
                raise OwnerEnded

    async def _ask_live(self, model: ServedModel, body: bytes, timeout: float, request: e.Recorded) -> TimedAnswer:
        place = (self.run, getattr(request.entry, "call", "model"))
        try:
            answer = await super().ask(model, body, timeout, request)
        except (TemporaryError, RunStopped) as error:
            self._stage.live.failed(place, error)
            raise
        self._stage.live.answered(place, answer)
        return answer

    @override
    def report_failure(self, error: Exception) -> None:
        """Do nothing: the operator was told when it happened."""

    @override
    async def clear(self, item: Permitted, check: Callable[[], Awaitable[Permitted | Outcome]]) -> Permitted | Outcome:
        if item.tool.effect == "read":
            return await check()
        if self._stage.progress.has_diverged:
            return await _cleared_off_the_path(item, check)
        decided = self._decided_by_another_run(item.call)
        looks_first = isinstance(self._recording.next_entry, e.ToolCall | ApprovalRequested)
        if decided is not None and not looks_first:
            return _outcome(decided)
        cleared = await check()
        if decided is not None and isinstance(cleared, Permitted):
            return _outcome(decided)
        return cleared

    def _decided_by_another_run(self, call: str) -> Outcome | e.RunParked | None:
        """Return the outcome that another run gave a call, or the wait for that run; None if this run decided.

        The recording does not hold the rows beside the journals, which say that another run made the call.
        """
        if self._recording.has_intent(call):
            return None
        found = self._recording.outcome(call)
        if found is None:
            return self._recording.parked()
        outcome = found[1][-1]
        if isinstance(outcome, e.ToolResult | e.ToolUnknown) and is_of_another_run(outcome):
            return outcome
        return None

    @override
    async def child_has_begun(self, run: str) -> bool:
        recording = self._stage.recording(run)
        return recording is not None and bool(recording.replayed)

    @override
    async def open_child(self, started: e.SubagentStarted, *, fresh: bool) -> OwnStep:
        if child := self.children.get(started.run):
            return child
        recording = self._stage.recording(started.run)
        if recording is None and not self._stage.progress.has_diverged:
            raise OwnerEnded
        if recording is None:
            recording = self._stage.begin(started.run, self.claim_of_child(), self.now_ms())
        if recording.replayed:
            recording.end_segment()
        else:
            recording.take(self.claim_of_child())
        child = ReplayedRun(self._stage, recording, self.services, self)
        self.children[started.run] = child
        return child

    @override
    async def journal_of(self, run: str) -> Sequence[e.Recorded]:
        earlier = self._stage.recorded.earlier.get(run)
        if earlier is None:
            raise Gone(f"Run {run} is not part of the recording.")
        return earlier


def _with_text(entry: e.Entry, text: str) -> e.Entry:
    """Return an entry of an outcome with another text for the model."""
    if isinstance(entry, e.ToolResult):
        return replace(entry, text=text, value=None)
    return entry


async def _cleared_off_the_path(
    item: Permitted, check: Callable[[], Awaitable[Permitted | Outcome]]
) -> Permitted | Outcome:
    cleared = await check()
    if not isinstance(cleared, Permitted) and is_made_up(cleared):
        # The place or the asker of the write could not be looked up; the write is simulated nevertheless.
        return item
    return cleared


def is_of_another_run(outcome: Outcome) -> bool:
    """Return whether a call without an intent has the outcome of another run, which had made the call."""
    match outcome:
        case e.ToolResult(details=details):
            facts = details or {}
            return facts.get(NOT_MADE) == "done_before" or facts.get("code") == "being_done"
        case e.ToolUnknown():
            return True


def _outcome(decided: Outcome | e.RunParked) -> Outcome:
    """Return the outcome of a call. Raises Parked for a call that waited for another run."""
    if isinstance(decided, e.RunParked):
        raise Parked(decided)
    return decided
