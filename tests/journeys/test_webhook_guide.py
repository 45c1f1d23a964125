"""docs/webhooks.md, followed literally in a checkout, with calls to a running Gofer."""

import asyncio
import json
import os
import re
from pathlib import Path

import pytest

from support.app.company import ROOT
from support.app.serve_process import OperatorFolder, operator_folder
from support.guides.checkout import FENCE, checkout

pytestmark = pytest.mark.anyio

GUIDE = (ROOT / "docs" / "webhooks.md").read_text()
FILES = {name: text for _, name, text in FENCE.findall(GUIDE) if name}
COMMANDS = [text for kind, name, text in FENCE.findall(GUIDE) if kind == "sh" and not name]
CALLS = [text for text in COMMANDS if "curl" in text]
SECRET = "as-long-as-it-is-secret"
TOKENS = {"SLACK_BOT_TOKEN": "xoxb-simulated", "SLACK_APP_TOKEN": "xapp-simulated"}


def write_files(folder: Path) -> None:
    for name, text in FILES.items():
        (folder / name).write_text(text)


async def call(script: str, url: str, secret: str) -> str:
    """Make a call of the guide to this Gofer; return what it prints."""
    environment = {"PATH": os.environ["PATH"], "WEBHOOK_SECRET": secret}
    process = await asyncio.create_subprocess_exec(
        *("sh", "-euc", script.replace("https://gofer.example.com", url)),
        env=environment,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, errors = await process.communicate()
    assert errors == b""
    return out.decode()


async def runs(made: OperatorFolder) -> list[str]:
    """Return the workflows of the runs that the guide's calls started."""
    listed = json.loads(await made.read("runs", "--json"))
    return sorted(run["workflow"] for run in listed)


async def test_repeated_call_of_the_webhook_guide_starts_one_run(tmp_path: Path) -> None:
    async with operator_folder(tmp_path) as made:
        write_files(tmp_path)
        made.write_env(**TOKENS, WEBHOOK_SECRET=SECRET)
        running = await made.start("serve", "--port", "0")
        await running.says("/runs")
        url = re.findall(r"(http://127\.0\.0\.1:\d+)/runs", "\n".join(running.lines))[-1]
        for script in CALLS:
            assert [await call(script, url, SECRET) for _ in range(2)] == ["Accepted."] * 2
            assert await call(script.replace("Lovelace", "Byron"), url, SECRET) == (
                "A different body was accepted under this key. Send this one with another key."
            )
            refused = await call(script, url, "guess")
            assert "secret of this hook" in refused or "matches" in refused
        assert await runs(made) == ["greet-signup", "new-hire-checklist"]
        assert await running.stop() == 0


def test_commands_of_the_webhook_guide_succeed(tmp_path: Path) -> None:
    terminal = checkout(tmp_path / "gofer")
    write_files(terminal.folder)
    check, tried = (text for text in COMMANDS if "curl" not in text)
    terminal.type(check)
    terminal.type(tried)
    assert "\n  starts greet-signup\n" in terminal.says()
