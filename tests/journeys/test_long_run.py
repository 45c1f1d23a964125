"""A run of 300 turns in a small window, killed halfway and continued."""

import asyncio
import random
import re
import signal
from itertools import pairwise
from pathlib import Path

import pytest

from gofer_simulators.slack.workspace import Message
from support.app.serve_process import SECRET, OperatorFolder, free_port, operator_folder
from support.models.deciding_provider import Said, Sent, deciding

pytestmark = pytest.mark.anyio
PAGES, LINES = 300, 16
KILLED_AT = 160
WINDOW = 16_000
WORKFLOW = f"""\
description: d
owner: "#helpers"
when: [slack.mention]
context: {{window: {WINDOW}}}
limits: {{llm_calls: 1000, tool_calls: 1000, tokens: 100000000, minutes: 60, usd: 1000}}
"""


def ledger() -> tuple[str, int, str]:
    """Return 300 pages of 16 lines, the sum of all amounts, and the clerk of the third page."""
    chance = random.Random(3)
    names = [f"Clerk-{chance.randrange(10**6)}" for _ in range(PAGES)]
    amounts = [chance.randrange(10_000) for _ in range(PAGES)]
    rows: list[str] = []
    for page, (name, amount) in enumerate(zip(names, amounts, strict=True), 1):
        rows += [f"Page {page} comes to {amount} EUR, signed by {name}."]
        rows += [f"Item {chance.randrange(10**9)} was delivered and checked, and is paid." for _ in range(LINES - 1)]
    return "\n".join(rows), sum(amounts), names[2]


def adds(sent: Sent) -> Said:
    """Read page after page and add up, from the request alone; at the end search for a detail that no summary has."""
    seen = "\n".join(str(message["content"]) for message in sent.history)
    known = re.findall(r"SUM (\d+) THROUGH PAGE (\d+)", seen)
    total, through = map(int, known[-1]) if known else (0, 0)
    for page, amount in re.findall(r"Page (\d+) comes to (\d+) EUR", seen):
        if int(page) == through + 1:
            total, through = total + int(amount), through + 1
    if sent.sums_up:
        return f"SUM {total} THROUGH PAGE {through}"
    if through < PAGES:
        start = through * LINES + 1
        return [("file_read", {"file": sent.files["ledger.txt"], "start_line": start, "end_line": start + LINES - 1})]
    if signed := re.findall(r"Page 3 comes to \d+ EUR, signed by (\S+)\.", seen):
        return f"All pages come to {total} EUR; page 3 was signed by {signed[0]}."
    (oldest,) = [file for name, file in sent.files.items() if name.startswith("turns-1-to-")]
    return [("file_regex", {"file": oldest, "pattern": "^Page 3 comes", "context": 0})]


async def answered(made: OperatorFolder, asked: Message) -> str:
    async with asyncio.timeout(120):
        while not (answers := made.answers(asked)) or answers[0].edited_ts is None:
            await asyncio.sleep(0.05)
    (answer,) = answers
    return answer.text


async def test_run_of_300_turns_killed_halfway_ends_with_the_right_answer(tmp_path: Path) -> None:
    text, total, clerk = ledger()
    killed = asyncio.Event()

    async def kill(sent: Sent) -> None:
        if len(model.sent) == KILLED_AT:
            running.process.kill()
            killed.set()

    async with operator_folder(tmp_path) as made, deciding(adds, kill) as (model, url):
        for name in ("answer-here.yaml", "answer-here.md"):
            (tmp_path / "agents" / name).write_text(WORKFLOW if name.endswith("yaml") else "Help.")
        port = free_port()
        environment = {"SLACK_BOT_TOKEN": "xoxb-simulated", "SLACK_SIGNING_SECRET": SECRET}
        made.write_env(**environment, OPENAI_BASE_URL=url, OPENAI_API_KEY="sk-test")
        made.slack.subscribe(f"http://127.0.0.1:{port}/slack/events")
        running = await made.start("serve", "--port", str(port))
        await running.says("/runs")
        question = made.slack.typed("@Gofer what do all pages come to, and who signed page 3?")
        asked = await made.slack.upload("U0CAPTN0", "C0GENERA0", "ledger.txt", text.encode(), question)
        await asyncio.wait_for(killed.wait(), 120)
        assert await running.ends() == -signal.SIGKILL
        running = await made.start("serve", "--port", str(port))
        assert await answered(made, asked) == f"All pages come to {total} EUR; page 3 was signed by {clerk}."
        assert await running.stop() == 0
    heard = [sent for sent in model.sent if not sent.sums_up]
    # Each page once, the search, the answer, and the request that was interrupted by the kill.
    assert len(heard) == PAGES + 3
    # The next process sends the interrupted request again, byte for byte.
    assert model.sent[KILLED_AT].body == model.sent[KILLED_AT - 1].body
    assert (folded := len(model.sent) - len(heard)) > 5
    assert max(len(sent.body) // 4 for sent in model.sent) < WINDOW
    # Except after a summary, each request begins with all of the one before.
    begun_anew = sum(not later.body.startswith(sooner.before_tail) for sooner, later in pairwise(heard))
    assert begun_anew == folded
