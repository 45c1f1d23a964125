"""The exact bytes of a request to a model, and their weight: a stable prefix that only grows, and a new tail.

The bytes of a request are `{params, tools, "messages": [system, history…, tail]}`. Consecutive requests of a run to one
model share every byte up to the tail, so that the provider's prompt cache keeps working.
"""

import hashlib
from collections.abc import Mapping, Sequence

from gofer.files.document import EACH
from gofer.projections.conversation import Conversation
from gofer.workflows.bundle import Bundle


def output_parameter(output: object) -> Mapping[str, object]:
    """Return the JSON Schema of an `output` as a neutral parameter; empty for text. The prompt has the schema too."""
    if output is None:
        return {}
    return {"output_schema": output}


class Window:
    """The growing prefix of one run's requests. While the model stays the same, each message is hashed only once."""

    def __init__(self, bundle: Bundle) -> None:
        self._bundle = bundle
        self._epoch: int = 0
        self._params: Mapping[str, object] | None = None
        """The parameters of the last request; None before the first."""
        self._hash = hashlib.sha256()
        self._hashed = 0

    def _begin(self, params: Mapping[str, object]) -> None:
        self._params = params
        self._hash = hashlib.sha256(self._bundle.head(params))
        self._hashed = 0

    @property
    def added(self) -> Mapping[str, object]:
        """The form that the answer of the run must have, for `RemoteModel.adding`; empty for text."""
        return output_parameter(self._bundle.loaded.workflow.output)

    def partial_request(self, params: Mapping[str, object], parts: Sequence[bytes], tail: str) -> bytes:
        """Return a request with a part of the history and a tail; it shares every byte up to the tail."""
        return b",".join([self._bundle.head(params), *parts]) + tail.encode()

    def request(self, params: Mapping[str, object], conversation: Conversation, tail: str) -> tuple[str, bytes]:
        """Return the hash of everything before the tail, and the exact bytes of the request."""
        if params != self._params or conversation.epoch != self._epoch:
            self._begin(params)
            self._epoch = conversation.epoch
        for part in conversation.parts[self._hashed :]:
            self._hash.update(b"," + part)
        self._hashed = len(conversation.parts)
        return self._hash.hexdigest(), self.partial_request(params, conversation.parts, tail)


MOST_BYTES = 18_000_000
"""Largest request in bytes. Providers refuse more than 20 to 32 MB, and every later request with the same history."""
COMPACT_AT = 0.58
"""Share of MOST at which compaction begins; below it, any single image or document still fits."""
SPARE_SHARE = 0.1
"""Share of MOST that the images and documents of one turn leave free."""


def sizes(conversation: Conversation) -> list[int]:
    """Return the bytes of each message; an image or document counts EACH bytes more."""
    counted = [len(part) for part in conversation.parts]
    for seen in conversation.seen:
        counted[seen.part] += EACH
    return counted


def media_left(conversation: Conversation, calls: int) -> int:
    """Return how many characters of base64 each of `calls` calls may add as images and documents."""
    room = round((1 - SPARE_SHARE) * MOST_BYTES) - sum(sizes(conversation))
    return max(0, room // max(1, calls) - EACH)
