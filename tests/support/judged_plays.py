"""Plays for a judge, and a stand-in for its model that decides each answer from the request."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from gofer.evals.judging.judge import Judge
from gofer.evals.plays import Play, PlayedTurn
from gofer.journal.entries import LlmRequest, LlmResponse, MessageReceived, Recorded, RunConcluded, ToolCall, ToolResult
from gofer.models.language_model import Answer
from gofer.models.served_model import Price, ServedModel
from gofer.projections import progress
from gofer.values.messages import ToolAsk, Usage
from gofer.values.visible import Visible

Asked = dict[str, Any]
"""The user message of a request as JSON."""


@dataclass
class DecidingModel:
    """A model that answers with what a function returns for a request, or raises it."""

    decide: Callable[[Asked], str | Exception]
    name: str = "judge-model-2026"
    asked: list[Asked] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)

    async def ask(self, body: bytes, timeout: float) -> Answer:
        self.bodies.append(body)
        asked = json.loads(json.loads(body)["messages"][1]["content"])
        self.asked.append(asked)
        said = self.decide(asked)
        if isinstance(said, Exception):
            raise said
        return Answer(said, (), "stop", self.name, Usage(1_000, 100))


def verdict(decision: str, quote: str = "", reason: str = "Because.") -> str:
    return json.dumps({"reason": reason, "quote": quote, "verdict": decision})


def judge(decide: Callable[[Asked], str | Exception], name: str = "judge-model-2026") -> tuple[Judge, DecidingModel]:
    model = DecidingModel(decide, name)
    served = ServedModel("judge-model", price=Price(input=1, cached_input=1, output=10))
    return Judge(served, model, "https://models.example/v1"), model


def entries(
    answer: str, calls: Sequence[tuple[str, dict[str, object], str]] = (), model: str = "m", message: str = "Help."
) -> list[Recorded]:
    """Return a journal: one turn with calls `(tool, arguments, result)`, if there are any, and one with the answer."""
    asks = tuple(ToolAsk(f"c{at}", tool, json.dumps(arguments)) for at, (tool, arguments, _) in enumerate(calls))
    journal: list[Any] = [MessageReceived(message)]
    if asks:
        journal += [_request(model), LlmResponse("", asks, "tool_calls", model, Usage(), 0.0, 5)]
    for at, (tool, _, result) in enumerate(calls):
        journal += [ToolCall(f"1.{at}", tool, "read"), ToolResult(f"1.{at}", "ok", result)]
    journal += [
        _request(model),
        LlmResponse(answer, (), "stop", model, Usage(), 0.0, 5),
        RunConcluded("done", "", answer),
    ]
    return [Recorded(n, 0, n * 1_000, "me", entry) for n, entry in enumerate(journal, 1)]


def play(*journals: Sequence[Recorded], seen: Sequence[Visible] = ()) -> Play:
    turns = [PlayedTurn(f"r{n}", journal, progress.project(journal), None, seen) for n, journal in enumerate(journals)]
    return Play(turns, {"added": {}, "removed": [], "changed": {}}, "live", 10)


def _request(model: str) -> LlmRequest:
    return LlmRequest("1.0", "0" * 64, {"model": model}, "")
