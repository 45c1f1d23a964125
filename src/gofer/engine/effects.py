"""The outcome of a call that was not confirmed, by the effect of its tool.

    read     do it again whenever the model asks again
    keyed    do it again with the same key; a refusal of a retry proves nothing about the first attempt, unless it says
             that what both act on is not there (`InDoubt.gone`)
    lookup   wait until a late effect would show, look for our marker, then do it once more
    blind    never again

What the other side did not take because it takes no more for now was not done; it is made again when it says so.
While a system outside is away, reads and keyed calls are attempted ATTEMPTS times within ATTEMPTS_WITHIN seconds; then
`outages.py` decides whether the call waits or fails.

Fencing keeps a lost worker from writing to the journal, not from sending. So an effect also needs a *permit*: its
last frame must be young (`Patience.permit`) on the worker's own monotonic clock, checked right before each request.
A new owner waits a *quiet time* before it reconciles, so that a paused predecessor's last request has landed.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from typing import Literal, TypeVar

from typing_extensions import override

from gofer.journal.purposes import is_own
from gofer.tools.definition import AnyTool, Arguments, Call, ToolResult
from gofer.values.errors import Access, Fenced, GoferError, TemporaryError, ToolError, Unwritten, fault
from gofer.values.outside import Clock, Http, HttpRequest, HttpResponse, TooLarge

ATTEMPTS = 3
"""Attempts of a read, a keyed call or a look while the system outside does not answer."""
ATTEMPTS_WITHIN = 15.0
"""Seconds after the first attempt in which a further one may begin."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Patience:
    """How long safety waits, in seconds. Shorter is only right where nothing can be late, as in tests."""

    permit: float = 20.0
    """How old the run's last frame may be when something is sent."""
    inflight: float = 30.0
    """How long after it was sent a request may have its effect."""
    skew: float = 10.0
    """How far the clocks of two machines may be apart."""
    backoff: float = 1.0
    """The first pause before a model that was busy is asked again; each further one is four times as long."""
    pause: float = 60.0
    """How long a run is put off first when none of its models is there; each further time twice as long."""


LOST = "it was under way when its worker was lost"
RESTORED = "it may have happened after the backup that the run goes on from"

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Done:
    """It happened, or was found to have happened."""

    result: ToolResult


@dataclass(frozen=True, slots=True)
class Refused:
    """It was refused, and did not happen."""

    text: str
    code: str = ""
    access: Access = ""


@dataclass(frozen=True, slots=True)
class Later:
    """It was not taken now, and may be after so many seconds; `in_doubt` when an earlier attempt may have been."""

    text: str
    code: str
    seconds: float
    in_doubt: bool = False
    cause: Literal["rate_limit", "outage"] = "rate_limit"
    """`rate_limit`: the system takes no more for now. `outage`: it did not answer."""


@dataclass(frozen=True, slots=True)
class Silence:
    """No answer confirmed it."""

    why: str
    retry_after: float = 0.0
    """Seconds that the system asked to wait; 0 where it did not say."""
    code: Literal["", "fault", "too_large"] = ""
    """Of a call to a system that is not away: the tool itself failed, or the answer was too large."""

    @property
    def away(self) -> bool:
        """Whether the system outside did not answer, so that a later attempt may succeed."""
        return not self.code


@dataclass(frozen=True, slots=True)
class Unknown:
    """The outcome cannot be determined; the call is not tried again."""

    why: str


