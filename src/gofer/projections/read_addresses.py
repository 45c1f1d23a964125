"""The addresses that stood whole in what a run read. Only these may be links in what the run writes.

An address that a model wrote before the run read it is not read, even if a tool repeats it afterwards. Nor is one in
code, because texts of earlier runs hold addresses there that no person and no source wrote.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from gofer.journal import entries as e
from gofer.journal.workspace_entries import BOOKKEEPING
from gofer.values.addresses import keys_in, without_code
from gofer.values.canonical_json import as_object, as_text
from gofer.values.messages import resolved_call

_COMPUTING = frozenset({"python", "jq"}) | BOOKKEEPING
"""Tools that return results composed by a model, so that an address in them may be new."""
_COMPOSED = ("python", "jq", "subagent ", "this conversation")
"""The beginnings of the origins of files that a model composed, in this run or in the run that it continues."""


@dataclass(slots=True)
class ReadAddresses:
    """The addresses of one run so far, by their keys (`values/addresses.py`)."""

    read: set[str] = field(default_factory=set[str])
    written: set[str] = field(default_factory=set[str])
    """The addresses that a model wrote before the run read them."""
    turn: int = 0
    asked: dict[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    """The addresses that the run had read, in arguments of a model's call with a whole URL, by call."""
    requested: set[str] = field(default_factory=set[str])
    """These addresses of all calls that began."""
    composed: set[str] = field(default_factory=set[str])
    """The calls with results that do not count as read, and the files that such calls made."""


def project(entries: Iterable[e.Recorded]) -> ReadAddresses:
    """Return the addresses of a whole journal."""
    state = ReadAddresses()
    for recorded in entries:
        fold(state, recorded)
    return state


def fold(state: ReadAddresses, recorded: e.Recorded) -> None:
    """Add one more entry to the addresses, in place."""
    match recorded.entry:
        case e.RunAccepted(event=event):
            _hear(state, [event.text, *_texts(event.facts), *event.place.values()])
        case e.MessageReceived(text=text, item=item) if item:
            _hear(state, [text])
        case e.MessageReceived(text=text) | e.SubagentStarted(prompt=text):
            _read(state, [text])
        case e.LlmResponse(text=text, tool_calls=asks):
            state.turn += 1
            _write(state, [text])
            for index, ask in enumerate(asks):
                meant = resolved_call(ask)
                call = f"{state.turn}.{index}"
                _ask(state, call, _texts(meant.parsed or meant.arguments))
                _note_composed(state, call, meant.tool, as_object(meant.parsed))
        case e.ToolCall(call=call, tool=tool, arguments=arguments):
            state.requested |= state.asked.get(call, frozenset())
            if arguments is not None:
                _note_composed(state, call, tool, arguments)
        case e.FileAdded(file=file, origin=origin) if (
            origin.startswith(_COMPOSED) or origin.rpartition(" ")[2] in state.composed | _COMPUTING
        ):
            state.composed.add(file)
        case e.ToolResult(call=call) as result if call not in state.composed:
            _read(state, [result.text, *_texts(result.details), *_texts(result.value)])
        case e.SubagentFinished(text=text, addresses=addresses):
            state.read.update(key for key in addresses if key not in state.written)
            _write(state, [text])
        case _:
            pass


def _hear(state: ReadAddresses, texts: Sequence[str]) -> None:
    """Add the addresses in the words of a person, who may name one that the model wrote before."""
    for text in texts:
        for key in keys_in(text):
            state.read.add(key)
            state.written.discard(key)


def _read(state: ReadAddresses, texts: Sequence[str]) -> None:
    for text in texts:
        state.read.update(key for key in keys_in(without_code(text)) if key not in state.written)


def _write(state: ReadAddresses, texts: Iterable[str]) -> None:
    for text in texts:
        state.written.update(key for key in keys_in(text) if key not in state.read)


def _ask(state: ReadAddresses, call: str, texts: Iterable[str]) -> None:
    for text in texts:
        keys = frozenset(keys_in(text))
        state.written |= keys - state.read
        if "://" in text and (known := keys & state.read):
            state.asked[call] = state.asked.get(call, frozenset()) | known


def _note_composed(state: ReadAddresses, call: str, tool: str, arguments: Mapping[str, object]) -> None:
    """Note a call that computes, or that reads a file which such a call made."""
    if tool in _COMPUTING or as_text(arguments.get("file", "")) in state.composed:
        state.composed.add(call)


def _texts(value: object) -> Iterator[str]:
    """Yield the texts in a JSON value, with the names of its fields."""
    match value:
        case str():
            yield value
        case dict():
            for name, inner in cast(Mapping[str, object], value).items():
                yield name
                yield from _texts(inner)
        case list() | tuple():
            for inner in cast(Sequence[object], value):
                yield from _texts(inner)
        case _:
            pass
