"""The requests of a run as they were sent to its models, built again from its journal and its bundle."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from gofer.journal.entries import LlmRequest, Recorded
from gofer.projections import conversation
from gofer.projections.conversation import Conversation
from gofer.projections.request_parts import head


@dataclass(frozen=True, slots=True)
class SentRequest:
    """One request to a model of the coordinator."""

    number: int
    """Counted from 1, as the spans `llm/<number>`."""
    recorded: Recorded
    request: LlmRequest
    beginning: bytes
    """The parameters, the tools and the system prompt."""
    parts: Sequence[bytes]
    """The encoded messages after the system prompt, without the tail."""
    epoch: int
    """How often the history was compacted before."""

    @property
    def prefix(self) -> bytes:
        """The bytes of the request before its tail."""
        return b",".join([self.beginning, *self.parts])

    @property
    def body(self) -> bytes:
        """The bytes of the whole request."""
        return self.prefix + self.request.tail.encode()

    @property
    def is_exact(self) -> bool:
        """Whether these bytes are the bytes that were sent, by the hash in the journal."""
        return hashlib.sha256(self.prefix).hexdigest() == self.request.prefix_sha256


def sent_requests(
    entries: Iterable[Recorded], system: str, tools: Sequence[Mapping[str, object]]
) -> Iterator[SentRequest]:
    """Yield the requests of a journal in order, with the system prompt and the tool schemas of its bundle."""
    state = Conversation()
    number = 0
    for recorded in entries:
        if isinstance(recorded.entry, LlmRequest):
            number += 1
            beginning = head(recorded.entry.params, tools, system)
            yield SentRequest(number, recorded, recorded.entry, beginning, tuple(state.parts), state.epoch)
        conversation.fold(state, recorded)
