"""The play of a golden: the replay of its recorded answers, which tests the code of Gofer and of tools.

`RecordedWorld` (`recorded_world.py`) lets a live model play the same case.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import assert_never, cast

from gofer.evals.goldens.golden_reader import ReadGolden
from gofer.evals.goldens.pseudonyms import may_be_pseudonym
from gofer.evals.goldens.replayed_case import Replaying
from gofer.evals.goldens.run_file import GoldenRun
from gofer.evals.goldens.seen import visible_calls
from gofer.evals.plays import Difference, Play, PlayedTurn
from gofer.journal.entries import LlmRequest, Recorded
from gofer.projections.progress import Progress, project
from gofer.replay.replay import Replay
from gofer.replay.replay_text import sides
from gofer.tools.definition import AnyTool
from gofer.values.canonical_json import as_list, as_object, as_text
from gofer.values.events import Event
from gofer.workflows.load import Loaded


@dataclass(frozen=True, slots=True)
class ReplayedGolden:
    """A golden that was played with its recorded answers."""

    play: Play
    replays: Sequence[Replay]
    """The replay of each turn."""

    @property
    def keeps_the_path(self) -> bool:
        """Whether only texts differ, and no step."""
        return all(replay.keeps_the_path for replay in self.replays)

    @property
    def differs(self) -> str:
        """The first step that differs from the recording, for people and without contents; empty if none does."""
        for number, replay in enumerate(self.replays, 1):
            if replay.agrees:
                continue
            if replay.first is None:
                return f"Turn {number}: {replay.reason or replay.outcome}."
            return f"Turn {number}: {replay.first.step} at {replay.first.address} has another {replay.first.field}."
        return ""


async def play_recorded(read: ReadGolden, replaying: Replaying, tools: Mapping[str, AnyTool]) -> ReplayedGolden:
    """Replay every turn of a golden, with all tools by name. No model and no system is asked."""
    replays = [await replaying(turn.recorded()) for turn in read.turns]
    turns = [_turn(turn, replay, tools) for turn, replay in zip(read.turns, replays, strict=True)]
    if read.golden.decision is not None:
        turns[-1] = replace(turns[-1], given_answers=len(read.golden.decision.history))
    evidence = read.golden.source.answers
    if evidence == "live":
        evidence = "recorded"
    play = Play(
        turns=turns,
        world={},
        evidence=evidence,
        latency_ms=sum(turn.progress.owned_ms(turn.progress.last_at) for turn in turns),
        recorded=compared_journals(read),
        is_replay=True,
        systems=(),
        difference=_difference(replays),
    )
    return ReplayedGolden(play, replays)


def compared_journals(read: ReadGolden) -> Sequence[Sequence[Recorded]]:
    """Return the journals that a play of a golden is compared with, turn by turn.

    There is none for a regression, because its recorded answer is bad, and for a decision point, which ends after one
    answer.
    """
    if read.golden.purpose == "regression" or read.golden.decision is not None:
        return ()
    return [turn.entries(turn.run) for turn in read.turns]


def _turn(turn: GoldenRun, replay: Replay, tools: Mapping[str, AnyTool]) -> PlayedTurn:
    entries = replay.journals.get(turn.run) or turn.entries(turn.run)
    progress = project(entries)
    subagents = {run: journal for run, journal in replay.journals.items() if run != turn.run}
    seen = visible_calls(entries, progress, tools)
    return PlayedTurn(turn.run, entries, progress, turn.bundle(turn.run), seen, subagents)


def _difference(replays: Sequence[Replay]) -> Difference | None:
    """Return the first difference of the first turn that does not replay."""
    for number, replay in enumerate(replays, start=1):
        if not replay.agrees:
            return _first_difference(number, replay)
    return None


def _first_difference(turn: int, replay: Replay) -> Difference:
    first = replay.first
    if first is None:
        reason = replay.reason or f"the replay is {replay.outcome}"
        return Difference(turn, "every recorded step", reason.rstrip("."), "")
    name = first.step or "the step"
    _, _, call = first.step.partition(" ")
    step = call or f"entry {first.address}"
    match first.kind:
        case "missing":
            return Difference(turn, f"{name}, as it was recorded", "the replay did not make this step", step)
        case "extra":
            return Difference(turn, "no step here, as it was recorded", f"the replay made {name}", step)
        case "different" | "read" | "reworded" | "added":
            original, replayed = sides(first)
            return Difference(turn, f"{first.field or 'content'} of {name}: {original}", replayed, step)
    assert_never(first.kind)


def events_of(read: ReadGolden) -> Sequence[Event]:
    """Return the event of each turn, to start new runs of the same conversation."""
    events = [project(turn.entries(turn.run)).event for turn in read.turns]
    return [event for event in events if event is not None]


def unasked(read: ReadGolden, played: Sequence[PlayedTurn]) -> str:
    """Return in one sentence which turn asked no model although its recorded run did; empty if there is none.

    A script decides without a model, so that its turns are graded all the same.
    """
    for number, (recorded, turn) in enumerate(zip(read.turns, played, strict=False), start=1):
        is_script = turn.bundle is not None and turn.bundle.loaded.script_sha256
        if not is_script and _asks(recorded.entries(recorded.run)) and not _asks(turn.entries):
            return f"Turn {number} asked no model, so nothing is known about its answers{_end(turn.progress)}."
    return ""


def _asks(entries: Sequence[Recorded]) -> bool:
    return any(isinstance(recorded.entry, LlmRequest) for recorded in entries)


def _end(progress: Progress) -> str:
    if progress.finished is None:
        return ""
    reason = progress.finished.reason.rstrip(".")
    return f": the run ended as {progress.finished.status} ({reason or 'without a reason'})"


def as_accepted(loaded: Loaded, read: ReadGolden) -> Loaded:
    """Return a workflow as a play of a golden needs it: it starts by the recorded conditions, and has recorded ids.

    Redaction renames the places and people of a recording, also in its bundle, but not those in the workflow file of
    today. So today's `when` and `who` would turn the recorded event away, and `writes` the recorded places.
    """
    bundle = read.turns[0].bundle(read.turns[0].run)
    if bundle is None:
        return loaded
    before = bundle.loaded.workflow.model_dump(mode="json")
    now = loaded.workflow.model_dump(mode="json")
    named = {key: _with_recorded_words(now[key], before[key]) for key in ("writes", "approve")}
    accepted = {**now, **named, "when": before["when"], "who": before["who"]}
    return replace(loaded, workflow=type(loaded.workflow).model_validate(accepted))


def _with_recorded_words(now: object, before: object) -> object:
    """Return a JSON value in which each text that has a pseudonym at the same place of another value is this one."""
    # Redaction renames ids, handles and owners, and keeps other names, such as keys of projects.
    if isinstance(now, str) and any(char.isdigit() or char in "@/" for char in now):
        if may_be_pseudonym(as_text(before), now):
            return before
        return now
    if isinstance(now, Mapping):
        recorded = as_object(before)
        parts = cast(Mapping[str, object], now)
        return {key: _with_recorded_words(part, recorded.get(key)) for key, part in parts.items()}
    if isinstance(now, list):
        items = cast(Sequence[object], now)
        return [_with_recorded_words(*pair) for pair in zip_longest(items, as_list(before)[: len(items)])]
    return now


def decisions_in(read: ReadGolden) -> Mapping[str, bool]:
    """Return how people decided about the calls of a golden, by tool."""
    found: dict[str, bool] = {}
    for turn in read.turns:
        for approval in project(turn.entries(turn.run)).approvals.values():
            if approval.decided is not None:
                found[approval.requested.tool] = approval.decided.decision == "approved"
    return found


def begins_at(read: ReadGolden) -> Sequence[float]:
    """Return when each turn began, in unix seconds, for the clock of a play."""
    return [turn.entries(turn.run)[0].at / 1000 for turn in read.turns]
