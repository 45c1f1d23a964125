"""Calls that happen once for each message: the first run that makes such a call claims it for all runs.

A tool with `once: per_message` has one effect for each message, issue or page. A run claims the call in a memo right
before its intent: *memo, frame, effect, outcome*. A run that finds the memo taken answers its call from the journal of
the claiming run, and waits until that run has an outcome. The claim is one atomic exchange in the store, so two runs of
different conversations, or two branches of a run, cannot both get it.

A run that crashed between memo and frame finds its own memo when it resumes. If its script now asks for another call
instead, the memo names a call that is never made, and the claim is free.

An owner that lost its run and does not know it yet must not replace a claim of the run's next owner, because later runs
would then look for a call that was never made. So an owner that replaces a claim of its own run writes a frame between
its look at the memo and the exchange, and an owner that finds its own claim changes the memo: an exchange by an earlier
owner then fails, because the memo is not the one that it saw.

A memo holds ids only. If the journal that it names is gone, the call is treated as a call in doubt under the key of
the first run: it is looked for, or sent again with the same key.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from typing_extensions import override

from gofer.engine.model_order import Parked
from gofer.engine.own_step import OwnStep
from gofer.engine.owned_run import OwnedRun
from gofer.engine.permitted_call import Permitted
from gofer.journal.agreed_names import agreed_name
from gofer.journal.entries import RunParked, ToolResult, ToolUnknown
from gofer.journal.lineage import root_of
from gofer.journal.log import read_journal
from gofer.projections.progress import Progress, project
from gofer.projections.states import NOT_AGAIN, NOT_MADE
from gofer.sources.part_values import Outcome
from gofer.sources.receivers import events_of
from gofer.sources.registry import source_of
from gofer.values.errors import Corrupt, EarlierVersion, Gone, OtherVersion
from gofer.values.events import Event

PAUSE_MS = 15_000
"""First wait for an earlier run that makes the same call, in milliseconds."""
EARLIER_TOOL = "done_before"
"""The key in a result's details that holds the tool's name, if an earlier run made the call."""
LONGEST_PAUSE_MS = 300_000
"""Longest wait between two looks. Each look is journaled, and the earlier run may wait for a person for days."""


@dataclass(frozen=True, slots=True)
class _Claim:
    """A claim on a call: the call that holds it, and the idempotency key in use since a time in unix milliseconds."""

    holder: str
    key: str
    since: int

    @property
    def run(self) -> str:
        """The run of the call that holds the claim."""
        return self.holder.partition("/")[0]

    @override
    def __str__(self) -> str:
        return f"{self.holder} {self.key} {self.since}"


async def earlier_outcome(step: OwnStep, item: Permitted) -> Outcome | None:
    """Return the known outcome of an earlier call of any run; None when there is none. Raises Parked."""
    for key in (*_keys(step, item), *_former_keys(step, item)):
        stored = await step.services.store.memo(key)
        if not stored:
            continue
        found = await _look(step, item, _parse(stored))
        if isinstance(found, ToolResult | ToolUnknown):
            return found
    return None


async def claim(step: OwnStep, item: Permitted) -> Permitted | Outcome:
    """Claim a call for this run; return the call, or the outcome of an earlier one.

    Raises Parked, Fenced, TemporaryError.
    """
    store = step.services.store
    key = await _agreed_key(step, item)
    step.claims.add(f"{step.run}/{item.call}")
    stored = await store.memo(key)
    mine: _Claim | None = None
    while mine is None or stored != str(mine):
        next_claim = await _next_claim(step, item, stored)
        if not isinstance(next_claim, _Claim):
            return next_claim
        mine = next_claim
        stored = await store.exchange_memo(key, stored, str(mine), step.now_ms())
    if mine.key == mine.holder:
        return item
    return replace(item, key=mine.key, since=mine.since)


async def _next_claim(step: OwnStep, item: Permitted, stored: str | None) -> _Claim | Outcome:
    """Return the claim with which this call may replace a memo, or the outcome of the call that holds it."""
    own = f"{step.run}/{item.call}"
    first = _Claim(own, own, step.progress.accepted_at)
    if stored is None:
        return first
    held = _parse(stored)
    match await _look(step, item, held):
        case ToolResult() | ToolUnknown() as outcome:
            return outcome
        case "own":
            # Another memo with the same meaning, so that an earlier owner cannot exchange the one that it saw.
            mine = replace(held, since=held.since - 1)
        case "free" if held.key == held.holder:
            mine = first
        case _:
            # The holder may have made the call under an inherited key, so that key stays in use.
            mine = replace(held, holder=own)
    if root_of(held.run) == root_of(step.run):
        await step.confirm_ownership()
    return mine


async def _look(step: OwnStep, item: Permitted, held: _Claim) -> Outcome | str:
    """Return the outcome of the call that holds a claim.

    Without an outcome return `own` for this very call, `free` for a call that was not made, and `gone` if its journal
    cannot tell. Raises Parked while another run makes the call.
    """
    run, _, call = held.holder.partition("/")
    if run == step.run:
        if call == item.call:
            return "own"
        if not _is_making(step, call):
            return "free"
        return _earlier_outcome(step, item, run, call, step.progress, own=True)
    try:
        entries = await read_journal(run, step.services.store, step.services.blobs)
    except (Gone, EarlierVersion):
        return "gone"
    except OtherVersion:
        # A worker of the newer version may be making the call.
        raise _parked(step) from None
    except Corrupt:
        return "gone"
    if not entries:  # the run was deleted long ago
        return "gone"
    if (outcome := _earlier_outcome(step, item, run, call, project(entries), own=False)) != "open":
        return outcome
    if (ancestor := _ancestor(step, run)) is not None and not _is_making(ancestor, call):
        # The parent waits for this run, so waiting for a call that the parent does not make would never end.
        return "free"
    raise _parked(step)


def _parked(step: OwnStep) -> Parked:
    """Return the wait for the earlier run; it grows with the time that this run has waited."""
    waited = step.now_ms() - step.progress.accepted_at
    return Parked(RunParked("earlier_run", step.now_ms() + min(max(PAUSE_MS, waited // 4), LONGEST_PAUSE_MS)))


def _is_making(step: OwnedRun, call: str) -> bool:
    """Return whether the owner of a run makes a call, or is about to; a crashed owner may have claimed more calls."""
    progress = step.progress
    return f"{step.run}/{call}" in step.claims or call in progress.in_doubt or call in progress.outcomes


def _ancestor(step: OwnStep, run: str) -> OwnedRun | None:
    """Return the ancestor of this run with that id; None when there is none."""
    ancestor = step.above
    while ancestor is not None and ancestor.run != run:
        ancestor = ancestor.above
    return ancestor


def _earlier_outcome(
    step: OwnStep, item: Permitted, run: str, call: str, earlier: Progress, *, own: bool
) -> Outcome | str:
    """Return the outcome of an earlier call, as the outcome of this one.

    Without an outcome return `open` if the earlier call is still being made, `free` if it was not made, and `gone` if
    its journal cannot tell. A call of the same run (`own`) counts as being made until it has an outcome.
    """
    same = root_of(run) == root_of(step.run)
    doer = "another call of this run" if same else f"an earlier run ({run[:8]})"
    match earlier.outcomes.get(call):
        case ToolResult(status="ok") as done:
            text = f"{NOT_AGAIN} {doer} already did this for the same message. Its result:\n\n{done.text}"
            details = {**(done.details or {}), NOT_MADE: "done_before"}
            if not same:
                details[EARLIER_TOOL] = item.tool.name
            summary = f"was done already by {doer}"
            return replace(done, call=item.call, text=text, summary=summary, details=details, duration_ms=0)
        case ToolResult():
            return "free"
        case ToolUnknown() as unknown:
            text = f"{NOT_AGAIN} {doer} tried this for the same message. {unknown.text}"
            return replace(unknown, call=item.call, text=text)
        case None if own:
            text = f"Not done: {doer} is doing this for the same message."
            return ToolResult(item.call, "refused", text, details={"code": "being_done"})
        case None if earlier.finished is None:
            return "open"
        case None:
            return "gone" if call in earlier.in_doubt else "free"


async def _agreed_key(step: OwnStep, item: Permitted) -> str:
    """Return the key of the memo that all runs claim, also those that began under another installation key."""
    store = step.services.store

    async def exists(key: str) -> bool:
        return await store.memo(key) is not None

    return await agreed_name(_keys(step, item), exists, store, step.now_ms, _former_keys(step, item))


def _keys(step: OwnStep, item: Permitted) -> Sequence[str]:
    """Return the keys that the memo for one effect may have; they do not reveal the message."""
    return _keys_of(step, item, _message(step.progress.event))


def _former_keys(step: OwnStep, item: Permitted) -> Sequence[str]:
    """Return the keys of the memo under the names that earlier versions gave the message."""
    event = step.progress.event
    if event is None:
        return ()
    former = [_message(named) for named in events_of(event.source).former(event)]
    return [key for message in former for key in _keys_of(step, item, message)]


def _keys_of(step: OwnStep, item: Permitted, message: Sequence[str]) -> Sequence[str]:
    workflow = step.progress.workflow
    return [tokens.once(workflow, item.tool.name, *message) for tokens in step.services.tokens.every]


def _message(event: Event | None) -> Sequence[str]:
    """Return the coordinates of the message, issue or page that the run is about."""
    if event is None:
        return ()
    return source_of(event).message(event)


def _parse(memo: str) -> _Claim:
    holder, key, since = memo.split(" ")
    return _Claim(holder, key, int(since))
