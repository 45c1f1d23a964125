"""A model that is away while webhooks arrive: parked runs cost nothing, and a colleague reads at once why to wait."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

from typing_extensions import override

from frozen.stage import ThreadlessLoop
from gofer.engine.model_order import ATTEMPTS
from gofer.journal.coordination import Head
from gofer.journal.entries import RunOwned, RunParked
from gofer.journal.log import read_journal
from gofer.models.language_model import Answer
from gofer.runtime.run_reports import Observers
from gofer.runtime.sweeper import Sweeper
from gofer.runtime.waiting import WAITS
from gofer.sources.workflow_files import load_catalog
from gofer.values.errors import TemporaryError
from support.app.shipped_workflows import CAPTAIN, DEPLOYS
from support.app.virtual_company import Company, virtual_company
from support.engine.memory_run import says
from support.simulation.virtual_time import VirtualClock, play
from support.sources.webhook_calls import as_json

HOOKS = 100
"""More than a worker has slots."""
MINUTE = 60.0
AWAY = 20 * MINUTE
IMPORT = """\
description: The shop calls the webhook orders; the run says what is unusual about an order.
owner: "#general"
when:
  - webhook: {name: orders, key: /id}
reply: none
"""
ANSWER = """\
description: Answers mentions.
owner: "#general"
when: [slack.mention]
tools: [slack_read_thread]
"""


@dataclass
class AwayModel:
    """A model that answers 503 for the first minutes."""

    clock: VirtualClock
    back: float
    asked: int = 0

    async def ask(self, body: bytes, timeout: float) -> Answer:
        self.asked += 1
        if self.clock.monotonic() < self.back:
            raise TemporaryError("The model answered 503")
        return says("Here you are.")


@dataclass(frozen=True)
class OpenedRuns(Observers):
    """Counts how often each run is opened, also by a worker that then has nothing to do for it."""

    opened: Counter[str] = field(default_factory=Counter[str])

    @override
    def note_owner(self, head: Head, *, frames: int, seconds: float) -> None:
        self.opened[head.run] += 1


def agents(folder: Path) -> Path:
    folder.mkdir()
    (folder / "defaults.yaml").write_text("models: {default: gpt-5.4-mini}\n")
    for name, text in (("import-order", IMPORT), ("answer-here", ANSWER)):
        (folder / f"{name}.yaml").write_text(text)
        (folder / f"{name}.md").write_text("Say what is unusual.\n")
    return folder


def played(folder: Path, act: Callable[[Company, AwayModel, OpenedRuns], Awaitable[None]]) -> None:
    """Play with 100 webhooks that arrive while the model is away, beside a worker and a sweeper, in virtual time."""
    loop = ThreadlessLoop()
    clock = VirtualClock(loop)

    async def all_of_it() -> None:
        async with AsyncExitStack() as stack:
            model = AwayModel(clock, AWAY)
            observed = OpenedRuns()
            made = await virtual_company(clock, stack, load_catalog(agents(folder / "agents")), lambda _: model)
            made.worker = replace(made.worker, observers=observed)
            stores = made.worker.services.stores
            parts = [made.worker.serve(), Sweeper(stores.journals, stores.queue, clock).serve()]
            tasks = [asyncio.create_task(part) for part in parts]
            for number in range(HOOKS):
                await made.deliver("webhook", as_json(id=f"order-{number}"), [("webhook-id", f"msg_{number}")])
            await act(made, model, observed)
            for task in tasks:
                task.cancel()

    play(loop, all_of_it())


def said(made: Company) -> Sequence[str]:
    """Return what Gofer wrote."""
    workspace = made.vendors.slack.workspace
    return [message.text for message in workspace.all_messages() if message.user == workspace.bot.user]


async def heads(made: Company) -> Sequence[Head]:
    return await made.worker.services.store.heads(1_000, private=True)


def test_colleague_reads_that_the_model_is_away_while_machine_runs_are_parked(tmp_path: Path) -> None:
    async def act(made: Company, model: AwayModel, observed: OpenedRuns) -> None:
        before = len(said(made))
        slack = made.vendors.slack
        await slack.say(CAPTAIN, DEPLOYS, slack.typed("@Gofer hello"))
        await asyncio.sleep(MINUTE)
        assert said(made)[before:] == [WAITS.strip("_")]
        assert Counter(head.status for head in await heads(made)) == {"parked": HOOKS + 1}
        await asyncio.sleep(AWAY)
        await made.ended()
        (answer,) = said(made)[before:]
        assert answer.startswith("Here you are.")
        assert Counter(head.status for head in await heads(made)) == {"done": HOOKS + 1}

    played(tmp_path, act)


def test_parked_runs_are_opened_only_for_their_next_attempt(tmp_path: Path) -> None:
    async def act(made: Company, model: AwayModel, observed: OpenedRuns) -> None:
        await asyncio.sleep(AWAY - MINUTE)
        found = await heads(made)
        assert {head.status for head in found} == {"parked"}
        stores = made.worker.services.stores
        for head in found:
            entries = [one.entry for one in await read_journal(head.run, stores.journals, stores.blobs)]
            owners = sum(isinstance(entry, RunOwned) for entry in entries)
            # After 1, 2, 4 and 8 minutes. An owner that came too early would have been counted as well.
            assert owners == sum(isinstance(entry, RunParked) for entry in entries) == 5
            assert observed.opened[head.run] == owners
        assert model.asked == HOOKS * 5 * ATTEMPTS

    played(tmp_path, act)
