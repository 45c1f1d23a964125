"""`gofer suggest` finds a planted weakness from feedback and reviews, proves its edit by replay, and writes a branch.

A script answers in place of the models, so the journeys show that the steps work, and prove nothing about a model.
"""

import asyncio
import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gofer.app.embedded.server import serve
from gofer.journal.head_facts import decode
from support.app import filed_tickets
from support.app.command_line import gofer
from support.app.company import ROOT, Company, company
from support.app.filed_tickets import EVAL, NAME, PROMPT, TICKETS, WORKFLOW, TicketModel, is_forgotten, thread
from support.app.shipped_workflows import GENERAL, SUPPORT
from support.http.threaded_server import Requests, serving

Capture = pytest.CaptureFixture[str]


def write_repository(folder: Path) -> None:
    """Write a repository with the forgetful workflow, and commit it."""
    (folder / "agents").mkdir(parents=True)
    for name in ("defaults.yaml", "preamble.md"):
        shutil.copy(ROOT / "agents" / name, folder / "agents")
    (folder / "agents" / f"{NAME}.yaml").write_text(WORKFLOW)
    (folder / "agents" / f"{NAME}.md").write_text(PROMPT)
    (folder / "evals" / "payloads").mkdir(parents=True)
    (folder / "evals" / f"{NAME}.yaml").write_text(EVAL)
    shutil.copy(ROOT / "evals" / "payloads" / "file-ticket-one-ticket.json", folder / "evals" / "payloads")
    (folder / ".gitignore").write_text("state/\n")
    git(folder, "init", "--initial-branch=main")
    git(folder, "config", "user.name", "Owner")
    git(folder, "config", "user.email", "owner@example.com")
    git(folder, "add", ".")
    git(folder, "commit", "-m", "Begin")


def git(folder: Path, *words: str) -> str:
    """Run Git in a folder, and return its output."""
    ended = subprocess.run(["git", "-C", str(folder), *words], check=True, capture_output=True, encoding="utf-8")
    return ended.stdout


async def filed(folder: Path) -> None:
    """Let people react to twenty messages and then to the answers, and wait for the reviews."""
    with TicketModel().served() as url:
        await _filed(folder, url)


async def _filed(folder: Path, url: str) -> None:
    async with company(folder, root=folder, OPENAI_BASE_URL=url) as made:
        for number in range(TICKETS):
            asked = await made.slack.say(SUPPORT, GENERAL, thread(number))
            await made.slack.react(SUPPORT, asked.channel, asked.ts, "jira")
            await made.ended(number + 1)
            (answer,) = made.answers(asked)
            emoji = "+1"
            if is_forgotten(number):
                emoji = "-1"
            await made.slack.react(SUPPORT, answer.channel, answer.ts, emoji)
        await reviewed(made)


async def reviewed(made: Company) -> None:
    """Wait until each run has its feedback and its review."""
    async with asyncio.timeout(60):
        while True:
            facts = [decode(head.facts) for head in await made.ended(TICKETS)]
            if all(fact is not None and fact.is_reviewed and fact.has_feedback for fact in facts):
                return
            await asyncio.sleep(0.05)


@pytest.fixture(scope="module")
def twenty_tickets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a repository with the state of twenty runs."""
    folder = tmp_path_factory.mktemp("tickets")
    write_repository(folder)
    asyncio.run(filed(folder))
    return folder


def test_fixture(twenty_tickets: Path) -> None:
    shutil.copytree(twenty_tickets, "/tmp/suggest-tickets", dirs_exist_ok=True)
