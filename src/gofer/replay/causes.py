"""The cause of a difference: what moved between the recorded run and its replay."""

from gofer.journal import entries as e
from gofer.replay.divergence import Cause


def cause_of(original: e.Entry | None, replayed: e.Entry | None, *, input_changed: bool) -> Cause:
    """Return what moved, for the first difference of a replay; None stands for a missing entry.

    `input_changed` says whether the replay has other inputs than the recorded run.
    """
    match original, replayed:
        case e.LlmRequest(params=before), e.LlmRequest(params=after) if before != after:
            return "setting"
        case e.SubagentStarted(params=before), e.SubagentStarted(params=after) if before != after:
            return "setting"
        case _ if input_changed:
            return "input"
        case e.LlmResponse() as before, e.LlmResponse() as after:
            return _cause_of_answer(before, after)
        case e.SubagentFinished(model=before), e.SubagentFinished(model=after):
            if before != after:
                return "version"
            return "sampling"
        case (e.CallDeferred(), _) | (_, e.CallDeferred()):
            # A model or a system was away in one of both.
            return "world"
        case _:
            return "version"


def _cause_of_answer(before: e.LlmResponse, after: e.LlmResponse) -> Cause:
    if before.model != after.model:
        return "version"
    # Many providers send no fingerprint, and an unknown one proves no other version.
    if before.fingerprint and after.fingerprint and before.fingerprint != after.fingerprint:
        return "version"
    return "sampling"
