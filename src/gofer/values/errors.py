"""The errors, by who must act.

    GoferError
    ├── ConfigError       fix the file: a workflow, a prompt, a setting; the sentence names it
    ├── ToolError         tell the model: the call failed and the run goes on
    ├── TemporaryError    try later: a vendor, a model or a disk is not available now
    │   └── Unwritten     the same of the store, right before something would have been sent
    ├── RunStopped        stop the run: it cannot go on, and a person is told why
    ├── Cancelled         stop the run: a person asked for it; begin nothing new
    ├── OutOfTime         stop this worker, in good order: the next one goes on from here
    └── Fenced            stop this worker: another owner has the run by now; write nothing more

    BadRequest            the sender's mistake: answered with a status, never logged with contents
    Damaged               a journal or a body is not what was written; never read as less
    └── OtherVersion      another version of Gofer wrote it: left alone here, continued by that one
        └── EarlierVersion    an earlier one, which comes back only when an operator installs it
    Gone                  a run was deleted in its time: no one has to act, and no one can

Every message is one sentence for a person: what is wrong and what to do.
"""

import traceback
from pathlib import PurePath
from typing import Literal

Access = Literal["", "credential", "permission"]
"""What a system outside does not accept: what Gofer shows, or that it may do this."""

Cause = Literal[
    "",
    "outage",
    "credential",
    "permission",
    "refused",
    "unknown",
    "turned_away",
    "stopped",
    "fault",
    "poison",
    "corrupt",
]
"""Why a run ended without its work done, for code.

`outage`, `credential`, `permission` and `refused` are about a system outside: it did not answer, did not accept Gofer's
credential, did not allow it, or refused it for another reason. `unknown`: it is not known whether the answer arrived.
`turned_away`: the workflow is not for the person who asked.
`fault` and `poison` are about Gofer: it failed, once or at the same point again and again. `corrupt`: the journal is
not what was written. `stopped` is every other failure that is written nowhere outside. Empty for every other end.
"""


class GoferError(Exception):
    """The root of all errors Gofer raises on purpose."""


def fault(error: BaseException) -> str:
    """Return the type of an unexpected error and where it was raised, as `KeyError at admission.py:88`.

    Its text is left out, because it may hold contents.
    """
    name = type(error).__name__
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        return f"{name} at {PurePath(frame.filename).name}:{frame.lineno}"
    return name


class ConfigError(GoferError):
    """A file or a setting is wrong; the message says which, where, and what to write instead."""


class ToolError(GoferError):
    """A tool could not do what was asked; the message goes to the model, the run goes on.

    `code` is for code: the reason in the vendor's words, empty when there is none. `retry_after` is after how many
    seconds the other side takes the same, of which nothing was done now; 0 when waiting does not help, endless when it
    did not say how long. `access` is what the operator has to renew or to allow before it can work.
    """

    def __init__(self, message_to_model: str, *, code: str = "", retry_after: float = 0.0, access: Access = "") -> None:
        super().__init__(message_to_model)
        self.message_to_model = message_to_model
        self.code = code
        self.retry_after = retry_after
        self.access: Access = access


class TemporaryError(GoferError):
    """Something outside is not available now; the same work may succeed later.

    `retry_after` is how many seconds the other side asked to wait; 0 when it did not say.
    """

    def __init__(self, message: str, *, retry_after: float = 0.0) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class Unwritten(TemporaryError):
    """The store did not take the frame that must stand before a request is sent; the request was not sent."""


class RunStopped(GoferError):
    """The run cannot go on; the message is the reason a person reads.

    `cause` is the same reason for code. `system` names the system outside that caused it, if any. `plain_reason` is
    the sentence for the colleague, with `{owner}` for the owner of the workflow; without it the message is shown.
    """

    def __init__(self, message: str, *, cause: Cause = "", system: str = "", plain_reason: str = "") -> None:
        super().__init__(message)
        self.cause: Cause = cause
        self.system = system
        self.plain_reason = plain_reason


class Cancelled(GoferError):
    """A person cancelled the run; the message says who, as people will read it."""


class OutOfTime(GoferError):
    """What comes next does not fit into the time this worker has left; nothing of it was begun."""


class Fenced(GoferError):
    """Another worker wrote the next frame of this run; this one must stop without clean-up writes."""


class Corrupt(GoferError):
    """Stored bytes are not the bytes that were written; the message names the run and the frame, or the file."""


class OtherVersion(Corrupt):
    """Another version of Gofer wrote a journal, which is whole: that version can continue it, and this one must not."""


class EarlierVersion(OtherVersion):
    """That version is an earlier one. An update does not bring it back, so an operator has to."""


class Gone(GoferError):
    """The contents of a run were deleted and its key destroyed; the message names the run."""


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
"""Why a request is refused, for the log; `sources/delivery_log.py` says what the operator can do about each."""


class BadRequest(GoferError):
    """A request is refused: `status` is what the sender gets, the message is all it is told.

    `code` is what the log says, which may be more than an unproved sender is told.
    """

    def __init__(self, status: int, message: str, *, code: RefusalCode = "other") -> None:
        super().__init__(message)
        self.status = status
        self.code: RefusalCode = code
