"""The scene of a Gofer that is killed: a second process on the same Slack, and the one after it."""

import asyncio
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from gofer.app.demo.tour import WORKFLOW, Tour, TourFailed
from gofer_simulators.slack import Message

PATIENCE = 120.0
"""Seconds the scene waits for a process at most."""


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Another Gofer on this machine: its own state, the same Slack and model."""

    environment: Mapping[str, str]
    data: Path

    async def start(self, *words: str) -> asyncio.subprocess.Process:
        """Return a `gofer` process."""
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "gofer.cli.main", *words),
            env={**self.environment, "GOFER_DATA": str(self.data)},
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
        )

    async def finish(self, *words: str) -> None:
        """Wait for a `gofer` process that has to come out well. Raises TourFailed with what it said."""
        process = await self.start(*words)
        async with asyncio.timeout(PATIENCE):
            _, said = await process.communicate()
        if process.returncode:
            raise TourFailed(f"`gofer {words[0]}` failed: {said.decode(errors='replace').strip()}")


async def killed_between_a_call_and_its_outcome(tour: Tour, environment: Mapping[str, str]) -> None:
    """Kill a process when Slack has its message and it does not know yet; the next one ends with one answer."""
    tour.title("8. Killed between a tool call and its outcome")
    asked = tour.question()
    held = tour.slack.hold_next("chat.postMessage")
    with TemporaryDirectory(prefix="gofer-") as folder:
        elsewhere = Elsewhere(environment, Path(folder) / "state")
        event = Path(folder) / "event.json"
        event.write_text(json.dumps(tour.slack.envelopes(asked)[0]))
        process = await elsewhere.start("run", WORKFLOW, "--event", str(event), "--live-tools")
        async with asyncio.timeout(PATIENCE):
            await held.wait()
        process.kill()
        await process.wait()
        tour.say("Another Gofer process posted to Slack and was killed (SIGKILL) before Slack's answer reached it:")
        tour.show_thread(asked)
        tour.say("A new process finds the call without an outcome in the journal. It waits until a late message would")
        tour.say("be there, looks for its own mark in the thread, finds it, and goes on from there:")
        await elsewhere.finish("sweep")
    _one_answer(tour, asked)


def _one_answer(tour: Tour, asked: Message) -> None:
    tour.show_thread(asked)
    answers = tour.answers(asked)
    tour.say(f"Answers in the thread: {len(answers)}.")
    if len(answers) != 1 or answers[0].edited_ts is None:
        raise TourFailed(f"expected one finished answer, found {len(answers)}")
