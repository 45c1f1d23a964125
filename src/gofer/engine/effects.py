"""The effects of calls: how each kind of tool is retried, and when its outcome is unknown.

    read     attempt it again
    keyed    attempt it again with the same idempotency key; a refused retry proves nothing about the first attempt,
             unless its code says that the object of both is gone (`InDoubt.gone`)
    lookup   wait until a late effect would show, look for our marker, then attempt it once more
    blind    never attempt it again

A call that a system rejected with a rate limit did not happen, and is made again when the limit allows it. While a
system does not answer, reads and keyed calls get ATTEMPTS attempts within ATTEMPTS_WITHIN seconds. Then `outages.py`
decides whether the call waits or fails.

Fencing stops a crashed owner from writing to the journal, but not from sending requests. So each request of a write
also needs a *permit*: the last frame of the run must be young (`Patience.permit`) on the worker's own monotonic clock,
checked right before the request is sent. A new owner waits for a *quiet time* before it looks for earlier effects, so
that the last request of a paused predecessor has arrived.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from typing import Literal, TypeVar

from typing_extensions import override

from gofer.journal.purposes import is_own
from gofer.tools.contained import bug_of, checked, contained, logged_bug
from gofer.tools.definition import AnyTool, Arguments, Call, ToolResult
from gofer.values.errors import Access, ConfigError, Fenced, GoferError, TemporaryError, ToolError, Unwritten
from gofer.values.foreign_code import RAISED, is_from_outside
from gofer.values.outside import Clock, Http, HttpRequest, HttpResponse, TooLarge

ATTEMPTS = 3
"""Attempts of a read, a keyed call or a look while the system outside does not answer."""
ATTEMPTS_WITHIN = 15.0
"""Seconds after the first attempt in which a further one may begin."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Patience:
    """The waiting times of the engine, in seconds. Shorter ones are safe only where no request is late, as in tests."""

    permit: float = 20.0
    """Greatest age of the run's last frame when a request is sent."""
    inflight: float = 30.0
    """Longest time between sending a request and its effect."""
    skew: float = 10.0
    """Greatest difference between the clocks of two machines."""
    backoff: float = 1.0
    """First pause before a failed attempt is repeated; each further pause is four times as long."""
    pause: float = 60.0
    """First wait of a run when no model answers or a system is down. Each further wait for models is twice as long."""
    blocking: float = 5.0
    """Longest time that a tool may hold up the event loop before the log names the tool."""
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    """Waits for seconds between two attempts. An eval moves its clock instead."""


LOST = "it was in progress when its worker stopped"
RESTORED = "it may have happened after the backup from which the run was restored"

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Done:
    """A call that happened, by its answer or by its marker."""

    result: ToolResult


@dataclass(frozen=True, slots=True)
class Refused:
    """A call that was refused, and did not happen."""

    text: str
    code: str = ""
    access: Access = ""


@dataclass(frozen=True, slots=True)
class Later:
    """A call that may succeed after `seconds`; `in_doubt` when an earlier attempt may have had its effect."""

    text: str
    code: str
    seconds: float
    in_doubt: bool = False
    cause: Literal["rate_limit", "outage"] = "rate_limit"
    """`rate_limit`: the system takes no more requests now. `outage`: the system did not answer."""


@dataclass(frozen=True, slots=True)
class NoAnswer:
    """A call without an answer that confirms it."""

    reason: str
    retry_after: float = 0.0
    """Seconds that the system asked to wait; 0 when it named none."""
    code: Literal["", "fault", "too_large"] = ""
    """The failure when the system did answer: a fault of the tool, or an answer that was too large."""

    @property
    def is_outage(self) -> bool:
        """Whether the system did not answer, so that a later attempt may succeed."""
        return not self.code


@dataclass(frozen=True, slots=True)
class Unknown:
    """A call of which the outcome cannot be determined; it is not attempted again."""

    reason: str


