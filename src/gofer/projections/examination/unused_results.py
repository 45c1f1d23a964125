"""The results of reading calls that a run never used, decided by their words.

A result is unused if it has words that no message had before, and none of these words occurs in later arguments, texts,
thoughts and summaries of the model, or in the answer. So one common word is enough to count as used, and a result
without such words is never unused. A later number that no text had before may be computed, so then no result with
numbers is unused. Only runs that ended as `done` are examined, and only the calls of a model.
"""

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

from gofer.journal import entries as e
from gofer.journal.workspace_entries import BOOKKEEPING, ContextCompacted
from gofer.projections.calls import Call
from gofer.projections.requests.request_parts import SKILLS
from gofer.values.canonical_json import encode_text

MOST_CHARACTERS = 400_000
"""The most characters of one text that are compared; a result is shown to a model with fewer."""
COMPUTED = "(computed)"
"""A stand-in for a number that no text had before; no text has it as a word."""
_WORDS = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class _Text:
    """A text of a run in the order of the journal."""

    words: frozenset[str]
    call: str = ""
    """The call with this result; empty for another text."""
    is_use: bool = False
    """Whether the model wrote it, and so may use earlier results."""


def unused_results(entries: Sequence[e.Recorded], calls: Mapping[str, Call]) -> frozenset[str]:
    """Return the ids of the calls with results that were never used."""
    texts = list(_texts(entries))
    if not any(isinstance(one.entry, e.RunConcluded) and one.entry.status == "done" for one in entries):
        return frozenset()
    new = _new_words(texts)
    later: set[str] = set()
    unused: set[str] = set()
    for index, text in reversed(list(enumerate(texts))):
        if text.is_use:
            later |= new[index]
        elif text.call and _is_unused(new[index], later):
            unused.add(text.call)
    return frozenset(call for call in unused if call in calls and _can_be_unused(calls[call]))


def _is_unused(result: frozenset[str], later: Set[str]) -> bool:
    if not result or result & later:
        return False
    return COMPUTED not in later or not any(map(str.isdecimal, result))


def _can_be_unused(call: Call) -> bool:
    is_read = call.status == "ok" and call.effect == "read"
    return is_read and bool(call.turn) and call.tool not in BOOKKEEPING and call.tool not in SKILLS


def _new_words(texts: Sequence[_Text]) -> Sequence[frozenset[str]]:
    """Return the words that matter of each text.

    Of a result they are those that no message had before. A text of the model has all of its words, and COMPUTED if it
    has a number that no text had before.
    """
    messages: set[str] = set()
    every: set[str] = set()
    found: list[frozenset[str]] = []
    for text in texts:
        words = text.words
        if text.call:
            words -= messages
        elif not text.is_use:
            messages |= words
        elif any(map(str.isdecimal, words - every)):
            words |= {COMPUTED}
        found.append(words)
        every |= text.words
    return found


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
            case ContextCompacted(summary=summary):
                yield _Text(_words(summary), is_use=True)
            case e.RunConcluded(text=text, output=output):
                yield _Text(_words(f"{text} {encode_text(output)}"), is_use=True)
            case _:
                pass


def _words(text: str) -> frozenset[str]:
    return frozenset(word.casefold() for word in _WORDS.findall(text[:MOST_CHARACTERS]))
