"""One recorded run, replayed by a live model without and with the edit, and compared step by step."""

from collections.abc import Sequence
from dataclasses import dataclass

from gofer.evals.reproduction import failed_checks
from gofer.journal.entries import LlmResponse
from gofer.learning.suggestions.proposal import MustHold
from gofer.projections.progress import project
from gofer.replay.made_calls import NOTHING, MadeCall, first_difference, made_calls, short_value
from gofer.replay.replay import Outcome, Replay


@dataclass(frozen=True, slots=True, kw_only=True)
class OneReplay:
    """What one replay of a run by a live model did."""

    outcome: Outcome
    status: str
    """The status of the run at its end; empty if the replay did not reach it."""
    calls: Sequence[MadeCall]
    answer: str = ""
    """The answer of the run; empty if the replay did not reach it."""
    failed_checks: Sequence[str] = ()
    answers: int = 0
    """The answers of the live model."""
    usd: float | None = 0.0
    """The cost in US dollars; None if the price of a model is unknown."""
    answered_as: Sequence[str] = ()
    """The names of the models that answered."""
    lacked_a_model: str = ""
    """Why no live model answered; empty if one did."""

    @property
    def is_whole(self) -> bool:
        """Whether the replay reached the end of the run by recorded outcomes only."""
        return bool(self.status) and self.outcome != "inconclusive"


@dataclass(frozen=True, slots=True)
class ReplayedPair:
    """A recorded run and its two replays."""

    run: str
    is_good: bool
    """Whether people liked the run; such a run must not change for the worse."""
    recorded: Sequence[MadeCall]
    without: OneReplay
    with_edit: OneReplay

    @property
    def change(self) -> str:
        """The first call in which the replay with the edit differs from the one without; empty if all are equal."""
        return first_difference(self.without.calls, self.with_edit.calls)

    def mends(self, must: MustHold) -> bool:
        """Return whether only the answer with the edit is as `must` says; for a judge, whether the answers differ."""
        answers = [self.without.answer, self.with_edit.answer]
        if not all(answers):
            return False
        match must.kind:
            case "call":
                return False
            case "judge":
                return answers[0] != answers[1]
            case "contains" | "not_contains":
                return [must.holds_in(answer) for answer in answers] == [False, True]

    @property
    def difference(self) -> str:
        """The first call that differs; for an affected run without one, the answers; empty if nothing differs."""
        answers = [self.without.answer, self.with_edit.answer]
        if self.change or self.is_good or answers[0] == answers[1]:
            return self.change
        return f"answer: {short_value(answers[0])} → {short_value(answers[1])}"

    @property
    def worse(self) -> str:
        """How the edit changes a good run for the worse, in a few words; empty if it does not, as far as is known."""
        before = self.without
        after = self.with_edit
        if before.is_whole and after.status and after.status != before.status:
            return f"the run ends as {after.status} and not as {before.status}"
        if added := [name for name in after.failed_checks if name not in before.failed_checks]:
            return f"the check {added[0]} fails"
        if before.is_whole and after.is_whole:
            writes = [call.tool for call in _writes(after.calls)]
            if writes != [call.tool for call in _writes(before.calls)]:
                return f"the run writes with {', '.join(writes) or NOTHING}"
        return self._changed_argument()

    @property
    def is_kept(self) -> bool:
        """Whether the replays show that the edit does not change the run for the worse."""
        return not self.worse and self.without.is_whole and self.with_edit.is_whole

    def _changed_argument(self) -> str:
        """Return the first argument of a write that only the replay with the edit does not repeat."""
        writes = [_writes(made) for made in (self.recorded, self.without.calls, self.with_edit.calls)]
        for recorded, before, after in zip(*writes, strict=False):
            if not recorded.tool == before.tool == after.tool:
                return ""
            for name, value in recorded.arguments.items():
                if before.arguments.get(name) == value and after.arguments.get(name) != value:
                    return f"{after.tool} has another {name}"
        return ""


def one_replay(replay: Replay, run: str) -> OneReplay:
    """Return what a replay of a run did."""
    entries = replay.journals.get(run, ())
    status = ""
    answer = ""
    models: Sequence[str] = ()
    if entries:
        progress = project(entries)
        if progress.finished is not None:
            status = progress.finished.status
        if progress.concluded is not None:
            answer = progress.concluded.text
        answers = [one.entry.model for one in entries if isinstance(one.entry, LlmResponse)]
        models = sorted(set(answers))
    usd: float | None = replay.live.cost_usd
    if replay.live.unpriced:
        usd = None
    return OneReplay(
        outcome=replay.outcome,
        status=status,
        calls=made_calls(entries),
        answer=answer,
        failed_checks=failed_checks(replay, run),
        answers=replay.live.count,
        usd=usd,
        answered_as=models,
        lacked_a_model=next(iter(replay.live.failures.values()), ""),
    )


def _writes(made: Sequence[MadeCall]) -> Sequence[MadeCall]:
    return [call for call in made if call.is_write]
