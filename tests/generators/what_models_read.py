"""Requests of six kinds of runs, as a model reads them, with their tokens by part and their cost.

The first request of a mention is printed whole. Of each other request the page prints the parts that differ.

`PYTHONPATH=tests python -m generators.what_models_read` writes them into docs/context.md anew. A test compares the two,
so that a changed word of a prompt is a row in a diff. Times and ids are replaced, because they differ with each run.
"""

import asyncio
import json
import logging
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, assert_never

from gofer.engine.first_message import DATA_NOTE, NO_REQUEST
from gofer.models.language_model import Answer
from gofer.values.canonical_json import encode_text
from gofer.values.tokens import estimate
from support.app import shipped_workflows
from support.app.company import ROOT, company
from support.engine.long_run import Messages, ReadingModel, adder, is_asked_to_sum_up, pages, run
from support.engine.memory_run import says

PAGE = ROOT / "docs" / "context.md"
BEGIN, END = "<!-- made by `PYTHONPATH=tests python -m generators.what_models_read` -->\n", "<!-- until here -->\n"
LINK = re.compile(r"https://\S+/archives/\S+/p\d{16}")
ANSWER = (
    "**Yes, for checkout.** Last night it was decided that nothing that touches checkout is deployed until the retry "
    "fix is merged and has run one hour on staging (On-call, in #incidents). The search filters can go. The Checkout "
    "Owner owns the fix and writes in that thread when its hour is over."
)
HEAD = (
    "Estimated tokens by part. From the second call on, the provider's cache holds the tools and the system prompt.",
    "The tools of every run come first, so that all workflows share them in the cache.",
)
PRICES = {
    "0.25, cached 0.025, answer 2": (0.25, 0.025, 2.0),
    "1.25, cached 0.125, answer 10": (1.25, 0.125, 10.0),
    "5, cached 0.5, answer 30": (5.0, 0.5, 30.0),
}
"""USD per million tokens: of a small, a middle and a large model."""
REPLACED = (
    (r"It is \w+, \d+ \w+ \d{4}, \d\d:\d\d UTC", "It is Monday, 23 November 2026, 09:00 UTC"),
    (r"\(ts \d+\.\d+\)", "(ts 1795424400.000100)"),
    (r"with ts \d+\.\d+", "with ts 1795424400.000100"),
    (r"/p\d{16}", "/p1795424400000100"),
    (r"http://127\.0\.0\.1:\d+", "https://acme.atlassian.net"),
    (r"about \d+ tokens of", "about 2500 tokens of"),
    (r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", "2026-11-23 09:00 UTC"),
    (r"(file|result|text|history)_[0-9a-f]{12}", r"\1_0123456789ab"),
)
"""Words that differ with each run, and their replacements."""
Part = Literal["system prompt", "first message", "history", "tail"]
PRINTED: Mapping[str, Sequence[Part]] = {
    "A mention in Slack": ("system prompt", "first message", "tail"),
    "The same mention, after one tool call": ("history",),
    "A webhook": ("first message",),
    "A comment in Jira": ("first message",),
    "A schedule": ("first message",),
    "A subagent": ("first message",),
    "A long run, asked for a summary": ("tail",),
    "A long run, after its summary": ("history", "tail"),
}
"""The parts of each request that the page prints."""
LONGEST = 500
"""Characters of a message of the history above which only its beginning is printed."""
COMPARE = """\
description: Reads a contract.
owner: "#helpers"
when: [slack.mention]
subagents: [read-file]
"""
QUESTION = "Of file_0123456789ab: what notice period does the contract have, and on which page does it say so?"


@dataclass
class Reader:
    """A model that records its requests, and calls for one thread or one subagent where it can."""

    bodies: list[bytes] = field(default_factory=list)

    async def ask(self, body: bytes, timeout: float) -> Answer:
        self.bodies.append(body)
        request = json.loads(body)
        names = {tool["function"]["name"] for tool in request["tools"]}
        if b'"role":"tool"' in body:
            return says(ANSWER)
        if "subagent" in names:
            return says("", ("subagent", {"agent_name": "read-file", "prompt": QUESTION}))
        link = LINK.search(request["messages"][1]["content"])
        if "Answer in the thread" in request["messages"][0]["content"] and link:
            return says("", ("slack_read_thread", {"link": link[0]}))
        return says("Done.")


@dataclass(frozen=True)
class Request:
    """One request, with times and ids replaced."""

    tools: Sequence[Mapping[str, Any]]
    messages: Messages

    @property
    def system(self) -> str:
        return str(self.messages[0]["content"])

    @property
    def first(self) -> str:
        return str(self.messages[1]["content"])

    @property
    def tail(self) -> str:
        return str(self.messages[-1]["content"])

    def parts(self) -> Mapping[str, int]:
        """Return the tokens of each part, by the estimate that runs use themselves."""
        ours, theirs = divided(self.first)
        between = [encode_text(message) for message in self.messages[2:-1]]
        return {
            "tools": estimate(encode_text(self.tools)),
            "system prompt": estimate(self.system),
            "first message, by code": estimate(ours),
            "first message, request and material": estimate(theirs),
            "history": sum(map(estimate, between)),
            "tail": estimate(self.tail),
        }

    def fixed(self) -> int:
        """Return the tokens that do not depend on texts of people or results of tools."""
        parts = self.parts()
        return sum(parts[name] for name in ("tools", "system prompt", "first message, by code", "tail"))


def divided(first: str) -> tuple[str, str]:
    """Return what code wrote of a first message, and the request and the material."""
    head, sentence, material = first.partition(DATA_NOTE if DATA_NOTE in first else NO_REQUEST)
    if not sentence:
        ours, _, prompt = first.partition("\n\n")
        return ours, prompt
    rows = head.splitlines()
    ours = [row for row in rows if not row.startswith(">")]
    theirs = [row for row in rows if row.startswith(">")]
    return "\n".join([*ours, sentence]), "\n".join([*theirs, material])


def request_of(body: bytes) -> Request:
    text = body.decode()
    for pattern, instead in REPLACED:
        text = re.sub(pattern, instead, text)
    request = json.loads(text)
    return Request(request["tools"], request["messages"])


async def shipped_requests(folder: Path) -> list[Request]:
    """Return the requests of a mention, a webhook, a comment in Jira and a schedule, the mention's two first."""
    found: list[Request] = []
    for name, (title, act) in enumerate(
        (
            ("# Answer in the thread", shipped_workflows.ask_about_the_decision),
            ("# Prepare for a new colleague", shipped_workflows.hire),
            ("# Answer in the issue", shipped_workflows.ask_in_jira),
            ("# The week in one message", shipped_workflows.fire_digest),
        )
    ):
        model = Reader()
        async with company(folder / str(name), model=model) as made:
            await act(made)
            await made.ended()
        # A model that only answers is sent back to the call that its workflow requires.
        requests = [one for one in map(request_of, model.bodies) if "Not finished" not in str(one.messages)]
        found += [one for one in requests if title in one.system]
    return found


async def subagent_request(folder: Path) -> Request:
    """Return the first request of a subagent that works in a run of its own."""
    root = folder / "repository"
    shutil.copytree(ROOT / "subagents", root / "subagents")
    (root / "agents").mkdir()
    (root / "agents" / "w.yaml").write_text(COMPARE)
    (root / "agents" / "w.md").write_text("Read the contract.")
    (root / "agents" / "defaults.yaml").write_text("models: {default: gpt-5.4-mini}\n")
    model = Reader()
    async with company(folder, root=root, model=model) as made:
        await made.ask("@Gofer what is the notice period?")
        await made.ended()
    return next(one for one in map(request_of, model.bodies) if one.first.endswith(QUESTION))


async def long_requests() -> tuple[Request, Request]:
    """Return the request for a summary, and the next one."""
    made = pages(200)
    model = ReadingModel(adder(60, lambda total, page: f"SUM {total} THROUGH PAGE {page}"))
    await run(made, model, window=8_000)
    bodies = [request_of(body) for body in model.bodies]
    at = next(number for number, one in enumerate(bodies) if is_asked_to_sum_up(one.messages))
    return bodies[at], bodies[at + 1]


async def captured(folder: Path) -> Mapping[str, Request]:
    """Return one request of each kind, by its title."""
    mention, again, webhook, comment, schedule = await shipped_requests(folder)
    summary, after = await long_requests()
    return {
        "A mention in Slack": mention,
        "The same mention, after one tool call": again,
        "A webhook": webhook,
        "A comment in Jira": comment,
        "A schedule": schedule,
        "A subagent": await subagent_request(folder / "subagent"),
        "A long run, asked for a summary": summary,
        "A long run, after its summary": after,
    }


def page(requests: Mapping[str, Request]) -> str:
    """Return the generated part of docs/context.md."""
    mention = requests["A mention in Slack"]
    return "\n".join(
        [
            *HEAD,
            "",
            *_table(requests),
            "",
            f"Everything in the first request of a mention that people did not write has {mention.fixed():,} tokens.",
            "",
            *_costs(mention, requests["The same mention, after one tool call"]),
            "",
            "### Tools",
            "",
            "The tools of a mention: those of every run, and then those of the workflow.",
            "",
            "| tool | description |",
            "|---|---|",
            *(f"| `{tool['function']['name']}` | {tool['function']['description']} |" for tool in mention.tools),
            *(row for title, one in requests.items() for row in _shown(title, one)),
            "",
        ]
    )


def _table(requests: Mapping[str, Request]) -> Iterator[str]:
    names = list(requests["A mention in Slack"].parts())
    yield f"| | {' | '.join(names)} | all |"
    yield "|---|" + "---:|" * (len(names) + 1)
    for title, one in requests.items():
        parts = one.parts()
        yield f"| {title} | {' | '.join(f'{parts[name]:,}' for name in names)} | {sum(parts.values()):,} |"


def _costs(first: Request, second: Request) -> Iterator[str]:
    """Yield the costs of the mention: two calls, of which the second finds the first in the cache."""
    answered = estimate(encode_text(second.messages[2])) + estimate(ANSWER)
    asked = sum(first.parts().values())
    shared = asked - first.parts()["tail"]
    fresh = sum(second.parts().values()) - shared
    fixed = first.parts()["tools"] + first.parts()["system prompt"]
    calls = f"{asked:,} and {shared + fresh:,} tokens"
    yield f"This mention takes two calls with {calls}, and the answers of the model have {answered:,} tokens in all."
    yield "It costs, in USD:"
    yield ""
    yield "| price per million tokens | with an empty cache | with its tools and prompt in the cache |"
    yield "|---|---:|---:|"
    for name, (whole, cached, answer) in PRICES.items():
        cold = asked * whole + shared * cached + fresh * whole + answered * answer
        warm = cold - fixed * (whole - cached)
        yield f"| {name} | {cold / 1e6:.5f} | {warm / 1e6:.5f} |"


def _shown(title: str, request: Request) -> Iterator[str]:
    """Yield the section of one request: the parts that the page prints of it."""
    yield from ("", f"### {title}")
    for part in PRINTED[title]:
        match part:
            case "system prompt":
                yield from ("", "The system prompt:", "", "~~~~text", request.system, "~~~~")
            case "first message":
                yield from ("", "The first message:", "", *_fenced(request.messages[1]))
            case "history":
                for message in request.messages[2:4]:
                    yield from ("", *_fenced(message))
            case "tail":
                yield from ("", "The tail:", "", "~~~~text", request.tail, "~~~~")
            case _:
                assert_never(part)


def _fenced(message: Mapping[str, Any]) -> Iterator[str]:
    text = str(message.get("content") or "")
    if message["role"] == "tool" and len(text) > LONGEST:
        text = f"{text[:LONGEST]} […]"
    calls = [f"→ {call['function']['name']}({call['function']['arguments']})" for call in message.get("tool_calls", ())]
    yield from ("~~~~text", f"[{message['role']}]", *filter(None, [text, *calls]), "~~~~")


async def made() -> str:
    with tempfile.TemporaryDirectory() as folder:
        return page(await captured(Path(folder)))


def written(text: str, part: str) -> str:
    """Return the page with its generated part replaced."""
    before, _, rest = text.partition(BEGIN)
    return f"{before}{BEGIN}\n{part}\n{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    logging.disable()
    PAGE.write_text(written(PAGE.read_text(), asyncio.run(made())))
