"""The working step: the calls that a model or a script asks for, and the questions to models.

A working step is complete when constructed: it has a guard, subagents, a repertoire and display limits, so that no call
passes unchecked.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from gofer.engine import model_order
from gofer.engine.model_request import Window
from gofer.engine.outgoing import rebuilt_call
from gofer.engine.own_step import OwnStep
from gofer.engine.permitted_call import Gate, Permitted, SubagentCall, permit_all
from gofer.engine.results import DisplayLimits, unknown
from gofer.engine.step import CallContext, make_calls
from gofer.journal import entries as e
from gofer.journal.workspace_entries import Weights
from gofer.models.served_model import Candidate
from gofer.sources.part_values import Outcome
from gofer.tools.definition import ANYWHERE, Provenance, Repertoire
from gofer.values.errors import RunStopped, TemporaryError, ToolError
from gofer.values.messages import asked_at

_Intent = tuple[e.Entry, bytes, model_order.Params]
"""The entry of a request, its bytes, and the parameters of `RemoteModel.adding`."""


class Guard(Protocol):
    """The check of each new call of a model or a script; the run's own calls need no permission."""

    async def clear(self, step: OwnStep, item: Permitted, provenance: Provenance) -> Permitted | Outcome:
        """Return the call as it may be made, or its outcome instead. Raises Cancelled, Parked."""
        ...


