"""The result of a replay as lines for a terminal, and as JSON."""

import json
from collections.abc import Iterator, Mapping, Sequence

from gofer.journal.entries import Recorded
from gofer.replay.divergence import Cause, Divergence, Kind
from gofer.replay.replay import Outcome, Replay
from gofer.values.amounts import counted

_WIDTH = 200
"""The most characters of a value."""
_MOST = 5
"""The most differences that are shown beside the first one that counts."""
_BEFORE = 60
"""The equal characters that are shown before a difference."""
_BESIDE: Mapping[Kind, str] = {"reworded": "reworded", "added": "for people only", "read": "this version's request"}
"""The differences that are shown beside the first one that counts, and how each is called."""
_HEADLINES: Mapping[Outcome, str] = {
    "identical": "identical: every step is equal",
    "reworded": "reworded: every step is equal; only sentences and messages that Gofer adds for people differ",
    "updated": "updated: every step is equal; another version of Gofer made the recording, and sent other requests",
    "diverged": "diverged",
    "inconclusive": "inconclusive",
    "incomplete": "equal so far",
}
_CAUSES: Mapping[Cause, str] = {
    "": "",
    "input": "an input of this replay differs: the prompt, or the result of a call",
    "sampling": "the model chose another answer to the same request",
    "world": "a system outside answered differently",
    "version": "the code of Gofer or of a tool, or the version of the model, is another one than in the recorded run",
    "upgrade": "another version of Gofer made the recording",
    "setting": "a setting differs",
}


def replay_lines(run: str, recorded: Sequence[Recorded], replay: Replay) -> Iterator[str]:
    """Yield the result of a replay of a run: its outcome, the first difference, and what it means."""
    yield f"run {run[:8]}  {_HEADLINES[replay.outcome]}"
    replayed = replay.journals[run]
    yield f"  {counted(len(recorded), 'step')} recorded, {len(replayed)} replayed; {_reached(replay)}"
    if replay.first is not None:
        yield from _first_lines(replay.first)
    if replay.reason:
        yield f"  {replay.reason}"
    if replay.waits:
        yield f"  The replay ends here. {replay.waits}"
    yield from _lines_beside([one for one in replay.divergences if not one.counts])


def _lines_beside(divergences: Sequence[Divergence]) -> Iterator[str]:
    """Yield the differences that do not make the run another one."""
    for one in divergences[:_MOST]:
        yield f"  {_BESIDE[one.kind]}: {one.step} ({one.address}), {one.field}".rstrip(", ")
        yield from _both(one)
    if len(divergences) > _MOST:
        yield f"  … and {counted(len(divergences) - _MOST, 'more difference')} of this kind"


def _both(one: Divergence) -> Iterator[str]:
    """Yield both sides of a difference, from shortly before the first character that differs."""
    if one.original is None:
        yield "    + this replay makes it, and the recorded run did not"
    elif one.replayed is None:
        yield "    - the recorded run made it, and this replay does not"
    else:
        original, replayed = sides(one)
        yield f"    - {original}"
        yield f"    + {replayed}"


def sides(one: Divergence) -> tuple[str, str]:
    """Return both sides of a difference as short lines, from shortly before the first character that differs."""
    original = _line(one.original)
    replayed = _line(one.replayed)
    pairs = enumerate(zip(original, replayed, strict=False))
    first = next((at for at, (before, after) in pairs if before != after), min(len(original), len(replayed)))
    start = max(0, first - _BEFORE)
    return shown(original[start:]), shown(replayed[start:])


def _reached(replay: Replay) -> str:
    if replay.live.count:
        return f"a live model gave {counted(replay.live.count, 'answer')}; no system was reached"
    return "no model and no system was reached"


def _first_lines(first: Divergence) -> Iterator[str]:
    match first.kind:
        case "missing":
            yield f"  first difference: {first.step} ({first.address}) was recorded, and the replay did not come to it"
        case "extra":
            yield f"  first difference: after {first.address} the replay made {first.step}, which was not recorded"
        case _:
            yield f"  first difference: {first.step} ({first.address}), {first.field}"
            yield from _both(first)
    if _CAUSES[first.cause]:
        yield f"  cause: {_CAUSES[first.cause]}"


def replay_json(run: str, replay: Replay) -> Mapping[str, object]:
    """Return the result of a replay as JSON."""
    return {
        "run": run,
        "outcome": replay.outcome,
        "reason": replay.reason,
        "waits": replay.waits,
        "differences": [_difference_json(one) for one in replay.divergences],
    }


def _difference_json(one: Divergence) -> Mapping[str, object]:
    return {
        "step": one.step,
        "field": one.field,
        "original": one.original,
        "replayed": one.replayed,
        "kind": one.kind,
        "cause": one.cause,
        "run": one.run,
        "address": one.address,
    }


def shown(value: object) -> str:
    """Return a value as one short line."""
    line = _line(value)
    if len(line) > _WIDTH:
        return f"{line[:_WIDTH]}…"
    return line


def _line(value: object) -> str:
    text = value
    if not isinstance(text, str):
        text = json.dumps(value, ensure_ascii=False)
    return " ".join(text.split())


def order_lines(run: str, recorded: Sequence[Recorded], tried: int, moved: Sequence[Replay]) -> Iterator[str]:
    """Yield whether other orders of parallel calls change a run."""
    if not moved:
        yield f"run {run[:8]}  {counted(tried, 'other order')} of parallel calls: every request and call stays the same"
        return
    yield f"run {run[:8]}  {len(moved)} of {counted(tried, 'other order')} of parallel calls change the run; the first:"
    yield from replay_lines(run, recorded, moved[0])
