"""Approvals through the whole of Gofer: a colleague asks, another one approves, and the call happens once."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from gofer.cli.main import main
from gofer.journal.entries import ApprovalDecided
from gofer.values.model_script import load_scripts
from gofer_simulators.demo import demo_world
from gofer_simulators.jira.simulator import JiraSimulator
from gofer_simulators.slack.workspace import Group, Message
from support.app.company import Company, company

pytestmark = pytest.mark.anyio
SAYS = """
- name: post
  when: {says: 'tell #general: (?P<words>[a-z ]+)', tools: [slack_post_message]}
  steps:
    - calls: [{slack_post_message: {text: '{words}', channel: '#general'}}]
    - text: That is all.
"""
FIXED = 'description: d\nowner: "#general"\nwhen: [slack.mention]\nmodel: gpt-5\ntools: [slack_post_message]\n'
APPROVE = "approve: {tools: [slack_post_message], by: '@leads', expires: 2 hours}\n"


@asynccontextmanager
async def shop(folder: Path, keys: str = "", *, work: bool = True) -> AsyncIterator[Company]:
    """A Gofer with one workflow, whose model posts to #general on request."""
    agents = folder / "agents"
    agents.mkdir(exist_ok=True)
    (agents / "tell.yaml").write_text(FIXED + keys)
    (agents / "tell.md").write_text("Do what you are told.")
    async with company(folder, root=folder, scripts=load_scripts(SAYS, "s"), world=demo_world(), work=work) as made:
        made.slack.workspace.groups["S0LEADS00"] = Group("S0LEADS00", "leads", "Leads", ("U0SUPPT0",))
        yield made


async def question(made: Company, asked: Message) -> Message:
    """Return the question in a thread, once it was posted and the run is parked."""
    async with asyncio.timeout(60):
        while True:
            found = [one for one in made.answers(asked) if any(b["type"] == "actions" for b in one.blocks)]
            if found and await parked(made):
                return found[0]
            await asyncio.sleep(0.01)


async def parked(made: Company) -> bool:
    return any(head.status == "parked" for head in await made.embedded.state.store.heads(10, private=True))


def general(made: Company) -> list[str]:
    return [one.text for one in made.slack.workspace.timeline("C0GENERA0") if one.bot_id]


