"""Limits per person and per workflow: whether one more run may begin, and how much money it may spend.

A run writes its own row before it counts the rows of others. So each of several simultaneous runs counts those accepted
before it. The row gets the run's spending when an owner leaves the run. Rows hold numbers, and tokens in place of
names, also for private runs.

A limit of runs reads the rows of one hour, which are about as many as the limit lets begin. A limit of money reads what
the store added up for each SPENT_MS of a day.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from gofer.engine.own_step import OwnStep
from gofer.journal.coordination import DAY_MS, HOUR_MS, Spent, Usage, spent_until
from gofer.values.errors import GoferError
from gofer.values.events import Event
from gofer.values.row_tokens import Tokens
from gofer.workflows.load import Loaded
from gofer.workflows.schema import Allowance


class NotNow(GoferError):
    """The run does not begin. The message is for lists; `notice` is one line for the asker."""

    def __init__(self, reason: str, notice: str) -> None:
        super().__init__(reason)
        self.notice = notice


@dataclass(frozen=True, slots=True)
class ScopeLimit:
    """The allowance of one scope, and the texts about it."""

    scopes: Sequence[str]
    """The tokens of the scope: the one for the rows of the run, then those under the other recognised keys."""
    allowance: Allowance
    scope_text: str
    """The scope for lists, without the name of a person."""
    runs_text: str
    """The text for the asker about the number of runs, with `{runs}`."""
    money_text: str
    """The text for the asker about the money, with `{usd}`."""


@dataclass(frozen=True, slots=True)
class RemainingMoney:
    """The money that the limits of person and workflow leave to a run; None means no limit."""

    usd: float | None = None
    limit: str = ""
    """The limit, without the name of a person."""


def scope_limits(event: Event, loaded: Loaded, tokens: Tokens, run: str) -> Sequence[ScopeLimit]:
    """Return the limits of person and workflow that apply to a run.

    A run always counts under the key that made its id, so one that lasts through a rotation of the key counts once.
    """
    kind = (event.source, event.kind, event.identity, loaded.name)
    keys = sorted(tokens.every, key=lambda one: one.run(*kind) != run)
    person = ("person", event.source, event.actor.id)
    name = loaded.name
    workflow = loaded.workflow
    every = [
        ScopeLimit(
            _scopes(keys, *person),
            loaded.limits_per_person,
            scope_text="for one person",
            runs_text="You have started {runs}",
            money_text="Your runs have used {usd} USD",
        ),
        ScopeLimit(
            _scopes(keys, *person, name),
            workflow.limits_per_person,
            scope_text="for one person in this workflow",
            runs_text=f"You have started {{runs}} of {name}",
            money_text=f"Your runs of {name} have used {{usd}} USD",
        ),
        ScopeLimit(
            _scopes(keys, "workflow", name),
            workflow.limits_per_workflow,
            scope_text="for this workflow",
            runs_text=f"People have started {{runs}} of {name}",
            money_text=f"{name} has used {{usd}} USD",
        ),
    ]
    return [share for share in every if share.allowance != Allowance()]


def _scopes(keys: Sequence[Tokens], *names: str) -> Sequence[str]:
    return [one.usage(*names) for one in keys]


async def count_run(step: OwnStep, event: Event, loaded: Loaded) -> RemainingMoney:
    """Count a run that is about to begin; return the money that it may spend. Raises NotNow and does not count it."""
    store = step.services.store
    limits = scope_limits(event, loaded, step.services.tokens, step.run)
    await store.put_usage(_rows(step, limits))
    remaining = RemainingMoney()
    try:
        for share in limits:
            await _check_runs(step, share)
            remaining = min(
                remaining, await _check_usd(step, share), key=lambda one: math.inf if one.usd is None else one.usd
            )
    except NotNow:
        await store.drop_usage(step.run)
        raise
    return remaining


async def record(step: OwnStep, loaded: Loaded | None) -> None:
    """Record the money that a started run has spent so far."""
    event = step.progress.event
    if loaded is None or event is None or step.progress.started is None:
        return
    limited = scope_limits(event, loaded, step.services.tokens, step.run)
    if limited:
        # The run's results become durable first, so that a failure to count does not repeat them.
        await step.commit()
        await step.services.store.put_usage(_rows(step, limited))


def _rows(step: OwnStep, limited: Sequence[ScopeLimit]) -> Sequence[Usage]:
    at = step.progress.accepted_at
    return [Usage(share.scopes[0], step.run, at, step.progress.spent_usd) for share in limited]


async def _check_runs(step: OwnStep, share: ScopeLimit) -> None:
    limit = share.allowance.runs_per_hour
    if limit is None:
        return
    at = step.progress.accepted_at
    rows = [row for scope in share.scopes for row in await step.services.store.usage(scope, at - HOUR_MS + 1)]
    earlier = sorted(row.at for row in rows if (row.at, row.run) < (at, step.run))
    if len(earlier) >= limit:
        raise NotNow(
            f"limit reached: {_runs(limit)} an hour {share.scope_text}",
            f"{share.runs_text.replace('{runs}', _runs(len(earlier)))} in the last hour; "
            f"I can take the next one {_moment(step, earlier[-limit] + HOUR_MS)}.",
        )


async def _check_usd(step: OwnStep, share: ScopeLimit) -> RemainingMoney:
    limit = share.allowance.usd_per_day
    if limit is None:
        return RemainingMoney()
    fresh = await _spent_by_others(step, share.scopes)
    spent = math.fsum(part.usd for part in fresh)
    free_at = 0
    limit_text = f"{limit:.2f} USD a day {share.scope_text}"
    if spent < limit:
        return RemainingMoney(limit - spent, limit_text)
    sum_left = spent
    for part in fresh:
        sum_left = sum_left - part.usd
        free_at = part.until + DAY_MS
        if sum_left < limit:
            break
    text = f"{share.money_text.replace('{usd}', f'{spent:.2f}')} in the last 24 hours"
    raise NotNow(f"limit reached: {limit_text}", f"{text}; I can take the next one {_moment(step, free_at)}.")


async def _spent_by_others(step: OwnStep, scopes: Sequence[str]) -> Sequence[Spent]:
    """Return the amounts of a scope in the last day without what this run spent before it began, oldest first."""
    amounts: dict[int, float] = {}
    for scope in scopes:
        for part in await step.services.store.spent(scope, step.now_ms()):
            amounts[part.until] = amounts.get(part.until, 0.0) + part.usd
    own_until = spent_until(step.progress.accepted_at)
    if own_until in amounts:
        amounts[own_until] = max(0.0, amounts[own_until] - step.progress.spent_usd)
    return [Spent(until, usd) for until, usd in sorted(amounts.items())]


def _runs(count: int) -> str:
    return "1 run" if count == 1 else f"{count} runs"


def _moment(step: OwnStep, at_ms: int) -> str:
    """Return a time for people, rounded up to a full minute, with its date unless that is today."""
    now_ms = step.now_ms()
    then = datetime.fromtimestamp(-(-max(at_ms, now_ms) // 60_000) * 60, UTC)
    today = datetime.fromtimestamp(now_ms / 1000, UTC).date()
    time = f"at {then:%H:%M} UTC"
    if then.date() == today:
        return time
    return f"{time} on {then.day} {then:%B}"
