"""How does a side effect happen? Intent, effect, outcome: each journaled, in this order, and only here.

An intent is committed before its effect begins; an outcome waits in the draft for the next intent, so that both
share a frame. On resume a call with an outcome is answered from the journal, and one in doubt by its effect
(`engine/effects.py`).
"""

import contextlib
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from gofer.engine import model_order
from gofer.engine.claims import Claims
from gofer.engine.concurrent import together
from gofer.engine.deadline import Deadline
from gofer.engine.effects import LOST, Permit, carry_out, doubt_after_restore, longest, longest_quiet
from gofer.engine.model_request import Window
from gofer.engine.outages import parked, settle
from gofer.engine.permitted_call import Asked, Gate, Permitted, unasked
from gofer.engine.results import Shown, Taken, entries_of, shorten, unknown
from gofer.engine.run_files import Reach, RunFiles
from gofer.engine.run_views import Views
from gofer.engine.services import Services
from gofer.journal import entries as e
from gofer.journal import inbox, purposes
from gofer.journal.child_runs import news
from gofer.journal.log import Journal
from gofer.journal.workspace_entries import Weights
from gofer.models.served_model import Candidate
from gofer.sources.part_values import Outcome
from gofer.tools.definition import ANYWHERE, AnyTool, Call, Files, Provenance, Repertoire
from gofer.values.errors import Cancelled, Fenced, OutOfTime, RunStopped, TemporaryError, ToolError


class Guard(Protocol):
    """What is asked before a new call that the model or a script wants; what the run does by itself needs no leave."""

    async def clear(self, step: "Step", item: Permitted, provenance: Provenance) -> "Permitted | Outcome":
        """The call as it may be made, or what it is told instead. Raises Cancelled, Parked."""
        ...

    def may_leave(self, step: "Step", call: str) -> bool:
        """Whether a call may take what is private with it."""
        ...


class Agents(Protocol):
    """Whoever makes subagents work for a run."""

    async def ask(self, step: "Step", asked: Asked, provenance: Provenance, gate: Gate) -> e.SubagentFinished:
        """The answer of a subagent, for a script. Raises ToolError, Limited, and what `Step.call` raises."""
        ...

    async def answer(self, step: "Step", item: Permitted, provenance: Provenance) -> Sequence[e.Entry]:
        """What came of a model's call of a subagent. Raises what `Step.call` raises."""
        ...


