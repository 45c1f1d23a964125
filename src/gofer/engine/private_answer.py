"""Answers that one person alone reads: as direct messages, or where they asked."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, assert_never

from gofer.engine.answer_thread import thread_of
from gofer.engine.own_calls import derived
from gofer.engine.permitted_call import DELIVERY
from gofer.engine.step import Step
from gofer.journal.entries import ToolResult
from gofer.journal.purposes import PRIVATE_ANSWER
from gofer.sources.part_values import Outcome, OwnCall
from gofer.sources.source import PrivateWords
from gofer.tools.definition import Provenance
from gofer.values.events import Event

Way = Literal["dm", "ephemeral"]
"""How workflow files name the two."""


async def answer_privately(
    step: Step, event: Event, words: PrivateWords, way: Way, provenance: Provenance, text: str
) -> Sequence[Outcome]:
    """Tell the person who started the run, in as many messages as it takes; the same text gives the same ones.

    Nothing of it can be changed or attached later, so there is no announcement before it and no file after it.
    """
    texts = words.split(text)
    outcomes: list[Outcome] = []
    for number, part in enumerate(texts, 1):
        links = provenance if number == len(texts) else replace(provenance, prompt_url="", run_url=None)
        asked = _asked(step, event, words, way, part)
        said = derived(step, PRIVATE_ANSWER.format(number), asked, longest=DELIVERY)
        outcomes.append(await step.call(said, links))
        if isinstance(outcomes[-1], ToolResult) and outcomes[-1].status != "ok":
            break
    return outcomes


def _asked(step: Step, event: Event, words: PrivateWords, way: Way, text: str) -> OwnCall:
    match way:
        case "dm":
            return words.direct(text)
        case "ephemeral":
            return words.in_place(thread_of(step, event), text)
        case _:
            assert_never(way)
