"""Contents of a private place stay there unless a person approves or the workflow allows it."""

import asyncio
import json
import logging
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest

from gofer.cli.main import main
from gofer.journal.coordination import Head
from gofer.values.model_script import load_scripts
from gofer_simulators.demo import demo_world
from gofer_simulators.jira.simulator import JiraSimulator
from gofer_simulators.slack.workspace import Message
from support.app.company import Company, company

pytestmark = pytest.mark.anyio

CANARY = "canary-5b1d"
"""A text in the private place, repeated by the answer there."""
WORDS = "spoken-77e0"
"""A text that the model writes to other places."""
RFC = "5f1c7d2e-0a3b-4c4d-8e9f-000000000012"
SECRET, PARTNER = "PAY-18", "712020:people"
"""A Jira issue with restricted visibility, and a person who sees it."""
LEADS, CAPTAIN, LEAD = "C0LEADS00", "U0CAPTN0", "U0SUPPT0"
TOOLS = (
    "slack_post_message",
    "slack_post_file",
    "slack_update_message",
    "slack_add_reaction",
    "slack_post_direct",
    "jira_add_comment",
    "jira_create_issue",
    "notion_add_comment",
    "notion_append_content",
    "github_add_comment",
    "github_create_issue",
)
SAYS = f"""
- name: spread
  when: {{says: '(?P<words>{WORDS})', tools: [jira_add_comment]}}
  steps:
    - calls:
        - slack_post_message: {{text: '{{words}}', channel: '#general'}}
        - slack_post_file: {{text: '{{words}}', name: notes.txt, channel: C0GENERA0}}
        - slack_post_direct: {{text: '{{words}}'}}
        - jira_add_comment: {{text: '{{words}}', issue: PAY-17}}
        - jira_create_issue: {{project: PAY, type: Task, summary: '{{words}}', description: '{{words}}'}}
        - notion_add_comment: {{text: '{{words}}', page: {RFC}}}
        - notion_append_content: {{text: '{{words}}', page: {RFC}}}
        - github_add_comment: {{text: '{{words}}', repository: acme/shop, number: 41}}
        - github_create_issue: {{title: '{{words}}', repository: acme/shop}}
    - text: 'That was about {CANARY}.'
- name: at home
  when: {{says: '(?P<words>{CANARY})', tools: [jira_add_comment]}}
  steps:
    - calls:
        - jira_add_comment: {{text: 'A note on {{words}}'}}
        - slack_post_message: {{text: '{{words}}', channel: '#general'}}
    - text: 'That was about {{words}}.'
"""
CALLS = 9
"""The number of calls of the first script that write to other places."""
FIXED = f"""description: d
owner: "#general"
when: [slack.mention, jira.commented]
model: gpt-5
tools: [{", ".join(TOOLS)}]
writes: {{slack: ["#general"], jira: [PAY], notion: [{RFC}], github: [acme/shop]}}
"""


