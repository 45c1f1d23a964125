"""The order in which the models of a run are asked, and how long the run waits when none of them answers.

A run stays with the model that was asked last. A model that does not answer is asked a few times with the same bytes.
Then each other model of the role is asked, at its own endpoint. If none answered and one of them may answer later, the
run is deferred. `models/failures.py` says what follows each class of failures.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from gofer.engine.services import MODEL, Services
from gofer.journal.entries import CallDeferred, LlmResponse, RunParked, SubagentFinished
from gofer.models.failures import end_of, provider_error_of
from gofer.models.language_model import Answer, Model, Refused, RemoteModel, Unusable
from gofer.models.served_model import Candidate, Endpoint, ServedModel
from gofer.projections.progress import Progress
from gofer.values.errors import GoferError, RunStopped, TemporaryError
from gofer.values.messages import ProviderError, asked_at

ATTEMPTS = 3
"""Attempts of one model with one request."""
MODEL_SECONDS = 300.0
"""Longest time of one model for one answer, unless its description sets a `timeout`."""
LONGEST_PAUSE = 60.0
"""Longest pause between two attempts, in seconds; a model with a longer pause counts as unavailable."""
LONGEST_PARKED = 900.0
"""Longest single wait of a parked run, in seconds; no queue delays a message for longer."""
DEFERRED_MINUTES = 30
"""Total time that a run waits for its models before it ends."""

Params = Mapping[str, object]
"""The parameters of a request. `model` names the model; `endpoint` names its endpoint unless it is the default one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OneShot:
    """One question to a model, outside the conversation of the run."""

    call: str
    name: str
    """The name of the subagent."""
    prompt: str
    chain: Sequence[Candidate]
    """The models, asked in this order until one answers."""
    request: Callable[[Params], bytes]
    """The exact bytes of the request to a model with these parameters."""
    finish: Callable[[Answer], SubagentFinished]
    """The journal entry of an answer, without its cost."""
    timeout: float
    """Seconds for each model."""
    added: Params = field(default_factory=dict[str, object])
    """As in `RemoteModel.adding`."""


_log = logging.getLogger(__name__)


class Parked(GoferError):
    """The run waits until `entry.until`; all its results are journaled."""

    def __init__(self, entry: RunParked) -> None:
        super().__init__(f"parked until {entry.until}")
        self.entry = entry


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedAnswer:
    """One answer, with its cost and duration."""

    answer: Answer
    cost_usd: float | None
    """US dollars; None when the price of the model is not known."""
    took_ms: int

    def recorded(self) -> LlmResponse:
        """Return the journal entry of an answer in the conversation."""
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
            fingerprint=answer.fingerprint,
            api=answer.api,
            sent_sha256=answer.sent_sha256,
            cache_miss=answer.cache_miss,
            ignored=answer.ignored,
            response_id=answer.response_id,
        )


@dataclass(frozen=True, slots=True)
class Failure:
    """The failure of one model, with its endpoint."""

    endpoint: Endpoint
    error: TemporaryError | RunStopped


def order(chain: Sequence[Candidate], asked: str) -> Sequence[Candidate]:
    """Return the chain, rotated to begin with the model that was asked last if the chain contains it."""
    models = [asked_at(candidate.params) for candidate in chain]
    if asked not in models:
        return chain
    first = models.index(asked)
    return [*chain[first:], *chain[:first]]


async def answer(
    services: Services,
    model: ServedModel,
    body: bytes,
    timeout: float,
    traceparent: str,
    api: str | None = None,
    added: Params = MappingProxyType({}),
) -> TimedAnswer:
    """Ask one model with one request, up to ATTEMPTS times within `timeout` seconds; return its answer.

    `api` is the format in which the model answered this run before; None if it did not. `traceparent` names the span of
    the request to a remote model; an empty one is not sent. `added` is as in `RemoteModel.adding`. Raises
    TemporaryError when no answer came, Unusable when the response was no answer, RunStopped when the provider refused
    the request.
    """
    clock = services.outside.clock
    began = clock.monotonic()
    deadline = began + timeout
    pause = services.patience.backoff
    endpoint = _for_run(_open(services, model.endpoint), traceparent, api, added)
    for attempt in range(1, ATTEMPTS + 1):
        try:
            answered = await endpoint.ask(body, deadline - clock.monotonic())
            took_ms = int((clock.monotonic() - began) * 1000)
            services.note_answer(MODEL)
            return TimedAnswer(answer=answered, cost_usd=_cost(services, model, answered), took_ms=took_ms)
        except TemporaryError as error:
            wait = max(pause, error.retry_after)
            late = clock.monotonic() + wait >= deadline
            if attempt == ATTEMPTS or wait > LONGEST_PAUSE or late:
                raise
            cause = f"attempt: {error}"
            _log.warning("the model did not answer, attempt %d: %s", attempt, error, extra={"cause": cause})
        await services.patience.sleep(wait)
        pause *= 4
    raise AssertionError("the last attempt returns or raises")


