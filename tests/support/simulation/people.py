"""People who are asked for a decision: some answer late or twice, some may not decide, some forge a press."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from gofer.journal.entries import ApprovalClicked
from gofer.sources.receiver import Click
from gofer.sources.signed_decision import Stamp, token
from gofer.sources.slack.question import Question
from gofer.values.events import Actor
from gofer.values.installation_key import InstallationKey
from gofer.values.outside import Clock
from gofer.values.secret import Secret

LEAD, REQUESTER, STRANGER = "U0LEAD000", "U0NEWCO0", "U0NOBODY0"
PATIENCE = 3
"""The number of presses on a button that gives no response."""
FORGER = InstallationKey(Secret("not the key"))


@dataclass(frozen=True, slots=True)
class Press:
    """One press of a button, as the person who pressed it knows it."""

    run: str
    about: str
    call: str
    decision: str
    actor: str
    at: int
    """Unix milliseconds."""
    counts: bool
    """Whether the right person pressed a button of Gofer's in time."""


@dataclass(frozen=True, slots=True)
class _Wish:
    """A planned press, and its delay in seconds after the one before it."""

    after: float
    actor: str
    decision: str = "approved"
    copies: int = 1
    forged: bool = False


class People:
    """The people who see questions in Slack, and their presses."""

    def __init__(self, chance: random.Random, clock: Clock, deliver: Callable[[Click], Awaitable[str]]) -> None:
        self.made: dict[tuple[str, str, str, str, str, int], Press] = {}
        """Every genuine press by its entry in a journal."""
        self.heard: set[tuple[str, str, str, str, str, int]] = set()
        """Those that Gofer said it took."""
        self.asked: set[tuple[str, str, str]] = set()
        """Run, subject and call of every question that was seen."""
        self.forged = 0
        self._chance, self._clock, self._deliver = chance, clock, deliver
        self._tasks: list[asyncio.Task[None]] = []
        self._deliveries: list[asyncio.Task[str]] = []

    @property
    def busy(self) -> bool:
        """Return whether presses are still planned."""
        return any(not task.done() for task in self._tasks)

    def see(self, key: str, asked: Question) -> None:
        """React to a question that the call with this key posted; further copies of the question are ignored."""
        run, _, about, call, _ = key.split("/")
        if (run, about, call) not in self.asked:
            self.asked.add((run, about, call))
            self._tasks.append(asyncio.create_task(self._react(run, call, asked)))

    def press_of(self, run: str, click: ApprovalClicked) -> Press | None:
        """Return the press that a journal records, if a person made it."""
        return self.made.get((run, click.about, click.call, click.decision, click.actor, click.at))

    def approved(self, run: str, about: str, call: str) -> bool:
        """Return whether a person who may decide approved in time."""
        name = run, about, call, "approved"
        return any(one.counts and (one.run, one.about, one.call, one.decision) == name for one in self.made.values())

    async def _react(self, run: str, call: str, asked: Question) -> None:
        for wish in self._wishes(asked):
            await asyncio.sleep(wish.after)
            for _ in range(PATIENCE):
                if await self._press(run, call, asked, wish):
                    break
                await asyncio.sleep(self._chance.uniform(20, 60))

    def _wishes(self, asked: Question) -> Sequence[_Wish]:
        chance = self._chance
        right = REQUESTER if asked.by == ["requester"] else LEAD
        wrong = chance.choice((STRANGER, LEAD if right == REQUESTER else REQUESTER))
        soon = _Wish(chance.uniform(5, 200), right)
        left = asked.until / 1000 - self._clock.now()
        late = replace(soon, after=left + chance.uniform(0, 60)) if left < 3_600 else None
        other = _Wish(chance.uniform(0, 100), right, "denied")
        moods: Sequence[Sequence[_Wish | None]] = (
            (soon,),
            (replace(soon, copies=2), other),
            (_Wish(chance.uniform(1, 30), wrong, chance.choice(("approved", "denied"))), soon),
            (replace(soon, decision="denied"), replace(other, decision="approved")),
            (_Wish(chance.uniform(1, 30), right, forged=True), chance.choice((soon, None))),
            (late,),
            (_Wish(chance.uniform(1, 30), wrong),),
        )
        return [wish for wish in moods[chance.choices(range(7), (4, 3, 4, 2, 2, 1, 1))[0]] if wish]

    async def _press(self, run: str, call: str, asked: Question, wish: _Wish) -> bool:
        """Press once, with a delivery that may be repeated; return whether there was a response."""
        at = int(self._clock.now() * 1000)
        value = asked.approve if wish.decision == "approved" else asked.deny
        what = run, asked.about, call, wish.decision, wish.actor, at
        if wish.forged:
            self.forged += 1
            stamp = Stamp(run, call, asked.about, asked.arguments_sha256, "approved")
            value = token(FORGER, stamp)
        else:
            right = wish.actor in (REQUESTER if name == "requester" else name for name in asked.by)
            self.made[what] = Press(*what, counts=right and at <= asked.until)
        click = Click(value, Actor(wish.actor), at)
        delivered = [asyncio.create_task(self._deliver(click)) for _ in range(wish.copies)]
        self._deliveries += delivered
        # A dead machine never responds, but effects that it sent may still happen.
        await asyncio.wait(delivered, timeout=10)
        said = [task.result() for task in delivered if task.done() and not task.exception()]
        if "" in said:
            self.heard.add(what)
        return bool(said)
