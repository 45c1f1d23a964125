"""The source of Gofer's own runs. Its events happen inside Gofer, and an answer is written nowhere."""

from gofer.sources.part_values import Person, SourceContext
from gofer.sources.runs.follow_ups import REVIEW, SOURCE
from gofer.sources.source import Source
from gofer.sources.subject import context_of_event
from gofer.values.events import Event


def _from_event(event: Event, person: Person) -> SourceContext:
    about = f"run {event.place['run']} of the workflow {event.place['workflow']}"
    if event.kind == REVIEW:
        verdict = "did not do" if event.facts.get("effective") is False else "did"
        return context_of_event(event, f"A model reviewed {about} and found that it {verdict} what it was asked for.")
    return context_of_event(event, f"A person gave {event.facts.get('verdict')} feedback on {about}.")


RUNS = Source(SOURCE, "Gofer", _from_event, trusted=True)
