"""The results of reading calls that a run never used, decided by their words.

A result is unused if it has words that the conversation did not have before, and none of these words occurs in later
arguments, texts and thoughts of the model, or in the answer. So a single common word is enough to count as used, and a
result without new words is never unused. Only runs that ended as `done` are examined, and only their calls by a model.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from gofer.journal import entries as e
from gofer.journal.workspace_entries import BOOKKEEPING
from gofer.projections.calls import Call
from gofer.projections.request_parts import SKILLS
from gofer.values.canonical_json import encode_text

MOST_CHARACTERS = 400_000
"""The most characters of one text whose words are compared; a result is shown to a model with fewer."""
_WORDS = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class _Text:
    """A text of a run in the order of the journal."""

    words: frozenset[str]
    call: str = ""
    """The call whose result it is; empty for another text."""
    is_use: bool = False
    """Whether the model wrote it, and so may use earlier results."""


def unused_results(entries: Sequence[e.Recorded], calls: Mapping[str, Call]) -> frozenset[str]:
    """Return the ids of the calls whose results were never used."""
    texts = list(_texts(entries))
    if not any(isinstance(one.entry, e.RunConcluded) and one.entry.status == "done" for one in entries):
        return frozenset()
    new = _new_words(texts)
    later: set[str] = set()
    unused: set[str] = set()
    for text in reversed(texts):
        if text.is_use:
            later |= text.words
        elif text.call in new and new[text.call] and not new[text.call] & later:
            unused.add(text.call)
    return frozenset(call for call in unused if call in calls and _can_be_unused(calls[call]))


def _can_be_unused(call: Call) -> bool:
    is_read = call.status == "ok" and call.effect == "read"
    return is_read and bool(call.turn) and call.tool not in BOOKKEEPING and call.tool not in SKILLS


def _new_words(texts: Sequence[_Text]) -> Mapping[str, frozenset[str]]:
    """Return the words of each result that the conversation did not have before, by call id."""
    seen: set[str] = set()
    new: dict[str, frozenset[str]] = {}
    for text in texts:
        if text.call:
            new[text.call] = text.words - seen
        seen |= text.words
    return new


def _texts(entries: Sequence[e.Recorded]) -> Iterator[_Text]:
    for recorded in entries:
        match recorded.entry:
            case e.MessageReceived(text=text):
                yield _Text(_words(text))
            case e.ToolResult(call=call, text=text):
                yield _Text(_words(text), call)
            case e.LlmResponse(text=text, thoughts=thoughts, extra=extra, tool_calls=asks):
                asked = [f"{ask.tool} {ask.arguments}" for ask in asks]
                yield _Text(_words(" ".join([text, thoughts, extra, *asked])), is_use=True)
            case e.RunConcluded(text=text, output=output):
                yield _Text(_words(f"{text} {encode_text(output)}"), is_use=True)
            case _:
                pass


def _words(text: str) -> frozenset[str]:
    return frozenset(word.casefold() for word in _WORDS.findall(text[:MOST_CHARACTERS]))