async def test_approval_press_from_another_workspace_is_ignored(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with shop(tmp_path, APPROVE) as made:
        asked = await made.ask("@Gofer tell #general: lunch is ready")
        put = await question(made, asked)
        own = made.slack.workspace.team
        # The same person's id, and the same button, in a workspace that is not Gofer's.
        made.slack.workspace.team = replace(own, id="T0OTHER00")
        caplog.set_level("INFO", "gofer")
        assert await made.slack.press(put, "approve", "U0SUPPT0")
        assert "it was pressed in another workspace than Gofer's" in caplog.text
        made.slack.workspace.team = own
        assert (await parked(made), general(made)) == (True, [])
        assert await made.slack.press(put, "approve", "U0SUPPT0")
        (head,) = await made.ended()
        assert (head.status, general(made)) == ("done", ["lunch is ready"])


async def test_approved_call_happens_once_and_the_question_names_the_approver(tmp_path: Path) -> None:
    async with shop(tmp_path, APPROVE) as made:
        asked = await made.ask("@Gofer tell #general: lunch is ready")
        put = await question(made, asked)
        assert "lunch is ready" in str(put.blocks)
        assert general(made) == []
        page = await made.http.get(f"{made.slack_url}/?channel=C0DEPLOY0&thread={asked.ts}")
        assert page.text.count('action="/press"') == 1
        # First a person who may not decide, by the form on the page.
        fields = {"user": "U0CAPTN0", "channel": put.channel, "ts": put.ts, "action_id": "approve"}
        pressed = await made.http.post(f"{made.slack_url}/press", data=fields)
        assert pressed.status_code == 303
        async with asyncio.timeout(60):
            while not made.slack.whispers("U0CAPTN0"):
                await asyncio.sleep(0.01)
        assert made.slack.whispers("U0CAPTN0")[0].text == "Only @leads may decide this."
        assert await made.slack.press(put, "approve", "U0SUPPT0")
        (head,) = await made.ended()
        assert (head.status, general(made)) == ("done", ["lunch is ready"])
        closed = made.slack.workspace.message(put.channel, put.ts)
        assert "Approved by Support Lead on " in str(closed.blocks)
        assert "actions" not in [block["type"] for block in closed.blocks]


async def test_runs_and_trace_commands_show_the_approval_a_run_waits_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with shop(tmp_path, APPROVE) as made:
        asked = await made.ask("@Gofer tell #general: lunch is ready")
        await question(made, asked)
        (head,) = await made.embedded.state.store.heads(10)
    monkeypatch.setenv("GOFER_DATA", str(tmp_path / "state"))
    assert await asyncio.to_thread(main, ["runs"]) == 0
    assert "parked" in (listed := capsys.readouterr().out)
    assert "waits for approval of slack_post_message by @leads" in listed
    assert await asyncio.to_thread(main, ["trace", head.run]) == 0
    assert "… approval of slack_post_message" in (shown := capsys.readouterr().out)
    assert "asked @leads" in shown


async def test_post_out_of_a_private_channel_asks_only_the_requester(tmp_path: Path) -> None:
    async with shop(tmp_path) as made:
        asked = await made.ask("@Gofer tell #general: lunch is ready", "leads")
        async with asyncio.timeout(60):
            while not (made.slack.whispers("U0CAPTN0") and await parked(made)):
                await asyncio.sleep(0.01)
        (whisper,) = made.slack.whispers("U0CAPTN0")
        assert "May slack_post_message take this to " in whisper.text
        assert general(made) == []
        page = await made.http.get(f"{made.slack_url}/?channel=C0LEADS00&thread={asked.ts}")
        assert "ONLY VISIBLE TO Release Captain" in page.text
        assert await made.slack.press(whisper, "approve", "U0CAPTN0")
        (head,) = await made.ended()
        assert (head.status, general(made)) == ("done", ["lunch is ready"])
        assert made.slack.whispers("U0CAPTN0")[1].text.startswith("Approved by Release Captain")
        assert [one.text for one in made.answers(asked)] == ["[offline model] That is all."]


async def test_denied_post_does_not_leave_the_private_channel(tmp_path: Path) -> None:
    async with shop(tmp_path) as made:
        await made.ask("@Gofer tell #general: lunch is ready", "leads")
        async with asyncio.timeout(60):
            while not (made.slack.whispers("U0CAPTN0") and await parked(made)):
                await asyncio.sleep(0.01)
        assert await made.slack.press(made.slack.whispers("U0CAPTN0")[0], "deny", "U0CAPTN0")
        (head,) = await made.ended()
        assert (head.status, general(made)) == ("done", [])


async def test_approval_press_with_a_forged_token_is_ignored_and_unsigned_one_refused(tmp_path: Path) -> None:
    async with shop(tmp_path, APPROVE) as made:
        asked = await made.ask("@Gofer tell #general: lunch is ready")
        put = await question(made, asked)
        *others, buttons = put.blocks[:2]
        made_up = [{**button, "value": f"x{button['value']}"} for button in buttons["elements"]]
        made.slack.workspace.put(replace(put, blocks=(*others, {**buttons, "elements": made_up})))
        assert await made.slack.press(put, "approve", "U0SUPPT0")
        unsigned = await made.http.post(f"{made.embedded.url}/slack/interactivity", data={"payload": "{}"})
        assert unsigned.status_code == 401
        (head,) = await made.embedded.state.store.heads(10)
        assert await made.embedded.state.store.items(head.run) == []
        assert (head.status, general(made)) == ("parked", [])
        assert not [entry for entry in await made.entries(head.run) if isinstance(entry, ApprovalDecided)]


@pytest.mark.parametrize("pressed", ["approve", "deny"])
async def test_ticket_from_a_private_channel_is_filed_only_when_the_requester_approves(
    tmp_path: Path, pressed: str
) -> None:
    async with company(tmp_path) as made:
        jira = made.embedded.simulated.system(JiraSimulator)
        assert jira is not None
        before = set(jira.state())
        about = made.slack.workspace.timeline("C0LEADS00")[0]
        await made.slack.react("U0CAPTN0", about.channel, about.ts, "jira")
        for number in (1, 2):
            async with asyncio.timeout(60):
                while not (len(_questions(made)) == number and await parked(made)) and not await _over(made):
                    await asyncio.sleep(0.01)
            if len(_questions(made)) < number:
                break
            assert await made.slack.press(_questions(made)[-1], pressed, "U0CAPTN0")
        (head,) = await made.ended()
    assert head.status == "done"
    assert len(set(jira.state()) - before) == (1 if pressed == "approve" else 0)


def _questions(made: Company) -> list[Message]:
    return [one for one in made.slack.whispers("U0CAPTN0") if " take this " in one.text]


async def _over(made: Company) -> bool:
    heads = await made.embedded.state.store.heads(10, private=True)
    return bool(heads) and all(head.ended for head in heads)
