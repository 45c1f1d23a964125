"""The source of programs that ask a workflow. The caller reads the answer, and Gofer writes it nowhere else."""

from gofer.sources.part_values import Person, SourceContext
from gofer.sources.program.question import SOURCE
from gofer.sources.source import Source
from gofer.values.canonical_json import as_text
from gofer.values.events import Event


def _from_event(event: Event, person: Person) -> SourceContext:
    by = as_text(event.facts.get("by"))
    happened = f"{by or 'Someone'} asks you through a program. The program shows your answer."
    return SourceContext(happened, "", event.private is not False, words=event.text, author=by or "a person")


def _is_request(event: Event, followed: bool) -> bool:
    return True


PROGRAM = Source(SOURCE, "program", _from_event, is_request=_is_request, returns_to_caller=True)
