"""CPU of evals beyond the bare runs, for 100 cases with 5 plays each, two model calls and two tool calls in each play.

Run with `make bench`. Nothing here asserts a time. The nearest equivalents of pydantic-evals and inspect_ai are
measured too if `.bench` has both, which are no dependencies:

    python3 -m venv .bench && .bench/bin/pip install pydantic-evals inspect_ai
"""

import asyncio
import contextlib
import json
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

from gofer.app.catalog import checked_catalog
from gofer.app.embedded.runner import Runner, build_runner, memory_stores
from gofer.app.embedded.simulators import reaching
from gofer.app.evals.case_world import CaseWorld, Tools, network
from gofer.app.evals.player import Player, Playing, open_player
from gofer.app.evals.repeatable import Seed, VirtualClock
from gofer.app.event_input import EventInput, event_input
from gofer.app.http import http_client
from gofer.app.model_endpoints import only
from gofer.app.settings import read_settings
from gofer.app.worker import ChildProcesses
from gofer.engine.effects import Patience
from gofer.evals.grading.grading import graded_case
from gofer.evals.load import LoadedEval, load_evals
from gofer.files.child import Children
from gofer.files.sandbox.python import sandbox
from gofer.models.scripted import ScriptedModel
from gofer.values.model_script import load_scripts
from gofer.values.proxies import DIRECT
from gofer_simulators.demo import demo_world

CASES = 100
PLAYS = 5
ROOT = Path(__file__).parents[2]
WORKFLOW = """\
description: Read two channels, then answer.
owner: "#ops"
when: [slack.mention]
tools: [slack_read_channel]
reply: thread
"""
DEFAULTS = """\
models: {default: gpt-5.4-mini}
limits: {tool_calls: 9, llm_calls: 9, tokens: 90000, minutes: 5, usd: 1}
"""
SCRIPT = """\
- name: any
  steps:
    - calls:
        - slack_read_channel: {channel: '#general', limit: 10}
        - slack_read_channel: {channel: '#deploys', limit: 10}
    - text: The search filters can go.
"""


def payload(number: int) -> Mapping[str, object]:
    return {
        "type": "event_callback",
        "team_id": "T0ACME00",
        "api_app_id": "A0GOFER0",
        "event_id": f"Ev{number}",
        "event_time": 1772441940,
        "authorizations": [{"team_id": "T0ACME00", "user_id": "U0GOFER0", "is_bot": True}],
        "event": {
            "type": "app_mention",
            "user": "U0CAPTN0",
            "team": "T0ACME00",
            "channel": "C0DEPLOY0",
            "ts": "1772441940.000100",
            "event_ts": "1772441940.000100",
            "thread_ts": "1772438880.000000",
            "text": f"<@U0GOFER0> question {number}: what can go?",
        },
    }


def write_folder(folder: Path) -> None:
    """Write a repository with one workflow and an eval of 100 cases."""
    (folder / "agents").mkdir()
    (folder / "evals" / "scripts").mkdir(parents=True)
    (folder / "agents" / "defaults.yaml").write_text(DEFAULTS)
    (folder / "agents" / "ask.yaml").write_text(WORKFLOW)
    (folder / "agents" / "ask.md").write_text("Read #general and #deploys, then answer.")
    (folder / "evals" / "scripts" / "ask.yaml").write_text(SCRIPT)
    expect = {
        "tools": {"required": ["slack_read_channel"]},
        "world": {"counts": {"/slack/channels/deploys/messages/*": 1}},
        "output": {"contains_all": "search filters"},
    }
    cases = [
        {"name": f"case-{number}", "trigger": {"payload": payload(number)}, "expect": expect}
        for number in range(1, CASES + 1)
    ]
    text = json.dumps({"workflow": "ask", "world": "demo", "cases": cases}, indent=1)
    (folder / "evals" / "ask.yaml").write_text(text)


async def play_all(player: Player, loaded: LoadedEval, plays: int) -> None:
    """Play and grade each case."""
    for case in loaded.eval.cases:
        for number in range(1, plays + 1):
            play = await player.play(loaded, case, number)
            assert not play.no_evidence
            assert [grade.happened for grade in graded_case(case, play) if not grade.passed] == []


async def seconds_of_evals(folder: Path, loaded: LoadedEval) -> float:
    """Return the CPU seconds of all plays with recorded answers, and of their grades."""
    settings = read_settings({})
    async with open_player(settings, folder, Playing("scripted", record=True)) as recording:
        await play_all(recording, loaded, 1)
    async with open_player(settings, folder, Playing()) as player:
        await player.play(loaded, loaded.eval.cases[0], 1)
        began = time.process_time()
        await play_all(player, loaded, PLAYS)
        return time.process_time() - began


async def seconds_of_bare_runs(folder: Path) -> float:
    """Return the CPU seconds of the same runs, each in a new world whose making is not measured."""
    scripts = load_scripts(SCRIPT, "a benchmark")
    catalog = checked_catalog(folder / "agents")
    world = CaseWorld(demo_world(), {})
    spent = 0.0
    async with http_client(DIRECT) as http:
        with contextlib.closing(Children()) as children, contextlib.closing(sandbox()) as python:
            processes = ChildProcesses(children, python)
            common: Runner | None = None
            for number in range(CASES * PLAYS):
                clock = VirtualClock(1_772_442_000.0)
                simulated = world.open(clock, http)
                seed = Seed("bench", str(number))
                outside = seed.outside(network(simulated), clock)
                models = only(ScriptedModel(scripts))
                settings = reaching(simulated, read_settings({}), bytes(32))
                stores = memory_stores()
                if common is None:
                    common = build_runner(settings, catalog, stores, models, outside, processes, as_they_are)
                runner = common.over(stores, models, outside, Patience(), as_they_are)
                body = json.dumps(payload(number)).encode()
                event = event_input(catalog, "ask", EventInput("", body), clock.now())
                simulated.adopt(event, body)
                began = time.process_time()
                run = await runner.work(await runner.start(event, "ask"))
                spent += time.process_time() - began
                assert run.status == "done", run.reason
    return spent


def as_they_are(tools: Tools) -> Tools:
    return tools


def seconds_of_others() -> Mapping[str, float]:
    """Return the CPU seconds of other libraries; none without their Python."""
    python = ROOT / ".bench" / "bin" / "python"
    if not python.exists():
        return {}
    found: dict[str, float] = {}
    for name in ("pydantic_evals", "inspect_ai"):
        script = Path(__file__).with_name(f"{name}_500.py")
        done = subprocess.run([str(python), str(script)], capture_output=True, text=True, check=True)
        found[name] = float(done.stdout)
    return found


def test_cpu_of_evals_beyond_bare_runs(tmp_path: Path) -> None:
    write_folder(tmp_path)
    (loaded,) = load_evals(tmp_path / "evals")
    bare = asyncio.run(seconds_of_bare_runs(tmp_path))
    played = asyncio.run(seconds_of_evals(tmp_path, loaded))
    print(f"\n{CASES} cases, {PLAYS} plays each, two model and two tool calls a play (CPU seconds)")
    print(f"  bare runs                    {bare:6.2f}")
    print(f"  evals with grades            {played:6.2f}  ratio {played / bare:5.2f}")
    print(f"  beyond the bare runs         {played - bare:6.2f}  aim 3.00")
    for name, seconds in seconds_of_others().items():
        print(f"  {name:28} {seconds:6.2f}  ratio to evals {seconds / played:5.2f}")
