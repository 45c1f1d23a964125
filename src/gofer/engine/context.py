"""What exactly is a model sent? A stable prefix that only grows, and one fresh tail.

The bytes of a request are `{params, tools, "messages": [system, history…, tail]}`, encoded once: consecutive
requests of a run to one model share every byte up to the tail, so that a provider's prompt cache holds.
"""

import hashlib
from collections.abc import Mapping, Sequence

from gofer import messages
from gofer.canonical import as_object, encode
from gofer.projections.conversation import Conversation, Flaw
from gofer.workflows.bundle import Bundle
from gofer.workflows.output import problems, read_answer

REMARKS: Mapping[Flaw, str] = {
    "empty": "[Gofer, by code] Your last answer was empty. Answer in words, or call a tool.",
    "cut": "[Gofer, by code] Your last answer was cut off at the limit of one answer. Write a shorter one.",
}
"""What a model is told right after an answer that leaves nothing to go on with."""
_ANEW = "Answer with the whole object, corrected, and nothing else; or call a tool for what is missing."


def unfit(answer: str, schema: Mapping[str, object]) -> str:
    """What a model is told of an answer that has not the form its workflow asks for; empty when it has."""
    try:
        wrong = problems(schema, read_answer(answer))
    except ValueError as error:
        wrong = [f"it is {error}"]
    listed = "\n".join(f"- {problem}" for problem in wrong)
    return listed and f"[Gofer, by code] Your answer is not valid under the schema of the output:\n{listed}\n{_ANEW}"


class Window:
    """The growing prefix of one run's requests. Each message is copied and hashed once for each model in a row."""

    def __init__(self, bundle: Bundle) -> None:
        self._bundle = bundle
        self._begin({})

    def _begin(self, params: Mapping[str, object]) -> None:
        self._params = params
        self._prefix = bytearray(head(params, self._bundle.tools, self._bundle.loaded.system))
        self._hash = hashlib.sha256(self._prefix)
        self._taken = 0

    def request(self, params: Mapping[str, object], conversation: Conversation, tail: str) -> tuple[str, bytes]:
        """The hash of everything before the tail, and the exact bytes of the request to the model of `params`."""
        if params != self._params:
            self._begin(params)
        for part in conversation.parts[self._taken :]:
            self._prefix += b"," + part
            self._hash.update(b"," + part)
        self._taken = len(conversation.parts)
        return self._hash.hexdigest(), bytes(self._prefix) + tail.encode()

    def remark(self, conversation: Conversation) -> str:
        """What the model is told of its last answer by code; empty when the run can go on from it, or end with it."""
        schema = as_object(self._bundle.loaded.workflow.output)
        if conversation.answered and schema:
            return unfit(conversation.answer, schema)
        return REMARKS.get(conversation.flaw, "")


def head(params: Mapping[str, object], tools: Sequence[Mapping[str, object]], system: str) -> bytes:
    """The bytes every request of a run begins with."""
    fixed = {**params, **({"tools": tools} if tools else {})}
    return encode(fixed)[:-1] + b',"messages":[' + messages.system(system)
