"""How does a side effect happen? Intent, effect, outcome: each journaled, in this order, and only here.

An intent is committed before its effect begins; an outcome waits in the draft for the next intent, so that both
share a frame. On resume a call with an outcome is answered from the journal, and one in doubt by its effect
(`engine/effects.py`).
"""

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from gofer.engine import asking
from gofer.engine.context import Window
from gofer.engine.effects import Done, Permit, Refused, Silence, Unknown, carry_out, longest, quiet_seconds
from gofer.engine.services import Services
from gofer.engine.term import Term
from gofer.errors import Cancelled, Fenced, OutOfTime, RunStopped, TemporaryError, ToolError
from gofer.journal import entries as e
from gofer.journal import inbox
from gofer.journal.log import Journal
from gofer.models.model import Answer
from gofer.projections import conversation, progress, repetition
from gofer.tools.tool import ANYWHERE, Arguments, Call, Provenance, Tool

TEXT_LIMIT = 40_000
"""Characters of one tool result that a model is shown at most."""

Outcome = e.ToolResult | e.ToolUnknown


@dataclass(frozen=True, slots=True)
class Permitted:
    """A call that a gate let through: which one, with which tool, with what."""

    call: str
    tool: Tool[Any]
    arguments: Arguments
    recorded: Mapping[str, object] | None = None
    """The arguments for the journal; None when an llm.response has them already."""
    key: str = ""
    """The idempotency key of an earlier run that may have made the same call; empty: its own."""
    since: int = 0
    """With such a key: unix milliseconds before which nobody can have made it."""


class Guard(Protocol):
    """What is asked before a new call that the model or a script wants; what the run does by itself needs no leave."""

    async def clear(self, step: "Step", item: Permitted, provenance: Provenance) -> "Permitted | Outcome":
        """The call as it may be made, or what it is told instead. Raises Cancelled, Parked."""
        ...


