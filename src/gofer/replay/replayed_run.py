"""A run whose owner lives again: what came from outside is taken from its recording, and the engine does the rest."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import NoReturn

from typing_extensions import override

from gofer.engine.conditions import DoesNotMatch
from gofer.engine.model_order import Params, Parked, TimedAnswer
from gofer.engine.own_step import OwnStep
from gofer.engine.owned_run import Deadline
from gofer.engine.permitted_call import Permitted
from gofer.engine.services import Services
from gofer.engine.step import CallContext
from gofer.engine.usage_limits import NotNow
from gofer.journal import entries as e
from gofer.journal.purposes import is_own
from gofer.models.served_model import ServedModel
from gofer.replay.divergence import OwnerEnded, ReplayEnded, ReplayStopped
from gofer.replay.entry_keys import is_of_a_check
from gofer.replay.recorded_answers import failure, timed_answer, useless_as_recorded
from gofer.replay.recording import Recording
from gofer.replay.replayed_journal import ReplayedFiles, ReplayedJournal
from gofer.replay.signatures import is_made_up, is_of_a_lost_file, is_of_another_run, not_recorded, simulated, was_free
from gofer.replay.stage import Stage
from gofer.replay.turns import settle, settle_last, wait_for
from gofer.sources.part_values import Outcome
from gofer.tools.mocks import mocked
from gofer.values.errors import OutOfTime, RunStopped, TemporaryError

_IN_PROCESS = 20.0
"""The longest timeout, in seconds, of a tool that works in the process of its run."""


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
        self._replayed_journal = journal

    @override
    def note(self, entry: e.Entry) -> e.Recorded:
        if isinstance(entry, e.RunOwned) and self.above is not None:
            self._recording.is_left_out = not self._may_be_owned()
        if isinstance(entry, e.ToolCall) and self.above is None and entry.call == self._stage.changes.until:
            raise ReplayStopped
        self._stop_without_a_model(entry)
        self._stop_as_recorded(entry)
        for renewed in self._recording.incidental_before(entry):
            super().note(renewed)
        entry = self._as_rows_decided(entry)
        if not self._stage.progress.has_diverged and not self._stage.changes.asks_from_the_start:
            entry = useless_as_recorded(entry, self._recording.counterpart(entry))
        return super().note(entry)

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
                raise DoesNotMatch(ended.reason, cause=ended.cause, system=ended.system)
            case "limited":
                raise NotNow(ended.reason, ended.text)
            case _:
                return

    @override
    def now_ms(self) -> int:
        if self.above is None or self._recording.next_entry is not None:
            return self._recording.now
        # The next entry of this run is one of a later owner.
        return min(self._recording.now, self.above.now_ms())

    @override
    async def commit(self) -> None:
        """Store nothing, because no store keeps a replay. Raises OwnerEnded if the recorded owner crashed here."""
        if self._replayed_journal.has_lost:
            await self._crash()
        # While a frame is stored, other branches come to their next steps.
        await settle(self._stage.progress)

    @override
    async def confirm_ownership(self) -> None:
        """Do nothing: the frames of the recording say when an owner renewed its permit."""

    async def _crash(self) -> NoReturn:
        """Raise how the recorded owner ended, after the other branches have made the steps that it stored."""
        await settle_last(self._stage.progress)
        raise self._end_of_owner()

    def _end_of_owner(self) -> OutOfTime | OwnerEnded:
        if self._is_handed_over:
            return OutOfTime(f"Run {self.run} goes on with the next worker.")
        return OwnerEnded()

    @override
    async def look_whether_hidden(self) -> None:
        """Do nothing: a replay reaches no list."""

    @override
    def quiet_left(self, predecessor_is_dead: bool) -> float:
        if self._stage.progress.has_diverged:
            return 0.0
        match self._recording.next_entry:
            case e.RunParked(reason="quiet_time", until=until):
                return max(1.0, (until - self.now_ms()) / 1000)
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
    async def begin(self, seconds: float, calls: Sequence[str]) -> None:
        is_recorded = self._stage.progress.has_diverged or await self._come_to(calls)
        await self.take_inbox()
        self.heed_cancel()
        if not is_recorded and (self._is_handed_over or self._recording.owner_crashed):
            raise self._end_of_owner()
        self._begun = True

    @property
    def _is_handed_over(self) -> bool:
        """Whether the recorded owner handed the run over after the steps that the replay has repeated."""
        return self._recording.next_entry == e.RunHandedOver("deadline")

    async def _come_to(self, calls: Sequence[str]) -> bool:
        """Wait until the recording comes to the step that begins these calls; return whether it does.

        A step that the current owner did not record comes after all others.
        """
        index = self._recording.intent(calls)
        if index is None:
            await settle_last(self._stage.progress)
        elif self._stage.changes.order is None:
            await wait_for(self._stage.progress, lambda: self._recording.is_next(index))
        return index is not None

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
        if found is None and self._recording.was_added(item.call):
            # As if it could not be posted, so that the answer comes as a message of its own.
            return [not_recorded(item)]
        if found is None:
            await self._crash()
        first, entries = found
        if item.for_script and self._stage.changes.order is None:
            await wait_for(self._stage.progress, lambda: self._recording.is_next(first))
        text = self._stage.changes.overrides.get(item.call)
        if text is None or self.above is not None:
            return await self._made_again(item, doubt, context, entries)
        self._recording.overridden.add(item.call)
        return [_with_text(entry, text) for entry in entries]

    async def _made_again(
        self, item: Permitted, doubt: str, context: CallContext, recorded: Sequence[e.Entry]
    ) -> Sequence[e.Entry]:
        """Return what the present code makes of a call that works on the run alone, and else the recorded outcome.

        Libraries of child processes, which have a longer timeout, may have another version on this machine. A recorded
        error may come from a store that was away then.
        """
        works_alone = item.tool.base not in ("", "subagents") and item.tool.timeout <= _IN_PROCESS
        if not works_alone or not isinstance(recorded[-1], e.ToolResult) or recorded[-1].status != "ok":
            return recorded
        self.files.note_fetched(recorded)
        made = await super().attempt(item, doubt, context)
        if any(map(is_of_a_lost_file, made)):
            return recorded
        return made

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
    async def ask(
        self, model: ServedModel, body: bytes, timeout: float, request: e.Recorded, added: Params
    ) -> TimedAnswer:
        diverged = self._stage.progress.has_diverged
        if diverged and not self._stage.changes.live:
            raise ReplayEnded(
                f"The replay ends at request {request.address}: no model answered it, because the recorded run did not "
                "send it."
            )
        if diverged:
            return await self._ask_live(model, body, timeout, request, added)
        answer = self._recording.answer(request.entry)
        match answer:
            case e.LlmResponse() | e.SubagentFinished():
                # Recorded outages and crashes happen again, so that a live model is asked where a model answered.
                if self._stage.changes.asks_from_the_start:
                    return await self._ask_live(model, body, timeout, request, added)
                return timed_answer(answer)
            case e.CallDeferred():
                is_last = not self._recording.asks_another_model(request.entry)
                raise failure(answer, self.progress, is_last=is_last)
            case _:
                return await self._crash()

    async def _ask_live(
        self, model: ServedModel, body: bytes, timeout: float, request: e.Recorded, added: Params
    ) -> TimedAnswer:
        place = (self.run, getattr(request.entry, "call", "model"))
        try:
            answer = await super().ask(model, body, timeout, request, added)
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
        if decided is not None and not is_of_a_check(self._recording.next_entry):
            return _outcome(decided)
        refused = self._recording.refused_at_once(item.call)
        if refused is not None and self._stage.changes.order is None:
            # A step of another branch may be the reason.
            await wait_for(self._stage.progress, lambda: self._recording.is_next(refused))
        cleared = await check()
        is_free = isinstance(cleared, Permitted)
        if decided is not None and (is_free or is_of_another_run(cleared)):
            return _outcome(decided)
        if not is_free and was_free(cleared) and self._is_made_here(item.call):
            return item
        return cleared

    def _is_made_here(self, call: str) -> bool:
        """Return whether the current owner recorded the intent of a call that the replay has not repeated yet."""
        return self._recording.intent([call]) is not None

    def _decided_by_another_run(self, call: str) -> Outcome | e.RunParked | None:
        """Return the outcome that another run gave a call, or the wait for that run; None if this run decided.

        The recording does not hold the rows beside the journals, which say that another run made the call.
        """
        if self._is_made_here(call):
            return None
        found = self._recording.outcome(call)
        if found is None:
            return self._recording.parked("earlier_run")
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
            await self._crash()
        if recording is None:
            recording = self._stage.begin(started.run, self.claim_of_child(), self.now_ms())
        if recording.replayed:
            recording.end_segment()
            recording.adopt_crashed_owners(self._stage.root)
        else:
            recording.take(self.claim_of_child())
        child = ReplayedRun(self._stage, recording, self.services, self)
        self.children[started.run] = child
        return child

    @override
    async def journal_of(self, run: str) -> Sequence[e.Recorded]:
        return self._stage.journal(run)


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


def _outcome(decided: Outcome | e.RunParked) -> Outcome:
    """Return the outcome of a call. Raises Parked for a call that waited for another run."""
    if isinstance(decided, e.RunParked):
        raise Parked(decided)
    return decided
