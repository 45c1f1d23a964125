"""Which of a run's models is asked, how often, and for how long does a run wait when none of them is there?

A run stays with the model that was asked last. One that does not answer is asked again a few times with the same bytes;
then the others are asked, once around. When none answered and one of them may later, the run is put off.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from gofer.engine.services import Services
from gofer.errors import GoferError, RunStopped, TemporaryError
from gofer.journal.entries import CallDeferred, LlmResponse, RunParked, SubagentFinished
from gofer.models.model import Answer, Unusable
from gofer.projections.progress import Progress

ATTEMPTS = 3
"""How often a model is asked with one request."""
LONGEST_PAUSE = 60.0
"""Seconds between two attempts at most; where a provider asks for more, the model is not there."""
LONGEST_PARKED = 900.0
"""Seconds a run is put off for at most at a time; no queue delays a doorbell for longer."""
PUT_OFF_MINUTES = 30
"""How long a run is put off in all before it ends."""

Params = Mapping[str, object]
"""The parameters of a request; `model` names who is asked."""


@dataclass(frozen=True, slots=True)
class Aside:
    """A question of its own, beside the conversation of a run."""

    call: str
    name: str
    """The subagent's."""
    prompt: str
    chain: Sequence[Params]
    """The models that are asked, one after the other until one answers."""
    request: Callable[[Params], bytes]
    """The exact bytes of the question to one of them."""
    finish: Callable[[Answer], SubagentFinished]
    """What is recorded of an answer, without what it cost."""
    timeout: float
    """Seconds each model gets."""


_log = logging.getLogger(__name__)


class Parked(GoferError):
    """Nobody works on the run before `entry.until`; everything it has is journaled."""

    def __init__(self, entry: RunParked) -> None:
        super().__init__(f"parked until {entry.until}")
        self.entry = entry


def order(chain: Sequence[Params], asked: str) -> Sequence[Params]:
    """The whole chain, beginning with the model that was asked last; with the first when there is none."""
    models = [params["model"] for params in chain]
    first = models.index(asked) if asked in models else 0
    return [*chain[first:], *chain[:first]]


async def answer(services: Services, body: bytes, timeout: float) -> Answer:
    """One model's answer to one request, sent again a few times when none came; `timeout` seconds in all.

    Raises TemporaryError when there is none now, Unusable when what came is none, RunStopped when it was refused.
    """
    clock = services.outside.clock
    deadline, pause = clock.monotonic() + timeout, services.patience.backoff
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return await services.model.ask(body, deadline - clock.monotonic())
        except TemporaryError as error:
            wait = max(pause, error.retry_after)
            late = clock.monotonic() + wait >= deadline
            if attempt == ATTEMPTS or wait > LONGEST_PAUSE or late:
                raise
            _log.warning("the model did not answer, attempt %d: %s", attempt, error)
        await asyncio.sleep(wait)
        pause *= 4
    raise AssertionError("the last attempt returns or raises")


def heard(services: Services, answer: Answer, took_ms: int) -> LlmResponse:
    """What is recorded of an answer to the conversation."""
    cost = services.prices.cost(answer.model, answer.usage)
    said = answer.text, answer.asks, answer.finish, answer.model, answer.usage
    return LlmResponse(*said, cost, took_ms, answer.extra)


def put_off(
    failures: Sequence[TemporaryError | RunStopped], progress: Progress, first_pause: float, now_ms: int
) -> CallDeferred:
    """Until when a run waits whose models all failed: `first_pause` seconds, then twice as long each time.

    Raises RunStopped when waiting does not help, or not any more.
    """
    absent = [error for error in failures if isinstance(error, TemporaryError) and not isinstance(error, Unusable)]
    if not absent:
        raise RunStopped(str(failures[-1]))
    why = str(absent[-1])
    # Time in which nobody would have asked, as when a laptop was closed, does not count.
    left = PUT_OFF_MINUTES * 60_000 - progress.deferred_ms
    if left <= 0:
        raise RunStopped(f"the model's provider did not answer for {PUT_OFF_MINUTES} minutes: {why}")
    # The exponent has a limit of its own: a run that is woken early is put off more often than the pauses add up to.
    pause = max(first_pause * 2 ** min(progress.deferrals, 10), min(error.retry_after for error in absent))
    return CallDeferred("model", why, now_ms + min(int(min(pause, LONGEST_PARKED) * 1000), left))