class Step:
    """One run in the hands of its owner: its journal, and its views, folded as it grows."""

    def __init__(self, journal: Journal, services: Services, entries: Sequence[e.Recorded], term: Term) -> None:
        self.run = journal.run
        self.services = services
        self.guard: Guard | None = None
        """Set by whoever coordinates; None lets every call through."""
        self._term = term
        self._begun = False
        self.progress = progress.project(entries)
        self.conversation = conversation.project(entries)
        self.repetition = repetition.project(entries)
        self._journal = journal
        self._permit = Permit(services.outside.clock, services.patience, self._renew_permit)

    def note(self, entry: e.Entry) -> None:
        """Adds a fact to the next frame; it is durable with the next intent or `commit`."""
        recorded = self._journal.add(entry)
        self.progress = progress.fold(self.progress, recorded)
        self.conversation = conversation.fold(self.conversation, recorded)
        self.repetition = repetition.fold(self.repetition, recorded)

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
        return self._term.over

    async def commit(self) -> None:
        """Makes everything noted so far durable. Raises Fenced, TemporaryError."""
        if self._journal.drafted:
            self._permit.begin()
            await self._journal.commit()

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

    async def ask_model(self, window: Window, chain: Sequence[asking.Params], tail: str, timeout: float) -> None:
        """Asks with the conversation so far, one model after the other until one answers, `timeout` seconds each.

        Raises RunStopped when none will, Parked when one may later; Cancelled or OutOfTime when nothing new may begin.
        """
        failures: list[TemporaryError | RunStopped] = []
        for params in asking.order(chain, self.progress.asked):
            if failures:
                self.note(e.CallDeferred("model", str(failures[-1])))
            await self._before_an_intent(timeout)
            prefix_sha256, body = window.request(params, self.conversation, tail)
            self.note(e.LlmRequest(self.conversation.through, prefix_sha256, params, tail))
            await self.commit()
            began = self._elapsed(0)
            try:
                return self._hear(await asking.answer(self.services, body, timeout), began, window)
            except (TemporaryError, RunStopped) as error:
                failures.append(error)
        deferred = asking.put_off(failures, self.progress, self.services.patience.pause, self.now_ms())
        self.note(deferred)
        raise asking.Parked(e.RunParked("model", deferred.until))

    def _hear(self, answer: Answer, began: int, window: Window) -> None:
        cost = self.services.prices.cost(answer.model, answer.usage)
        took = self._elapsed(began)
        self.note(e.LlmResponse(answer.text, answer.asks, answer.finish, answer.model, answer.usage, cost, took))
        if remark := window.remark(self.conversation):
            # In the frame of the answer: it leaves no other trace in the history.
            self.note(e.MessageReceived(remark))

    async def call(self, permitted: Permitted, provenance: Provenance) -> Outcome:
        """One call, whatever state the journal has it in: its recorded outcome, or a new one."""
        (outcome,) = await self.call_together([permitted], provenance)
        return outcome

    async def call_together(self, calls: Sequence[Permitted], provenance: Provenance) -> Sequence[Outcome]:
        """Calls whose intents share one frame and whose effects happen at once; outcomes in the order given.

        Raises Cancelled or OutOfTime when nothing new may begin, Parked when one of them has to wait.
        """
        calls = [await self._cleared(item, provenance) for item in calls]
        fresh = [item for item in calls if not self._known(item.call)]
        if fresh:
            await self._before_an_intent(max(longest(item.tool, self.services.patience) for item in fresh))
            for item in fresh:
                intent = e.ToolCall(item.call, item.tool.name, item.tool.effect, item.recorded, item.key, item.since)
                self.note(intent)
            await self.commit()
        doubtful = [item for item in calls if item.call not in self.progress.outcomes]
        outcomes = await asyncio.gather(
            *(self._happen(item, item in fresh and not item.key, provenance) for item in doubtful)
        )
        for outcome in outcomes:
            self.note(outcome)
        return [self.progress.outcomes[item.call] for item in calls]

    async def settle(self, granted: Mapping[str, Tool[Any]], provenance: Provenance) -> None:
        """Gives the model's calls that are in doubt their outcome, by the effect they were recorded with."""
        for call, recorded in list(self.progress.in_doubt.items()):
            if (ask := self.conversation.open.get(call)) is None:
                continue
            tool = granted.get(recorded.tool)
            try:
                if tool is None or recorded.effect != tool.effect:
                    raise ToolError("it is not a tool of this workflow any more")
                await self.call(Permitted(call, tool, tool.parse(ask.arguments)), provenance)
            except ToolError as error:
                self.note(self._unknown(call, recorded.tool, error.message_to_model, ANYWHERE))

    def give_up_calls(self, why: str) -> None:
        """Calls in doubt that nobody will look for any more are unknown."""
        for call in [call for call in self.progress.in_doubt.values() if call.effect != "read"]:
            self.note(self._unknown(call.call, call.tool, why, ANYWHERE))

    def quiet_left(self, predecessor_is_dead: bool) -> float:
        """Seconds until what a lost predecessor may have sent is sure to be seen; 0 when nothing is in doubt."""
        doubtful = (call.tool for call in self.progress.in_doubt.values() if call.effect == "lookup")
        tools = (self.services.tools.get(name) for name in doubtful)
        patience = self.services.patience
        waits = [quiet_seconds(tool, patience, predecessor_is_dead=predecessor_is_dead) for tool in tools if tool]
        until = self.progress.quiet_until or self.progress.owned_at + int(max(waits, default=0.0) * 1000)
        return max(0.0, (until - self.now_ms()) / 1000) if waits else 0.0

    async def has_news(self) -> bool:
        """Whether somebody put something into the inbox."""
        return bool(await self.services.store.items(self.run))

    def heed_cancel(self) -> None:
        """Raises Cancelled when somebody asked for the run to stop and it has not been concluded."""
        if (cancelled := self.progress.cancelled) and self.progress.stopping:
            raise Cancelled(f"cancelled by {cancelled.by}")

    async def _before_an_intent(self, seconds: float) -> None:
        """Returns when something that may take so long may begin. Raises Cancelled, OutOfTime."""
        await self.take_inbox()
        self.heed_cancel()
        # Whoever just took over does one thing, however long: what fits no worker's time would go round for ever.
        if self._term.over or (self._begun and seconds > self._term.left):
            raise OutOfTime(f"Run {self.run} goes on with the next worker.")
        self._begun = True

    async def take_inbox(self) -> None:
        """Journals what outsiders put into the inbox; one that was journaled before a restart is only dropped."""
        items = await inbox.read(self.services.store, self._journal.seal)
        for item in items:
            if item.item not in self.progress.taken:
                self.note(item)
        if items:
            await self.commit()
            await self.services.store.drop_items(self.run, [item.item for item in items])

    async def _cleared(self, item: Permitted, provenance: Provenance) -> Permitted:
        """The call as it may be made; one that may not has its outcome afterwards."""
        # `<purpose>/<n>` is the run's own.
        if self.guard is None or "/" in item.call or self._known(item.call):
            return item
        match await self.guard.clear(self, item, provenance):
            case Permitted() as cleared:
                return cleared
            case outcome:
                self.note(outcome)
                return item

    def _known(self, call: str) -> bool:
        return call in self.progress.outcomes or call in self.progress.in_doubt

    async def _happen(self, item: Permitted, fresh: bool, provenance: Provenance) -> Outcome:
        began = self._elapsed(0)
        call = self._call(item, provenance)
        # What was cancelled is not attempted again; telling so is.
        wanted = not self.progress.stopping
        match await carry_out(item.tool, call, item.arguments, self._permit, fresh=fresh, wanted=wanted):
            case Done(result=done):
                took = self._elapsed(began)
                return e.ToolResult(item.call, "ok", cut(done.text), done.summary, done.details or None, took)
            case Refused(text=text, code=code):
                details = {"code": code} if code else None
                return e.ToolResult(item.call, "error", cut(text), details=details, took_ms=self._elapsed(began))
            case Silence(why=why):
                text = f"{item.tool.name} got no answer: {why}"
                return e.ToolResult(item.call, "error", cut(text), took_ms=self._elapsed(began))
            case Unknown(why=why):
                return self._unknown(item.call, item.tool.name, why, item.tool.destination(item.arguments))

    def _unknown(self, call: str, tool: str, why: str, destination: str = "") -> e.ToolUnknown:
        text = f"Nobody can tell whether {tool} took effect: {why}. It is not tried again."
        return e.ToolUnknown(call, cut(text), destination)

    async def _renew_permit(self) -> None:
        self.note(e.PermitRenewed())
        await self._journal.commit()

    def _call(self, item: Permitted, provenance: Provenance) -> Call:
        event = self.progress.event
        if event is None:
            raise RunStopped(f"Run {self.run} has no event; its journal does not begin with a claim.")
        outside = self.services.outside
        # Of a call under an earlier run's key the journal knows since when: an owner after this one has to, too.
        recorded = self.progress.in_doubt.get(item.call)
        key = (recorded.key if recorded else "") or f"{self.run}/{item.call}"
        since = ((recorded.since if recorded else 0) or self.progress.accepted_at) / 1000
        return Call(
            key, event.actor, event.place, self.progress.private, provenance, outside.http, outside.clock, since
        )

    def _elapsed(self, since: int) -> int:
        return int(self.services.outside.clock.monotonic() * 1000) - since


def cut(text: str) -> str:
    """Text a model may be shown: at most TEXT_LIMIT characters, and it says so when it was longer."""
    if len(text) <= TEXT_LIMIT:
        return text
    return f"{text[:TEXT_LIMIT]}\n[{len(text) - TEXT_LIMIT} further characters were cut; ask for less.]"
