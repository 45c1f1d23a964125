"""The replay of a redacted case, which must equal its recording, and the last words of Gofer that follow from it.

Estimates of tokens and hashes of approvals follow from redacted contents in ways that only the engine knows. They are
taken from a replay; then the case is replayed again.
"""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from gofer import __version__
from gofer.evals.goldens.derived_names import DerivedNames
from gofer.evals.goldens.golden_file import digest_of, recording_path
from gofer.evals.goldens.golden_reader import ReadGolden
from gofer.evals.goldens.run_file import GoldenRun, lines_of, recording_bytes
from gofer.journal.entries import Recorded, RunOwned
from gofer.replay.divergence import Divergence
from gofer.replay.recorded_run import RecordedRun
from gofer.replay.replay import Replay
from gofer.values.errors import ConfigError

Replaying = Callable[[RecordedRun], Awaitable[Replay]]
"""Replays a recorded run."""
_MOST_REPLAYS = 12
_HASH = re.compile(r"[0-9a-f]{12,64}")


async def refuse_unreplayable(turns: Sequence[GoldenRun], replaying: Replaying) -> None:
    """Raise ConfigError if a recorded run does not replay before its redaction."""
    for turn in turns:
        replay = await replaying(turn.recorded())
        if not replay.agrees:
            raise ConfigError(
                f"Run {turn.run} cannot become a golden, because this version of Gofer does not replay it: "
                f"{_difference(replay)}. `gofer replay {turn.run[:8]}` shows the whole difference."
            )


async def replayed_turns(turns: Sequence[GoldenRun], replaying: Replaying) -> Sequence[GoldenRun]:
    """Return the redacted runs so that each replays identically. Raises ConfigError if that is not possible.

    Their owners get the present version of Gofer, because it makes the same requests now.
    """
    names = DerivedNames()
    made = [await _replayed(names.run(turn), names, replaying) for turn in turns]
    return [_of_this_version(names.run(turn)) for turn in made]


async def renewed(read: ReadGolden, replaying: Replaying) -> Mapping[Path, bytes]:
    """Return the files of a golden with the requests that this version of Gofer makes; none if they have them.

    The recorded answers stay. Raises ConfigError if a step differs by more than texts.
    """
    content = recording_bytes(await replayed_turns(read.turns, replaying))
    digest = digest_of(content)
    if digest == read.golden.recording_sha256:
        return {}
    # People edit this file, so that only the hash in it changes.
    text = read.path.read_text(encoding="utf-8").replace(read.golden.recording_sha256, digest)
    return {read.path: text.encode(), recording_path(read.path): content}


def _of_this_version(turn: GoldenRun) -> GoldenRun:
    journals = {run: lines_of([_owned_now(one) for one in turn.entries(run)]) for run in turn.journals}
    return replace(turn, journals=journals)


def _owned_now(recorded: Recorded) -> Recorded:
    if isinstance(recorded.entry, RunOwned):
        return replace(recorded, entry=RunOwned(__version__))
    return recorded


async def _replayed(turn: GoldenRun, names: DerivedNames, replaying: Replaying) -> GoldenRun:
    replay = await replaying(turn.recorded())
    for _ in range(_MOST_REPLAYS):
        if replay.outcome == "identical":
            return turn
        if replay.keeps_the_path:
            turn = replace(turn, journals={run: lines_of(entries) for run, entries in replay.journals.items()})
        elif replay.first is not None and _is_of_a_hash(replay.first):
            names.rename(str(replay.first.original), str(replay.first.replayed))
            turn = names.run(turn)
        else:
            break
        replay = await replaying(turn.recorded())
    raise ConfigError(
        f"The run cannot become a golden, because its redacted case does not replay: {_difference(replay)}."
    )


def _is_of_a_hash(divergence: Divergence) -> bool:
    """Return whether the recording and the replay differ only in a hash of redacted contents."""
    both = (divergence.original, divergence.replayed)
    return all(isinstance(one, str) and _HASH.fullmatch(one) for one in both)


def _difference(replay: Replay) -> str:
    """Return the first difference without contents."""
    first = replay.first
    if first is None:
        return replay.reason or replay.outcome
    return f"{first.step or 'the step'} at {first.address} has another {first.field or 'content'}"
