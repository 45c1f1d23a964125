"""The exchange of a run: the words that it was asked with, their author, and the answer that people got."""

from dataclasses import dataclass

from gofer.journal.entries import ToolResult
from gofer.journal.purposes import ANSWER, ANSWER_ANEW, CONTEXT, DONE_BEFORE, PRIVATE_ANSWER
from gofer.projections.progress import Progress
from gofer.sources.part_values import Person, SourceContext
from gofer.sources.registry import source_of

_ANSWERS = (ANSWER, ANSWER_ANEW, PRIVATE_ANSWER.format(1))


@dataclass(frozen=True, slots=True)
class Exchange:
    """A question and its answer. Each text is empty if the run has no such thing."""

    author: str = ""
    """The name of the author of the question, if it stands above the words that the run read.

    Empty for the words of the event itself, which are those of the person who started the run.
    """
    question: str = ""
    answer: str = ""
    """The answer, if it was posted."""
    conclusion: str = ""
    """The text at the end of the work, if it was not posted."""
    is_repetition: bool = False
    """Whether Gofer told the person alone that an earlier run had done the work."""


def exchange_of(progress: Progress) -> Exchange:
    """Return the exchange of a run so far."""
    author, question = _asked(progress)
    text = ""
    if progress.concluded is not None:
        text = progress.concluded.text
    if any(_arrived(progress, call) for call in _ANSWERS):
        return Exchange(author, question, answer=text)
    return Exchange(author, question, conclusion=text, is_repetition=_arrived(progress, DONE_BEFORE))


def _asked(progress: Progress) -> tuple[str, str]:
    """Return the author, if the words have a header, and the words."""
    if progress.event is None:
        return "", ""
    context = _context(progress)
    if context is None or not context.words:
        return "", progress.event.text
    return _author(context.header), context.words


def _context(progress: Progress) -> SourceContext | None:
    event = progress.event
    outcome = progress.outcomes.get(CONTEXT)
    if event is None or not isinstance(outcome, ToolResult) or outcome.status != "ok":
        return None
    reading = source_of(event).reading
    if reading is None:
        return None
    return reading.read(event, Person(event.actor.id), outcome)


def _author(header: str) -> str:
    """Return the name in the header of a message or comment, which is `NAME at TIME (…):`."""
    return header.rpartition(" at ")[0].removeprefix("- ").removeprefix("@")


def _arrived(progress: Progress, call: str) -> bool:
    match progress.outcomes.get(call):
        case ToolResult(status="ok"):
            return True
        case _:
            return False
