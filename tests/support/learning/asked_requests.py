"""A month of requests to one general workflow, answered by a scripted model in memory."""

from dataclasses import replace

from gofer.app.operations import Operations
from gofer.journal.coordination import Head
from gofer.journal.entries import RunAccepted
from gofer.journal.log import Pen, claim
from gofer.values.events import Actor
from support.engine.memory_run import says
from support.runtime.memory_worker import MemoryWorker, memory_worker
from support.stand_ins import make_outside, mention

DAY = 86_400
VACATION = (
    "<@U0GOFER0> how many vacation days are left for me?",
    "<@U0GOFER0> do vacation days carry over to january?",
    "<@U0GOFER0> are vacation days paid out when someone leaves?",
    "<@U0GOFER0> how many vacation days has a part-time colleague?",
)
OTHERS = (
    "<@U0GOFER0> please translate this sentence into polite french",
    "<@U0GOFER0> which meeting room is free this afternoon?",
    "<@U0GOFER0> draw a diagram of the payment service",
    "<@U0GOFER0> who broke the coffee machine again?",
)


async def a_month() -> Operations:
    """Return the state after four weeks: three requests about vacation each week, and one about anything else."""
    made = memory_worker(*[answer for _ in range(12) for answer in _reads()], *[says("Done.") for _ in range(4)])
    made.grant("slack_read_thread")
    for number in range(12):
        await ask(made, f"v{number}", VACATION[number % 4], person=f"U0NEWCO{number % 5}")
        made.clock.advance(2 * DAY)
    for number, text in enumerate(OTHERS):
        await ask(made, f"o{number}", text)
    return Operations(made.worker.services.stores, made.clock)


def _reads() -> tuple[object, ...]:
    return says("", ("slack_read_thread", {})), says("You have ten.")


async def ask(made: MemoryWorker, run: str, text: str, *, person: str = "U0NEWCO0") -> None:
    """Let a person mention Gofer, and work the run to its end."""
    event = replace(mention(text, ts=f"{made.clock.now():.6f}"), actor=Actor(person))
    await claim(run, RunAccepted(event, "answer-here"), Pen("in", make_outside(made.clock)), made.store, made.blobs)
    at = int(made.clock.now() * 1000)
    await made.store.create_head(Head(run, "answer-here", f"c:{run}", at, private=False))
    await made.queue.enqueue(run)
    await made.work_once()
    assert await made.status(run) == "done", await made.store.head(run)
