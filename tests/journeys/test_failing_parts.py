"""Long-lived parts of a process that fail once: each is reported, begins again, and later mentions are answered."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from gofer.app.embedded.readiness import PATH
from support.app.company import Company, ask_about_the_decision, company

pytestmark = pytest.mark.anyio


PARTS = {
    "worker": "MemoryError",
    "sweeper": "MemoryError",
    "purger": "MemoryError",
    "scheduler": "LookupError",
    "watcher of edits": "LookupError",
}
"""The cause for which each part fails in the test."""


@dataclass
class FailsOnce:
    """A store or a queue whose named calls raise MemoryError once, after `broken` is set."""

    inner: Any
    calls: set[str]
    broken: asyncio.Event
    failed: set[str] = field(default_factory=set[str])

    def __getattr__(self, name: str) -> Any:
        call = getattr(self.inner, name)
        if name not in self.calls:
            return call

        async def fails_once(*given: Any, **named: Any) -> Any:
            if self.broken.is_set() and name not in self.failed:
                self.failed.add(name)
                raise MemoryError
            return await call(*given, **named)

        return fails_once


def sleeps_once() -> Callable[[float], Awaitable[None]]:
    """Return a sleep whose first call raises LookupError."""
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) == 1:
            raise LookupError
        await asyncio.sleep(seconds)

    return sleep


async def at_once(seconds: float) -> None:
    await asyncio.sleep(0)


async def until_begun_again(made: Company, parts: int) -> str:
    """Return what readiness says about the parts once so many of them failed."""
    async with asyncio.timeout(30):
        while len(made.embedded.readiness.supervisor.failed_lately()) < parts:
            await asyncio.sleep(0.01)
    answer = await made.get(PATH)
    assert answer.status_code == 200
    return answer.json()["parts"]


async def test_each_part_that_fails_once_is_reported_and_a_later_mention_is_answered(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with company(tmp_path, work=False) as made:
        stack = made.embedded
        stack.readiness.supervisor = replace(stack.readiness.supervisor, sleep=at_once)
        stores = stack.worker.services.stores
        broken = asyncio.Event()
        weak = replace(
            stores,
            journals=FailsOnce(stores.journals, {"unfinished", "ended"}, broken),
            queue=FailsOnce(stores.queue, {"receive"}, broken),
        )
        worker = replace(stack.worker, services=replace(stack.worker.services, stores=weak))
        scheduler = replace(stack.scheduler, sleep=sleeps_once())
        watcher = replace(stack.watcher, sleep=sleeps_once())
        before = (await made.get(PATH)).json()["parts"]
        async with replace(stack, worker=worker, scheduler=scheduler, watcher=watcher).working():
            broken.set()
            said = await until_begun_again(made, 5)
            asked = await ask_about_the_decision(made)
            await made.ended()
            answers = made.answers(asked)
    assert before == "Every part works."
    assert len(answers) == 1
    for part, cause in PARTS.items():
        assert part in said
        assert any(line.startswith(f"the {part} failed ({cause} at ") for line in caplog.messages), part
    assert all(line.endswith("begins again in 1 s") for line in caplog.messages if " failed (" in line)


async def test_accepted_run_waits_for_a_workflow_file_of_a_short_absence(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with company(tmp_path, work=False) as made:
        editions = made.embedded.editions
        there = editions.now.catalog
        asked = await ask_about_the_decision(made)
        await made.slack.settled()
        editions.adopt(replace(there, workflows={}))
        async with made.embedded.working(), asyncio.timeout(60):
            while "agents/answer-here.yaml is missing" not in caplog.text:
                await asyncio.sleep(0.01)
            editions.adopt(there)
            (head,) = await made.ended()
            (answer,) = made.answers(asked)
    assert head.status == "done"
    assert "any more" not in answer.text