def _for_run(model: Model, traceparent: str, api: str | None, added: Params) -> Model:
    """Return a model asked in the format in which the run began; Chat Completions is the one of older journals."""
    if api is not None and isinstance(model, RemoteModel):
        model = model.using(api or "chat_completions")
    if traceparent and isinstance(model, RemoteModel):
        model = model.within(traceparent)
    if added and isinstance(model, RemoteModel):
        model = model.adding(added)
    return model


def _open(services: Services, endpoint: Endpoint) -> Model:
    if endpoint.is_default:
        return services.model
    return services.reach(endpoint)


def _cost(services: Services, model: ServedModel, answered: Answer) -> float | None:
    """Return the US dollars of an answer: by the price of a stand-in if one answered, else by the model's price."""
    cost = services.prices.cost(answered.model, answered.usage)
    if cost is None and model.price is not None:
        return model.price.cost(answered.usage)
    return cost


def is_barred(candidate: Candidate, failures: Sequence[Failure]) -> bool:
    """Return whether the failures of other models forbid to ask this model."""
    for failure in failures:
        match failure.error:
            case Refused(final=True):
                return True
            case Refused(elsewhere=True) if failure.endpoint == candidate.model.endpoint:
                return True
            case _:
                pass
    return False


def deferral(call: str, error: TemporaryError | RunStopped, until: int = 0) -> CallDeferred:
    """Return the journal entry of a model that gave no answer."""
    return CallDeferred(call, str(error), until, provider_error=provider_error_of(error))


def log_failure(run: str, error: Exception, *, private: bool) -> None:
    """Log that a model gave no answer; not the id of a private run."""
    provider_error = provider_error_of(error) or ProviderError("refused")
    fields = {
        "failure": provider_error.failure,
        "code": provider_error.code,
        "type": provider_error.type,
        "parameter": provider_error.parameter,
    }
    cause = f"model: {error}"
    if private:
        # A log line with the id of a private run would show that the run exists.
        _log.warning("a model gave no answer: %s", error, extra={"fields": fields, "cause": cause})
        return
    contents = {"provider_message": provider_error.message}
    extra = {"fields": {"run": run, **fields}, "contents": contents, "cause": cause}
    _log.warning("a model gave no answer: %s", error, extra=extra)


def defer(
    services: Services, call: str, failures: Sequence[Failure], progress: Progress
) -> tuple[CallDeferred, Parked | RunStopped]:
    """Return the journal entry when all models of a run failed, and the exception that parks or ends the run.

    The run first waits for `patience.pause`, then twice as long each time. It ends when waiting cannot help, or when it
    has waited for DEFERRED_MINUTES.
    """
    errors = [failure.error for failure in failures]
    temporary = [error for error in errors if isinstance(error, TemporaryError) and not isinstance(error, Unusable)]
    if not temporary:
        return deferral(call, errors[-1]), _end(str(errors[-1]), errors[-1])
    services.note_away(MODEL)
    # Only time in which a model could be asked counts, not the time in which the computer slept.
    left = DEFERRED_MINUTES * 60_000 - progress.deferred_ms
    if left <= 0:
        reason = f"the model's provider did not answer for {DEFERRED_MINUTES} minutes: {end_of(temporary[-1])}"
        return deferral(call, temporary[-1]), _end(reason, temporary[-1])
    # The exponent is limited, because a run that is woken early is deferred more often than its pauses suggest.
    pause = max(
        services.patience.pause * 2 ** min(progress.deferrals, 10), min(error.retry_after for error in temporary)
    )
    now_ms = int(services.outside.clock.now() * 1000)
    until = now_ms + min(int(min(pause, LONGEST_PARKED) * 1000), left)
    return deferral(call, temporary[-1], until), Parked(RunParked("model", until))


def _end(reason: str, error: TemporaryError | RunStopped) -> RunStopped:
    provider_error = provider_error_of(error)
    if provider_error is None:
        return RunStopped(reason)
    return Refused(reason, provider_error)
