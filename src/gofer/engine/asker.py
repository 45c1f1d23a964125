"""The asker: the person behind an event, looked up before any other read, and whether they may start a workflow."""

from collections.abc import Collection, Mapping

from gofer.engine.conditions import DoesNotMatch
from gofer.engine.known_asker import kind_of_event, person_of_event
from gofer.engine.own_step import OwnStep, PurposeCall
from gofer.engine.source_context import PERSON, stopped, thread_of_event
from gofer.journal.coordination import DAY_MS, Usage
from gofer.journal.entries import ToolResult
from gofer.journal.purposes import ACTOR, ACTOR_GROUP, TURNED_AWAY
from gofer.sources.part_values import OwnCall, Person
from gofer.sources.registry import WORKPLACE, source_of
from gofer.sources.source import PrivateWords, Source
from gofer.tools.definition import Provenance
from gofer.values.events import Event
from gofer.workflows.load import Loaded
from gofer.workflows.schema import Workflow

_GROUP_NAMES = {
    "externals": "people of other companies",
    "anonymous": "events without a person",
}
_STARTED_BY = {
    "external": "a person from outside this workspace",
    "guest": "a guest",
    "customer": "a customer of a service project",
    "anonymous": "an event without a person",
}


async def look_up(step: OwnStep, event: Event, provenance: Provenance) -> Person:
    """Return the person or app behind an event. Raises RunStopped when the look-up fails, Cancelled, OutOfTime."""
    people = source_of(event).people
    if people is None or kind_of_event(event):
        return person_of_event(event)
    asked = people.look_up(event)
    if isinstance(asked, Person):
        return asked
    details = await _details(step, ACTOR, asked, people.unseen, provenance)
    if details is None:
        return Person(event.actor.id)
    return people.person(event, details)


async def may_start(step: OwnStep, person: Person, loaded: Loaded, provenance: Provenance) -> bool:
    """Return whether a person may start a workflow. Raises RunStopped, Cancelled, OutOfTime."""
    who = loaded.workflow.who
    entries = {person.kind, f"{person.kind}s", person.id}
    if person.kind not in ("bot", "anonymous"):
        entries.add("everyone")
    if person.kind == "customer":
        entries.add("externals")
    if entries & set(who):
        return True
    handles = [one.removeprefix("@") for one in who if one.startswith("@")]
    if person.handle and person.handle.casefold() in map(str.casefold, handles):
        return True
    groups = WORKPLACE.groups
    for number, handle in enumerate(handles, 1):
        asked = groups.look_up(handle)
        found = await _details(step, ACTOR_GROUP.format(number), asked, groups.unseen, provenance)
        if found is not None and person.id in groups.members(found):
            return True
    return False


async def turn_away(
    step: OwnStep, event: Event, person: Person, loaded: Loaded, provenance: Provenance
) -> DoesNotMatch:
    """Tell a person once a day, in one line, who may start the workflow; return the error that ends the run."""
    source = source_of(event)
    entitled = _entitled_people(loaded.workflow, source)
    words = private_words(event)
    if words is not None and person.kind != "bot" and await _first_of_the_day(step, event, loaded.name):
        text = f"Sorry, {loaded.name} is for {entitled}. {loaded.workflow.owner} can tell you more."
        asked = words.in_place(thread_of_event(event), text)
        await step.call(PurposeCall(TURNED_AWAY, asked), provenance)
    started_by = {"bot": f"a {source.system} app", **_STARTED_BY}.get(person.kind, "a member")
    return DoesNotMatch(f"{started_by} started it; the workflow is for {entitled}", cause="turned_away")


def private_words(event: Event) -> PrivateWords | None:
    """Return how to answer the asker privately; None when no person waits for an answer."""
    source = source_of(event)
    if event.kind not in source.starts or source.answers is None:
        return None
    return source.answers.private


async def _first_of_the_day(step: OwnStep, event: Event, workflow: str) -> bool:
    names = ("turned away", event.source, event.actor.id, workflow)
    scopes = [tokens.usage(*names) for tokens in step.services.tokens.every]
    store = step.services.store
    now = step.now_ms()
    for scope in scopes:
        if any(row.run != step.run for row in await store.usage(scope, now - DAY_MS)):
            return False
    await store.put_usage([Usage(scopes[0], step.run, now, 0.0)])
    return True


async def _details(
    step: OwnStep, call: str, asked: OwnCall, unseen: Collection[object], provenance: Provenance
) -> Mapping[str, object] | None:
    """Return the details of a look-up; None when there is no such person or group.

    `unseen` are the vendor's codes for that. Raises RunStopped when the look-up fails.
    """
    match await step.call(PurposeCall(call, asked), provenance):
        case ToolResult(status="ok", details=details):
            return details or {}
        case ToolResult(details={"code": code}) if code in unseen:
            return None
        case outcome:
            raise stopped(PERSON, outcome, step.services.tools[asked.tool].target.system)


def _entitled_people(workflow: Workflow, source: Source) -> str:
    """Return the people who may start a workflow, as a phrase without ids of people."""
    # Only other systems than the one in which a person reads this have customers and events without a person.
    here = [entry for entry in workflow.who if entry not in ("customers", "anonymous")]
    *others, last = dict.fromkeys(_name_of(entry, source) for entry in here or workflow.who)
    if not others:
        return last
    return f"{', '.join(others)} and {last}"


def _name_of(entry: str, source: Source) -> str:
    """Return the name of an entry of `who`. Ids of people, which have upper-case letters, are not shown."""
    members = "members of this workspace" if source.people else f"people with an account of {source.system}"
    names = {"members": members, "bots": f"{source.system} apps", **_GROUP_NAMES}
    if entry in names:
        return names[entry]
    if entry.startswith("@") or entry.islower():
        return entry
    return "people named in its file"
