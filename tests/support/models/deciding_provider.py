"""A model provider over HTTP that decides each answer from the bytes of that request alone, and keeps every request."""

import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from gofer.app.embedded.server import serve
from support.models.reviewing import is_review, review
from support.models.strict_provider import complaints

Call = tuple[str, dict[str, Any]]
Said = str | Sequence[Call]
"""What a model says: a text, or calls as (tool, arguments)."""


@dataclass(frozen=True)
class Sent:
    """One request, with everything that a model knows."""

    body: bytes

    @cached_property
    def messages(self) -> list[dict[str, Any]]:
        return json.loads(self.body)["messages"]

    @property
    def first(self) -> str:
        """Return the first message, which says what the run is about."""
        return _text(self.messages[1])

    @property
    def tail(self) -> str:
        return _text(self.messages[-1])

    @property
    def history(self) -> list[dict[str, Any]]:
        """Return the messages between the first one and the tail."""
        return self.messages[2:-1]

    @property
    def results(self) -> list[str]:
        """Return the tool results in the request, in order."""
        return [message["content"] for message in self.messages if message["role"] == "tool"]

    @property
    def turns(self) -> int:
        """Return the number of model answers in the request."""
        return sum(message["role"] == "assistant" for message in self.messages)

    @property
    def files(self) -> dict[str, str]:
        """Return the ids of the files in the tail by name."""
        return {name: file for file, name in re.findall(r'^- (\w+) "(.*?)": ', self.tail, re.MULTILINE)}

    @property
    def sums_up(self) -> bool:
        """Return whether this is the request for a summary of a conversation that has become too long."""
        return "too long for its window" in self.tail

    @property
    def before_tail(self) -> bytes:
        return self.body[: self.body.rindex(b',{"content":')]


@dataclass
class Provider:
    """The provider, with the requests of runs that it got in order. It finds each run effective."""

    decide: Callable[[Sent], Said]
    before: Callable[[Sent], Awaitable[None]] | None = None
    """What happens between a request and its answer."""
    refuses: Callable[[Sent], Response | None] = lambda sent: None
    """The refusal of a request; None for one that is answered."""
    sent: list[Sent] = field(default_factory=list)

    async def answer(self, request: Request) -> Response:
        sent = Sent(await request.body())
        if is_review(sent.body):
            return review()
        self.sent.append(sent)
        if wrong := complaints(sent.body):
            return JSONResponse({"error": {"message": "; ".join(wrong)[:300]}}, 400)
        if refusal := self.refuses(sent):
            return refusal
        if self.before:
            await self.before(sent)
        said = self.decide(sent)
        message: dict[str, Any] = {"role": "assistant", "content": said if isinstance(said, str) else None}
        if not isinstance(said, str):
            message["tool_calls"] = [_call(len(self.sent), at, call) for at, call in enumerate(said)]
        why = "stop" if isinstance(said, str) else "tool_calls"
        usage = {"prompt_tokens": len(sent.body) // 4, "completion_tokens": 20}
        return JSONResponse(
            {"model": "m", "choices": [{"finish_reason": why, "message": message}], "usage": usage},
        )


def _call(number: int, at: int, call: Call) -> dict[str, Any]:
    tool, arguments = call
    function = {"name": tool, "arguments": json.dumps(arguments)}
    return {"id": f"call_{number}_{at}", "type": "function", "function": function}


def _text(message: dict[str, Any]) -> str:
    content = message["content"]
    return content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)


@asynccontextmanager
async def deciding(
    decide: Callable[[Sent], Said],
    before: Callable[[Sent], Awaitable[None]] | None = None,
    refuses: Callable[[Sent], Response | None] = lambda sent: None,
) -> AsyncIterator[tuple[Provider, str]]:
    """Serve the provider; yield it with the value for OPENAI_BASE_URL."""
    made = Provider(decide, before, refuses)
    app = Starlette(routes=[Route("/v1/chat/completions", made.answer, methods=["POST"])])
    async with serve(app) as url:
        yield made, f"{url}/v1"
