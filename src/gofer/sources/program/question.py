"""The event of a question that a program asks a workflow, for a person or on its own behalf."""

from gofer.values.events import Actor, Event

SOURCE = "program"
ASKED = "program.asked"
UNNAMED = Actor("program", "person")
"""The actor when the program names no person."""
_LONGEST_NAME = 80


def question(text: str, by: str, unique: str) -> Event:
    """Return the event of one question. `by` names the person who asks. `unique` distinguishes equal questions."""
    actor = UNNAMED
    if by:
        actor = Actor(by)
    return Event(
        source=SOURCE,
        kind=ASKED,
        identity=(unique,),
        conversation=f"{SOURCE}:{unique}",
        actor=actor,
        text=text,
        place={},
        private=False,
        facts={"by": " ".join(by.split())[:_LONGEST_NAME]},
    )
