"""The requests of a run as they were sent to its models, built again from its journal and its bundle."""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from gofer.journal.entries import LlmRequest, Recorded
from gofer.projections import conversation
from gofer.projections.conversation import Conversation
from gofer.projections.requests.request_parts import head
from gofer.values.canonical_json import as_object, as_text

_SECTION = re.compile(r"\n\n(?=# )")
_MOST_TRIED = 60
"""The most tools, and the most sections of a prompt, that are left out one after the other."""
_MOST_JOINED = 6
"""The most sections in a row that are left out together."""


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


def missing_text(sent: SentRequest, system: str, tools: Sequence[Mapping[str, object]]) -> str:
    """Return which part of the bundle a request lacked that is not exact, in words.

    The request is built once without each tool and without each section of the system prompt. The hash in the journal
    tells which one was sent. A request whose fault is elsewhere gets a sentence about all of it.
    """
    rest = b"".join(b"," + part for part in sent.parts)
    for name, beginning in _reduced_beginnings(sent.request.params, system, tools):
        if hashlib.sha256(beginning + rest).hexdigest() == sent.request.prefix_sha256:
            return f"it lacked {name}"
    return "its prompt, its tools or its history had other text"


def _reduced_beginnings(
    params: Mapping[str, object], system: str, tools: Sequence[Mapping[str, object]]
) -> Iterator[tuple[str, bytes]]:
    """Yield beginnings of a request that lack one part of the bundle, with the name of that part."""
    if tools:
        yield "all tools", head(params, (), system)
    for at, schema in enumerate(tools[:_MOST_TRIED]):
        name = as_text(as_object(schema.get("function")).get("name"))
        yield f"the schema of the tool {name}", head(params, [*tools[:at], *tools[at + 1 :]], system)
    yield "the system prompt", head(params, tools, "")
    sections = _SECTION.split(system)[:_MOST_TRIED]
    for first in range(len(sections)):
        # A skill has headings of its own, so a part of the prompt may be several sections.
        for last in range(first, min(len(sections), first + _MOST_JOINED)):
            title = sections[first].partition("\n")[0].removeprefix("# ")
            yield f"the section {title!r} of its prompt", head(params, tools, _joined(sections, first, last))


def _joined(sections: Sequence[str], first: int, last: int) -> str:
    """Return a system prompt without the sections from `first` to `last`."""
    return "\n\n".join([*sections[:first], *sections[last + 1 :]])
