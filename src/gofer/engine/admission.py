"""Admission: the first steps of a run read the source context of its event and decide whether the run starts."""

from collections.abc import Awaitable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from gofer.engine.asker import look_up, may_start, turn_away
from gofer.engine.conditions import (
    DoesNotMatch,
    check_conditions,
    check_hops,
    check_precedence,
    check_reporter,
    meets,
    routes_of,
)
from gofer.engine.first_message import first_message, is_request, opening_limits, preload
from gofer.engine.own_step import OwnStep
from gofer.engine.results import DisplayLimits
from gofer.engine.source_context import changes_of, read_source_context
from gofer.engine.usage_limits import count_run
from gofer.journal.blob_store import BUNDLES, blob_key
from gofer.journal.coordination import Head
from gofer.journal.entries import MessageReceived, Route, RunStarted
from gofer.journal.lineage import run_ids
from gofer.journal.workspace_entries import FileAdded, PlanUpdated, Todo
from gofer.projections import workspace
from gofer.projections.progress import project
from gofer.projections.recap import inherited_files, recap
from gofer.sources.part_values import OUTSIDERS, Person, SourceContext
from gofer.sources.receivers import events_of, known
from gofer.sources.registry import source_of
from gofer.sources.triggers import CONTINUING
from gofer.sources.workflow_files import decode_bundle
from gofer.tools.definition import AnyTool, Provenance
from gofer.values.errors import Corrupt, Gone, RunStopped
from gofer.values.events import Event
from gofer.workflows.bundle import Bundle, encode_bundle
from gofer.workflows.load import Loaded

_UNUSABLE = "I could not begin, because a tool of this workflow cannot be used. Please tell {owner}."
_MOST_EARLIER_RUNS = 50
"""Earlier runs of a conversation that are examined at most, to find one that was admitted."""


@dataclass(frozen=True, slots=True)
class AdmissionFacts:
    """The source context of an event, and the facts that the run learned from it."""

    context: SourceContext
    facts: Mapping[str, object]
    followed: Collection[str]
    """The workflows that answered in this conversation before; only workflows with that condition are listed."""

    def facts_of(self, workflow: str) -> Mapping[str, object]:
        """Return all facts of the event, as they apply to one workflow."""
        return {**self.facts, "followed": workflow in self.followed}


async def admit(step: OwnStep, event: Event, loaded: Loaded) -> RunStarted:
    """Read the source context of the event, pin the bundle and write the first message.

    Raises RunStopped, DoesNotMatch, NotNow, Cancelled, OutOfTime.
    """
    step.heed_cancel()
    check_hops(event)
    await _check_new(step, event)
    provenance = step.provenance(loaded.prompt_file)
    accepted = step.progress.routes
    routes = routes_of(event, loaded, accepted)
    # The receiver checked the same facts; a workflow that they already exclude needs no look-up.
    check_conditions(event, routes, known(event), whole=False)
    person = await _read_or_leave_report(step, event, look_up(step, event, provenance))
    welcome = await may_start(step, person, loaded, provenance)
    # Only the workflow that wins the event turns people away, and with competing workflows the winner is not known yet.
    if not welcome and not accepted and meets(routes, {**known(event), **person.facts}):
        raise await turn_away(step, event, person, loaded, provenance)
    shown = opening_limits(loaded, step.services)
    facts = await _read_facts(step, event, person, accepted or routes, shown, provenance)
    context = facts.context
    changes = await changes_of(step, event, loaded, facts.facts_of(loaded.name), context)
    facts = replace(facts, facts={**facts.facts, "status": changes.status})
    check_conditions(event, routes, facts.facts_of(loaded.name), changes.reason)
    check_precedence(event, loaded.name, accepted, facts.facts_of)
    if not welcome:
        raise await turn_away(step, event, person, loaded, provenance)
    check_tools(step.services.granted(loaded.workflow))
    remaining = await count_run(step, event, loaded)
    preloaded = await preload(step, loaded, provenance)
    # No call follows, so all entries noted from here on share one frame with `run.started`.
    continued = await earlier_run(step, event, loaded.name) if event.kind in CONTINUING else None
    recall = await recall_of(step, continued, person, private=context.private)
    pin = await pin_bundle(step, step.services.new_bundle(loaded))
    started = RunStarted(pin, context.private, recall.run, remaining.usd, remaining.limit)
    step.note(started)
    for handle in recall.files:
        step.note(handle)
    if any(todo.status != "completed" for todo in recall.plan):
        step.note(PlanUpdated(recall.plan))
    asked = is_request(event, followed=loaded.name in facts.followed)
    answers = source_of(event).answers_to(event, loaded.workflow.reply)
    answer = answers.sentence(event, loaded.workflow.reply) if answers else ""
    opening = first_message(context, step.progress.accepted_at, person, asked=asked, answer=answer)
    message = "\n\n".join(filter(None, [opening, preloaded.text, recall.text])).strip()
    step.note(MessageReceived(message, media=tuple(preloaded.media)))
    return started


