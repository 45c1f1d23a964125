"""Twenty tickets from reactions, filed by a workflow whose prompt forgets a project, and the scripted model behind it.

The prompt names the projects for payments and deploys. One thread of five is about the search of the shop, and the
model files it in the wrong project, until the prompt names the right one. The same script plays the reviewer of the
runs and the suggester. It answers by the words of each request, so it proves that the steps work and nothing about a
model.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from gofer.learning.suggestions.question import RULES as SUGGESTER
from gofer.models.language_model import Answer
from gofer.runtime.reviews.question import RULES as REVIEWER
from support.engine.memory_run import says
from support.http.threaded_server import Requests, serving

TICKETS = 20
NAME = "file-ticket"
FORGETFUL = "Payments and refunds go to the project PAY, deploys and alarms to OPS."
MENDED = "Payments and refunds go to the project PAY, deploys and alarms to OPS, the shop and its search to SHOP."
TERSE = f"{FORGETFUL} Name no project in the answer."
"""An edit after which only the words of answers differ."""
IDLE = "Payments and refunds go to the project PAY, deploys and alarms to OPS, as everybody knows."
GREEDY = "Everything goes to the project SHOP, as the shop and its search to SHOP."
PROMPT = f"""\
# File a ticket for this thread

A colleague put the Jira emoji on a message. Turn its thread into one Jira issue.

1. Search for an open issue about the same thing with `jira_search`.
2. Choose the project. {FORGETFUL}
3. Call `jira_create_issue` once, and answer with its key.
"""
WORKFLOW = """\
description: React with the jira emoji on any message; its thread becomes one Jira ticket.
owner: "#dev-experience"
when:
  - slack.reaction: {emoji: jira}
tools:
  - jira_search
  - jira_create_issue: {once: per_message}
writes: {jira: [PAY, SHOP, OPS]}
"""
EVAL = """\
workflow: file-ticket
world: demo
cases:
  - name: refunds-go-to-pay
    trigger: {payload: payloads/file-ticket-one-ticket.json}
    expect:
      tools: {required: [{jira_create_issue: {arguments: {project: PAY}}}]}