class Step(Views):
    """One run in the hands of its owner: its journal, and its views, folded as it grows."""

    def __init__(
        self,
        journal: Journal,
        services: Services,
        entries: Sequence[e.Recorded],
        deadline: Deadline,
        above: "Step | None" = None,
    ) -> None:
        super().__init__(entries)
        self.run = journal.run
        self.services = services
        self.guard: Guard | None = None
        """Set by whoever coordinates; None lets every call through."""
        self.agents: Agents | None = None
        """Set by whoever coordinates."""
        self.above = above
        """Of a subagent: the step of the run that asks it."""
        self.deadline = deadline
        self.pen = journal.pen
        self.below: dict[str, Step] = {}
        """The steps of its subagents that this owner has had in hand, by their runs."""
        self.begun = above is not None and above.begun
        self.shown = Shown()
        """How much of one text its model is shown; set by whoever coordinates."""
        self.repertoire = Repertoire()
        """What its model can make use of; set by whoever coordinates."""
        self.withdrawn: frozenset[str] = above.withdrawn if above is not None else frozenset()
        """Skills that its workflow prohibits by now; set by its owner before anything else."""
        self.claims: Claims = above.claims if above is not None else Claims()
        """Calls that this owner took for itself among all runs (`engine/once.py`), of its subagents too."""
        self.shelf = RunFiles(journal, services, self.workspace)
        self._journal = journal
        higher = above.permit if above is not None else None
        self.permit = Permit(services.outside.clock, services.patience, self._renew_permit, higher)

    def note(self, entry: e.Entry) -> None:
        """Adds a fact to the next frame; it is durable with the next intent or `commit`."""
        self.see(self._journal.add(entry))

    async def let_go(self, left: e.RunHandedOver) -> None:
        """Leaves the run although something failed: with all that is drafted, or, where that cannot be, without."""
        with contextlib.suppress(TemporaryError, Fenced):
            try:
                # How it ends, or why it waits, may be drafted already: nothing follows that.
                if self.progress.finished is None and self.progress.parked is None:
                    self.note(left)
                await self.commit()
            except TemporaryError:
                self._journal.discard()
                self._journal.add(left)
                await self._journal.commit()

    @property
    def stopping(self) -> bool:
        """Whether its worker was told to stop."""
        return self.deadline.over

    async def commit(self) -> None:
        """Makes everything noted so far durable. Raises Fenced, TemporaryError."""
        if self._journal.drafted:
            await self.permit.write(self._journal.commit)

    @property
    def frames(self) -> int:
        """How many frames of the run are durable."""
        return self._journal.frames

    def provenance(self, prompt_file: str) -> Provenance:
        """The links that what this run writes now ends with."""
        progress = self.progress
        return self.services.links.provenance(progress.workflow, prompt_file, self.run, progress.private)

    def now_ms(self) -> int:
        """Wall clock, unix milliseconds."""
        return int(self.services.outside.clock.now() * 1000)

    async def ask_model(
        self,
        window: Window,
        chain: Sequence[Candidate],
        tail: str,
        timeout: float,
        weigh: Callable[[str], Weights] | None = None,
    ) -> None:
        """Asks with the conversation so far, one model after the other until one answers, `timeout` seconds each.

        `weigh` gives the estimates for the model that is asked. Raises RunStopped when none will, Parked when one may
        later; Cancelled or OutOfTime when nothing new may begin.
        """

        def intend(params: model_order.Params) -> tuple[e.Entry, bytes]:
            prefix_sha256, body = window.request(params, self.conversation, tail)
            weights = weigh(str(params["model"])) if weigh else None
            return e.LlmRequest(self.conversation.through, prefix_sha256, params, tail, weights), body

        heard = await self._ask_in_turn(model_order.order(chain, self.progress.asked), intend, timeout)
        self.note(heard.recorded())

    async def ask_one_shot(self, asked: model_order.OneShot, gate: Gate) -> e.SubagentFinished:
        """One question beside the conversation, and what is recorded of its answer. Raises as `ask_model`."""

        def intend(params: model_order.Params) -> tuple[e.Entry, bytes]:
            gate()
            started = e.SubagentStarted(call=asked.call, name=asked.name, prompt=asked.prompt, params=params)
            return started, asked.request(params)

        heard = await self._ask_in_turn(asked.chain, intend, asked.timeout, asked.call)
        finished = replace(asked.finish(heard.answer), cost_usd=heard.cost_usd, duration_ms=heard.took_ms)
        self.note(finished)
        return finished

    async def _ask_in_turn(
        self,
        chain: Sequence[Candidate],
        intend: Callable[[model_order.Params], tuple[e.Entry, bytes]],
        timeout: float,
        call: str = "model",
    ) -> model_order.Heard:
        """The answer of the first model that gives one."""
        failures: list[model_order.Failure] = []
        for candidate in chain:
            if model_order.barred(candidate, failures):
                continue
            if failures:
                self.note(model_order.deferral(self.run, call, failures[-1].error, self.progress))
            await self._before_an_intent(timeout)
            intent, body = intend(candidate.params)
            self.note(intent)
            await self.commit()
            try:
                return await model_order.answer(self.services, candidate.model, body, timeout)
            except (TemporaryError, RunStopped) as error:
                failures.append(model_order.Failure(candidate.model.endpoint, error))
        deferred, left = model_order.defer(self.services, self.run, call, failures, self.progress)
        self.note(deferred)
        raise left

    def record_value(self, call: str, draw: Callable[[], object]) -> object:
        """What a script is told of the clock or of chance: what it was told before, or something new."""
        if call not in self.replay.values:
            self.note(e.ValueRecorded(call, draw()))
        return self.replay.values[call]

    async def call(self, permitted: Permitted, provenance: Provenance, gate: Gate = unasked) -> Outcome:
        """One call, whatever state the journal has it in: its recorded outcome, or a new one."""
        (outcome,) = await self.call_together([permitted], provenance, gate)
        return outcome

    async def call_together(
        self, calls: Sequence[Permitted], provenance: Provenance, gate: Gate = unasked
    ) -> Sequence[Outcome]:
        """Calls whose intents share one frame and whose effects happen at once; outcomes in the order given.

        Raises Cancelled or OutOfTime when nothing new may begin, Parked when one of them has to wait, and what the gate
        raises.
        """
        calls = [await self._cleared(item, provenance) for item in calls]
        known = {*self.progress.outcomes, *self.progress.in_doubt}
        fresh = [item for item in calls if item.call not in known]
        if fresh:
            await self._before_an_intent(max(longest(item.tool, self.services.patience) for item in fresh))
            gate()
            for item in fresh:
                self.note(item.intent)
            await self.commit()
        doubtful = [item for item in calls if item.call not in self.progress.outcomes]
        outcomes, stopped = await together(
            *(self._happen(item, self._doubt(item, fresh), provenance) for item in doubtful)
        )
        noted = list(itertools.chain.from_iterable(outcomes))
        for entry in noted:
            self.note(entry)
        if stopped is not None:
            raise stopped
        if deferred := [entry for entry in noted if isinstance(entry, e.CallDeferred)]:
            raise model_order.Parked(parked(deferred))
        return [self.progress.outcomes[item.call] for item in calls]

    async def settle(self, granted: Mapping[str, AnyTool], provenance: Provenance) -> None:
        """Gives calls of the model or the script that are in doubt their outcome, by the effect they were recorded as.

        What a script only read is read again when it asks again.
        """
        for call, recorded in list(self.progress.in_doubt.items()):
            ask = self.conversation.open.get(call)
            arguments = ask.arguments if ask else recorded.arguments
            if arguments is None or (ask is None and call not in self.replay.effects):
                continue
            tool = granted.get(recorded.tool)
            if tool is not None and tool.base == "subagents":
                continue  # goes on where it was, at once with others, when the turn does
            try:
                if tool is None or recorded.effect != tool.effect:
                    raise ToolError("it is not a tool of this workflow any more")
                await self.call(Permitted(call, tool, tool.parse(arguments), valued=ask is None), provenance)
            except ToolError as error:
                self.note(unknown(call, recorded.tool, error.message_to_model, ANYWHERE))

    def give_up_calls(self, why: str) -> None:
        """Calls in doubt that nobody will look for any more are unknown."""
        for call in [call for call in self.progress.in_doubt.values() if call.effect != "read"]:
            self.note(unknown(call.call, call.tool, why, ANYWHERE))

    def quiet_left(self, predecessor_is_dead: bool) -> float:
        """Return the seconds until what a lost predecessor may have sent is seen: at most the longest quiet time."""
        doubtful = (call.tool for call in self.progress.in_doubt.values() if call.effect == "lookup")
        tools = (self.services.tools.get(name) for name in doubtful)
        most = longest_quiet(tools, self.services.patience, predecessor_is_dead=predecessor_is_dead)
        until = self.progress.quiet_until or self.progress.owned_at + int(most * 1000)
        return min(max(0.0, (until - self.now_ms()) / 1000), most)

    async def shorten(self, text: str, name: str, origin: str) -> str:
        """A text as the model is shown it; too long a one becomes a file, which is noted. Raises TemporaryError."""
        shown, added = await shorten(text, name, origin, self.shelf, self.shown)
        if added is not None:
            self.note(added)
        return shown

    async def has_news(self) -> bool:
        """Whether somebody put something into its inbox, or into that of a subagent at work."""
        return await news(self.run, [one.run for one in self.progress.children.values()], self.services.store)

    def heed_cancel(self) -> None:
        """Raises Cancelled when somebody asked for the run to stop and it has not been concluded."""
        if (cancelled := self.progress.cancelled) and self.progress.stopping:
            raise Cancelled(f"cancelled by {cancelled.by}")
        if self.above is not None:
            self.above.heed_cancel()

    @property
    def wanted(self) -> bool:
        """Whether nobody asked for it, or for the run that asks it, to stop."""
        return not self.progress.stopping and (self.above is None or self.above.wanted)

    @property
    def locked(self) -> set[tuple[str, str]]:
        """Tool and destination of calls that nobody can tell about, those of the runs above included."""
        return self.progress.locked | (self.above.locked if self.above is not None else set[tuple[str, str]]())

    async def _before_an_intent(self, seconds: float) -> None:
        """Returns when something that may take so long may begin. Raises Cancelled, OutOfTime."""
        await self.take_inbox()
        self.heed_cancel()
        # Whoever just took over does one thing, however long: what fits no worker's time would go round for ever.
        if self.deadline.over or (self.begun and seconds > self.deadline.left):
            raise OutOfTime(f"Run {self.run} goes on with the next worker.")
        self.begun = True

    async def take_inbox(self) -> None:
        """Journals what outsiders put into the inbox; one that was journaled before a restart is only dropped."""
        if self.above is not None:
            await self.above.take_inbox()
        items = await inbox.read(self.services.store, self._journal.seal)
        for item in items:
            if isinstance(item, e.ApprovalClicked) and item.run:
                await inbox.put(self.services.store, item.run, item.item, replace(item, run="", item=""))
            elif item.item not in self.progress.taken:
                self.note(item)
        if items:
            await self.commit()
            await self.services.store.drop_items(self.run, [item.item for item in items])

    async def _cleared(self, item: Permitted, provenance: Provenance) -> Permitted:
        """The call as it may be made; one that may not has its outcome afterwards."""
        if self.guard is None or "/" in item.call or item.call in self.progress.outcomes:
            return item
        # A read that is made again is judged again.
        if (intent := self.progress.in_doubt.get(item.call)) and not item.judged_again:
            return item.as_recorded(intent)
        cleared = await self.guard.clear(self, item, provenance)
        if isinstance(cleared, Permitted):
            return cleared
        self.note(cleared)
        return item

    def _doubt(self, item: Permitted, fresh: Sequence[Permitted]) -> str:
        """Return why an earlier attempt of a call may have had its effect; empty where there was none."""
        if item in fresh and not item.key:
            return doubt_after_restore(item.tool, item.call, restored=self.progress.restored)
        if waited := self.progress.waits.get(item.call):
            return waited.reason
        return LOST

    async def _happen(self, item: Permitted, doubt: str, provenance: Provenance) -> Sequence[e.Entry]:
        if item.tool.base in ("subagents", "search") and self.agents is not None:
            return await self.agents.answer(self, item, provenance)
        began = self._elapsed(0)
        reach = Reach(self.shelf, self.services, self.workspace)
        reach.call = call = self._call(item, provenance, reach)
        # Cancelled calls are not retried, except the cancellation notice.
        outcome = await carry_out(item.tool, call, item.sent, self.permit, doubt=doubt, wanted=self.wanted)
        waited_ms = self.progress.call_waits_ms.get(item.call, 0)
        settled = settle(item, outcome, self.services.patience, waited_ms=waited_ms, now_ms=self.now_ms())
        if isinstance(settled, e.CallDeferred | e.ToolUnknown):
            return [*reach.fetched, settled]
        # What the run does by itself is not for the window, but for what it is about.
        long = not item.valued and (not purposes.is_own(item.call) or item.call == purposes.CONTEXT)
        taken = Taken(item.call, item.tool.name, read=item.tool.effect == "read", valued=item.valued, long=long)
        return await entries_of(taken, settled, self._elapsed(began), reach, self.shelf, self.shown.of(item.tool))

    async def _renew_permit(self) -> bool:
        self.note(e.PermitRenewed())
        return await self._journal.commit()

    def _call(self, item: Permitted, provenance: Provenance, files: Files) -> Call:
        event = self.progress.event
        if event is None:
            raise RunStopped(f"Run {self.run} has no event; its journal does not begin with a claim.")
        outside = self.services.outside
        # Of a call under an earlier run's key the journal knows since when: an owner after this one has to, too.
        recorded = self.progress.in_doubt.get(item.call)
        key = (recorded.key if recorded else "") or f"{self.run}/{item.call}"
        since = ((recorded.since if recorded else 0) or self.progress.accepted_at) / 1000
        # A tool that writes elsewhere refuses a private run by itself, unless it was allowed for this very call.
        guard = self.guard if item.tool.effect != "read" else None
        private = self.progress.private and not (guard and guard.may_leave(self, item.call))
        return Call(
            key,
            event.actor,
            event.place,
            private,
            provenance,
            outside.http,
            outside.clock,
            since,
            event.hops,
            files,
            self.workspace,
            self.shown.whole,
            self.shown.look,
            replace(self.repertoire, withdrawn=self.withdrawn),
            item.cleared,
            self.progress.intended_at.get(item.call, 0) / 1000,
        )

    def _elapsed(self, since: int) -> int:
        return int(self.services.outside.clock.monotonic() * 1000) - since