async def _check_new(step: OwnStep, event: Event) -> None:
    """Raise DoesNotMatch if an earlier version, which named events otherwise, started a run for the same event."""
    store = step.services.store
    for former in events_of(event.source).former(event):
        for run in run_ids(step.services.installation_key, former, step.progress.workflow):
            if await store.head(run) or await store.frames(run):
                raise DoesNotMatch(f"the run {run[:8]} was started for the same event")


async def may_announce(step: OwnStep, event: Event, loaded: Loaded) -> bool:
    """Return whether a run that cannot read its source context yet says so: to a person who waits and may start it.

    Of the workflows that the event may start, only the one that would report a failure says it. Admission made these
    look-ups before it began to read, so this makes no call. Raises RunStopped.
    """
    if event.kind not in source_of(event).starts:
        return False
    provenance = step.provenance(loaded.prompt_file)
    person = await look_up(step, event, provenance)
    routes = routes_of(event, loaded, step.progress.routes)
    try:
        check_conditions(event, routes, {**known(event), **person.facts}, whole=False)
        check_reporter(event, loaded.name, step.progress.routes, known(event))
    except DoesNotMatch:
        return False
    return await may_start(step, person, loaded, provenance)


def check_tools(granted: Mapping[str, AnyTool]) -> None:
    """Raise RunStopped if a tool of the workflow cannot be used, because its runs would do their work without it."""
    for tool in granted.values():
        if tool.unusable:
            reason = f"the tool {tool.name} cannot be used: {tool.unusable}"
            raise RunStopped(reason.rstrip("."), cause="fault", plain_reason=_UNUSABLE)


async def check_withdrawn(step: OwnStep, event: Event) -> None:
    """Raise DoesNotMatch when the workflow was removed, and would not have won the event anyway.

    Otherwise the run has to report that its workflow is gone, because every other run of the event ends silently.
    """
    if not (accepted := step.progress.routes):
        return
    workflow = step.progress.workflow
    provenance = step.provenance("")
    person = await _read_or_leave_report(step, event, look_up(step, event, provenance))
    learned = await _read_facts(step, event, person, accepted, DisplayLimits(), provenance)
    own = [route for route in accepted if route.workflow == workflow]
    check_conditions(event, own, learned.facts_of(workflow))
    check_precedence(event, workflow, accepted, learned.facts_of)


async def pin_bundle(step: OwnStep, bundle: Bundle) -> str:
    """Store the bundle of a run that is about to start, and return its name for `run.started`. Raises TemporaryError.

    The run works with the bundle as it is read from these bytes, so a new run and a resumed run work with the same one.
    """
    raw = encode_bundle(bundle)
    key = blob_key(BUNDLES, raw)
    await step.services.blobs.put(key, raw)
    if step.bundle is None:
        step.bundle = decode_bundle(raw)
    return key.rpartition("/")[2]


async def pinned(step: OwnStep, started: RunStarted) -> Bundle:
    """Return the bundle that a run pinned when it started; an owner reads it once. Raises Corrupt."""
    if step.bundle is None:
        step.bundle = decode_bundle(await step.services.blobs.get(f"{BUNDLES}/{started.bundle}"))
    return step.bundle


async def _read_facts(
    step: OwnStep, event: Event, person: Person, routes: Sequence[Route], shown: DisplayLimits, provenance: Provenance
) -> AdmissionFacts:
    """Read the source context of an event, and the other facts that its routes depend on."""
    context = await _read_or_leave_report(step, event, read_source_context(step, event, person, shown, provenance))
    followed: Collection[str] = ()
    # The receiver may know that a message is meant for somebody else.
    if event.facts.get("followed") is not False:
        followed = await answered_before(step, event, routes)
    # The delivery's facts come last: the issue or page may have changed since the receiver decided.
    return AdmissionFacts(context, {**context.facts, **known(event), **person.facts}, followed)


