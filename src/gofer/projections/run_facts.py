"""The facts of a run for statistics and searches: its calls, its skills, and when people first saw something of it."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace

from gofer.journal import entries as e
from gofer.journal.head_facts import NO_TOOL, PROMPT_DIGITS, HeadFacts, ToolCount
from gofer.journal.purposes import ANSWER, ANSWER_ANEW, PRIVATE_ANSWER, STATUS, SUBAGENT_QUESTION, TURNED_AWAY, is_own
from gofer.projections.calls import Call, Calls
from gofer.projections.checks.checks_of_calls import equal_calls, plan_calls
from gofer.projections.progress import Progress
from gofer.values.row_tokens import Tokens

_ANSWERS = frozenset({ANSWER, ANSWER_ANEW, PRIVATE_ANSWER.format(1)})
_SIGNS = frozenset({STATUS, TURNED_AWAY, *_ANSWERS})
"""The calls whose first success shows people that Gofer is at work."""
_SUBAGENT = SUBAGENT_QUESTION.format("")
_FAILED = frozenset({"error", "refused", "unknown"})


@dataclass(slots=True)
class RunFacts:
    """The facts of a run so far that its progress and its calls do not have.

    Times are unix milliseconds, 0 before the event.
    """

    skills: set[str] = field(default_factory=set[str])
    sign_at: int = 0
    """The time of the first message that people saw."""
    answer_at: int = 0
    """The time at which the answer was delivered."""


def project(entries: Iterable[e.Recorded]) -> RunFacts:
    """Return the facts of a whole journal."""
    state = RunFacts()
    for recorded in entries:
        fold(state, recorded)
    return state


def fold(state: RunFacts, recorded: e.Recorded) -> None:
    """Add one more entry to the facts, in place."""
    match recorded.entry:
        case e.SkillLoaded(skill=skill):
            state.skills.add(skill)
        case e.ToolResult(call=call, status="ok") if call in _SIGNS:
            state.sign_at = state.sign_at or recorded.at
            if call in _ANSWERS:
                state.answer_at = state.answer_at or recorded.at
        case _:
            pass


def named_facts(facts: RunFacts, made: Calls, progress: Progress, known: Collection[str], tokens: Tokens) -> HeadFacts:
    """Return the facts of an ended run for its head, with the tokens of the person and the channel."""
    counted = counted_facts(facts, made, progress, known)
    event = progress.event
    if event is None:
        return counted
    person = ""
    if event.actor.is_person:
        person = tokens.person(event.source, event.actor.id)
    return replace(counted, person=person, channel=tokens.channel(event.source, event.place.get("channel", "")))


def counted_facts(facts: RunFacts, made: Calls, progress: Progress, known: Collection[str]) -> HeadFacts:
    """Return the facts of a run without tokens.

    `made` are its calls, and `known` has the names of existing tools. Other names were invented by a model, and rows
    must not hold them.
    """
    cause = ""
    system = ""
    if progress.finished is not None:
        cause = progress.finished.cause
        system = progress.finished.system
    counted = HeadFacts(
        llm_calls=progress.llm_calls,
        tool_calls=progress.tool_calls,
        tools=tool_counts(made, known),
        skills=tuple(sorted(facts.skills)),
        subagents=_asked_subagents(progress),
        input_tokens=progress.usage.input_tokens,
        output_tokens=progress.usage.output_tokens,
        cached_tokens=progress.usage.cached_tokens,
        written_tokens=progress.usage.written_tokens,
        usd=progress.cost_usd,
        owned_ms=progress.owned_ms(progress.last_at),
        plan_calls=len(plan_calls(made)),
        equal_calls=max(map(len, equal_calls(made)), default=0),
        sign_ms=_after(progress, facts.sign_at),
        answer_ms=_after(progress, facts.answer_at),
        checks=_failed_checks(progress),
        cause=cause,
        system=system,
    )
    return _with_follow_ups(counted, progress)


def _with_follow_ups(counted: HeadFacts, progress: Progress) -> HeadFacts:
    """Return facts with the feedback and the review of the run."""
    follow_ups = progress.follow_ups
    known = replace(counted, good=follow_ups.count("good"), bad=follow_ups.count("bad"))
    review = follow_ups.reviewed
    if review is None:
        return known
    return replace(
        known, effective=review.effective, prompt=review.prompt_sha256[:PROMPT_DIGITS], review_usd=review.usd
    )


def _asked_subagents(progress: Progress) -> int:
    """Return how often subagents were asked; summaries and searches are questions of the run itself."""
    asked = [call for made in progress.subagents.values() for call in made]
    return sum(not is_own(call) or call.startswith(_SUBAGENT) for call in asked)


def tool_counts(made: Calls, known: Collection[str]) -> dict[str, ToolCount]:
    """Return the calls of the model or script by tool, refused ones included, the most used tool first."""
    counts: dict[str, ToolCount] = {}
    for call in made.calls.values():
        if not call.is_own:
            name = _name(call, known)
            before = counts.get(name, ToolCount())
            counts[name] = ToolCount(before.calls + 1, before.errors + (call.status in _FAILED))
    return dict(sorted(counts.items(), key=lambda item: (-item[1].calls, item[0])))


def _name(call: Call, known: Collection[str]) -> str:
    # A call that was made has the name of an existing tool, whichever version of the tools this process has.
    if call.attempts or call.tool in known:
        return call.tool
    return NO_TOOL


def _after(progress: Progress, at: int) -> int | None:
    """Return the time from the event to `at` in milliseconds; None for a time that was not reached."""
    if not at:
        return None
    return max(0, at - progress.accepted_at)


def _failed_checks(progress: Progress) -> tuple[str, ...]:
    if progress.checked is None:
        return ()
    return tuple(verdict.check for verdict in progress.checked.verdicts if not verdict.passed)
