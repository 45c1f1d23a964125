"""Requests about three subjects, among requests of random words."""

import random
from collections.abc import Mapping, Sequence

from gofer.learning.candidates.requests import Request

HOUR = 3_600_000
_MONTHS = ("january", "february", "march", "april", "may", "june")
_SUBJECTS: Mapping[str, tuple[Sequence[str], Sequence[str]]] = {
    "vacation": (
        (
            "how many vacation days are left",
            "when may I take vacation days in {month}",
            "carry over of vacation days to {month}",
            "vacation days of part-time colleagues",
            "book vacation days for {month} please",
        ),
        ("notion_search",),
    ),
    "invoice": (
        (
            "where is the invoice of order {number}",
            "send the invoice of the order for {month} to the customer",
            "the invoice of order {number} has a wrong amount",
            "which invoice belongs to order {number}?",
        ),
        ("jira_search", "jira_get_issue"),
    ),
    "deploy": (
        (
            "why did the deploy of the shop fail",
            "deploy of checkout failed again, which step?",
            "is the deploy of search blocked, or failed?",
            "the deploy failed in {month}, why?",
        ),
        ("slack_read_thread", "github_get_pull"),
    ),
}


def request(number: int, text: str, tools: Sequence[str] = (), *, at: int | None = None) -> Request:
    """Return a request; without a time one of each hour."""
    return Request(
        run=f"run{number:05}",
        workflow="answer-here",
        kind="slack.mention",
        at=number * HOUR if at is None else at,
        person=f"U{number % 20}",
        text=text,
        tools=tools,
        skills=(),
        usd=0.01,
    )


def subjects(count: int, seed: int = 3) -> Sequence[Request]:
    """Return requests, of which three in five are about a subject."""
    chance = random.Random(seed)
    return [_request(number, chance) for number in range(count)]


def _request(number: int, chance: random.Random) -> Request:
    subject = chance.choice([*_SUBJECTS, "", ""])
    if not subject:
        return _unrelated(number, chance)
    texts, tools = _SUBJECTS[subject]
    text = chance.choice(texts).format(month=chance.choice(_MONTHS), number=chance.randrange(1000))
    return request(number, text, tools if chance.random() < 0.9 else ())


def noise(count: int, seed: int = 3) -> Sequence[Request]:
    """Return requests of random words."""
    chance = random.Random(seed)
    return [_unrelated(number, chance) for number in range(count)]


def _unrelated(number: int, chance: random.Random) -> Request:
    words = ["".join(chance.choices("bdfgklmnprtvz", k=5)) for _ in range(400)]
    return request(number, " ".join(chance.sample(words, 6)))