@dataclass
class Search:
    """Everywhere that contents of a run could appear, outside the place where it began."""

    made: Company
    folder: Path
    log: pytest.LogCaptureFixture

    def on_disk(self) -> dict[str, bytes]:
        """Return every file of the state with its WAL and blobs, and every row of every table, by name."""
        state = self.folder / "state"
        found = {str(path.relative_to(state)): path.read_bytes() for path in state.rglob("*") if path.is_file()}
        with sqlite3.connect(f"file:{state / 'gofer.db'}?mode=ro", uri=True) as database:
            for (table,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
                for number, row in enumerate(database.execute(f'SELECT * FROM "{table}"')):
                    values = (value if isinstance(value, bytes) else str(value).encode() for value in row)
                    found[f"{table} {number}"] = b"\n".join(values)
        return found

    def logged(self) -> str:
        """Return the log lines of all levels with all their fields, without the requests of this test."""
        lines = (f"{record.getMessage()} {record.__dict__}" for record in self.log.records)
        return "\n".join(line for line in lines if f"GET {self.made.embedded.url}" not in line)

    def outside(self) -> dict[str, str]:
        """Return the contents of each other system, and of each channel but the private one."""
        state = cast(dict[str, Any], self.made.embedded.simulated.state())
        channels = cast(dict[str, Any], state.pop("slack")["channels"])
        assert channels.pop("leads")["private"]
        whispers = [one for one in self.made.slack.workspace.whispers if one.channel != LEADS]
        files = list(self.made.slack.workspace.files.values())
        found = {f"#{name}": channel for name, channel in channels.items()} | state
        shown = {name: json.dumps(value) for name, value in found.items()}
        return {**shown, "whispers": str(whispers), "files": str(files)}

    async def pages(self, run: str) -> str:
        """Return the text of Gofer's own pages."""
        paths = ("/", "/runs", f"/runs/{run}", f"/runs/{run}/trace", "/prompts/spread")
        return "\n".join([(await self.made.get(path)).text for path in paths])

    async def found(self, run: str, *needles: str) -> set[str]:
        """Return where one of these texts can be read."""
        places = {**self.outside(), "log": self.logged(), "pages": await self.pages(run)}
        found = {name for name, text in places.items() if any(needle in text for needle in needles)}
        return found | {
            name for name, raw in self.on_disk().items() if any(needle.encode() in raw for needle in needles)
        }


@asynccontextmanager
async def company_with_search(
    folder: Path, log: pytest.LogCaptureFixture, keys: str
) -> AsyncIterator[tuple[Company, Search]]:
    """A company with all four systems, and one workflow that can write to each."""
    log.set_level(logging.DEBUG)
    agents = folder / "agents"
    agents.mkdir(exist_ok=True)
    (agents / "spread.yaml").write_text(FIXED + keys)
    (agents / "spread.md").write_text("Do what you are told.")
    scripts, world = load_scripts(SAYS, "s"), cast(dict[str, Any], demo_world())
    world["jira"]["issues"].append(
        {"key": SECRET, "summary": "Hiring", "type": "Task", "reporter": PARTNER, "security": "HR"}
    )
    async with company(folder, root=folder, scripts=scripts, world=world) as made:
        yield made, Search(made, folder, log)


async def begin(made: Company) -> Message:
    thread = await made.ask(f"It is about {CANARY}.", "leads")
    await made.ask(f"@Gofer spread {WORDS} everywhere", "leads", thread)
    return thread


async def waiting(made: Company) -> Head:
    """Return the run, once it is parked."""
    async with asyncio.timeout(60):
        while True:
            for head in await made.embedded.state.store.heads(9, private=True):
                if head.status == "parked":
                    return head
            await asyncio.sleep(0.01)


async def ended(made: Company) -> Head:
    """Return the run that was not ignored, once it ended and its contents were deleted."""
    async with asyncio.timeout(60):
        while True:
            found = [one for one in await made.ended() if one.status != "ignored"]
            if found and found[0].retention == "deleted":
                (head,) = found
                return head
            await asyncio.sleep(0.01)


async def press_all(made: Company, action: str) -> list[Message]:
    """Press the same button on every question to the captain; return the questions. Two noes are the last ones."""
    pressed: list[Message] = []
    async with asyncio.timeout(60):
        while len(pressed) < (2 if action == "deny" else CALLS):
            asked = [one for one in made.slack.whispers(CAPTAIN) if " take this " in one.text]
            for one in [one for one in asked if one not in pressed]:
                await waiting(made)
                assert await made.slack.press(one, action, CAPTAIN)
                pressed.append(one)
            await asyncio.sleep(0.01)
    return pressed


async def listed(folder: Path, run: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    """Return what `gofer runs` prints, and assert that `gofer trace` refuses this run."""
    monkeypatch.setenv("GOFER_DATA", str(folder / "state"))
    assert await asyncio.to_thread(main, ["trace", run]) != 0
    capsys.readouterr()
    assert [await asyncio.to_thread(main, ["runs", *more]) for more in ([], ["--json"])] == [0, 0]
    return "".join(capsys.readouterr())


SPREAD = {"#general", "jira", "notion", "github"}
"""The public places that the calls of the first script write to."""


@pytest.mark.parametrize(
    ("policy", "leave"), [("reply_only", "deny"), ("refuse", ""), ("reply_only", "approve"), ("allow", "")]
)
async def test_text_of_a_private_channel_appears_nowhere_else(
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    policy: str,
    leave: str,
) -> None:
    async with company_with_search(tmp_path, caplog, f"private_channels: {policy}\n") as (made, search):
        thread = await begin(made)
        if leave:
            head = await waiting(made)
            assert await search.found(head.run, CANARY, WORDS, f"/runs/{head.run}") == set()
            shown = await listed(tmp_path, head.run, monkeypatch, capsys)
            assert not any(needle in shown for needle in (CANARY, WORDS, head.run[:8]))
            questions = await press_all(made, leave)
            assert {one.channel for one in questions} == {LEADS}
        head = await ended(made)
        assert head.private
        assert [answer.text for answer in made.answers(thread)][-1].endswith(f"That was about {CANARY}.")
        written = SPREAD if "approve" in leave or policy == "allow" else set[str]()
        assert await search.found(head.run, CANARY, f"/runs/{head.run}") == set()
        assert SPREAD & await search.found(head.run, WORDS) == written
        assert not {"log", "pages"} & await search.found(head.run, WORDS, head.run[:8])
        assert any(head.run.encode() in raw for raw in search.on_disk().values())
    shown = await listed(tmp_path, head.run, monkeypatch, capsys)
    assert not any(needle in shown for needle in (CANARY, WORDS, head.run[:8]))


@pytest.mark.parametrize("by", ["requester", "'@leads'"])
async def test_approval_in_a_private_channel_shows_the_arguments_only_there(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, by: str
) -> None:
    keys = f"private_channels: allow\napprove: {{tools: [slack_post_message], by: {by}}}\n"
    async with company_with_search(tmp_path, caplog, keys) as (made, search):
        thread = await begin(made)
        head = await waiting(made)
        (question,) = [one for one in made.answers(thread) if any(b["type"] == "actions" for b in one.blocks)]
        assert (question.channel, WORDS in str(question.blocks)) == (LEADS, True)
        assert await search.found(head.run, CANARY, WORDS) == set()
        assert await made.slack.press(question, "deny", CAPTAIN if by == "requester" else LEAD)
        head = await ended(made)
        assert await search.found(head.run, CANARY) == set()
        assert WORDS not in search.outside()["#general"]


@pytest.mark.parametrize("keys", ["", "approve: {tools: [slack_post_message], by: '@leads'}\n"])
async def test_private_jira_issue_is_answered_there_and_leads_to_no_slack_question(
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    keys: str,
) -> None:
    async with company_with_search(tmp_path, caplog, keys) as (made, search):
        jira = made.embedded.simulated.system(JiraSimulator)
        assert jira is not None
        jira.people.comment(PARTNER, jira.site.issue(SECRET), f"It is about {CANARY}.")
        await jira.settled()
        head = await ended(made)
        issues = cast(dict[str, Any], jira.state())
        asked, note, answer = (json.dumps(one) for one in issues.pop(SECRET)["comments"])
        assert head.private
        assert [CANARY in asked, "A note on" in note, "That was about" in answer] == [True, True, True]
        assert await search.found(head.run, CANARY, f"/runs/{head.run}") == {"jira"}
        assert CANARY not in json.dumps(issues)
        shown = await listed(tmp_path, head.run, monkeypatch, capsys)
        # Not even that Gofer's own comments there started nothing.
        assert shown.split("\n")[:2] == ["[]", "There are no runs that may be listed."]
