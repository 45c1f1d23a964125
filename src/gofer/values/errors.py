"""The errors of Gofer, ordered by who must act.

    GoferError
    ├── ConfigError       fix the file, setting or permission that the message names; a run that meets it waits
    ├── ToolError         notify the model: the call failed and the run continues
    ├── TemporaryError    try later: a vendor, a model or a disk is not available now
    │   ├── Unwritten     try later: the store did not take a frame, so its request was not sent
    │   └── Unsent        try later: no server got the request, or the server refused it
    ├── RunStopped        stop the run: it cannot continue, and a person reads the reason
    ├── Cancelled         stop the run: a person cancelled it; begin nothing new
    ├── OutOfTime         stop this worker in good order: the next worker continues the run
    ├── Fenced            stop this worker: another owner has the run; write nothing more
    ├── BadRequest        answer the sender with a status; never log the contents
    ├── Corrupt           repair or restore: a journal or a body is not what was written
    │   └── OtherVersion  leave the journal alone: the version of Gofer that wrote it continues it
    │       └── EarlierVersion    an earlier version, which returns only when an operator installs it
    └── Gone              no action is possible: the contents of the run were deleted

Every message is one sentence for a person: what is wrong and what to do.
"""

import traceback
from pathlib import PurePath
from typing import Literal

Access = Literal["", "credential", "permission"]
"""The reason of an outside system's refusal: Gofer's credential is not valid, or it lacks a permission."""

Cause = Literal[
    "",
    "outage",
    "credential",
    "permission",
    "refused",
    "unknown",
    "turned_away",
    "unmet",
    "stopped",
    "fault",
    "poison",
    "corrupt",
]
"""The reason why a run ended without its work done, for code.

`outage`, `credential`, `permission` and `refused` are about an outside system: it did not answer, did not accept
Gofer's credential, did not grant the permission, or refused the request for another reason. `unknown`: Gofer could not
determine whether the answer arrived. `turned_away`: the workflow is not for the person who asked.
`unmet`: no tool that the workflow requires has succeeded.
`fault` and `poison` are about Gofer: it failed once, or at the same point again and again. `corrupt`: the journal is
not what was written. `stopped` is every other failure that is not written to an outside system. Empty for every other
end.
"""


NO_MEMORY = "too little memory is free; end other programs, or give Gofer more memory. Gofer goes on by itself"
"""A clause for errors that pass when memory is free again."""


class GoferError(Exception):
    """The root of all errors Gofer raises on purpose."""


def fault(error: BaseException) -> str:
    """Return the type and the origin of an unexpected error, as `KeyError at admission.py:88`.

    The error's message is left out, because it may hold contents. Of a ToolError about a bug, it is the bug.
    """
    if isinstance(error, ToolError) and error.code == "fault" and error.__cause__ is not None:
        error = error.__cause__
    name = type(error).__name__
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        return f"{name} at {PurePath(frame.filename).name}:{frame.lineno}"
    return name


class ConfigError(GoferError):
    """A wrong file or setting, or a missing permission. The message names it and what the operator does."""

    EXIT = 2
    """The exit code of a command that it ends."""


class MachineError(ConfigError):
    """A file that the machine refuses: the disk is full or has failed, or the user lacks a right."""

    EXIT = 1


class ToolError(GoferError):
    """A failed tool call. The message goes to the model, and the run continues.

    `code` is the reason for code, in the vendor's words; empty when there is none. `retry_after` is the number of
    seconds after which the other system accepts the same call, of which it has done nothing; 0 when waiting does not
    help, infinite when the system did not name a time. `access` says whether the operator must renew a credential or
    grant a permission.
    """

    def __init__(self, message_to_model: str, *, code: str = "", retry_after: float = 0.0, access: Access = "") -> None:
        super().__init__(message_to_model)
        self.message_to_model = message_to_model
        self.code = code
        self.retry_after = retry_after
        self.access: Access = access


class TemporaryError(GoferError):
    """An outage of an outside system. The same work may succeed later.

    `retry_after` is the wait in seconds that the other system asked for; 0 when it did not name one.
    """

    def __init__(self, message: str, *, retry_after: float = 0.0) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class Unwritten(TemporaryError):
    """A refusal by the store of the frame that must be stored before a request is sent. The request was not sent."""


class Unsent(TemporaryError):
    """A request that certainly had no effect, because no connection was made or the server refused it."""


class RunStopped(GoferError):
    """The end of a run that cannot continue. The message is the reason that a person reads.

    `cause` is the same reason for code. `system` names the outside system that caused it, if any. `plain_reason` is
    the sentence for the colleague, with `{owner}` for the owner of the workflow; if it is empty, the message is shown.
    """

    def __init__(self, message: str, *, cause: Cause = "", system: str = "", plain_reason: str = "") -> None:
        super().__init__(message)
        self.cause: Cause = cause
        self.system = system
        self.plain_reason = plain_reason


class Cancelled(GoferError):
    """The cancellation of a run. The message names the person who cancelled it, as people will read it."""


class OutOfTime(GoferError):
    """The end of a worker's time. The next step does not fit into it and was not begun."""


class Fenced(GoferError):
    """The loss of a run to another worker, which wrote its next frame. Stop without clean-up writes."""


class Corrupt(GoferError):
    """Stored bytes that differ from the bytes written. The message names the run and the frame, or the file."""


class OtherVersion(Corrupt):
    """An intact journal of another version of Gofer, which can continue it. This version must not."""


class EarlierVersion(OtherVersion):
    """A journal of an earlier version. An operator must install that version, because no update brings it back."""


class Gone(GoferError):
    """A run with deleted contents and a destroyed key. The message names the run."""


RefusalCode = Literal[
    "other",
    "no_receiver",
    "not_set_up",
    "body_broke_off",
    "body_too_slow",
    "body_too_large",
    "body_without_room",
    "signature_missing",
    "signature_method",
    "signature_mismatch",
    "timestamp_missing",
    "timestamp_old",
    "timestamp_future",
    "delivery_id_missing",
    "token_missing",
    "token_wrong",
    "password_wrong",
    "jwt_too_long",
    "jwt_malformed",
    "jwt_unknown_key",
    "jwt_signature",
    "jwt_issuer",
    "jwt_audience",
    "jwt_without_expiry",
    "jwt_malformed_time",
    "jwt_expired",
    "jwt_not_yet",
    "body_empty",
    "body_compressed",
    "body_not_utf8",
    "body_not_json",
    "body_number",
    "body_too_deep",
    "body_not_object",
    "body_not_form",
    "form_without_payload",
    "form_too_many_fields",
    "key_missing",
    "key_too_long",
    "key_conflict",
    "event_too_large",
    "window_closed",
]
"""The reason why a request is refused, for the log. `sources/delivery_log.py` has the operator's remedy for each."""


class BadRequest(GoferError):
    """The refusal of a request. The sender gets `status` and the message, and nothing else.

    `code` goes to the log. It may say more than an unverified sender may learn.
    """

    def __init__(self, status: int, message: str, *, code: RefusalCode = "other") -> None:
        super().__init__(message)
        self.status = status
        self.code: RefusalCode = code
