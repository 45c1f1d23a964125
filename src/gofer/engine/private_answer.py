"""How is an answer given to one person only: as a direct message, or where they asked, seen by nobody else?"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

from gofer.engine.permitted_call import DELIVERY
from gofer.engine.slack_context import thread_of
from gofer.engine.step import Outcome, Permitted, Step
from gofer.journal.entries import ToolResult
from gofer.sources.slack.parts import split
from gofer.tools.definition import Provenance
from gofer.values.events import Event

ASIDE = "aside/{}"
"""Call id of the first message of such an answer, the second, and so on."""
_TOOLS: Mapping[Literal["dm", "ephemeral"], str] = {"dm": "slack_post_direct", "ephemeral": "slack_post_ephemeral"}


def private_answer_tools(reply: str) -> tuple[str, ...]:
    """Tools that a run calls by itself to answer in such a way."""
    return tuple(tool for way, tool in _TOOLS.items() if way == reply)


async def answer_privately(
    step: Step, event: Event, way: Literal["dm", "ephemeral"], provenance: Provenance, text: str
) -> Sequence[Outcome]:
    """Says it to whoever started the run, in as many messages as it takes; the same text always gives the same ones.

    Nothing of it can be changed or attached later, so there is no announcement before it and no file after it.
    """
    tool, texts = step.services.tools[_TOOLS[way]], split(text)
    thread_ts = thread_of(step, event) if way == "ephemeral" else ""
    outcomes: list[Outcome] = []
    for number, part in enumerate(texts, 1):
        links = provenance if number == len(texts) else replace(provenance, prompt_url="", run_url=None)
        arguments = {"text": part, "thread_ts": thread_ts} if thread_ts else {"text": part}
        said = Permitted(ASIDE.format(number), tool, tool.parse(arguments), longest=DELIVERY)
        outcomes.append(await step.call(said, links))
        if isinstance(outcomes[-1], ToolResult) and outcomes[-1].status != "ok":
            break
    return outcomes
