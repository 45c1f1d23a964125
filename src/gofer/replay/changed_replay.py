"""The outcome of a replay with a change: the calls and the answer of the run, as recorded and as replayed.

The typed change itself, and the requests through which a model reads it, are no differences.
"""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from gofer.journal.entries import Recorded
from gofer.projections.progress import project
from gofer.replay.changes import Changes
from gofer.replay.divergence import Divergence
from gofer.replay.made_calls import CallPair, MadeCall, made_calls, paired
from gofer.replay.recorded_run import RecordedRun
from gofer.replay.replay import Replay
from gofer.replay.replay_text import replay_json, replay_lines, shown
from gofer.values.canonical_json import encode_text

_WIDTH = 80
_MOST_LINES = 12
"""The most lines of one answer."""
_LABEL = 13
"""The width of the words before a call and before an answer."""


@dataclass(frozen=True, slots=True)
class ChangedReplay:
    """A replay with another prompt, other results or a live model."""

    recorded: RecordedRun
    replay: Replay
    changes: Changes

    @property
    def is_plain(self) -> bool:
        """Whether the replay asks what the recorded run does today, and changes nothing."""
        changes = self.changes
        return changes.prompt is None and not changes.overrides and not changes.live

    @property
    def typed(self) -> Sequence[Divergence]:
        """The differences that are the typed change, and the requests through which a model reads it.

        A request that differs before the model could read the change is none of them.
        """
        found: list[Divergence] = []
        for one in self.replay.divergences:
            is_prompt = self.changes.prompt is not None and one.field == "system prompt"
            is_result = one.step in {f"tool.result {call}" for call in self.changes.overrides}
            is_read = bool(found) and one.step == "llm.request" and one.field.startswith("message")
            if not (is_prompt or is_result or is_read):
                break
            found.append(one)
        return found

    @property
    def without_typed(self) -> Replay:
        """The replay with its other differences."""
        return replace(self.replay, divergences=self.replay.divergences[len(self.typed) :])

    @property
    def replayed(self) -> Sequence[Recorded]:
        """The replayed entries of the run itself."""
        return self.replay.journals.get(self.recorded.run, ())

    @property
    def calls(self) -> Sequence[CallPair]:
        """The calls of the run itself, recorded and replayed."""
        return list(paired(made_calls(self.recorded.entries), made_calls(self.replayed)))

    def label(self, pair: CallPair) -> str:
        """Return how a call differs, in one or two words."""
        match pair:
            case CallPair(before=None):
                return "in addition"
            case CallPair(after=None) if project(self.replayed).concluded is None:
                return "not reached"
            case CallPair(after=None):
                return "left out"
            case CallPair(change=""):
                return "same"
            case _:
                return "changed"


def changed_lines(made: ChangedReplay) -> Iterator[str]:
    """Yield the outcome of the replay; after a change or with a live model also the calls and the answers."""
    yield from replay_lines(made.recorded.run, made.recorded.entries, made.without_typed)
    if made.is_plain:
        return
    yield from _change_lines(made)
    yield "  calls, recorded and replayed"
    for pair in made.calls:
        yield _cut(f"    {made.label(pair):<{_LABEL}}{_call(pair)}")
    if not made.calls:
        yield "    none in both"
    yield "  answer"
    yield from _answer_lines("recorded", _answer(made.recorded.entries) or "none: the run has not ended")
    yield from _answer_lines("replayed", _answer(made.replayed) or _no_answer(made))


def _change_lines(made: ChangedReplay) -> Iterator[str]:
    if made.changes.prompt is not None:
        first = next((one.address for one in made.typed if one.step == "llm.request"), "")
        where = "which changes no request"
        if first:
            where = f"read first in request {first}"
        yield f"  your change: the prompt, {where}"
    for call, text in made.changes.overrides.items():
        yield _cut(f"  your change: the result of {call}, which is now: {shown(text)}")


def _call(pair: CallPair) -> str:
    call = pair.after or pair.before
    if call is None:
        return ""
    return f"{call.id} {call.tool}  {pair.change or encode_text(call.arguments)}"


def _answer(entries: Sequence[Recorded]) -> str:
    """Return the answer of a run, or how it ended without one; empty if it did not end."""
    concluded = project(entries).concluded
    if concluded is None:
        return ""
    return concluded.text or f"none: the run ended as {concluded.status}"


def _no_answer(made: ChangedReplay) -> str:
    if made.changes.live or made.replay.waits:
        return "none: the replay ended before it"
    return "none: the replay ended before it; add --model live to ask a model from there on"


def _answer_lines(label: str, text: str) -> Iterator[str]:
    """Yield an answer as lines of at most _WIDTH characters."""
    indent = f"    {'':<{_LABEL}}"
    lines = [part for line in text.splitlines() for part in textwrap.wrap(line, _WIDTH - len(indent)) or [""]]
    more = len(lines) - _MOST_LINES
    if more > 0:
        lines = [*lines[:_MOST_LINES], f"… and {more} more lines; --json has the whole answer"]
    for number, line in enumerate(lines):
        before = indent
        if number == 0:
            before = f"    {label:<{_LABEL}}"
        yield f"{before}{line}".rstrip()


def _cut(line: str) -> str:
    if len(line) <= _WIDTH:
        return line
    return f"{line[: _WIDTH - 1]}…"


def changed_json(made: ChangedReplay) -> Mapping[str, object]:
    """Return the result of the replay as JSON; after a change or with a live model also the calls and the answers."""
    if made.is_plain:
        return replay_json(made.recorded.run, made.replay)
    typed = replay_json(made.recorded.run, replace(made.replay, divergences=made.typed))
    return {
        **replay_json(made.recorded.run, made.without_typed),
        "change": typed["differences"],
        "calls": [
            {
                "change": made.label(pair),
                "recorded": _call_json(pair.before),
                "replayed": _call_json(pair.after),
            }
            for pair in made.calls
        ],
        "answer": {
            "recorded": _answer(made.recorded.entries) or None,
            "replayed": _answer(made.replayed) or None,
        },
    }


def _call_json(call: MadeCall | None) -> Mapping[str, object] | None:
    if call is None:
        return None
    return {"call": call.id, "tool": call.tool, "arguments": call.arguments}