class Agents(Protocol):
    """The other models of a run: its subagents, and the model that chooses tools."""

    async def ask(
        self, step: "WorkingStep", asked: SubagentCall, provenance: Provenance, gate: Gate = permit_all
    ) -> e.SubagentFinished:
        """Return the answer of a subagent, for a script.

        Raises ToolError, Limited, and what `WorkingStep.call` raises.
        """
        ...

    async def answer(self, step: "WorkingStep", item: Permitted, provenance: Provenance) -> Sequence[e.Entry]:
        """Return the entries of a call that asks another model. Raises what `WorkingStep.call` raises."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkingStep:
    """A run at work: its coordinator asks models and makes calls through it, and each new call is checked."""

    own: OwnStep
    """The run, and the run's own calls."""
    guard: Guard
    agents: Agents
    repertoire: Repertoire
    """The tools and skills of the run, and the skills that its workflow has prohibited since."""
    shown: DisplayLimits
    """The display limits of each result."""

    async def call(self, permitted: Permitted, provenance: Provenance, gate: Gate = permit_all) -> Outcome:
        """Make one call, or return its recorded outcome."""
        (outcome,) = await self.call_together([permitted], provenance, gate)
        return outcome

    async def call_together(
        self, calls: Sequence[Permitted], provenance: Provenance, gate: Gate = permit_all
    ) -> Sequence[Outcome]:
        """Check calls and make them at the same time. Raises what `make_calls` and the guard raise."""
        cleared = [await self._cleared(item, provenance) for item in calls]

        async def make(item: Permitted, doubt: str) -> Sequence[e.Entry]:
            if item.tool.base in ("subagents", "search"):
                return await self.agents.answer(self, item, provenance)
            return await self.own.attempt(item, doubt, self._context_of(item, provenance))

        return await make_calls(self.own, cleared, gate, make)

    async def settle(self, provenance: Provenance) -> None:
        """Give every call in doubt of the model or the script its outcome, by the effect that its intent recorded.

        Reads of a script are left out, because the script makes them again.
        """
        own = self.own
        for call, recorded in list(own.progress.in_doubt.items()):
            ask = own.conversation.open.get(call)
            arguments = ask.arguments if ask else recorded.arguments
            if arguments is None or (ask is None and call not in own.replay.effects):
                continue
            tool = self.repertoire.tools.get(recorded.tool)
            if tool is not None and tool.base == "subagents":
                continue  # the turn resumes its subagents, all at the same time
            try:
                if tool is None or recorded.effect != tool.effect:
                    raise ToolError("it is not a tool of this workflow any more")
                await self.call(Permitted(call, tool, tool.parse(arguments), for_script=ask is None), provenance)
            except ToolError as error:
                own.note(unknown(call, recorded.tool, error.message_to_model, ANYWHERE))

    def record_value(self, call: str, draw: Callable[[], object]) -> object:
        """Return a time or random number for a script: the recorded value, or a new one that is recorded now."""
        if call not in self.own.replay.values:
            self.own.note(e.ValueRecorded(call, draw()))
        return self.own.replay.values[call]

    async def ask_model(
        self,
        window: Window,
        chain: Sequence[Candidate],
        tail: str,
        timeout: float,
        weigh: Callable[[str], Weights] | None = None,
    ) -> None:
        """Ask the models one after the other, at most `timeout` seconds each, and note the first answer.

        `weigh` returns the estimates for the model that is asked. Raises RunStopped when no model will answer, Parked
        when one may answer later, Cancelled or OutOfTime when nothing new may begin.
        """
        conversation = self.own.conversation

        def intend(params: model_order.Params) -> _Intent:
            prefix_sha256, body = window.request(params, conversation, tail)
            weights = weigh(str(params["model"])) if weigh else None
            request = e.LlmRequest(conversation.through, prefix_sha256, params, tail, weights)
            before = self.own.progress.response_ids.get(asked_at(params), "")
            return request, body, {**window.added, "previous_response": before}

        heard = await self._ask_in_turn(model_order.order(chain, self.own.progress.asked), intend, timeout)
        self.own.note(heard.recorded())

    async def ask_one_shot(self, asked: model_order.OneShot, gate: Gate = permit_all) -> e.SubagentFinished:
        """Ask one question outside the conversation; note and return its answer's entry. Raises like `ask_model`."""

        def intend(params: model_order.Params) -> _Intent:
            gate()
            started = e.SubagentStarted(call=asked.call, name=asked.name, prompt=asked.prompt, params=params)
            return started, asked.request(params), asked.added

        heard = await self._ask_in_turn(asked.chain, intend, asked.timeout, asked.call)
        finished = replace(asked.finish(heard.answer), cost_usd=heard.cost_usd, duration_ms=heard.took_ms)
        self.own.note(finished)
        return self.own.replay.answers[asked.call]

    async def _ask_in_turn(
        self,
        chain: Sequence[Candidate],
        intend: Callable[[model_order.Params], _Intent],
        timeout: float,
        call: str = "model",
    ) -> model_order.TimedAnswer:
        """Return the answer of the first model that answers. Raises what `ask_model` raises."""
        own = self.own
        failures: list[model_order.Failure] = []
        for candidate in chain:
            if model_order.is_barred(candidate, failures):
                continue
            if failures:
                own.note(model_order.deferral(call, failures[-1].error))
            seconds = min(timeout, candidate.model.timeout or model_order.MODEL_SECONDS)
            await own.begin(seconds, [call])
            intent, body, added = intend(candidate.params)
            request = own.note(intent)
            await own.commit()
            try:
                return await own.ask(candidate.model, body, seconds, request, added)
            except (TemporaryError, RunStopped) as error:
                own.report_failure(error)
                failures.append(model_order.Failure(candidate.model.endpoint, error))
        deferred, left = model_order.defer(own.services, call, failures, own.progress)
        own.note(deferred)
        raise left

    async def _cleared(self, item: Permitted, provenance: Provenance) -> Permitted:
        """Return the call as it may be made; for a refused call, note its outcome."""
        progress = self.own.progress
        if item.call in progress.outcomes:
            return item
        # The journal does not record the place of a read, so a repeated read is judged again.
        if (intent := progress.in_doubt.get(item.call)) and not item.judged_again:
            return item.as_recorded(intent)
        rebuilt = rebuilt_call(self.own, item)
        cleared: Permitted | Outcome = rebuilt
        if isinstance(rebuilt, Permitted):
            cleared = await self.own.clear(rebuilt, lambda: self.guard.clear(self.own, rebuilt, provenance))
        if isinstance(cleared, Permitted):
            return cleared
        self.own.note(cleared)
        return item

    def _context_of(self, item: Permitted, provenance: Provenance) -> CallContext:
        return CallContext(
            provenance=provenance,
            shown=self.shown,
            repertoire=self.repertoire,
            long_as_file=not item.for_script,
        )
