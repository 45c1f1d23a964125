"""The result of a replay as lines for a terminal, and as JSON."""

import json
from collections.abc import Iterator, Mapping, Sequence

from gofer.journal.entries import Recorded
from gofer.replay.divergence import Cause, Divergence
from gofer.replay.replay import Outcome, Replay
from gofer.values.amounts import counted

_WIDTH = 200
"""The most characters of a value."""
_MOST = 5
"""The most reworded texts that are shown."""
_HEADLINES: Mapping[Outcome, str] = {
    "identical": "identical: every step is equal",
    "reworded": "reworded: every step is equal; only texts that Gofer writes differ",
    "diverged": "diverged",
    "inconclusive": "inconclusive",
    "incomplete": "equal so far",
    "other_gofer": "recorded by another Gofer",
}
_CAUSES: Mapping[Cause, str] = {
    "": "",
    "input": "an input of this replay differs: the prompt, or the result of a call",
    "sampling": "the model chose another answer to the same request",
    "world": "a system outside answered differently",
    "version": "Gofer, a tool or the model has another version than the recorded run",
    "setting": "a setting differs",
}


def replay_lines(run: str, recorded: Sequence[Recorded], replay: Replay) -> Iterator[str]:
    """Yield the result of a replay of a run: its outcome, the first difference, and what it means."""
    yield f"run {run[:8]}  {_HEADLINES[replay.outcome]}"
    if replay.outcome == "other_gofer":
        yield f"  {replay.reason}"
        return
    replayed = replay.journals[run]
    yield f"  {counted(len(recorded), 'step')} recorded, {len(replayed)} replayed; {_reached(replay)}"
    if replay.first is not None:
        yield from _first_lines(replay.first)
    if replay.reason:
        yield f"  {replay.reason}"
    if replay.waits:
        yield f"  The replay ends here. {replay.waits}"
    reworded = [one for one in replay.divergences if one.kind == "reworded"]
    for one in reworded[:_MOST]:
        yield f"  reworded {one.address} {one.step}, {one.field}"
        yield f"    - {shown(one.original)}"
        yield f"    + {shown(one.replayed)}"
    if len(reworded) > _MOST:
        yield f"  … and {counted(len(reworded) - _MOST, 'more reworded text')}"


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
            yield f"    - {shown(first.original)}"
            yield f"    + {shown(first.replayed)}"
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
    text = value
    if not isinstance(text, str):
        text = json.dumps(value, ensure_ascii=False)
    line = " ".join(text.split())
    if len(line) > _WIDTH:
        return f"{line[:_WIDTH]}…"
    return line


def order_lines(run: str, recorded: Sequence[Recorded], tried: int, moved: Sequence[Replay]) -> Iterator[str]:
    """Yield whether other orders of parallel calls change a run."""
    if not moved:
        yield f"run {run[:8]}  {counted(tried, 'other order')} of parallel calls: every request and call stays the same"
        return
    yield f"run {run[:8]}  {len(moved)} of {counted(tried, 'other order')} of parallel calls change the run; the first:"
    yield from replay_lines(run, recorded, moved[0])
