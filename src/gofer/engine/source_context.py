"""The source context of an event: reading it, its changes since the last event, and the end of a run without it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import assert_never

from gofer.engine.conditions import DoesNotMatch
from gofer.engine.outages import OUTAGE_CODE
from gofer.engine.own_step import OwnStep, PurposeCall
from gofer.engine.owned_run import OwnedRun
from gofer.engine.permitted_call import OUTAGE
from gofer.engine.results import DisplayLimits
from gofer.journal.agreed_names import agreed_name
from gofer.journal.entries import ToolResult, ToolUnknown
from gofer.journal.purposes import CONTEXT
from gofer.sources.part_values import Changes, Need, Outcome, Person, SourceContext
from gofer.sources.registry import source_of
from gofer.tools.definition import Provenance
from gofer.values.canonical_json import as_object, as_text, indented
from gofer.values.errors import Cause, RunStopped
from gofer.values.events import Event
from gofer.values.row_tokens import Tokens
from gofer.workflows.load import Loaded

NEVER_BEGAN = "I could not begin because of an internal error. Please tell {owner}."
"""The text for a colleague when Gofer itself failed before the run began."""
_CAUSES: Mapping[str, Cause] = {"credential": "credential", "permission": "permission"}
"""The cause of a failure, by the `access` of a refusal."""
_LIMITED = frozenset({"ratelimited", "rate_limited"})
"""Codes of vendors for an app that made too many requests."""
_HIDDEN = "what it is about was deleted, or Gofer may not read it in {system}"
PERSON = Need("the person who asked could not be looked up", "look up the person who asked")


async def read_source_context(
    step: OwnStep, event: Event, person: Person, shown: DisplayLimits, provenance: Provenance
) -> SourceContext:
    """Read the source context of an event; a text beyond the display limits `shown` becomes a file.

    Raises DoesNotMatch when the object of the event is gone or hidden, RunStopped, Cancelled, OutOfTime.
    """
    source = source_of(event)
    reading = source.reading
    if reading is None or (asked := reading.call(event)) is None:
        context = source.from_event(event, person)
        if context.words:
            origin = f"the words of this {event.source}"
            return replace(context, words=await step.shorten(context.words, event.source, origin, shown))
        origin = f"the {event.source} that began this run"
        text = await step.shorten(context.read, event.source, origin, shown)
        return replace(context, read="\n".join(indented(text)))
    outcome = await step.call(PurposeCall(CONTEXT, asked, shown=shown), provenance)
    if isinstance(outcome, ToolResult):
        if gone := reading.gone(event, outcome):
            raise DoesNotMatch(gone)
        if _code(outcome) in reading.hidden:
            # Nobody can be told there. Runs with a cause are counted for the operator even if no list shows them.
            raise DoesNotMatch(_HIDDEN.format(system=source.system), cause="refused", system=source.system)
        if outcome.status == "ok":
            context = reading.read(event, person, outcome)
            # The words of a request stand beside what was read, which has these limits already.
            words = await step.shorten(context.words, event.source, f"the words of this {event.source}", shown)
            return replace(context, words=words)
    raise stopped(reading.need(event), outcome, source.system)


@dataclass(frozen=True, slots=True)
class RunMemory:
    """The memos of the store, for one run."""

    step: OwnStep

    @property
    def run(self) -> str:
        """The id of the run."""
        return self.step.run

    @property
    def workflow(self) -> str:
        """The name of the run's workflow."""
        return self.step.progress.workflow

    async def tokens_of(self, use: str, *names: str) -> Tokens:
        """Return the maker of the key and the values of the memo for one use. Raises TemporaryError."""
        store = self.step.services.store
        by_key = {tokens.memory(use, *names): tokens for tokens in self.step.services.tokens.every}

        async def exists(key: str) -> bool:
            return await store.memo(key) is not None

        return by_key[await agreed_name([*by_key], exists, store, self.step.now_ms)]

    async def memo(self, key: str) -> str | None:
        """Return the memo with a key; None when there is none."""
        return await self.step.services.store.memo(key)

    async def exchange(self, key: str, before: str | None, text: str) -> str | None:
        """Write a memo if its text is still `before`; return the text that the store holds afterwards."""
        return await self.step.services.store.exchange_memo(key, before, text, self.step.now_ms())


async def changes_of(
    step: OwnStep, event: Event, loaded: Loaded, facts: Mapping[str, object], context: SourceContext
) -> Changes:
    """Return the changes of the object since the last event; none if its source does not compare.

    Raises TemporaryError.
    """
    compare = source_of(event).compare
    if compare is None:
        return Changes()
    return await compare(RunMemory(step), event, loaded, facts, context.properties)


def thread_of(step: OwnedRun, event: Event) -> str:
    """Return the thread that the source context named; empty for an event without a thread."""
    return _thread(event, step.progress.outcomes.get(CONTEXT))


def thread_of_event(event: Event) -> str:
    """Return the thread that the event itself names."""
    return _thread(event, None)


def _thread(event: Event, read: Outcome | None) -> str:
    answers = source_of(event).answers
    if answers is None or answers.messages is None:
        return ""
    return answers.messages.thread(event, read)


def stopped(need: Need, outcome: Outcome, system: str) -> RunStopped:
    """Return the error that ends a run without something it needs; `system` is the name of the external system."""
    cause = cause_of(outcome)
    plain_reason = _plain_reason(need, cause, _code(outcome), system)
    return RunStopped(f"{need.missed}: {outcome.text}", cause=cause, system=system, plain_reason=plain_reason)


def cause_of(outcome: Outcome) -> Cause:
    """Return the cause of a call's failure, for code; empty if the call succeeded or its outcome is unknown."""
    match outcome:
        case ToolResult(status="ok"):
            return ""
        case ToolResult(details=details):
            fields = as_object(details)
            if fields.get("code") == OUTAGE_CODE:
                return "outage"
            return _CAUSES.get(as_text(fields.get("access")), "refused")
        case ToolUnknown():
            return ""
        case _:
            assert_never(outcome)


def _plain_reason(need: Need, cause: Cause, code: str, system: str) -> str:
    """Return the text for the colleague, with `{owner}` for the owner of the workflow."""
    aim = need.aim
    match cause:
        case "outage":
            minutes = round(OUTAGE / 60)
            return f"I could not {aim}, because {system} did not answer for {minutes} minutes. Please ask again."
        case "credential":
            return f"I cannot read {system} now, because it does not accept my access. Please tell {{owner}}."
        case "permission":
            return f"I am not allowed to {aim}. Please tell {{owner}}."
        case "refused" if code in need.refused:
            return need.refused[code]
        case "refused" if code in _LIMITED:
            return f"I could not {aim}, because {system} takes no more requests now. Please ask again later."
        case "refused":
            return f"I could not {aim}, because {system} refused it. Please tell {{owner}}."
        case _:
            return f"I could not {aim}. Please tell {{owner}}."


def _code(outcome: Outcome) -> str:
    """Return the vendor's code of a failure; empty when there is none."""
    match outcome:
        case ToolResult(details=details):
            return as_text(as_object(details).get("code"))
        case _:
            return ""
