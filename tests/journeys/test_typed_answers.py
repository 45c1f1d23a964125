"""Answers with an `output`: posted as text, in which no mention pages a person."""

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from gofer.journal.entries import RunConcluded
from gofer.models.language_model import Answer
from support.app.one_workflow import Echo, gofer, world
from support.engine.memory_run import says

pytestmark = pytest.mark.anyio
WORKFLOW = """\
when: [slack.mention]
output:
  type: object
  required: [title, team]
  properties:
    {title: {type: string}, team: {type: string}, owner: {type: string}, steps: {type: array, items: {type: string}}}
"""
TEMPLATE = """\
reply_template: |
  *{title}* goes to {team}.
  Ask {owner} about it.
  {steps}
"""
VALUE = {"title": "Refunds <!channel>", "team": "@here {title}", "steps": ["call <@U0CAPTN0>", "wait"]}


@dataclass
class Typed(Echo):
    """A model that always answers with the same value."""

    async def ask(self, body: bytes, timeout: float) -> Answer:
        return says(json.dumps(VALUE))


@pytest.mark.parametrize(
    ("workflow", "lines"),
    [
        (WORKFLOW + TEMPLATE, ["*Refunds <!channel>* goes to @here {title}.", "- call <@U0CAPTN0>", "- wait"]),
        (
            WORKFLOW,
            ["- **Title:** Refunds <!channel>", "- **Team:** @here {title}", "- **Steps:**", "  - call <@U0CAPTN0>"],
        ),
    ],
)
async def test_typed_answer_is_posted_as_text_without_live_mentions(
    tmp_path: Path, workflow: str, lines: list[str]
) -> None:
    async with gofer(tmp_path, workflow, Typed(), within=world()) as made:
        asked = await made.ask("@Gofer where does this go?", "general")
        (head,) = await made.ended()
        (answer,) = made.answers(asked)
        (concluded,) = [entry for entry in await made.entries(head.run) if isinstance(entry, RunConcluded)]
    posted = "\n".join(str(block.get("text")) for block in answer.blocks)
    assert concluded.output == VALUE
    assert concluded.text.split("\n")[: len(lines)] == lines
    for mention in ("<!channel>", "<@U0CAPTN0>", "@here"):
        assert mention in concluded.text
        assert mention not in posted
        assert mention not in answer.text
    assert '"title"' not in posted
