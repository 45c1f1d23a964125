"""The order in which the models of a run are asked, and how long the run waits when none of them answers.

A run stays with the model that was asked last. One that does not answer is asked again a few times with the same bytes;
then the others are asked, once around, each at its own endpoint. When none answered and one of them may later, the run
is put off. What follows each class of failures stands in `models/failures.py`.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from gofer.engine.services import Services
from gofer.journal.entries import CallDeferred, LlmResponse, RunParked, SubagentFinished
from gofer.models.failures import end_of, said_of
from gofer.models.language_model import Answer, Model, Refused, Unusable
from gofer.models.served_model import Candidate, Endpoint, ServedModel
from gofer.projections.progress import Progress
from gofer.values.errors import GoferError, RunStopped, TemporaryError
from gofer.values.messages import ProviderError, asked_at

ATTEMPTS = 3
"""How often a model is asked with one request."""
LONGEST_PAUSE = 60.0
"""Seconds between two attempts at most; where a provider asks for more, the model is not there."""
LONGEST_PARKED = 900.0
"""Seconds a run is put off for at most at a time; no queue delays a message for longer."""
DEFERRED_MINUTES = 30
"""How long a run is put off in all before it ends."""

Params = Mapping[str, object]
"""The parameters of a request; `model` names who is asked, and `endpoint` where, unless at the default endpoint."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OneShot:
    """A question of its own, beside the conversation of a run."""

    call: str
    name: str
    """The subagent's."""
    prompt: str
    chain: Sequence[Candidate]
    """The models that are asked, one after the other until one answers."""
    request: Callable[[Params], bytes]
    """The exact bytes of the question to one of them."""
    finish: Callable[[Answer], SubagentFinished]
    """What is recorded of an answer, without what it cost."""
    timeout: float
    """Seconds each model gets."""


_log = logging.getLogger(__name__)


class Parked(GoferError):
    """The run waits until `entry.until`; everything it has is journaled."""

    def __init__(self, entry: RunParked) -> None:
        super().__init__(f"parked until {entry.until}")
        self.entry = entry


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """One answer, with what it cost."""

    answer: Answer
    cost_usd: float | None
    """None when the model's price is not known."""
    took_ms: int

    def recorded(self) -> LlmResponse:
        """Return what is recorded of an answer to the conversation."""
        answer = self.answer
        return LlmResponse(
            text=answer.text,
            tool_calls=answer.asks,
            finish_reason=answer.finish,
            model=answer.model,
            usage=answer.usage,
            cost_usd=self.cost_usd,
            duration_ms=self.took_ms,
            extra=answer.extra,
            thoughts=answer.thoughts,
        )


@dataclass(frozen=True, slots=True)
class Failure:
    """Why one model gave no answer."""

    endpoint: Endpoint
    error: TemporaryError | RunStopped


def order(chain: Sequence[Candidate], asked: str) -> Sequence[Candidate]:
    """The whole chain, beginning with the model that was asked last; with the first when there is none."""
    models = [asked_at(candidate.params) for candidate in chain]
    first = models.index(asked) if asked in models else 0
    return [*chain[first:], *chain[:first]]


async def answer(services: Services, model: ServedModel, body: bytes, timeout: float) -> Heard:
    """One model's answer to one request, sent again a few times when none came; `timeout` seconds in all.

    Raises TemporaryError when there is none now, Unusable when what came is none, RunStopped when it was refused.
    """
    clock = services.outside.clock
    began = clock.monotonic()
    deadline = began + timeout
    pause = services.patience.backoff
    behind = _behind(services, model.endpoint)
    for attempt in range(1, ATTEMPTS + 1):
        try:
            answered = await behind.ask(body, deadline - clock.monotonic())
            took_ms = int((clock.monotonic() - began) * 1000)
            return Heard(answer=answered, cost_usd=_cost(services, model, answered), took_ms=took_ms)
        except TemporaryError as error:
            wait = max(pause, error.retry_after)
            late = clock.monotonic() + wait >= deadline
            if attempt == ATTEMPTS or wait > LONGEST_PAUSE or late:
                raise
            _log.warning("the model did not answer, attempt %d: %s", attempt, error)
        await asyncio.sleep(wait)
        pause *= 4
    raise AssertionError("the last attempt returns or raises")


def _behind(services: Services, endpoint: Endpoint) -> Model:
    if endpoint.is_default:
        return services.model
    return services.reach(endpoint)


def _cost(services: Services, model: ServedModel, answered: Answer) -> float | None:
    """Return the US dollars of an answer: of what answered in place of the model, else by the model's price."""
    cost = services.prices.cost(answered.model, answered.usage)
    if cost is None and model.price is not None:
        return model.price.cost(answered.usage)
    return cost


def barred(candidate: Candidate, failures: Sequence[Failure]) -> bool:
    """Whether a model may not be asked after what others failed with."""
    for failure in failures:
        match failure.error:
            case Refused(final=True):
                return True
            case Refused(elsewhere=True) if failure.endpoint == candidate.model.endpoint:
                return True
            case _:
                pass
    return False


def deferral(
    run: str, call: str, error: TemporaryError | RunStopped, progress: Progress, until: int = 0
) -> CallDeferred:
    """What is recorded of a model that gave no answer; a log line has the same without the provider's words."""
    said = said_of(error)
    _report(run, error, said or ProviderError("refused"), progress)
    return CallDeferred(call, str(error), until, provider_error=said)


def _report(run: str, error: Exception, said: ProviderError, progress: Progress) -> None:
    fields = {"failure": said.failure, "code": said.code, "type": said.type, "parameter": said.parameter}
    if progress.private:
        # A line with its id would show that the run happened.
        _log.warning("a model gave no answer: %s", error, extra={"fields": fields})
        return
    contents = {"provider_message": said.message}
    _log.warning("a model gave no answer: %s", error, extra={"fields": {"run": run, **fields}, "contents": contents})


def defer(
    services: Services,
    run: str,
    call: str,
    failed: Sequence[Failure],
    progress: Progress,
) -> tuple[CallDeferred, Parked | RunStopped]:
    """Return what is recorded when all models of a run failed, and how its owner leaves the run.

    The run waits for the pause of its patience, then twice as long each time. It ends when waiting does not help, or
    not any more.
    """
    failures = [failure.error for failure in failed]
    absent = [error for error in failures if isinstance(error, TemporaryError) and not isinstance(error, Unusable)]
    if not absent:
        return deferral(run, call, failures[-1], progress), _end(str(failures[-1]), failures[-1])
    # Time in which no model would have been asked, as when a laptop was closed, does not count.
    left = DEFERRED_MINUTES * 60_000 - progress.deferred_ms
    if left <= 0:
        why = f"the model's provider did not answer for {DEFERRED_MINUTES} minutes: {end_of(absent[-1])}"
        return deferral(run, call, absent[-1], progress), _end(why, absent[-1])
    # The exponent has a limit of its own: a run that is woken early is put off more often than the pauses add up to.
    pause = max(services.patience.pause * 2 ** min(progress.deferrals, 10), min(error.retry_after for error in absent))
    now_ms = int(services.outside.clock.now() * 1000)
    until = now_ms + min(int(min(pause, LONGEST_PARKED) * 1000), left)
    return deferral(run, call, absent[-1], progress, until), Parked(RunParked("model", until))


def _end(reason: str, error: TemporaryError | RunStopped) -> RunStopped:
    said = said_of(error)
    return RunStopped(reason) if said is None else Refused(reason, said)
