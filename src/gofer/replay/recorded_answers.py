"""The recorded answers of models, as the engine gets them from a model: an answer, or the failure of one."""

from gofer.engine.model_order import DEFERRED_MINUTES, TimedAnswer
from gofer.journal.entries import CallDeferred, Entry, LlmResponse, SubagentFinished
from gofer.models.failures import RULES
from gofer.models.language_model import Answer, Refused, Unavailable, Unusable
from gofer.projections.progress import Progress
from gofer.values.errors import RunStopped, TemporaryError


def timed_answer(entry: LlmResponse | SubagentFinished) -> TimedAnswer:
    """Return a recorded answer with its cost and duration."""
    match entry:
        case LlmResponse():
            answer = Answer(
                entry.text,
                entry.tool_calls,
                entry.finish_reason,
                entry.model,
                entry.usage,
                extra=entry.extra,
                thoughts=entry.thoughts,
                fingerprint=entry.fingerprint,
                api=entry.api,
                sent_sha256=entry.sent_sha256,
                cache_miss=entry.cache_miss,
                ignored=entry.ignored,
                response_id=entry.response_id,
            )
        case SubagentFinished():
            answer = Answer(entry.text, (), "stop", entry.model, entry.usage)
    return TimedAnswer(answer=answer, cost_usd=entry.cost_usd, took_ms=entry.duration_ms)


def useless_as_recorded(entry: Entry, recorded: Entry | None) -> Entry:
    """Return the recorded end of a question whose answer was of no use, because the answer itself is not recorded."""
    match entry, recorded:
        case SubagentFinished(run=""), SubagentFinished(status="error"):
            return recorded
        case _:
            return entry


def failure(deferred: CallDeferred, progress: Progress, *, is_last: bool) -> TemporaryError | RunStopped:
    """Return the error of a model that gave no answer, such that the engine defers the call as it did.

    `is_last` says that the recorded owner asked no other model afterwards.
    """
    error = deferred.provider_error
    waited_out = progress.deferred_ms >= DEFERRED_MINUTES * 60_000
    if error is None or (error.failure == "refused" and not error.status):
        # A model without a provider failed: only what followed says whether a later attempt could help.
        if deferred.until or waited_out:
            return TemporaryError(deferred.reason)
        if error is not None and is_last:
            return Refused(deferred.reason, error, final=True)
        return RunStopped(deferred.reason)
    match RULES[error.failure].reaction:
        case "again":
            return Unusable(deferred.reason, error)
        case "wait":
            return Unavailable(deferred.reason, error)
        case "next" | "elsewhere" | "end" as then:
            if deferred.until:
                return Unavailable(deferred.reason, error)
            return Refused(deferred.reason, error, final=is_last or then == "end", elsewhere=then == "elsewhere")
