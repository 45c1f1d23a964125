"""Outages of the vendors of a simulation: which of them is away, when, and how its requests fail."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

OUTAGES = 0.5
"""The share of schedules in which vendors are away, unless its rules name another; from 0 to 1."""
VENDORS: Mapping[str, str] = {"search": "Notion", "page": "Notion", "ticket": "Jira", "mail": "GitHub"}
"""By tool; every other tool is of Slack."""
BEGINS_WITHIN = 400.0
"""Seconds of a schedule in which outages begin: most of its runs work then."""
SHORTEST = 5.0
LONGEST = 2_400.0
Failure = Literal["refuses", "silent", "deaf"]
"""What comes of a request: HTTP 503, no answer, or its effect and then HTTP 503."""


@dataclass(frozen=True, slots=True)
class Outage:
    """The time in which one vendor is away."""

    vendor: str
    begins: float
    ends: float
    failure: Failure


class Vendors:
    """The outages of one schedule."""

    def __init__(self, outages: Sequence[Outage] = ()) -> None:
        self.outages = outages

    def failure(self, tool: str, now: float) -> Failure | None:
        """Return how a request for a tool fails at a time; None when its vendor answers."""
        for outage in self.outages:
            if outage.vendor == vendor_of(tool) and outage.begins <= now < outage.ends:
                return outage.failure
        return None


def vendor_of(tool: str) -> str:
    """Return the vendor that a tool acts on."""
    return VENDORS.get(tool, "Slack")


def draw(seed: int, rate: float) -> Vendors:
    """Draw the outages of a schedule; its other faults do not depend on them."""
    chance = random.Random(f"outages {seed}")
    if chance.random() >= rate:
        return Vendors()
    return Vendors([_outage(chance) for _ in range(chance.randint(1, 3))])


def _outage(chance: random.Random) -> Outage:
    begins = chance.uniform(0, BEGINS_WITHIN)
    # As many short ones as long ones.
    seconds = SHORTEST * (LONGEST / SHORTEST) ** chance.random()
    vendor = chance.choice(("Slack", "Slack", "Jira", "Notion", "GitHub"))
    failure: Failure = chance.choice(("refuses", "silent", "deaf"))
    return Outage(vendor, begins, begins + seconds, failure)
