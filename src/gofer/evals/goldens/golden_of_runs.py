"""A golden from recorded runs: redacted, with what the person wrote, got and saw."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Literal

from gofer import __version__
from gofer.evals.eval_file import (
    CallExpectation,
    Criterion,
    Expectations,
    OutputExpectations,
    RequiredCall,
    Runs,
    ToolExpectations,
)
from gofer.evals.goldens.decision_points import decision_before
from gofer.evals.goldens.golden_file import Golden, GoldenSource, GoldenTurn, SeenByPerson, digest_of
from gofer.evals.goldens.redacted_runs import redacted
from gofer.evals.goldens.redaction import VERSION
from gofer.evals.goldens.replayed_case import Replaying, refuse_unreplayable, replayed_turns
from gofer.evals.goldens.run_file import GoldenRun, recording_bytes
from gofer.evals.goldens.seen import calls_in, cut, visible_calls
from gofer.evals.plays import Evidence
from gofer.journal.entries import MessageReceived
from gofer.models.served_model import STAND_INS
from gofer.projections.progress import Progress, project
from gofer.tools.definition import AnyTool
from gofer.values.canonical_json import as_object
from gofer.values.errors import ConfigError

INPUT = 8_000
CONTEXT = 2_000
"""The most characters of an input, of an answer, and of the context of a turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What a person wants of a golden."""

    name: str
    purpose: Literal["golden", "regression"] = "golden"
    not_contains: Sequence[str] = ()
    judge: str = ""
    """A question to the judge that a good answer is answered by yes; empty for none."""
    at: str = ""
    """The call before which a decision-point case begins; empty for a case of the whole run."""
    words: Sequence[str] = ()
    """Words to redact beside those that Gofer finds."""
    contains: Sequence[str] = ()
    """For a regression, texts that a good answer contains."""
    next_call: str = ""
    """For a regression with `at`, the tool that the next answer must call in place of the recorded calls."""
    next_arguments: Mapping[str, object] = field(default_factory=dict[str, object])
    """A matcher for each argument of that call that counts."""
    plays: int = 1
    """How often the case is played."""

    @property
    def has_rule(self) -> bool:
        """Whether it says what is right, apart from what the recorded run did."""
        return bool(self.not_contains or self.judge or self.contains or (self.at and self.next_call))


@dataclass(frozen=True, slots=True)
class MadeGolden:
    """A golden that is not written to files yet."""

    golden: Golden
    turns: Sequence[GoldenRun]
    recording: bytes
    words: int
    """The number of different words that got pseudonyms."""
    sources: Sequence[str]
    """The ids of the recorded runs, which are in no file."""


async def golden_of(
    turns: Sequence[GoldenRun],
    wish: Wish,
    replaying: Replaying,
    tools: Mapping[str, AnyTool],
    *,
    salt: bytes,
    now: float,
) -> MadeGolden:
    """Return the golden of recorded runs, the oldest run first. `tools` are all by name; `now` is in unix seconds.

    Raises ConfigError for a regression without a rule, an unknown call, and runs that cannot be redacted so that they
    replay identically.
    """
    if wish.purpose == "regression" and not wish.has_rule:
        raise ConfigError(
            "A regression needs --not-contains TEXT or --judge QUESTION: its recorded answer was bad, so the answer "
            "itself says nothing about what is right."
        )
    await refuse_unreplayable(turns, replaying)
    case = redacted(turns, salt, wish.words)
    wish = replace(
        wish,
        not_contains=[case.text(text) for text in wish.not_contains],
        contains=[case.text(text) for text in wish.contains],
        judge=case.text(wish.judge),
        next_arguments=as_object(case.redaction.value(wish.next_arguments, keys=False)),
    )
    played = await replayed_turns(case.turns, replaying)
    recording = recording_bytes(played)
    last = played[-1]
    decision = None
    following: Sequence[str | Mapping[str, CallExpectation]] = ()
    if wish.at:
        decision, following = decision_before(last.entries(last.run), wish.at)
        if wish.next_call:
            following = [_call(wish)]
    runs = None
    if wish.plays > 1:
        runs = Runs(n=wish.plays)
    golden = Golden(
        golden=wish.name,
        workflow=_progress(last).workflow,
        purpose=wish.purpose,
        turns=tuple(_turn(facts, wish, tools, last=facts is last) for facts in played),
        not_contains=tuple(wish.not_contains),
        judge=_criteria(wish),
        decision=decision,
        next=tuple(following),
        runs=runs,
        recording_sha256=digest_of(recording),
        source=_source(turns[-1], last, now),
    )
    return MadeGolden(golden, played, recording, case.words, [turn.run for turn in turns])


def _progress(facts: GoldenRun) -> Progress:
    return project(facts.entries(facts.run))


def _turn(facts: GoldenRun, wish: Wish, tools: Mapping[str, AnyTool], *, last: bool) -> GoldenTurn:
    entries = facts.entries(facts.run)
    progress = project(entries)
    event = progress.event
    if event is None or progress.concluded is None or progress.finished is None:
        raise ConfigError("Only runs that ended with an answer become goldens.")
    messages = [one.entry.text for one in entries if isinstance(one.entry, MessageReceived)]
    seen = visible_calls(entries, progress, tools)
    made = GoldenTurn(
        run=facts.run,
        event=event.kind,
        input=cut(event.text, INPUT),
        context=cut(next(iter(messages), ""), CONTEXT),
        expected=cut(progress.concluded.text, INPUT),
        output=progress.concluded.output or {},
        seen=tuple(SeenByPerson(kind=one.kind, place=one.place, text=one.text) for one in seen),
        calls=tuple(calls_in(entries)),
    )
    return made.model_copy(update={"expect": _expectations(made, progress.finished.status, wish, last=last)})


def _expectations(turn: GoldenTurn, status: str, wish: Wish, *, last: bool) -> Expectations:
    """Return what a new run must do alike: its status and the tools that it called, unless the run was bad."""
    if wish.purpose == "regression" and last:
        output = OutputExpectations(contains_all=tuple(wish.contains), not_contains=tuple(wish.not_contains))
        return Expectations(output=output)
    tools = dict.fromkeys(call.tool for call in turn.calls if call.status == "ok")
    return Expectations(status=(status,), tools=ToolExpectations(required=tuple(tools)))


def _call(wish: Wish) -> RequiredCall:
    if not wish.next_arguments:
        return wish.next_call
    return {wish.next_call: CallExpectation(arguments=wish.next_arguments, status=None)}


def _criteria(wish: Wish) -> tuple[Criterion, ...]:
    if not wish.judge:
        return ()
    return (Criterion(id="regression", ask=wish.judge, least_score=0.8),)


def _source(before: GoldenRun, after: GoldenRun, now: float) -> GoldenSource:
    progress = project(before.entries(before.run))
    owner = ""
    bundle = after.bundle(after.run)
    if bundle is not None:
        owner = bundle.loaded.workflow.owner
    digest = ""
    if progress.started is not None:
        digest = progress.started.bundle
    return GoldenSource(
        run_sha256=hashlib.sha256(before.run.encode()).hexdigest(),
        recorded=_day(progress.accepted_at / 1000),
        written=_day(now),
        gofer=__version__,
        redaction=VERSION,
        bundle_sha256=digest,
        owner=owner,
        answers=_answers(progress),
    )


def _answers(progress: Progress) -> Evidence:
    if any(model in STAND_INS for model in progress.models):
        return "scripted"
    return "recorded"


def _day(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d")
