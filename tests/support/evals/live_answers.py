"""A live model on loopback that gives fixed answers in their order, and a judge that always says CORRECT."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from gofer.evals.goldens.golden_reader import read_golden
from gofer.journal.entries import LlmResponse
from support.http.threaded_server import Requests, serving

JUDGE = "gpt-4.1"
"""The judge of the repository's agents/defaults.yaml."""
_VERDICT = {"verdict": "CORRECT", "quote": "", "reason": "They say the same."}


@dataclass(frozen=True)
class Said:
    """One answer of a model."""

    text: str = ""
    calls: Sequence[tuple[str, Mapping[str, Any]]] = field(default_factory=list[tuple[str, Mapping[str, Any]]])
    finish: str = ""
    """Why the model stopped, if not because it had said everything."""

    def without(self, tool: str) -> "Said":
        """Return the answer without the calls of a tool."""
        return replace(self, calls=[call for call in self.calls if call[0] != tool])


def recorded_answers(golden: Path) -> list[Said]:
    """Return the answers of the model in the last turn of a golden."""
    turn = read_golden(golden).turns[-1]
    answers = [one.entry for one in turn.entries(turn.run) if isinstance(one.entry, LlmResponse)]
    return [
        Said(answer.text, [(ask.tool, json.loads(ask.arguments)) for ask in answer.tool_calls]) for answer in answers
    ]


def answering(answers: Sequence[Said], *, tokens: int = 1_000) -> AbstractContextManager[str]:
    """Serve the answers: the first for a request without earlier answers, and so on. Yield the base URL.

    `tokens` are those that each question is said to have.
    """
    return answering_each({"": answers}, tokens)


@contextmanager
def answering_in_turn(conversations: Sequence[Sequence[Said]]) -> Iterator[str]:
    """Serve conversations of one length in turn: each request gets the answer of the next one at its place."""
    asked: Counter[int] = Counter()

    class Answers(Requests):
        def take(self) -> None:
            request = json.loads(self.body())
            earlier = sum(message["role"] == "assistant" for message in request["messages"])
            asked[earlier] += 1
            said = conversations[asked[earlier] % len(conversations)][earlier]
            self.reply(
                200,
                json.dumps(_completion(request["model"], said, 1_000)).encode(),
                {"Content-Type": "application/json"},
            )

    with serving(Answers) as url:
        yield f"{url}/v1"


@contextmanager
def answering_each(
    conversations: Mapping[str, Sequence[Said]], tokens: int = 1_000, person: Sequence[str] = ()
) -> Iterator[str]:
    """Serve the answers of the first conversation whose key is a part of the first message. Yield the base URL.

    `person` are the messages of the person of a case, in order.
    """

    class Answers(Requests):
        def take(self) -> None:
            request = json.loads(self.body())
            said = Said(json.dumps(_VERDICT))
            if request["messages"][0]["content"].startswith("You play a person"):
                written = json.loads(request["messages"][1]["content"])["conversation"]
                said = Said(json.dumps({"message": person[len(written) // 2 - 1]}))
            elif request["model"] != JUDGE:
                first = next(message["content"] for message in request["messages"] if message["role"] == "user")
                answers = next(answers for words, answers in conversations.items() if words in str(first))
                earlier = sum(message["role"] == "assistant" for message in request["messages"])
                said = answers[min(earlier, len(answers) - 1)]
            body = json.dumps(_completion(request["model"], said, tokens)).encode()
            self.reply(200, body, {"Content-Type": "application/json"})

    with serving(Answers) as url:
        yield f"{url}/v1"


def _completion(model: str, said: Said, tokens: int) -> Mapping[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": said.text or None}
    reason = "stop"
    if said.calls:
        reason = "tool_calls"
        message["tool_calls"] = [
            {"id": f"call_{at}", "type": "function", "function": {"name": tool, "arguments": json.dumps(arguments)}}
            for at, (tool, arguments) in enumerate(said.calls)
        ]
    reason = said.finish or reason
    usage = {"prompt_tokens": tokens, "completion_tokens": tokens // 10, "total_tokens": tokens + tokens // 10}
    choice = {"index": 0, "message": message, "finish_reason": reason}
    return {"id": "c", "object": "chat.completion", "created": 1, "model": model, "choices": [choice], "usage": usage}