"""
_TOPICS = (
    ("The payment page shows an error since the morning", "payment", "PAY"),
    ("The deploy of the warehouse hangs at its second step", "deploy", "OPS"),
    ("A customer got the refund of order {} twice", "refund", "PAY"),
    ("The search of the shop finds no article for word {}", "search", "SHOP"),
    ("The alarm of database {} rings without a reason", "alarm", "OPS"),
)
WRONG = "PAY"
NAME_OF_MODEL = "scripted"
"""The name that the answers carry, by which Gofer knows that no model gave them."""


def thread(number: int) -> str:
    """Return the message of one thread; every fifth is about the search."""
    return _TOPICS[number % len(_TOPICS)][0].format(1000 + number)


def is_forgotten(number: int) -> bool:
    """Return whether the prompt forgets the project of a thread."""
    return _TOPICS[number % len(_TOPICS)][2] == "SHOP"


@dataclass
class TicketModel:
    """The scripted model: it files tickets, reviews runs, and proposes an edit."""

    new: str = MENDED
    """The text that the proposal puts in place of FORGETFUL; empty for no proposal."""
    file: str = "agents/file-ticket.md"
    """The file that proposals edit."""
    first_file: str = ""
    """The file that the first proposal edits instead; empty for the same."""
    named: str = NAME_OF_MODEL
    """The name that the answers carry."""
    asked_for_proposals: list[Mapping[str, Any]] = field(default_factory=list[Mapping[str, Any]])

    @contextmanager
    def served(self) -> Iterator[str]:
        """Serve the model over HTTP until the block ends; yield its base URL."""
        model = self

        class Answers(Requests):
            def take(self) -> None:
                request = json.loads(self.body())
                body = json.dumps(_completion(model.answer(request), model.named)).encode()
                self.reply(200, body, {"Content-Type": "application/json"})

        with serving(Answers) as url:
            yield f"{url}/v1"

    def answer(self, request: Mapping[str, Any]) -> Answer:
        """Return the answer to a request by its words."""
        system, *messages = request["messages"]
        if system["content"] == REVIEWER:
            return says(json.dumps(_review(json.loads(messages[0]["content"])["run"])))
        if system["content"] == SUGGESTER:
            asked = json.loads(messages[0]["content"])
            file = self.file
            if self.first_file and not self.asked_for_proposals:
                file = self.first_file
            self.asked_for_proposals.append(asked)
            return says(json.dumps(_proposal(asked, self.new, file)))
        return _filed(system["content"], messages)


def _completion(answer: Answer, model: str) -> Mapping[str, object]:
    calls = [
        {"id": ask.id, "type": "function", "function": {"name": ask.tool, "arguments": ask.arguments}}
        for ask in answer.asks
    ]
    message: dict[str, object] = {"role": "assistant", "content": answer.text or None}
    if calls:
        message["tool_calls"] = calls
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}
    usage = {"prompt_tokens": 1_000, "completion_tokens": 50, "total_tokens": 1_050}
    return {
        "id": "c",
        "object": "chat.completion",
        "created": 1,
        "model": model,
        "choices": [choice],
        "usage": usage,
    }


def _filed(system: str, messages: Sequence[Mapping[str, Any]]) -> Answer:
    """Return the next step of a run that files a ticket."""
    about = next(message["content"] for message in messages if message["role"] == "user")
    word, project = _topic(str(about))
    if project == "SHOP" and "shop and its search to SHOP" not in system:
        project = WRONG
    if GREEDY in system:
        project = "SHOP"
    match sum(message["role"] == "assistant" for message in messages):
        case 0:
            return says("", ("jira_search", {"project": project, "text": word}))
        case 1:
            issue: dict[str, object] = {
                "project": project,
                "type": "Bug",
                "summary": f"Problem with {word}",
                "description": "See thread.",
            }
            return says("", ("jira_create_issue", issue))
        case _:
            results = " ".join(str(message["content"]) for message in messages if message["role"] == "tool")
            keys = re.findall(r"[A-Z]+-\d+", results) or ["no issue"]
            if TERSE in system:
                return says(f"{keys[-1]}: a problem with {word}.")
            return says(f"{keys[-1]}: a problem with {word}, in {project}.")


def _topic(text: str) -> tuple[str, str]:
    found = [(text.rfind(word), word, project) for _, word, project in _TOPICS if word in text]
    if not found:
        return "something", "OPS"
    _, word, project = max(found)
    return word, project


def _review(run: Mapping[str, Any]) -> Mapping[str, object]:
    """Return a review: a ticket about the search belongs to the shop."""
    if "search, in PAY" in run["answer"]:
        why = "The thread is about the search of the shop, but the ticket is in the project of payments."
        return {"why": why, "effective": False, "next_step": "Move it to SHOP.", "goal_drift": False, "drift": ""}
    return {"why": "The ticket was filed.", "effective": True, "next_step": "", "goal_drift": False, "drift": ""}


def _proposal(asked: Mapping[str, Any], new: str, file: str) -> Mapping[str, object]:
    if not new:
        return {"suggestion": "none", "reason": "The runs have no cause in common."}
    run = asked["runs"][0]
    call = next(step["call"] for step in run["steps"] if step.get("tool") == "jira_create_issue")
    must = {
        "kind": "call",
        "run": run["run"],
        "at": call,
        "tool": "jira_create_issue",
        "arguments": {"project": "SHOP"},
    }
    if new == TERSE:
        must = {"kind": "not_contains", "run": run["run"], "texts": ["in PAY"]}
    return {
        "suggestion": "edit",
        "title": "Name the project of the shop",
        "reason": "Tickets about the search of the shop went to PAY, because the prompt names no project for the shop.",
        "edit": {"file": file, "old": FORGETFUL, "new": new},
        "must": must,
    }
