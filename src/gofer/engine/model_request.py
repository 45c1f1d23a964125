"""What exactly is a model sent? A stable prefix that only grows, and one fresh tail.

The bytes of a request are `{params, tools, "messages": [system, history…, tail]}`, encoded once: consecutive
requests of a run to one model share every byte up to the tail, so that a provider's prompt cache holds.
"""

import hashlib
from collections.abc import Mapping, Sequence

from gofer.projections.conversation import Conversation
from gofer.values import messages
from gofer.values.canonical_json import encode
from gofer.workflows.bundle import Bundle


class Window:
    """The growing prefix of one run's requests. Each message is copied and hashed once for each model in a row."""

    def __init__(self, bundle: Bundle) -> None:
        self._bundle = bundle
        self._epoch: int = 0
        self._begin({})

    def _begin(self, params: Mapping[str, object]) -> None:
        self._params = params
        self._prefix = bytearray(head(params, self._bundle.tools, self._bundle.loaded.system))
        self._hash = hashlib.sha256(self._prefix)
        self._taken = 0

    def up_to(self, params: Mapping[str, object], parts: Sequence[bytes], tail: str) -> bytes:
        """A request that ends with some message of the history, so that it shares every byte with those before it."""
        beginning = head(params, self._bundle.tools, self._bundle.loaded.system)
        return b",".join([beginning, *parts]) + tail.encode()

    def request(self, params: Mapping[str, object], conversation: Conversation, tail: str) -> tuple[str, bytes]:
        """The hash of everything before the tail, and the exact bytes of the request to the model of `params`."""
        if params != self._params or conversation.epoch != self._epoch:
            self._begin(params)
            self._epoch = conversation.epoch
        for part in conversation.parts[self._taken :]:
            self._prefix += b"," + part
            self._hash.update(b"," + part)
        self._taken = len(conversation.parts)
        return self._hash.hexdigest(), bytes(self._prefix) + tail.encode()


def head(params: Mapping[str, object], tools: Sequence[Mapping[str, object]], system: str) -> bytes:
    """The bytes every request of a run begins with."""
    fixed = {**messages.sent(params), **({"tools": tools} if tools else {})}
    return encode(fixed)[:-1] + b',"messages":[' + messages.system(system)