class Permit:
    """The right to send, as long as the run's last frame is young enough."""

    def __init__(
        self, clock: Clock, patience: Patience, renew: Callable[[], Awaitable[bool]], above: "Permit | None" = None
    ) -> None:
        self.patience = patience
        self._clock = clock
        self._renew = renew
        self._above = above
        """That of the run which this one is a subagent of: who lost that one may send nothing here either."""
        self._since = clock.monotonic()

    async def write(self, commit: Callable[[], Awaitable[bool]]) -> None:
        """Writes a frame; the permit then counts from before the write.

        Only a frame that was written gives it, to its writer: others may be about to send meanwhile.
        """
        since = self._clock.monotonic()
        if await commit():
            self._since = max(self._since, since)

    async def hold(self) -> None:
        """Return when it is allowed to send now.

        Raises Fenced when the run has another owner, Unwritten when the store does not answer.
        """
        while not self.young:
            if self._above is not None:
                await self._above.hold()
            if self._old:
                await self.renew()

    @property
    def young(self) -> bool:
        """Whether it is allowed to send right now."""
        return not self._old and (self._above is None or self._above.young)

    @property
    def _old(self) -> bool:
        return self._clock.monotonic() - self._since > self.patience.permit

    async def renew(self) -> None:
        """Write a frame that says that something is about to be sent. Raises Fenced, Unwritten."""
        try:
            await self.write(self._renew)
        except TemporaryError as error:
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
) -> Done | Refused | Later | Silence | Unknown:
    """Make a call happen, or find out what became of an earlier attempt.

    `doubt` says why an earlier attempt may have had its effect; it is empty for a fresh call. A call that is not
    `wanted` any more is looked for, and not attempted again.
    """
    guarded = replace(call, http=PermittedHttp(call.http, permit))
    match tool.effect:
        case "read":
            return await _repeated(lambda: _attempt(tool, call, arguments), call.clock, permit.patience)
        case "keyed" if wanted:
            return await _with_its_key(tool, guarded, arguments, permit.patience, doubt)
        case "keyed":
            return Unknown("it was not confirmed before the run was stopped")
        case "lookup" if wanted:
            return await _after_a_look(tool, guarded, arguments, permit, fresh=not doubt)
        case "lookup":
            looked = await _look(tool, guarded, arguments, permit.patience)
            return looked or Refused("It did not happen, and is not wanted any more.")
        case "blind" if not doubt:
            outcome = await _attempt(tool, guarded, arguments)
            return Unknown(outcome.why) if isinstance(outcome, Silence) else outcome
        case "blind":
            return Unknown(doubt)


def doubt_after_restore(tool: AnyTool, call: str, *, restored: bool) -> str:
    """Return why a fresh call of a run that goes on from a backup may have happened already; empty for no doubt."""
    # What the run does by itself had the same id then, so its marker can be found.
    if restored and is_own(call) and tool.effect == "lookup":
        return RESTORED
    return ""


def longest(tool: AnyTool, patience: Patience) -> float:
    """Seconds a call may take at most, with every look, wait and further attempt its effect allows."""
    wait = max(tool.in_doubt.settle, patience.inflight)
    match tool.effect:
        case "blind":
            return tool.timeout
        case "read" | "keyed":
            return ATTEMPTS_WITHIN + tool.timeout
        case "lookup":
            return 2 * (tool.timeout + wait + ATTEMPTS_WITHIN + tool.timeout)


def quiet_seconds(tool: AnyTool, patience: Patience, *, predecessor_is_dead: bool) -> float:
    """How long a new owner waits, from its first frame on, before it looks for what its predecessor may have done."""
    late = 0.0 if predecessor_is_dead else patience.permit + patience.inflight + patience.skew
    return max(tool.in_doubt.settle, late)


def longest_quiet(tools: Iterable[AnyTool | None], patience: Patience, *, predecessor_is_dead: bool) -> float:
    """Return the longest quiet time of these tools, in seconds; tools that are gone have none."""
    waits = [quiet_seconds(tool, patience, predecessor_is_dead=predecessor_is_dead) for tool in tools if tool]
    return max(waits, default=0.0)


async def _with_its_key(
    tool: AnyTool, call: Call, arguments: Arguments, patience: Patience, doubt: str
) -> Done | Refused | Later | Unknown:
    doubts = [doubt] if doubt else []

    async def attempt() -> Done | Refused | Later | Silence:
        outcome = await _attempt(tool, call, arguments)
        if isinstance(outcome, Silence):
            doubts.append(outcome.why)
        return outcome

    match await _repeated(attempt, call.clock, patience):
        case Done() as done:
            return done
        case Refused(code=code) as refused if not doubts or code in tool.in_doubt.gone:
            return refused
        case Later() as later:
            return replace(later, in_doubt=bool(doubts))
        case Silence(away=True, why=why, retry_after=seconds):
            return Later(why, "", seconds, in_doubt=True, cause="outage")
        case Refused(text=why) | Silence(why=why):
            return Unknown(f"{doubts[0]}; then: {why}")


