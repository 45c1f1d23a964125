"""Admission: the first steps of every run read what the event did not say, and decide whether the run starts."""

from collections.abc import Awaitable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from gofer.engine.asker import look_up, may_start, turn_away
from gofer.engine.conditions import check_conditions, check_hops, check_precedence, check_speaker, meets, routes_of
from gofer.engine.earlier_runs import answered_before, earlier_run, recall_of
from gofer.engine.first_message import first_message, is_request
from gofer.engine.preload import preload
from gofer.engine.services import Services
from gofer.engine.source_context import read_source_context
from gofer.engine.source_memory import changes_of
from gofer.engine.step import Step
from gofer.engine.usage_limits import enter
from gofer.journal.blob_store import BUNDLES, blob_key
from gofer.journal.entries import MessageReceived, Route, RunStarted
from gofer.journal.workspace_entries import PlanUpdated
from gofer.sources.part_values import Person, SourceContext
from gofer.sources.receivers import known
from gofer.sources.triggers import CONTINUING
from gofer.sources.workflow_files import decode_bundle
from gofer.tools.definition import Provenance
from gofer.values.errors import RunStopped
from gofer.values.events import Event
from gofer.workflows.bundle import Bundle, encode_bundle
from gofer.workflows.load import Loaded


@dataclass(frozen=True, slots=True)
class Learned:
    """What a run knows of its event once it has read the source context."""

    material: SourceContext
    facts: Mapping[str, object]
    followed: Collection[str]
    """The workflows that answered in this conversation before, of those that ask for it."""

    def facts_of(self, workflow: str) -> Mapping[str, object]:
        """Return all facts of the event as they are for one workflow."""
        return {**self.facts, "followed": workflow in self.followed}


async def admit(step: Step, event: Event, loaded: Loaded) -> RunStarted:
    """Read the source context of the event, pin the bundle and write the first message.

    Raises RunStopped, DoesNotMatch, NotNow, Cancelled, OutOfTime.
    """
    step.heed_cancel()
    check_hops(event)
    provenance = step.provenance(loaded.prompt_file)
    accepted = step.progress.routes
    routes = routes_of(event, loaded, accepted)
    # What the delivery alone settles costs no look-up, as in the receiver.
    check_conditions(event, routes, known(event), whole=False)
    person = await _speaking(step, event, look_up(step, event, provenance))
    welcome = await may_start(step, person, loaded, provenance)
    # With rivals it is not known yet which workflow the event is for: only that one turns people away.
    if not welcome and not accepted and meets(routes, {**known(event), **person.facts}):
        raise await turn_away(step, event, person, loaded, provenance)
    learned = await _learn(step, event, person, accepted or routes, provenance)
    material = learned.material
    changes = await changes_of(step, event, loaded, learned.facts_of(loaded.name), material)
    learned = replace(learned, facts={**learned.facts, "status": changes.status})
    check_conditions(event, routes, learned.facts_of(loaded.name), changes.reason)
    check_precedence(event, loaded.name, accepted, learned.facts_of)
    if not welcome:
        raise await turn_away(step, event, person, loaded, provenance)
    left = await enter(step, event, loaded)
    preloaded = await preload(step, loaded, provenance)
    # From here on nothing is called: what is noted now stands in one frame with the beginning of the run.
    continued = await earlier_run(step, event, loaded.name) if event.kind in CONTINUING else None
    past = await recall_of(step, continued, person, private=material.private)
    tools = [tool.schema() for tool in step.services.offered(loaded)]
    raw = encode_bundle(Bundle(loaded, tools))
    key = blob_key(BUNDLES, raw)
    await step.services.blobs.put(key, raw)
    started = RunStarted(key.rpartition("/")[2], material.private, past.run, left.usd, left.of)
    step.note(started)
    for handle in past.files:
        step.note(handle)
    if any(todo.status != "completed" for todo in past.plan):
        step.note(PlanUpdated(past.plan))
    asked = is_request(event, followed=loaded.name in learned.followed)
    opening = first_message(material, step.progress.accepted_at, person, asked=asked)
    said = "\n\n".join(filter(None, [opening, preloaded.text, past.told])).strip()
    step.note(MessageReceived(said, media=tuple(preloaded.media)))
    return started


async def check_withdrawn(step: Step, event: Event) -> None:
    """Raise DoesNotMatch when the workflow, which was taken away meanwhile, would not have won the event anyway.

    Otherwise the run has to report that its workflow is gone, because every other run of the event ends silently.
    """
    if not (accepted := step.progress.routes):
        return
    workflow = step.progress.workflow
    provenance = step.provenance("")
    person = await _speaking(step, event, look_up(step, event, provenance))
    learned = await _learn(step, event, person, accepted, provenance)
    own = [route for route in accepted if route.workflow == workflow]
    check_conditions(event, own, learned.facts_of(workflow))
    check_precedence(event, workflow, accepted, learned.facts_of)


async def pinned(services: Services, started: RunStarted) -> Bundle:
    """The bundle a run keeps. Raises Damaged."""
    return decode_bundle(await services.blobs.get(f"{BUNDLES}/{started.bundle}"))


async def _learn(step: Step, event: Event, person: Person, routes: Sequence[Route], provenance: Provenance) -> Learned:
    """Read the source context of an event, and what else its routes ask for."""
    material = await _speaking(step, event, read_source_context(step, event, person, provenance))
    followed = await answered_before(step, event, routes)
    # What the delivery says stays decided, although the issue or page may have changed since.
    return Learned(material, {**material.facts, **known(event), **person.facts}, followed)


Read = TypeVar("Read")


async def _speaking(step: Step, event: Event, reading: Awaitable[Read]) -> Read:
    """Read what every run of an event reads. When that fails, one of these runs reports it.

    Raises DoesNotMatch when that is another run, and what `reading` raises.
    """
    try:
        return await reading
    except RunStopped:
        check_speaker(event, step.progress.workflow, step.progress.routes, known(event))
        raise
