"""The purposes of the calls that a run makes by itself, as the ids that these calls have in its journal.

A call that a model or a script asks for has no slash in its id. A call of the run has one, and counts toward no limit.
"""

ACTOR = "actor/1"
"""Look up who is behind the event."""
ACTOR_GROUP = "actor-group/{}"
"""Look up the first user group that may start the workflow, the second, and so on."""
TURNED_AWAY = "turned-away/1"
"""Tell a person that the workflow is not for them."""
CONTEXT = "context/1"
"""Read the source context; `private` in the details of its result says whether only some people can see that."""
PRELOAD = "preload"
"""Fetch a file for the first message: `preload/<file>`."""
SUBAGENT_FILE = "subagent-file"
"""Fetch a file that a subagent is given: `subagent-file/<file>`."""
SUBAGENT_QUESTION = "subagent/{}"
"""Ask a one-shot subagent, by the id of the model's call."""
COMPACTION = "compaction"
"""Ask for a summary of the messages that leave the context window: `compaction/<n>`."""
WRITE_PLACE = "write-place"
"""Look up the place that a write goes to."""
READ_PLACE = "read-place"
"""Look up the channel of a read, because the run may later write what it read elsewhere."""

APPROVER_GROUPS = "approver-groups/{}"
"""Look up the user groups that may decide about a call."""
QUESTION = "question/{}/{}/{}"
"""Ask for an approval: what it is about, the call, and the number of the attempt."""
QUESTION_FILE = "question-file/{}/{}"
"""Attach the arguments that do not fit into a question: what it is about, and the call."""
QUESTION_BUTTONS = "question-buttons/{}/{}"
"""Show the buttons of a question above such a file: what it is about, and the call."""
DECISION = "decision/{}/{}"
"""Show what was decided: what the approval is about and the call; in place of a message, also its number."""
APPROVER_NAME = "status-approver/{}"
"""Look up the name of a person who may decide, by the id of the person."""
APPROVER = "approver/{}"
"""Look up the person who pressed a button, by the id of the inbox item."""
OBJECTION = "objection/{}"
"""Tell a person why the press of a button does not count, by the id of the inbox item."""

STATUS = "status/1"
"""Post the message that says that the run is at work."""
WAITING = "status/2"
"""Say in that message what the run waits for."""
WAITING_APPROVAL = "status/{}/{}"
"""Say in that message whose approval the run waits for: what the approval is about, and the run and the call."""
STATUS_DELETED = "status-deleted/1"
"""Delete that message, because the person who asked deleted their own, or because the answer was posted anew."""
PRIVATE_LINK = "private-link/1"
"""Show the person who asked the link to the page of a private run."""
ANSWER = "answer/1"
"""Deliver the answer, or its first message."""
ANSWER_ANEW = "answer/2"
"""Post that message anew, because the status message cannot be changed any more."""
ANSWER_PART = "answer-part/{}"
"""Post the second message of the answer, the third, and so on."""
ANSWER_FILE = "answer-file/1"
"""Attach an answer that is too long for messages."""
PRIVATE_ANSWER = "private-answer/{}"
"""Post the first message of an answer that one person alone reads, the second, and so on."""
DONE_BEFORE = "done-before/1"
"""Tell a second person that an earlier run did what they ask for."""

SUMMARY = "summary/1"
"""Post the summary of a run in the channel for logs."""
OWNER_NOTICE = "owner-notice/1"
"""Post a failure that no other person was told of in the channel of the workflow's owner."""


_ADDED = frozenset({"status", "status-approver", "status-deleted", "private-link", "summary", "owner-notice"})


def is_notice_of_wait(call: str) -> bool:
    """Return whether a call of the run says in the status message what the run waits for."""
    return call != STATUS and call.startswith("status/")


def is_added(call: str) -> bool:
    """Return whether Gofer adds this call to a run to inform people, so that no decision of the run depends on it."""
    return call.partition("/")[0] in _ADDED


def is_own(call: str) -> bool:
    """Return whether the run makes this call by itself."""
    return "/" in call
