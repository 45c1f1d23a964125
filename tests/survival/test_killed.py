"""A real process, killed with SIGKILL right before or right after every frame of its run, and started again.

With `--everywhere`, as in `make test-long`, on both sides of each.
"""

import json
import re
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from gofer.app.embedded.server import serve
from gofer.app.embedded.state import read_state
from gofer.journal.entries import RunFinished, ToolCall
from gofer.journal.log import read_journal
from gofer.values.model_script import Script, load_scripts
from gofer.values.outside import SystemClock
from gofer_simulators.demo import demo_scripts, demo_world
from gofer_simulators.offline_model import offline_model
from gofer_simulators.slack.simulator import SlackSimulator
from gofer_simulators.slack.workspace import Message
from support.app.company import ROOT
from support.crashes.crashing_gofer import live
from support.crashes.forked_gofer import ended as ended_with
from support.crashes.spread import sides, spread
from support.http import loopback

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def systems(scripts: Sequence[Script]) -> AsyncIterator[tuple[SlackSimulator, dict[str, str]]]:
    """Yield a simulated Slack and the environment that leads to it and to an offline model; both outlive each Gofer."""
    async with loopback.client() as http:
        slack = SlackSimulator(demo_world(), clock=SystemClock().now, http=http)
        async with serve(slack.app) as slack_url, serve(offline_model(scripts)) as model_url:
            yield (
                slack,
                {
                    "SLACK_API_URL": f"{slack_url}/api",
                    "SLACK_BOT_TOKEN": "xoxb-simulated",
                    "OPENAI_BASE_URL": f"{model_url}/v1",
                },
            )


async def gofer(folder: Path, environment: dict[str, str], event: Path, when: str, n: int, root: Path = ROOT) -> int:
    """Run a Gofer that may kill itself; return its exit code."""
    code = await ended_with(live, {**environment, "GOFER_DATA": str(folder / "state")}, root, event, when, n)
    assert code in (0, -signal.SIGKILL)
    return code


async def ask(slack: SlackSimulator, folder: Path) -> tuple[Message, Path]:
    """Post a question in the thread of the deploy; return it with the file of its payload."""
    deploy, incident = slack.workspace.timeline("C0DEPLOY0")[0], slack.workspace.timeline("C0INCID00")[0]
    link = slack.workspace.permalink(incident)
    text = slack.typed(f"@Gofer does what was decided in {link} block this deploy?")
    asked = await slack.say("U0CAPTN0", "C0DEPLOY0", text, thread_ts=deploy.ts)
    folder.mkdir()
    event = folder / "event.json"
    event.write_text(json.dumps(slack.envelopes(asked)[0]))
    return asked, event


async def test_run_killed_at_every_journal_boundary_ends_with_exactly_one_answer(
    everywhere: bool, tmp_path: Path
) -> None:
    kills = 0
    async with systems(demo_scripts()) as (slack, environment):
        for n in range(1, 100):
            codes = []
            for when in sides(everywhere, n):
                folder = tmp_path / f"{when}{n}"
                asked, event = await ask(slack, folder)
                codes.append(await gofer(folder, environment, event, when, n))
                if codes[-1]:
                    assert await gofer(folder, environment, event, "never", 0) == 0
                check(slack, asked, await ended(folder))
            kills += sum(code != 0 for code in codes)
            if not any(codes):
                break
    # The claim, five intents of calls, two of the model, and the end: 9 frames.
    assert kills == (18 if everywhere else 9)


LONG = """\
- name: three-messages
  steps:
    - text: "{}"
""".format("\\n\\n".join(f"Service {n} is fine. " + "word " * 170 for n in range(34)))


async def test_long_answer_killed_between_messages_is_posted_once_per_message(everywhere: bool, tmp_path: Path) -> None:
    kills = 0
    async with systems(load_scripts(LONG, "three messages")) as (slack, environment):
        # Claim, reading, status, model, the first message; then the intents of two more and the end.
        for n in range(6, 9):
            for when in sides(everywhere, n):
                folder = tmp_path / f"{when}{n}"
                asked, event = await ask(slack, folder)
                kills += await gofer(folder, environment, event, when, n) != 0
                assert await gofer(folder, environment, event, "never", 0) == 0
                entries = await ended(folder)
                check_parts(slack, asked)
                calls = [entry.call for entry in entries if isinstance(entry, ToolCall)]
                assert calls[-3:] == ["answer/1", "answer-part/2", "answer-part/3"]
    assert kills == (6 if everywhere else 3)


def check_parts(slack: SlackSimulator, asked: Message) -> None:
    """Check that three bot messages follow the question and together name each service once, in order."""
    thread = slack.workspace.replies(slack.workspace.parent(asked))
    after = thread[thread.index(asked) + 1 :]
    assert [message.user for message in after] == [slack.workspace.bot.user] * 3
    words = " ".join(str(message.blocks[0]["text"]) for message in after)
    assert re.findall(r"Service (\d+) is fine", words) == [str(n) for n in range(34)]