class LastFrame:
    """The moment from which the last frame of a run permits requests, on the worker's own monotonic clock."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._since = clock.monotonic()

    @property
    def age(self) -> float:
        """The seconds since the write of the frame began."""
        return self._clock.monotonic() - self._since

    async def write(self, commit: Callable[[], Awaitable[bool]]) -> None:
        """Write a frame, and count its age from the moment before the write. Raises what `commit` raises."""
        since = self._clock.monotonic()
        if await commit():
            self._since = max(self._since, since)


@dataclass(frozen=True, slots=True)
class Permit:
    """The right to send a request, as long as the last frame of the run is young enough."""

    patience: Patience
    last: LastFrame
    renewed: Callable[[], Awaitable[bool]]
    """Writes a frame that announces a request. Only a written frame permits one, because another owner may be sending
    otherwise."""
    above: "Permit | None" = None
    """The permit of the parent run. A worker that lost the parent may not send for its subagents either."""

    async def hold(self) -> None:
        """Return as soon as a request may be sent, with a new frame if the last one is too old.

        Raises Fenced when the run has another owner, Unwritten when the store does not answer.
        """
        while not self.young:
            if self.above is not None:
                await self.above.hold()
            if self._old:
                await self.renew()

    @property
    def young(self) -> bool:
        """Whether a request may be sent right now."""
        return not self._old and (self.above is None or self.above.young)

    @property
    def _old(self) -> bool:
        return self.last.age > self.patience.permit

    async def renew(self) -> None:
        """Write a frame that announces a request. Raises Fenced, Unwritten."""
        try:
            await self.last.write(self.renewed)
        except (TemporaryError, ConfigError) as error:
            raise Unwritten(str(error)) from error


class PermittedHttp(Http):
    """HTTP for a call that writes: each request holds the permit right before it is sent."""

    def __init__(self, http: Http, permit: Permit) -> None:
        self._http = http
        self._permit = permit

    @override
    async def send(self, request: HttpRequest) -> HttpResponse:
        await self._permit.hold()
        return await self._http.send(replace(request, timeout=min(request.timeout, self._permit.patience.inflight)))


async def carry_out(
    tool: AnyTool, call: Call, arguments: Arguments, permit: Permit, *, doubt: str = "", wanted: bool = True
) -> Done | Refused | Later | NoAnswer | Unknown:
    """Make a call, or determine the outcome of an earlier attempt.

    `doubt` says why an earlier attempt may have had its effect; it is empty for a new call. A call that is no longer
    `wanted` is looked for, and not attempted again.
    """
    patience = permit.patience
    guarded = replace(call, http=PermittedHttp(call.http, permit))
    match tool.effect:
        case "read":
            return await _repeated(lambda: _attempt(tool, call, arguments, patience), call.clock, patience)
        case "keyed" if wanted:
            return await _with_key(tool, guarded, arguments, patience, doubt)
        case "keyed":
            return Unknown("it was not confirmed before the run was stopped")
        case "lookup" if wanted:
            return await _with_look_up(tool, guarded, arguments, permit, fresh=not doubt)
        case "lookup":
            looked = await _look_up(tool, guarded, arguments, patience)
            return looked or Refused("It did not happen, and is not attempted, because the run was cancelled.")
        case "blind" if not doubt:
            outcome = await _attempt(tool, guarded, arguments, patience)
            if isinstance(outcome, NoAnswer):
                return Unknown(outcome.reason)
            return outcome
        case "blind":
            return Unknown(doubt)


def doubt_after_restore(tool: AnyTool, call: str, *, restored: bool) -> str:
    """Return why a new call of a run restored from a backup may have happened already; empty for no doubt."""
    # Only the run's own calls had the same id before the restore, so only their markers can be found.
    if restored and is_own(call) and tool.effect == "lookup":
        return RESTORED
    return ""


def longest_seconds(tool: AnyTool, patience: Patience) -> float:
    """Return the longest time of a call in seconds, with all look-ups, waits and attempts that its effect allows."""
    settle_seconds = max(tool.in_doubt.settle, patience.inflight)
    match tool.effect:
        case "blind":
            return tool.timeout
        case "read" | "keyed":
            return ATTEMPTS_WITHIN + tool.timeout
        case "lookup":
            return 2 * (tool.timeout + settle_seconds + ATTEMPTS_WITHIN + tool.timeout)


def quiet_seconds(tool: AnyTool, patience: Patience, *, predecessor_is_dead: bool) -> float:
    """Return the seconds, from its first frame on, that a new owner waits before it looks for earlier effects."""
    if predecessor_is_dead:
        return max(tool.in_doubt.settle, 0.0)
    return max(tool.in_doubt.settle, patience.permit + patience.inflight + patience.skew)


def longest_quiet(tools: Iterable[AnyTool | None], patience: Patience, *, predecessor_is_dead: bool) -> float:
    """Return the longest quiet time of these tools, in seconds; tools that were removed have none."""
    waits = [quiet_seconds(tool, patience, predecessor_is_dead=predecessor_is_dead) for tool in tools if tool]
    return max(waits, default=0.0)


async def _with_key(
    tool: AnyTool, call: Call, arguments: Arguments, patience: Patience, doubt: str
) -> Done | Refused | Later | Unknown:
    doubts: list[str] = []
    if doubt:
        doubts.append(doubt)

    async def attempt() -> Done | Refused | Later | NoAnswer:
        outcome = await _attempt(tool, call, arguments, patience)
        if isinstance(outcome, NoAnswer):
            doubts.append(outcome.reason)
        return outcome

    match await _repeated(attempt, call.clock, patience):
        case Done() as done:
            return done
        case Refused(code=code) as refused if not doubts or code in tool.in_doubt.gone:
            return refused
        case Later() as later:
            return replace(later, in_doubt=bool(doubts))
        case NoAnswer(is_outage=True, reason=reason, retry_after=seconds):
            return Later(reason, "", seconds, in_doubt=True, cause="outage")
        case Refused(text=reason) | NoAnswer(reason=reason):
            return Unknown("; then: ".join(dict.fromkeys((doubts[0], reason))))


async def _with_look_up(
    tool: AnyTool, call: Call, arguments: Arguments, permit: Permit, *, fresh: bool
) -> Done | Refused | Later | NoAnswer | Unknown:
    first = None
    if fresh:
        first = await _attempt(tool, call, arguments, permit.patience)
        if not isinstance(first, NoAnswer):
            return first
        await permit.patience.sleep(max(tool.in_doubt.settle, permit.patience.inflight))
    if found := await _look_up(tool, call, arguments, permit.patience):
        return found
    if first is not None and first.code == "fault":
        # It certainly did not happen, and the bug is still there.
        return first
    # An owner that takes over from here on has to wait again before it looks.
    await permit.renew()
    again = await _attempt(tool, call, arguments, permit.patience)
    if not isinstance(again, NoAnswer):
        return again
    await permit.patience.sleep(max(tool.in_doubt.settle, permit.patience.inflight))
    if found := await _look_up(tool, call, arguments, permit.patience):
        return found
    if again.is_outage:
        return Later(again.reason, "", again.retry_after, in_doubt=True, cause="outage")
    return Unknown(again.reason)


async def _look_up(
    tool: AnyTool, call: Call, arguments: Arguments, patience: Patience
) -> Done | Later | Unknown | None:
    """Look for our marker: return Done if it is there, None if it is not, Later in an outage, Unknown otherwise."""
    looked = await _repeated(lambda: _look_up_once(tool, call, arguments, patience), call.clock, patience)
    match looked:
        case NoAnswer(is_outage=True, reason=reason, retry_after=seconds):
            return Later(reason, "", seconds, in_doubt=True, cause="outage")
        case NoAnswer(reason=reason):
            return Unknown(f"the look-up of its effect failed: {reason}")
        case _:
            return looked


async def _look_up_once(
    tool: AnyTool, call: Call, arguments: Arguments, patience: Patience
) -> Done | Later | Unknown | NoAnswer | None:
    look = tool.in_doubt.look
    if look is None:
        return Unknown("its tool cannot look up its effect")
    try:
        async with asyncio.timeout(tool.timeout):
            found = await contained(tool.name, lambda: look(call, arguments), patience.blocking)
        return None if found is None else Done(checked(found))
    except ToolError as error:
        if error.retry_after:
            return Later(error.message_to_model, error.code, error.retry_after, in_doubt=True)
        return Unknown(f"the look-up of its effect failed: {error}")
    except Unwritten:
        raise
    except (TemporaryError, TimeoutError) as error:
        return _no_answer(tool, error)
    except GoferError:
        raise
    except RAISED as error:
        if is_from_outside(error):
            raise
        # A bug of a tool must not end the run.
        return Unknown(f"the look-up of its effect failed: {bug_of(error)}")


async def _repeated(attempt: Callable[[], Awaitable[T | NoAnswer]], clock: Clock, patience: Patience) -> T | NoAnswer:
    """Repeat an attempt while the system does not answer; return the last outcome."""
    began = clock.monotonic()
    pause = patience.backoff
    for number in range(1, ATTEMPTS + 1):
        outcome = await attempt()
        if not isinstance(outcome, NoAnswer) or not outcome.is_outage:
            return outcome
        wait = max(pause, outcome.retry_after)
        if number == ATTEMPTS or clock.monotonic() - began + wait > ATTEMPTS_WITHIN:
            return outcome
        await patience.sleep(wait)
        pause *= 4
    raise AssertionError("the last attempt returns")


async def _attempt(
    tool: AnyTool, call: Call, arguments: Arguments, patience: Patience
) -> Done | Refused | Later | NoAnswer:
    try:
        async with asyncio.timeout(tool.timeout):
            return Done(checked(await contained(tool.name, lambda: tool.act(call, arguments), patience.blocking)))
    except ToolError as error:
        if error.retry_after:
            return Later(error.message_to_model, error.code, error.retry_after)
        return Refused(error.message_to_model, error.code, error.access)
    except (Fenced, Unwritten):
        raise
    except (TemporaryError, TimeoutError) as error:
        return _no_answer(tool, error)
    except ConfigError as error:
        # A store refused the tool. The operator can change this while the run waits, as in an outage.
        _log.error("tool %s failed: %s", tool.name, error)
        return NoAnswer(str(error))
    except RAISED as error:
        if is_from_outside(error):
            raise
        # A bug of a tool must end neither the run nor the process.
        _log.error("tool %s failed with %s", tool.name, logged_bug(error))
        return NoAnswer(f"the tool failed with {bug_of(error)}", code="fault")


def _no_answer(tool: AnyTool, error: TemporaryError | TimeoutError) -> NoAnswer:
    if not isinstance(error, TemporaryError):
        return NoAnswer(f"{tool.target.system or 'the tool'} did not answer within {tool.timeout:g} seconds")
    reason = str(error)
    if tool.target.system and tool.target.system not in reason:
        reason = f"{tool.target.system} could not be reached: {reason}"
    # The system answered, and its answer would be as large the next time.
    if isinstance(error, TooLarge):
        return NoAnswer(reason, code="too_large")
    return NoAnswer(reason, retry_after=error.retry_after)
