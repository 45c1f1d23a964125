"""A run that exists for an effect is done only with it: its model is sent back once, then its owner hears of it."""

import asyncio
import copy
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from gofer.app.demo.scenes import Outsiders
from gofer.journal.entries import MessageReceived, RunConcluded, RunFinished, ToolResult
from gofer.models.language_model import Answer
from gofer_simulators.demo import demo_world
from support.app.company import ROOT, Company, company
from support.app.one_workflow import Echo, gofer
from support.engine.memory_run import says

pytestmark = pytest.mark.anyio
SORRY = "I could not tell which team Robin joins."
CREATES = {"project": "OPS", "type": "Task", "summary": "Prepare laptop, 2026-12-01", "description": "It is there."}
POSTS = {"channel": "#general", "text": "Robin starts on 2026-12-01."}
UNMET = "no tool that it requires has succeeded: jira_create_issue or slack_post_message"
HELPERS = "C0HELPRS0"


@dataclass
class Turns:
    """A model that gives each run the same answers, one for each turn; the last one is repeated."""

    answers: Sequence[Answer]
    bodies: list[dict[str, Any]] = field(default_factory=list)

    async def ask(self, body: bytes, timeout: float) -> Answer:
        self.bodies.append(json.loads(body))
        turn = sum(message["role"] == "assistant" for message in self.bodies[-1]["messages"])
        return self.answers[min(turn, len(self.answers) - 1)]


def world() -> dict[str, Any]:
    made: dict[str, Any] = copy.deepcopy(dict(demo_world()))
    everybody = [user["id"] for user in made["slack"]["users"]] + ["U0GOFER0"]
    made["slack"]["channels"] += [
        {"id": "C0PEOPLE0", "name": "people-ops", "members": everybody},
        {"id": HELPERS, "name": "helpers", "members": everybody},
    ]
    return made


def told(made: Company, channel: str) -> list[str]:
    return [str(one.blocks) for one in made.slack.workspace.timeline(channel) if one.bot_id]


async def hire(made: Company, name: str) -> None:
    body = json.dumps({"id": name, "name": "Robin", "team": "Payments", "start": "2026-12-01"}).encode()
    assert await Outsiders(made.embedded).call("new-hire", body) == 200


async def test_owner_hears_once_a_day_of_webhook_runs_that_only_answered(tmp_path: Path) -> None:
    model = Turns([says(SORRY)])
    async with company(tmp_path, root=ROOT, world=world(), model=model) as made:
        for name in ("one", "two"):
            await hire(made, name)
        heads = await made.ended(2)
        entries = await made.entries(heads[0].run)
        (notice,) = told(made, "C0PEOPLE0")
    assert [(head.status, head.reason.partition(" (")[0]) for head in heads] == [("needs_attention", UNMET)] * 2
    assert SORRY not in str(heads)
    (remark,) = [entry for entry in entries if isinstance(entry, MessageReceived) and entry.code == "unmet"]
    assert "a call of jira_create_issue or slack_post_message has succeeded, and none has" in remark.text
    (concluded,) = [entry for entry in entries if isinstance(entry, RunConcluded)]
    assert concluded.text == (
        "_I made no change in Jira or Slack, which is what this is for. Ask again, or tell #people-ops._\n\n" + SORRY
    )
    assert RunFinished("needs_attention", UNMET, "unmet") in entries
    assert "`new-hire-checklist`: needs attention: " in notice
    assert UNMET in notice
    assert "`gofer runs --workflow new-hire-checklist --status needs_attention` lists every such run." in notice
    assert len(model.bodies) == 4


@pytest.mark.parametrize("said", [says(SORRY), says("", ("finish", {"answer": SORRY}))], ids=["text", "finish"])
async def test_model_that_obeys_after_being_sent_back_ends_its_run_as_done(tmp_path: Path, said: Answer) -> None:
    model = Turns([said, says("", ("jira_create_issue", CREATES)), says("OPS-1.")])
    async with company(tmp_path, root=ROOT, world=world(), model=model) as made:
        await hire(made, "one")
        (head,) = await made.ended()
        assert (head.status, told(made, "C0PEOPLE0")) == ("done", [])


async def test_asker_and_owner_read_about_the_missing_effect(tmp_path: Path) -> None:
    workflow = "when: [slack.mention]\ntools: [jira_create_issue]\nrequires: jira_create_issue\nwrites: {jira: [OPS]}"
    async with gofer(tmp_path, workflow, within=world(), defaults='ai_logs: "#general"\n') as made:
        asked = await made.ask("@Gofer file this")
        (head,) = await made.ended()
        (answer,) = made.answers(asked)
        assert head.status == "needs_attention"
        assert "I made no change in Jira, which is what this is for. Ask again, or tell #helpers." in str(answer.blocks)
        assert "Here you are." in str(answer.blocks)
        assert len(told(made, HELPERS)) == 1


async def test_script_that_ends_without_the_effect_needs_attention(tmp_path: Path) -> None:
    scripts = tmp_path / "repository" / "coordinators"
    scripts.mkdir(parents=True)
    (scripts / "w.py").write_text("async def coordinate(run):\n    return None\n")
    workflow = (
        "when: [slack.mention]\ncoordinator: script\ncoordinator_script: coordinators/w.py\n"
        "tools: [jira_create_issue]\nrequires: [jira_create_issue]\nwrites: {jira: [OPS]}"
    )
    async with gofer(tmp_path, workflow, within=world()) as made:
        asked = await made.ask("@Gofer file this")
        (head,) = await made.ended()
        assert (head.status, len(made.answers(asked)), len(told(made, HELPERS))) == ("needs_attention", 1, 1)


@pytest.mark.parametrize("press", ["deny", "approve"])
async def test_denied_approval_is_a_decision_so_the_run_is_done(tmp_path: Path, press: str) -> None:
    workflow = (
        "when: [slack.mention]\ntools: [slack_post_message]\nrequires: [slack_post_message]\n"
        "writes: {slack: public}\napprove: {tools: slack_post_message, by: U0SUPPT0}"
    )
    model = Echo([("slack_post_message", {"text": "Refunds stand still.", "channel": "#general"})])
    async with gofer(tmp_path, workflow, model, world()) as made:
        asked = await made.ask("@Gofer tell everybody", "general")
        async with asyncio.timeout(60):
            while not (put := [one for one in made.thread(asked) if "actions" in str(one.blocks)]):
                await asyncio.sleep(0.01)
        assert await made.slack.press(put[0], press, "U0SUPPT0")
        (head,) = await made.ended()
        assert (head.status, told(made, HELPERS)) == ("done", [])


async def test_second_reaction_finds_the_ticket_of_the_first_and_is_done(tmp_path: Path) -> None:
    workflow = (
        "when: [slack.reaction: {emoji: jira}]\ntools: [jira_create_issue: {once: per_message}]\n"
        "requires: [jira_create_issue]\nwrites: {jira: [OPS]}"
    )
    async with gofer(tmp_path, workflow, Echo([("jira_create_issue", CREATES)]), world()) as made:
        about = made.slack.workspace.timeline("C0GENERA0")[0]
        await made.slack.react("U0SUPPT0", about.channel, about.ts, "jira")
        await made.ended()
        await made.slack.react("U0CAPTN0", about.channel, about.ts, "jira")
        heads = await made.ended(2)
        second = await made.entries(heads[1].run)
    assert [head.status for head in heads] == ["done", "done"]
    (result,) = [one for one in second if isinstance(one, ToolResult) and one.call == "1.0"]
    assert result.text.startswith("Not done again:")
