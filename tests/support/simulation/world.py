"""The outside of a simulation: effects that land late, twice or never, and a model that never repeats itself."""

import asyncio
import json
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from gofer.journal.entries import Effect
from gofer.models.language_model import Answer
from gofer.sources.slack.approvals import CloseQuestion, MayDecide, TellOne
from gofer.sources.slack.question import Question
from gofer.tools.definition import Arguments, Call, InDoubt, Target, Tool, ToolResult
from gofer.tools.places import Origin, Place
from gofer.values.canonical_json import encode
from gofer.values.errors import TemporaryError, ToolError
from gofer.values.messages import ToolAsk, Usage
from gofer.values.outside import HttpRequest, HttpResponse
from support.simulation import delegating_runs
from support.simulation.machines import Faults, Machine
from support.simulation.vendor_outages import Vendors, vendor_of

INFLIGHT = 30.0
SETTLE = 5.0
SILENCE = 60.0
"""Seconds until a vendor that gives no answer says that it is away; no tool waits that long."""
PLAN: tuple[tuple[str, ...], ...] = (
    ("search", "page"),
    ("ticket", "mail"),
    ("ticket", "ticket", "mail"),
)
"""The tools the model asks for, turn by turn; then it answers."""
EFFECTS: Mapping[str, Effect] = {
    "slack_get_user": "read",
    "slack_read_thread": "read",
    "search": "read",
    "page": "keyed",
    "ticket": "lookup",
    "mail": "blind",
    "slack_post_message": "lookup",
    "slack_update_message": "keyed",
    "slack_delete_message": "keyed",
    "slack_post_ephemeral": "blind",
    "slack_ask_approval": "lookup",
    "slack_ask_requester": "blind",
    "slack_close_question": "keyed",
    "slack_may_decide": "read",
    "slack_tell_one": "blind",
}
ARGUMENTS: Mapping[str, type[Arguments]] = {
    "slack_ask_approval": Question,
    "slack_ask_requester": Question,
    "slack_close_question": CloseQuestion,
    "slack_may_decide": MayDecide,
    "slack_tell_one": TellOne,
}
"""The further arguments of tools with longer input."""

DETAILS: Mapping[str, object] = {
    "private": False,
    "channel": "C1",
    "ts": "1.0",
    "kind": "member",
    "team": "T0ACME00",
}
"""What the code of a run relies on in the results of its tools."""


class AnyArguments(Arguments):
    """The arguments of every simulated tool."""

    text: str = ""
    name: str = ""
    channel: str = ""
    ts: str = ""
    thread_ts: str = ""


def _nobody_sees(key: str, asked: Question) -> None:
    pass


@dataclass
class World:
    """The effects that happened: the argument of every landed effect, by the key of its call."""

    faults: Faults
    vendors: Vendors = field(default_factory=Vendors)
    see: Callable[[str, Question], None] = _nobody_sees
    """Called with each question as soon as it is posted."""
    landed: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    sent: list[str] = field(default_factory=list)
    """Keys in the order in which something was sent for them."""
    under_way: int = 0

    def land(self, key: str, effect: Effect, text: str) -> None:
        self.under_way -= 1
        if effect == "read" or (effect == "keyed" and self.landed[key]):
            return
        self.landed[key].append(text)
        if "/question/" in key:
            self.see(key, Question.model_validate_json(text))


class WorldHttp:
    """The network of one machine. No boundary lies between the decision to send and the send."""

    def __init__(self, machine: Machine, world: World) -> None:
        self._machine = machine
        self._world = world

    async def send(self, request: HttpRequest) -> HttpResponse:
        asked = json.loads(request.content)
        effect, key, text = asked["effect"], asked["key"], asked["text"]
        failure = self._world.vendors.failure(asked["tool"], asyncio.get_running_loop().time())
        if request.url == "look" and failure is not None:
            return await self._away()
        if request.url == "look":
            await self._machine.boundary()
            return HttpResponse(200, {}, encode({"found": bool(self._world.landed[key])}))
        faults = self._world.faults
        self._world.sent.append(key)
        match failure:
            case "refuses":
                return await self._away()
            case "silent":
                await asyncio.sleep(SILENCE)
                return await self._away()
            case "deaf":
                self._world.under_way += 1
                self._world.land(key, effect, text)
                return await self._away()
            case None:
                pass
        if effect != "blind" and self._machine.suffers("refused"):
            await self._machine.boundary()
            return HttpResponse(409, {}, b"{}")
        self._world.under_way += 1
        if self._machine.suffers("late"):
            asyncio.get_running_loop().call_later(
                faults.chance.uniform(0, INFLIGHT), self._world.land, key, effect, text
            )
            await asyncio.sleep(faults.chance.uniform(0.1, 3))
            await self._machine.boundary()
            raise TemporaryError("the answer was lost")
        self._world.land(key, effect, text)
        await self._machine.boundary()
        return HttpResponse(200, {}, b"{}")

    async def _away(self) -> HttpResponse:
        self._machine.notes("outage")
        await self._machine.boundary()
        return HttpResponse(503, {}, b"")


