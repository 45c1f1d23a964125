"""A loopback server that speaks the three formats and refuses what their vendors refuse.

Sources: the request types of `openai` 3.57.0 and `anthropic` 2.14.0, answers with status 400 that others have reported
(openai/openai-openapi 541, BerriAI/litellm 34569), and Anthropic's notes on its version 2026-10-21.
"""

import json
import re
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, cast

from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from gofer.app.embedded.server import serve
from gofer.models.language_model import Answer
from gofer.values.messages import Api
from support.models.answer_bodies import Body, body_of
from support.models.request_types import read_by_the_sdk, unlike_the_types
from support.models.strict_provider import complaints

PATHS: Mapping[str, Api] = {
    "/v1/chat/completions": "chat_completions",
    "/v1/responses": "responses",
    "/v1/messages": "messages",
}
_SAMPLING = ("temperature", "top_p", "top_k")
_GPT = re.compile(r"gpt-(\d+)\.?(\d*)")
_CALL_ID = re.compile("[a-zA-Z0-9_-]+")
_MOST_MARKS = 4


@dataclass(frozen=True, slots=True)
class Thought:
    """Thoughts that the vendor gave."""

    part: Body
    led_to: Body | None
    """What came directly after them."""
    calls: frozenset[str]
    """The ids of the calls in the same answer, in the format Messages."""
    model: str


@dataclass(slots=True)
class Issued:
    """What the vendor gave so far."""

    thoughts: dict[str, Thought] = field(default_factory=dict[str, Thought])
    """By the id of a reasoning item, or by the signature of a thinking block."""
    calls: set[str] = field(default_factory=set[str])
    """The ids of its calls in the format Messages. A server takes back its own, in any form."""

    def note(self, body: Body, api: Api) -> None:
        """Remember the thoughts and calls in an answer."""
        parts: Sequence[Body] = body.get("output" if api == "responses" else "content", ())
        calls = frozenset(part["id"] for part in parts if part["type"] == "tool_use")
        self.calls |= calls
        for part, after in zip(parts, [*parts[1:], None], strict=False):
            if part["type"] in ("reasoning", "thinking"):
                self.thoughts[_name(part)] = Thought(part, after, calls, body["model"])


@dataclass(slots=True)
class Vendor:
    """The server, with the answers that it gives, by the `traceparent` of their request."""

    answers: dict[str, Answer] = field(default_factory=dict[str, Answer])
    requests: list[Body] = field(default_factory=list[Body])
    """The requests that it answered."""
    refused: list[str] = field(default_factory=list[str])
    """What it refused, in its words."""
    issued: Issued = field(default_factory=Issued)

    async def serve(self, request: Request) -> Response:
        """Answer a request, or refuse it with status 400."""
        api = PATHS[request.url.path]
        body = await request.body()
        if wrong := refusals(body, api, request.headers, self.issued):
            self.refused.append(wrong[0])
            return JSONResponse(_error(wrong[0], api), 400)
        self.requests.append(json.loads(body))
        answer = body_of(self.answers[request.headers["traceparent"]], api, len(self.requests))
        try:
            read_by_the_sdk(answer, api)
        except ValidationError as error:
            self.refused.append(f"the vendor never sends this: {error}")
        # An answer may name a version of the model. Thoughts belong to the name that is asked.
        self.issued.note({**answer, "model": self.requests[-1]["model"]}, api)
        return JSONResponse(answer)


@asynccontextmanager
async def refusing_vendor() -> AsyncIterator[tuple[Vendor, str]]:
    """Serve the vendor; yield it with its base URL."""
    vendor = Vendor()
    routes = [Route(path, vendor.serve, methods=["POST"]) for path in PATHS]
    async with serve(Starlette(routes=routes)) as url:
        yield vendor, f"{url}/v1"


def _name(part: Mapping[str, Any]) -> str:
    return part["id"] if part["type"] == "reasoning" else part["signature"]


def refusals(body: bytes, api: Api, headers: Mapping[str, str], issued: Issued) -> list[str]:
    """Return why the vendor refuses a request, in its words; empty for a request that it answers."""
    request = json.loads(body)
    match api:
        case "chat_completions":
            found = [*_completions(request), *complaints(body)]
        case "responses":
            found = list(_responses(request, issued))
        case "messages":
            found = list(_messages(request, headers, issued))
    return [*found, *unlike_the_types(request, api)]


