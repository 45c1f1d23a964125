"""The words that the model of a run has seen, and the names in its calls that are not among them."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from sys import intern

from gofer.journal import entries as e
from gofer.journal.workspace_entries import BOOKKEEPING
from gofer.projections.checks.check_settings import shortened
from gofer.projections.checks.names_in_arguments import names_in
from gofer.projections.script_replay import is_of_a_script
from gofer.values.canonical_json import encode_text
from gofer.values.messages import ToolAsk, resolved_call

MOST_WORDS = 50_000
"""The most different words of one run that are kept. After that, no name counts as invented."""
MOST_UNSEEN = 20
"""The most invented names of one run that are kept."""
_LONGEST_WORD = 64
_COMPARED = 2_000
"""The most words with which an invented name is compared."""

_WORD = re.compile(r"[\w-]+")
_PART = re.compile(r"[^\W_]+")
_DASHED = re.compile(r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}")

_LINKED_TS = re.compile(r"p([0-9]{10})([0-9]{6})")
"""The ts of a message as the links to messages write it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unseen:
    """A name that stood in no earlier message, file or result."""

    tool: str
    argument: str
    value: str
    words: tuple[str, ...]
    """The words of the name that were not seen, in lower case."""
    address: str
    """The entry with the call."""


@dataclass(slots=True)
class NamedValues:
    """The words and the invented names of one run so far."""

    words: dict[str, str] = field(default_factory=dict[str, str])
    """Each seen word in lower case, with the word as it was written."""
    unseen: dict[str, Unseen] = field(default_factory=dict[str, Unseen])
    """The invented names, by the name in lower case."""
    is_blind: bool = False
    """Whether the model saw an image or a document whose words are unknown, or more words than are kept."""


def project(entries: Iterable[e.Recorded]) -> NamedValues:
    """Return the words and the invented names of a whole journal."""
    state = NamedValues()
    for recorded in entries:
        fold(state, recorded)
    return state


def fold(state: NamedValues, recorded: e.Recorded) -> None:
    """Add one more entry to the words and names, in place."""
    match recorded.entry:
        case e.RunAccepted(event=event):
            _see(state, event.text)
            _see(state, encode_text([event.actor.id, event.conversation, event.place, event.facts]))
        case e.MessageReceived(text=text, media=media):
            _see(state, text)
            if media:
                _look_away(state)
        case e.LlmRequest(tail=tail):
            _see(state, tail)
        case e.LlmResponse(tool_calls=asks):
            for ask in map(resolved_call, asks):
                _look_for_names(state, ask, recorded.address)
        case e.ToolResult(call=call, text=text) | e.ToolUnknown(call=call, text=text) if not is_of_a_script(call):
            _see(state, text)
        case e.SubagentFinished(text=text):
            _see(state, text)
        case e.FileAdded(file=file, name=name):
            _see(state, f"{file} {name}")
        case _:
            pass


def invented(state: NamedValues, texts: Iterable[str]) -> tuple[Unseen, ...]:
    """Return the names that also stand in none of `texts`, such as the system prompt and the tool schemas."""
    if not state.unseen or state.is_blind:
        return ()
    words = _words_of("\n".join(texts))
    return tuple(one for one in state.unseen.values() if not words.keys() >= set(one.words))


def nearest(state: NamedValues, texts: Iterable[str], value: str) -> str:
    """Return the word of the run or of `texts` that is most like an invented name, or an empty text."""
    known = {**_words_of("\n".join(texts)), **state.words}
    sought = value.strip("#@").lower()
    near = [word for word in known if abs(len(word) - len(sought)) <= 2 and word != sought]
    near.sort(key=lambda word: word[:1] != sought[:1])
    found = get_close_matches(sought, near[:_COMPARED], n=1, cutoff=0.7)
    if not found:
        return ""
    return known[found[0]]


def _see(state: NamedValues, text: str) -> None:
    if state.is_blind:
        return
    for found in dict.fromkeys(_WORD.findall(text)):
        whole = found.strip("-_")
        # Most words of a run were seen before, and then their parts were too.
        if whole.lower() in state.words:
            continue
        for word in _with_parts(whole):
            if len(word) <= _LONGEST_WORD:
                _keep(state, word)
        if len(state.words) >= MOST_WORDS:
            _look_away(state)
            return


def _keep(state: NamedValues, word: str) -> None:
    # One text serves all runs, because the words of those in flight add up, and most of them are Gofer's own.
    state.words.setdefault(intern(word.lower()), intern(word))


def _look_away(state: NamedValues) -> None:
    """Judge no further name of the run, and drop the words that this needed."""
    state.is_blind = True
    state.words.clear()
    state.unseen.clear()


def _words_of(text: str) -> Mapping[str, str]:
    """Return the words of a text and their parts, by the word in lower case."""
    return {word.lower(): word for word in _each_word(text)}


def _each_word(text: str) -> Iterator[str]:
    """Yield the words of a text and their parts."""
    for found in _WORD.finditer(text):
        for word in _with_parts(found[0].strip("-_")):
            if len(word) <= _LONGEST_WORD:
                yield word


def _with_parts(word: str) -> Iterator[str]:
    """Yield a word and its parts. An uuid is also kept without its dashes."""
    yield word
    if linked := _LINKED_TS.fullmatch(word):
        yield from linked.groups()
    if "-" in word or "_" in word:
        yield from _PART.findall(word)
        for dashed in _DASHED.findall(word):
            yield dashed.replace("-", "")


def _sought(value: str) -> Iterator[str]:
    """Yield the words of a name in lower case, as `_words_of` keeps them. Of a link only words with digits count."""
    for dashed in _DASHED.findall(value):
        yield dashed.replace("-", "").lower()
    for found in _WORD.findall(_DASHED.sub(" ", value)):
        word = found.strip("-_").lower()
        if word and ("://" not in value or any(letter.isdigit() for letter in word)):
            yield word


def _look_for_names(state: NamedValues, ask: ToolAsk, address: str) -> None:
    if ask.tool in BOOKKEEPING or state.is_blind or ask.parsed is None:
        return
    for argument, value in names_in(ask.parsed):
        words = tuple(word for word in _sought(value) if word not in state.words)
        if words and len(state.unseen) < MOST_UNSEEN:
            # A model may write megabytes as the name of a tool or an argument.
            unseen = Unseen(
                tool=shortened(ask.tool), argument=shortened(argument), value=value, words=words, address=address
            )
            state.unseen.setdefault(value.lower(), unseen)
