"""The messages of a delivered answer, which get rows so that feedback on them finds the run."""

from collections.abc import Iterator

from gofer.engine.own_step import OwnStep
from gofer.journal.answer_rows import Identity, note_answer
from gofer.journal.entries import ToolResult
from gofer.journal.purposes import ANSWER, ANSWER_ANEW, ANSWER_PART
from gofer.projections.progress import Progress
from gofer.runtime.deliver import place_of_answer
from gofer.sources.part_values import Details
from gofer.sources.registry import source_of
from gofer.values.events import Event
from gofer.workflows.schema import Reply


async def note_delivered(step: OwnStep, event: Event, reply: Reply) -> None:
    """Write the rows of the answer of a run that is not private. Raises TemporaryError.

    The caller calls this before the run ends, so a new owner writes rows that a crashed owner did not write.
    """
    answers = source_of(event).answers_to(event, reply)
    if step.is_private or answers is None or answers.messages is None:
        return
    identity = answers.messages.identity
    posted = list(_posted(step.progress))
    thread = place_of_answer(step, event, reply, answers)
    messages = [(event.source, *names) for details in posted if (names := identity(event, details, ""))]
    threads: list[Identity] = []
    if messages and thread:
        threads = [(event.source, *identity(event, posted[0], thread))]
    await note_answer(step.run, messages, threads, step.services.store, step.services.tokens, at=step.now_ms())


def _posted(progress: Progress) -> Iterator[Details]:
    """Yield the details of each message of the answer that was certainly delivered."""
    part = ANSWER_PART.partition("{")[0]
    for call, outcome in progress.outcomes.items():
        if call in (ANSWER, ANSWER_ANEW) or call.startswith(part):
            match outcome:
                case ToolResult(status="ok", details=details) if details:
                    yield details
                case _:
                    pass