def _error(message: str, api: Api) -> Body:
    if api == "messages":
        return {"type": "error", "error": {"type": "invalid_request_error", "message": message}, "request_id": "req_1"}
    return {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": None}}


def _completions(request: Body) -> Iterator[str]:
    effort = request.get("reasoning_effort")
    version = _GPT.match(request["model"])
    if not request.get("tools") or version is None or effort == "none":
        return
    number = int(version[1]), int(version[2] or 0)
    if number >= (5, 5) or (number >= (5, 4) and effort):
        words = f"Function tools with reasoning_effort are not supported for {request['model']} in /v1/chat/completions"
        yield f"{words}. To use function tools, use /v1/responses or set reasoning_effort to 'none'."


def _responses(request: Body, issued: Issued) -> Iterator[str]:
    if request.get("store") is not False:
        yield "This organisation stores nothing: store must be false."
    items: list[Body] = [item for item in request["input"] if isinstance(item, dict)]
    for item, after in zip(items, [*items[1:], None], strict=True):
        if item.get("type") == "reasoning":
            yield from _reasoning(item, after, request["model"], issued)
    yield from _outputs(items)


def _reasoning(item: Body, after: Body | None, model: str, issued: Issued) -> Iterator[str]:
    name = item["id"]
    if name not in issued.thoughts:
        yield f"Item '{name}' of type 'reasoning' was not found."
        return
    given = issued.thoughts[name]
    if item != given.part or model != given.model:
        yield f"The encrypted content for item {name} could not be verified."
    elif after is None or (after.get("role") == "user" and given.led_to is not None):
        yield f"Item '{name}' of type 'reasoning' was provided without its required following item."
    elif after != given.led_to:
        yield f"Item '{name}' of type 'reasoning' was provided before another item than the one that followed it."


def _outputs(items: Sequence[Body]) -> Iterator[str]:
    calls = [item["call_id"] for item in items if item.get("type") == "function_call"]
    outputs = [item["call_id"] for item in items if item.get("type") == "function_call_output"]
    for id_ in {*calls} - {*outputs}:
        yield f"No tool output found for function call {id_}."
    for id_ in {*outputs} - {*calls}:
        yield f"No tool call found for function call output with call_id {id_}."


def _messages(request: Body, headers: Mapping[str, str], issued: Issued) -> Iterator[str]:
    if headers.get("anthropic-version") != "2026-10-21":
        yield "anthropic-version: header is required"
    for name in _SAMPLING:
        if name in request:
            yield f"{name}: not supported at this version"
    if json.dumps(request).count('"cache_control"') > _MOST_MARKS:
        yield "A maximum of 4 blocks with cache_control may be provided."
    turns: list[Body] = request["messages"]
    roles = [turn["role"] for turn in turns]
    if roles != ["user", "assistant"] * (len(roles) // 2) + ["user"]:
        yield f"messages: roles must alternate between user and assistant and end with user, but found {roles}"
    for turn, after in zip(turns, [*turns[1:], None], strict=True):
        blocks = _blocks(turn)
        yield from _empty(blocks)
        yield from _results(blocks, [] if after is None else _blocks(after), issued)
        yield from _thinking(blocks, request["model"], issued)


def _blocks(turn: Body) -> list[Body]:
    content = turn["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else cast(list[Body], content)


def _empty(blocks: Sequence[Body]) -> Iterator[str]:
    if any(block["type"] == "text" and not block["text"].strip() for block in blocks):
        yield "messages: text content blocks must be non-empty"


def _results(blocks: Sequence[Body], after: Sequence[Body], issued: Issued) -> Iterator[str]:
    """Demand the result of each call, first in the next turn."""
    calls = [block["id"] for block in blocks if block["type"] == "tool_use"]
    results = [block["tool_use_id"] for block in after[: len(calls)] if block["type"] == "tool_result"]
    if sorted(calls) != sorted(results):
        yield f"tool_use ids were found without tool_result blocks immediately after: {', '.join(calls)}"
    if sum(block["type"] == "tool_result" for block in after) > len(calls):
        yield "unexpected tool_use_id found in tool_result blocks"
    if not all(_CALL_ID.fullmatch(call) or call in issued.calls for call in calls):
        yield "messages: tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"


def _thinking(blocks: Sequence[Body], model: str, issued: Issued) -> Iterator[str]:
    """Demand the thoughts of a turn unchanged and in place, and none of another model."""
    for block, after in zip(blocks, [*blocks[1:], None], strict=True):
        if block["type"] == "thinking":
            given = issued.thoughts.get(block["signature"])
            if given is None or block != given.part or model != given.model:
                yield "messages: Invalid `signature` in `thinking` block"
            elif after != given.led_to:
                yield "messages: `thinking` blocks in the latest assistant message cannot be modified"
    calls = {block["id"] for block in blocks if block["type"] == "tool_use"}
    for thought in issued.thoughts.values():
        if thought.model == model and thought.calls & calls and thought.part not in blocks:
            yield "messages: Expected `thinking` before `tool_use`, as the answer had it"