def make_tools() -> dict[str, Tool[Arguments]]:
    """Return one tool per name, all of which call the simulated world by HTTP."""
    return {name: _tool(name, effect) for name, effect in EFFECTS.items()}


def _words(said: Arguments) -> str:
    """Return the text that an effect leaves in the world: that of the call, or the whole request."""
    return said.text if isinstance(said, AnyArguments) else said.model_dump_json()


def _details(said: Arguments) -> Mapping[str, object]:
    if not isinstance(said, MayDecide):
        return DETAILS
    may = {said.requester if name == "requester" else name for name in said.by}
    return {"allowed": said.user in may, "name": said.user}


def _tool(name: str, effect: Effect) -> Tool[Arguments]:
    async def send(url: str, call: Call, said: Arguments) -> HttpResponse:
        content = encode({"tool": name, "effect": effect, "key": call.key, "text": _words(said)})
        answer = await call.http.send(HttpRequest("POST", url, content=content))
        if answer.status == 503:
            raise TemporaryError(f"{vendor_of(name)} answered 503.")
        return answer

    async def act(call: Call, said: Arguments) -> ToolResult:
        if (await send("act", call, said)).status == 409:
            raise ToolError("refused")
        return ToolResult(delegating_runs.given(name, _words(said)), name, _details(said))

    async def look(call: Call, said: Arguments) -> ToolResult | None:
        found = json.loads((await send("look", call, said)).body)["found"]
        return ToolResult(f"{name} {_words(said)}", name, DETAILS) if found else None

    return Tool(
        name,
        name,
        effect,
        ARGUMENTS.get(name, AnyArguments),
        act,
        timeout=20.0,
        internal=name in ARGUMENTS,
        in_doubt=InDoubt(look=look if effect == "lookup" else None, settle=SETTLE if effect == "lookup" else 0.0),
        target=Target(destination=_words, where=_place, system=vendor_of(name)),
    )


def _place(_: Origin, said: Arguments) -> Place:
    """Allow every place: rules about places are not part of the simulation."""
    return Place("simulated", "other", _words(said))


class RestlessModel:
    """A model that calls the tools of the plan with other texts every time, and is sometimes unavailable."""

    def __init__(self, machine: Machine, questions: list[bytes], *, delegates: bool = False) -> None:
        self._machine = machine
        self._questions = questions
        self._delegates = delegates
        self.asked = 0

    async def ask(self, body: bytes, timeout: float) -> Answer:
        await self._machine.boundary()
        self.asked += 1
        if self._machine.suffers("absent"):
            raise TemporaryError("nobody is there", retry_after=self._machine.faults.chance.uniform(70, 400))
        self._questions.append(body)
        request = json.loads(body)
        turn = sum(message["role"] == "assistant" for message in request["messages"])
        await asyncio.sleep(self._machine.faults.chance.uniform(1, 10))
        await self._machine.boundary()
        if self._delegates:
            return delegating_runs.answer(request, len(body) // 4, self._words)
        if turn >= len(PLAN) or "tools" not in request:
            return Answer("Done.", (), "stop", "m", Usage(10, 1, 0))
        words = [self._words() for _ in PLAN[turn]]
        asks = tuple(
            ToolAsk(f"c{turn}{index}", tool, json.dumps({"text": word}))
            for index, (tool, word) in enumerate(zip(PLAN[turn], words, strict=True))
        )
        return Answer("", asks, "tool_calls", "m", Usage(10, 1, 0))

    def _words(self) -> str:
        return f"{self._machine.faults.chance.randrange(10**9)}"
