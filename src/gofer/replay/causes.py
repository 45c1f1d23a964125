"""The cause of a difference: what moved between the recorded run and its replay."""

from gofer.journal import entries as e
from gofer.journal.purposes import OWNER_NOTICE, SUMMARY
from gofer.replay.divergence import Cause


def cause_of(original: e.Entry, replayed: e.Entry, *, input_changed: bool) -> Cause:
    """Return what moved. `input_changed` says whether the replay has other inputs than the recorded run."""
    match original, replayed:
        case e.LlmRequest(params=before), e.LlmRequest(params=after) if before != after:
            return "setting"
        case e.ToolCall(call=call), _ if call in (SUMMARY, OWNER_NOTICE):
            return "setting"
        case _ if input_changed:
            return "input"
        case e.LlmResponse() as before, e.LlmResponse() as after:
            if (before.model, before.fingerprint) != (after.model, after.fingerprint):
                return "version"
            return "sampling"
        case _:
            return "version"
