"""A killed private run: the disk reveals no contents, before and after the run ends."""

import json
import signal
from pathlib import Path

import pytest

from gofer.app.embedded.server import serve
from gofer.app.embedded.state import read_state
from gofer.runtime.retention import Purger
from gofer.values.model_script import load_scripts
from gofer.values.outside import SystemClock
from gofer_simulators.demo import demo_world
from gofer_simulators.offline_model import offline_model
from gofer_simulators.slack.simulator import SlackSimulator
from support.app.company import ROOT
from support.crashes.crashing_gofer import live
from support.crashes.forked_gofer import ended as ended_with
from support.crashes.spread import spread
from support.http import loopback
from support.journal.forensic_examiner import files, holding, opens

pytestmark = pytest.mark.anyio

EVER = 10**15
WORDS = "the salary of the captain"
SAYS = f"""
- name: private
  steps:
    - text: "About {WORDS}: it was raised."
"""


async def test_private_run_killed_anywhere_leaves_no_readable_contents_on_disk(
    everywhere: bool, tmp_path: Path
) -> None:
    async with loopback.client() as http:
        slack = SlackSimulator(demo_world(), clock=SystemClock().now, http=http)
        leads = next(channel for channel in slack.workspace.channels.values() if channel.name == "leads")
        async with serve(slack.app) as slack_url, serve(offline_model(load_scripts(SAYS, "private"))) as model_url:
            environment = {
                "SLACK_API_URL": f"{slack_url}/api",
                "SLACK_BOT_TOKEN": "xoxb-simulated",
                "OPENAI_BASE_URL": f"{model_url}/v1",
            }
            for n in spread(everywhere, range(1, 9), 3):
                folder = tmp_path / str(n)
                folder.mkdir()
                asked = await slack.say("U0CAPTN0", leads.id, slack.typed(f"@Gofer what about {WORDS}?"))
                event = folder / "event.json"
                event.write_text(json.dumps(slack.envelopes(asked)[0]))
                told = {**environment, "GOFER_DATA": str(folder / "state")}
                assert await ended_with(live, told, ROOT, event, "after", n) in (0, -signal.SIGKILL)
                await examine(folder / "state", told, event)


async def examine(state: Path, told: dict[str, str], event: Path) -> None:
    """Search the disk after the kill, and again after the end of the run."""
    killed = files(state)
    clock = SystemClock()
    with read_state(state, clock) as opened:
        listed = [head.run for head in await opened.store.heads(9, private=True)]
        (run,) = {*listed, *await opened.store.unlisted(EVER, 9)}
        key = await opened.store.key(run)
        frames = [frame for frame in await opened.store.frames(run) if frame]
    secrets = [WORDS.encode(), *([key] if key else []), *frames]
    assert [name for name, raw in killed.items() if key and holding(raw, key)] == (["keys"] if key else [])
    assert [name for name, raw in killed.items() if holding(raw, WORDS.encode())] == []
    assert await ended_with(live, told, ROOT, event, "never", 0) == 0
    with read_state(state, clock) as opened:
        await Purger(opened.stores, clock).purge()
        (head,) = await opened.store.heads(9, private=True)
        assert head.retention == "deleted"
        left = files(state)
    assert [name for name, raw in left.items() if holding(raw, *secrets)] == []
    assert not any(opens(left["keys"], head.run, n, frame) for n, frame in enumerate(frames, start=1))
