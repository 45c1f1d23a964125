"""The asker as the journal of a run knows them: who they are, what they wrote, and who reads the answer."""

from gofer.engine.owned_run import OwnedRun
from gofer.journal.entries import ToolResult
from gofer.journal.purposes import ACTOR, CONTEXT
from gofer.projections.progress import Progress
from gofer.sources.part_values import OUTSIDERS, Person
from gofer.sources.registry import source_of
from gofer.values.events import Event


def known_person(progress: Progress, event: Event) -> Person:
    """Return the person who started a run, from the look-up of its admission."""
    people = source_of(event).people
    if people is None or kind_of_event(event):
        return person_of_event(event)
    if isinstance(known := people.look_up(event), Person):
        return known
    match progress.outcomes.get(ACTOR):
        case ToolResult(status="ok", details=details):
            return people.person(event, details or {})
        case _:
            return Person(event.actor.id)


def asker_of(run: OwnedRun) -> Person | None:
    """Return the person who started a run or its root run, and can be asked; None when no person did."""
    root = run.root
    event = root.progress.event
    if event is None or source_of(event).approvals is None or not event.actor.is_person:
        return None
    person = known_person(root.progress, event)
    if person.kind == "bot":
        return None
    return person


def words_of_asker(run: OwnedRun) -> str:
    """Return what the asker of a run or its root run wrote in their own words; empty without an asker."""
    root = run.root
    event = root.progress.event
    if event is None or asker_of(root) is None:
        return ""
    return "\n".join([source_of(event).own_words(event), *root.progress.said])


def read_by_outsiders(run: OwnedRun, event: Event) -> bool:
    """Return whether people from outside the company read the answer to the event of a run."""
    return is_read_by_outsiders(run.root.progress, event)


def is_read_by_outsiders(progress: Progress, event: Event) -> bool:
    """Return the same from the progress of a root run."""
    match progress.outcomes.get(CONTEXT):
        case ToolResult(details={"outsiders": True}):
            return True
        case _:
            return known_person(progress, event).kind in OUTSIDERS or source_of(event).open_to_outsiders(event)


def person_of_event(event: Event) -> Person:
    """Return the person behind an event that needs no look-up: everyone with an account, unless the event says more."""
    return Person(event.actor.id, kind_of_event(event) or "member")


def kind_of_event(event: Event) -> str:
    """Return the kind of person that the event itself tells; empty if only a look-up tells it."""
    if source_of(event).trusted:
        return "member"
    return "" if event.actor.kind == "person" else event.actor.kind