async def ended(folder: Path) -> list[object]:
    with read_state(folder / "state", SystemClock()) as state:
        (head,) = await state.store.heads(9, private=True)
        entries = [item.entry for item in await read_journal(head.run, state.store, state.blobs)]
        assert head.status == "done"
    return entries


def check(slack: SlackSimulator, asked: Message, entries: list[object]) -> None:
    """Check the state of an undisturbed run: one answer to this question, one delivery in its journal."""
    parent = slack.workspace.parent(asked)
    bot = slack.workspace.bot.user
    thread = slack.workspace.replies(parent)
    after = thread[thread.index(asked) + 1 :]
    assert [message.user for message in after] == [bot]
    assert "address form in checkout" in after[0].text
    assert entries[-2] == RunFinished("done")
    assert sum(isinstance(entry, ToolCall) and entry.call == "answer/1" for entry in entries) == 1


WORD = """\
- name: one-word
  steps:
    - text: "Whatever"
"""


async def test_script_killed_at_every_journal_boundary_has_each_effect_once(everywhere: bool, tmp_path: Path) -> None:
    kills = 0
    async with systems(load_scripts(WORD, "one word")) as (slack, environment):
        # The claim, the reading and the status come first, as in every run.
        for n in range(4, 100):
            codes = []
            for when in sides(everywhere, n):
                folder = tmp_path / f"{when}{n}"
                asked, event = await ask(slack, folder)
                codes.append(await gofer(folder, environment, event, when, n, ROOT / "tests" / "scripted"))
                if codes[-1]:
                    assert await gofer(folder, environment, event, "never", 0, ROOT / "tests" / "scripted") == 0
                check_script(slack, asked, await ended(folder))
            kills += sum(code != 0 for code in codes)
            if not any(codes):
                break
    assert kills >= (10 if everywhere else 5)


def check_script(slack: SlackSimulator, asked: Message, entries: list[object]) -> None:
    """Check for one reaction, one note and one answer with the number of the note."""
    bot, thread = slack.workspace.bot.user, slack.workspace.replies(slack.workspace.parent(asked))
    (question,) = [message for message in thread if message.ts == asked.ts]
    after = thread[thread.index(question) + 1 :]
    assert [message.user for message in after] == [bot] * 2
    texts = [str(message.blocks[0]["text"]) for message in after]
    (note,) = [text for text in texts if text.startswith("Note ")]
    (answer,) = [text for text in texts if text.startswith("Noted as ")]
    assert re.findall(r"\d{4,}", note)[0] == re.findall(r"\d{4,}", answer)[0]
    assert {name: list(users) for name, users in question.reactions.items()} == {"eyes": [bot]}
    assert entries[-2] == RunFinished("done")


SAYS = """
- name: post
  when: {says: 'tell #general', tools: [slack_post_message]}
  steps:
    - calls: [{slack_post_message: {text: lunch is ready, channel: '#general'}}]
    - text: That is all.
"""
WORKFLOW = """description: d
owner: "#general"
when: [slack.mention]
model: gpt-5
tools: [slack_post_message]
approve: {tools: [slack_post_message], by: "@leads"}
"""


async def test_approved_tool_call_killed_after_any_frame_happens_once(everywhere: bool, tmp_path: Path) -> None:
    """The frames from the first question to the model's last answer; the others are tested above."""
    agents = tmp_path / "agents"
    agents.mkdir()
    (agents / "answer-here.yaml").write_text(WORKFLOW)
    (agents / "answer-here.md").write_text("Do what you are told.")
    async with systems(load_scripts(SAYS, "s")) as (slack, environment):
        for asks, n in enumerate(spread(everywhere, range(4, 14), 2), start=1):
            folder = tmp_path / str(n)
            folder.mkdir()
            asked = await slack.say("U0CAPTN0", "C0DEPLOY0", slack.typed("@Gofer tell #general"))
            event = folder / "event.json"
            event.write_text(json.dumps(slack.envelopes(asked)[0]))
            code = await gofer(folder, environment, event, "after", n, tmp_path)
            assert code == -signal.SIGKILL
            assert await gofer(folder, environment, event, "never", 0, tmp_path) == 0
            said = [one for one in slack.workspace.timeline("C0GENERA0") if one.text == "lunch is ready"]
            assert len(said) == asks
            replies = [one for one in slack.workspace.replies(asked) if one.bot_id]
            (question,) = [one for one in replies if "Approved by Support Lead" in str(one.blocks)]
            assert "actions" not in [block["type"] for block in question.blocks]