async def _after_a_look(
    tool: AnyTool, call: Call, arguments: Arguments, permit: Permit, *, fresh: bool
) -> Done | Refused | Later | Unknown:
    if fresh:
        first = await _attempt(tool, call, arguments)
        if not isinstance(first, Silence):
            return first
        await asyncio.sleep(max(tool.in_doubt.settle, permit.patience.inflight))
    if found := await _look(tool, call, arguments, permit.patience):
        return found
    # An owner that takes over from here on has to wait again before it looks.
    await permit.renew()
    again = await _attempt(tool, call, arguments)
    if not isinstance(again, Silence):
        return again
    await asyncio.sleep(max(tool.in_doubt.settle, permit.patience.inflight))
    if found := await _look(tool, call, arguments, permit.patience):
        return found
    if again.away:
        return Later(again.why, "", again.retry_after, in_doubt=True, cause="outage")
    return Unknown(again.why)


async def _look(tool: AnyTool, call: Call, arguments: Arguments, patience: Patience) -> Done | Later | Unknown | None:
    """Done when our marker is there, None when it is not, Later when the system is away, Unknown when it cannot say."""
    looked = await _repeated(lambda: _look_once(tool, call, arguments), call.clock, patience)
    match looked:
        case Silence(away=True, why=why, retry_after=seconds):
            return Later(why, "", seconds, in_doubt=True, cause="outage")
        case Silence(why=why):
            return Unknown(f"looking for it failed: {why}")
        case _:
            return looked


async def _look_once(tool: AnyTool, call: Call, arguments: Arguments) -> Done | Later | Unknown | Silence | None:
    if tool.in_doubt.look is None:
        return Unknown("its tool cannot look for it")
    try:
        async with asyncio.timeout(tool.timeout):
            found = await tool.in_doubt.look(call, arguments)
    except ToolError as error:
        if error.retry_after:
            return Later(error.message_to_model, error.code, error.retry_after, in_doubt=True)
        return Unknown(f"looking for it failed: {error}")
    except Unwritten:
        raise
    except (TemporaryError, TimeoutError) as error:
        return _silence(tool, error)
    except GoferError:
        raise
    except Exception as error:  # noqa: BLE001 - a tool's own fault must not take the run with it
        return Unknown(f"looking for it failed: {type(error).__name__}")
    if found is None:
        return None
    return Done(found)


async def _repeated(attempt: Callable[[], Awaitable[T | Silence]], clock: Clock, patience: Patience) -> T | Silence:
    """Repeat an attempt while the system outside does not answer; return the last outcome."""
    began = clock.monotonic()
    pause = patience.backoff
    for number in range(1, ATTEMPTS + 1):
        outcome = await attempt()
        if not isinstance(outcome, Silence) or not outcome.away:
            return outcome
        wait = max(pause, outcome.retry_after)
        if number == ATTEMPTS or clock.monotonic() - began + wait > ATTEMPTS_WITHIN:
            return outcome
        await asyncio.sleep(wait)
        pause *= 4
    raise AssertionError("the last attempt returns")


async def _attempt(tool: AnyTool, call: Call, arguments: Arguments) -> Done | Refused | Later | Silence:
    try:
        async with asyncio.timeout(tool.timeout):
            return Done(await tool.act(call, arguments))
    except ToolError as error:
        if error.retry_after:
            return Later(error.message_to_model, error.code, error.retry_after)
        return Refused(error.message_to_model, error.code, error.access)
    except (Fenced, Unwritten):
        raise
    except (TemporaryError, TimeoutError) as error:
        return _silence(tool, error)
    except Exception as error:  # noqa: BLE001
        # A tool's own bug must not take the run with it; its text may hold contents, its type does not.
        _log.error("tool %s failed with %s", tool.name, fault(error))
        return Silence(f"it failed with {type(error).__name__}", code="fault")


def _silence(tool: AnyTool, error: TemporaryError | TimeoutError) -> Silence:
    if not isinstance(error, TemporaryError):
        return Silence(f"{tool.target.system or 'it'} did not answer within {tool.timeout:g} seconds")
    said = str(error)
    if tool.target.system and tool.target.system not in said:
        said = f"{tool.target.system} could not be reached: {said}"
    # An answer that is too large is one, and will be as large the next time.
    if isinstance(error, TooLarge):
        return Silence(said, code="too_large")
    return Silence(said, retry_after=error.retry_after)
