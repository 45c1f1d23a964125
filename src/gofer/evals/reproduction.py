"""How often replays with a live model show again what a recorded run showed, and whether another prompt ended it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, assert_never, get_args

from typing_extensions import override

from gofer.evals.grading.check_grades import check_grades
from gofer.evals.grading.folded_text import compared
from gofer.evals.grading.turn_view import TurnView, turn_view
from gofer.evals.plays import Play, PlayedTurn
from gofer.evals.results import FAILED, INFRASTRUCTURE, NO_EVIDENCE, PASSED, Interval
from gofer.evals.statistics import wilson
from gofer.journal.entries import Recorded, RunChecked
from gofer.projections.checks.check_settings import CHECKS
from gofer.projections.progress import project
from gofer.replay.recorded_run import RecordedRun
from gofer.replay.replay import Replay
from gofer.replay.signatures import is_made_up
from gofer.values.errors import ConfigError
from gofer.workflows.bundle import Bundle

Kind = Literal["check", "text", "call", "status"]
_TIMED = "execution-time"
"""The check that replays cannot show, because their clock is the recorded one."""
_MOST_REPLAYS = 100_000
"""The end of the search for the number of replays that a verdict needs."""


@dataclass(frozen=True, slots=True)
class Shows:
    """One thing that a run may show."""

    kind: Kind
    """`check`: a failed check. `text`: a text in the answer. `call`: a call of a tool. `status`: the status."""
    name: str

    @override
    def __str__(self) -> str:
        match self.kind:
            case "check":
                return f"the check {self.name} fails"
            case "text":
                return f"the answer contains {self.name!r}"
            case "call":
                return f"the run calls {self.name}"
            case "status":
                return f"the run is {self.name}"
            case _:
                assert_never(self.kind)


def parse_shows(option: str) -> Shows:
    """Return what a value of --shows means, such as `check:no-tool-loops`. Raises ConfigError."""
    kind, _, name = option.partition(":")
    for known in get_args(Kind):
        if kind == known and name:
            break
    else:
        raise ConfigError(f"--shows is {option[:80]!r}; write check:NAME, text:TEXT, call:TOOL or status:STATUS.")
    if known == "check" and name not in CHECKS:
        raise ConfigError(f"There is no check {name[:80]!r}; the checks are {', '.join(CHECKS)}.")
    if name == _TIMED:
        raise ConfigError(f"A replay has the clock of its recording, so it says nothing about the check {_TIMED}.")
    return Shows(known, name)


def shown_by(recorded: RecordedRun, asked: Sequence[Shows]) -> Sequence[Shows]:
    """Return what counts as a reproduction: what is asked, or else what the recorded run shows by itself.

    Raises ConfigError if the recorded run does not show it, or shows nothing by itself.
    """
    bundle = recorded.bundles.get(recorded.run)
    view = _view(recorded.run, recorded.entries, bundle, recorded.journals)
    if view.progress.finished is None:
        raise ConfigError("The run has not ended; reproduce it when it has.")
    for one in asked:
        if not _is_shown(one, view):
            raise ConfigError(f"The recorded run does not show that {one}, so no replay can reproduce it.")
    if asked:
        return asked
    if failed := _failed_checks(view):
        return [Shows("check", name) for name in failed]
    if view.status != "done":
        return [Shows("status", view.status)]
    raise ConfigError(
        "The recorded run is done and fails no check; say what to reproduce with --shows check:NAME, text:TEXT, "
        "call:TOOL or status:STATUS."
    )


@dataclass(frozen=True, slots=True)
class Rate:
    """How many of several replays show what the recorded run showed."""

    shown: int
    conclusive: int
    """The replays that show it or do not. The others say nothing, and are not part of the rate."""
    inconclusive: int = 0
    """The replays that an outcome which was not recorded decided, or that did not end."""
    away: int = 0
    """The replays that ended because no model answered."""
    answers: int = 0
    """The answers of the live model."""
    cost_usd: float = 0.0
    unpriced: int = 0
    """The answers without a known price."""
    reason: str = ""
    """Why the first replay that says nothing says nothing; empty if all are conclusive."""

    @property
    def replays(self) -> int:
        """The number of replays."""
        return self.conclusive + self.inconclusive + self.away

    @property
    def share(self) -> float | None:
        """The share of the conclusive replays, 0 to 1; None without any."""
        if not self.conclusive:
            return None
        return self.shown / self.conclusive

    @property
    def interval(self) -> Interval:
        """The Wilson interval of the share, 95 %."""
        return wilson(self.shown, self.conclusive)

    @property
    def exit_code(self) -> int:
        """The exit code of one rate: whether it was measured."""
        if self.conclusive:
            return PASSED
        if self.away:
            return INFRASTRUCTURE
        return NO_EVIDENCE


def rate_of(replays: Sequence[Replay], recorded: RecordedRun, shows: Sequence[Shows]) -> Rate:
    """Return the rate of the replays that show any of these things."""
    conclusive: list[bool] = []
    silent: list[Replay] = []
    for replay in replays:
        shown = _shown_in(replay, recorded.run, shows)
        if shown is None:
            silent.append(replay)
        else:
            conclusive.append(shown)
    away = sum(replay.lacked_a_model for replay in silent)
    return Rate(
        shown=sum(conclusive),
        conclusive=len(conclusive),
        inconclusive=len(silent) - away,
        away=away,
        answers=sum(replay.live.count for replay in replays),
        cost_usd=sum(replay.live.cost_usd for replay in replays),
        unpriced=sum(replay.live.unpriced for replay in replays),
        reason=next((replay.reason or replay.waits or "the replay did not end" for replay in silent), ""),
    )


Verdict = Literal["ended", "continues", "not_enough_evidence", "infrastructure"]
"""`ended`: the other prompt ended it, or lowered its rate to what is allowed."""

EXIT_CODES: Mapping[Verdict, int] = {
    "ended": PASSED,
    "continues": FAILED,
    "not_enough_evidence": NO_EVIDENCE,
    "infrastructure": INFRASTRUCTURE,
}


@dataclass(frozen=True, slots=True)
class PromptComparison:
    """The rates of the recorded prompt and of another one, and what follows."""

    before: Rate
    now: Rate
    verdict: Verdict
    limit: float | None
    """The share below which the interval of the other prompt must stay; None if the recorded prompt has no rate."""
    more: int | None = None
    """How many more replays of the other prompt tell, if its share stays; None if the verdict is clear or no number
    does."""


def compared_prompts(before: Rate, now: Rate, allow: float | None = None) -> PromptComparison:
    """Return whether another prompt ended what the recorded one shows.

    It did if none of its replays shows it and the interval is below the share of the recorded prompt; with `allow`, if
    the interval is at most that share.
    """
    limit = allow
    if limit is None:
        limit = before.share
    if now.share is None and now.away:
        return PromptComparison(before, now, "infrastructure", limit)
    if limit is None and before.away:
        return PromptComparison(before, now, "infrastructure", limit)
    if allow is None and now.shown:
        return PromptComparison(before, now, "continues", limit)
    if limit is None or now.share is None:
        return PromptComparison(before, now, "not_enough_evidence", limit)
    if now.share > limit:
        return PromptComparison(before, now, "continues", limit)
    if _is_below(now.interval, limit, or_equal=allow is not None):
        return PromptComparison(before, now, "ended", limit)
    more = _more_replays(now, limit, or_equal=allow is not None)
    return PromptComparison(before, now, "not_enough_evidence", limit, more)


def _is_below(interval: Interval, limit: float, *, or_equal: bool) -> bool:
    return interval.high < limit or (or_equal and interval.high == limit)


def _more_replays(now: Rate, limit: float, *, or_equal: bool) -> int | None:
    """Return how many more replays bring the interval below the limit if the share stays; None if none does."""
    share = now.shown / now.conclusive
    replays = now.conclusive
    while replays < _MOST_REPLAYS:
        # Small numbers grow one by one, and large ones by a hundredth.
        replays += max(1, replays // 100)
        if _is_below(wilson(share * replays, replays), limit, or_equal=or_equal):
            return replays - now.conclusive
    return None


def failed_checks(replay: Replay, run: str) -> Sequence[str]:
    """Return the names of the checks that a replay of a run fails, without the one that replays cannot show."""
    entries = replay.journals.get(run, ())
    if not entries:
        return ()
    return _failed_checks(_view(run, entries, replay.bundles.get(run), replay.journals))


def _shown_in(replay: Replay, run: str, shows: Sequence[Shows]) -> bool | None:
    """Return whether a replay shows any of these things; None if it says nothing."""
    entries = replay.journals.get(run, ())
    if replay.lacked_a_model or not entries:
        return None
    bundle = replay.bundles.get(run)
    if replay.outcome == "inconclusive":
        # The calls before the first made-up outcome are those that the model chose by recorded facts.
        sure = _view(run, _before_made_up(entries), bundle, {})
        calls = [one for one in shows if one.kind == "call"]
        return any(_is_shown(one, sure) for one in calls) or None
    view = _view(run, entries, bundle, replay.journals)
    if view.progress.finished is None:
        return None
    return any(_is_shown(one, view) for one in shows)


def _before_made_up(entries: Sequence[Recorded]) -> Sequence[Recorded]:
    """Return the entries before the first made-up outcome of a call; none if the made-up outcome is elsewhere."""
    for at, recorded in enumerate(entries):
        if is_made_up(recorded.entry):
            return entries[:at]
    return ()


def _is_shown(one: Shows, view: TurnView) -> bool:
    match one.kind:
        case "check":
            return one.name in _failed_checks(view)
        case "text":
            return compared(view.answer).contains(one.name)
        case "call":
            return one.name in view.by_tool
        case "status":
            return one.name == view.status
        case _:
            assert_never(one.kind)


def _failed_checks(view: TurnView) -> Sequence[str]:
    """Return the names of the checks that fail, without the one that replays cannot show."""
    failed = [grade.dimension.removeprefix("check.") for grade in check_grades("all", view) if not grade.passed]
    return [name for name in failed if name != _TIMED]


def _view(
    run: str, entries: Sequence[Recorded], bundle: Bundle | None, journals: Mapping[str, Sequence[Recorded]]
) -> TurnView:
    # A replay adopts the recorded verdicts of the checks, so they are made again from the other entries.
    kept = [recorded for recorded in entries if not isinstance(recorded.entry, RunChecked)]
    subagents = {other: journal for other, journal in journals.items() if other != run}
    turn = PlayedTurn(run, kept, project(kept), bundle, subagents=subagents)
    return turn_view(Play([turn], {}, "live", 0), 1)