Read = TypeVar("Read")


async def _read_or_leave_report(step: OwnStep, event: Event, reading: Awaitable[Read]) -> Read:
    """Await a read that every run of the event makes. If it fails, only one of these runs reports the failure.

    Raises DoesNotMatch when another run reports it, and the errors of `reading`.
    """
    try:
        return await reading
    except RunStopped:
        check_reporter(event, step.progress.workflow, step.progress.routes, known(event))
        raise


@dataclass(frozen=True, slots=True)
class Recall:
    """The recap, files and plan that an earlier run of the conversation leaves to the run that continues it."""

    run: str = ""
    text: str = ""
    """The recap of the earlier run."""
    files: Sequence[FileAdded] = ()
    plan: tuple[Todo, ...] = ()


async def earlier_run(step: OwnStep, event: Event, workflow: str) -> Head | None:
    """Return the newest ended run of a workflow in the conversation that was admitted before this event."""
    before = step.progress.accepted_at
    same_event = run_ids(step.services.installation_key, event, workflow)
    for _ in range(_MOST_EARLIER_RUNS):
        head = await _previous(step, event, workflow, before)
        if head is None or (head.status != "ignored" and head.run not in same_event):
            return head
        before = head.accepted_at
    return None


async def _previous(step: OwnStep, event: Event, workflow: str, before: int) -> Head | None:
    """Return the newest ended run of a workflow in the conversation accepted before `before` (unix ms), or None."""
    names = _conversations(step, event)
    found = [await step.services.store.previous(name, workflow, before) for name in names]
    return max(filter(None, found), key=lambda head: (head.accepted_at, head.run), default=None)


def _conversations(step: OwnStep, event: Event) -> Sequence[str]:
    """Return the tokens of a conversation under each of its names and each recognised key."""
    names = dict.fromkeys(named.conversation for named in (event, *events_of(event.source).former(event)))
    return [tokens.conversation(name) for name in names for tokens in step.services.tokens.every]


async def answered_before(step: OwnStep, event: Event, routes: Sequence[Route]) -> Collection[str]:
    """Return the workflows with the condition `followed` that answered in this conversation, or are at work in it."""
    asking = {route.workflow for route in routes if "followed" in route.where}
    answered = {name for name in asking if await earlier_run(step, event, name)}
    if answered == asking:
        return answered
    return answered | await _workflows_at_work(step, event, asking - answered)


async def _workflows_at_work(step: OwnStep, event: Event, workflows: Collection[str]) -> set[str]:
    """Return which of the workflows have an earlier run of the conversation that has not ended."""
    store = step.services.store
    conversations = _conversations(step, event)
    found = set[str]()
    key = step.services.installation_key
    same_event = {run for workflow in workflows for run in run_ids(key, event, workflow)}
    for conversation in conversations:
        async for page in store.open_runs(conversation):
            found |= {
                head.workflow
                for head in page
                if head.workflow in workflows
                and head.accepted_at < step.progress.accepted_at
                and head.run not in same_event
            }
    return found


async def recall_of(step: OwnStep, head: Head | None, person: Person, *, private: bool) -> Recall:
    """Return what the earlier run left for this run; an empty value when there is no earlier run."""
    if head is None:
        return Recall()
    try:
        entries = await step.journal_of(head.run)
    except (Corrupt, Gone):
        return Recall()
    # The head may disagree with the journal; the journal decides.
    earlier = project(entries)
    if earlier.finished is None or earlier.started is None:
        return Recall()
    if earlier.started.private and not private:
        # The files and texts of a private run must not reach a conversation that others can read.
        return Recall(head.run)
    if earlier.event is None or not _may_know(person, earlier.event):
        return Recall(head.run)
    text = recap(head.run, entries)
    files = [file for file in inherited_files(head.run, entries) if not _is_complete(step, file)]
    return Recall(head.run, text, files, workspace.project(entries).plan)


def _may_know(person: Person, earlier: Event) -> bool:
    """Return whether a person may see what an earlier run read on behalf of its asker.

    People who are no members may see only their own earlier runs. Of two events without a person, nothing shows that
    the same person caused them.
    """
    return person.kind not in OUTSIDERS or (bool(person.id) and person.id == earlier.actor.id)


def _is_complete(step: OwnStep, file: FileAdded) -> bool:
    known = step.workspace.files.get(file.file)
    return known is not None and (known.fetched or not file.body)
