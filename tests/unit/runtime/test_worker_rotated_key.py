"""Runs of one thread from before and after a rotation of the installation key: they never act at the same time."""

import asyncio
from dataclasses import dataclass, replace

import pytest

from gofer.engine.services import Services
from gofer.journal.log import Pen
from gofer.models.language_model import Answer
from gofer.runtime.claimed_start import start_run
from gofer.values.installation_key import InstallationKey
from gofer.values.secret import Secret
from support.engine.memory_run import says
from support.runtime.memory_worker import MemoryWorker
from support.stand_ins import KEY, make_outside, mention

pytestmark = pytest.mark.anyio

NEW = Secret("2" * 64)
OLD_FIRST = InstallationKey(KEY.current, (NEW,))
NEW_FIRST = InstallationKey(NEW, (KEY.current,))


@dataclass
class OneAtATime:
    """A model that takes a while, and notes how many runs ask it at once."""

    asking: int = 0
    most: int = 0
    answers: int = 0

    async def ask(self, body: bytes, timeout: float) -> Answer:
        self.asking += 1
        self.most = max(self.most, self.asking)
        for _ in range(50):
            await asyncio.sleep(0)
        self.asking -= 1
        self.answers += 1
        return says("Done.")


def services_with(made: MemoryWorker, key: InstallationKey) -> Services:
    return replace(made.worker.services, installation_key=key)


@pytest.mark.parametrize("keys", [(KEY, NEW_FIRST), (OLD_FIRST, NEW_FIRST), (NEW_FIRST, OLD_FIRST)])
async def test_runs_of_one_thread_under_two_keys_act_one_after_another(
    keys: tuple[InstallationKey, InstallationKey],
) -> None:
    model = OneAtATime()
    made = MemoryWorker(model)  # type: ignore[arg-type]
    pen = Pen("ingress", make_outside(made.clock))
    stores = made.worker.services.stores
    runs: list[str] = []
    for number, key in enumerate(keys):
        reply = replace(mention(), identity=(*mention().identity, str(number)))
        runs.append(await start_run(reply, "answer-here", pen, stores, key))
    heads = [await made.store.head(run) for run in runs]
    assert len({head.conversation for head in heads if head}) == 2
    # One worker for each setting that processes have during the rotation.
    workers = [replace(made.worker, services=services_with(made, key)) for key in (OLD_FIRST, NEW_FIRST)]
    for _ in range(12):
        messages = await made.queue.receive(100, 120, 0)
        pairs = zip(messages, [*workers, *reversed(workers)] * 20, strict=False)
        await asyncio.gather(*(worker.answer(message) for message, worker in pairs))
        made.clock.advance(1)
    assert [await made.status(run) for run in runs] == ["done", "done"]
    assert (model.most, model.answers) == (1, 2)
