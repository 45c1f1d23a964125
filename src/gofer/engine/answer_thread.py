"""The thread in which a run is answered, by the source of its event."""

from gofer.engine.step import Step
from gofer.journal.purposes import CONTEXT
from gofer.sources.part_values import Outcome
from gofer.sources.registry import source_of
from gofer.values.events import Event


def thread_of(step: Step, event: Event) -> str:
    """Return the thread, as reading the source context found it; empty for an event without a thread."""
    return _thread(event, step.progress.outcomes.get(CONTEXT))


def thread_of_event(event: Event) -> str:
    """Return the thread as the event alone names it."""
    return _thread(event, None)


def _thread(event: Event, read: Outcome | None) -> str:
    answers = source_of(event).answers
    if answers is None or answers.messages is None:
        return ""
    return answers.messages.thread(event, read)
