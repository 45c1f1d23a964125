"""A healthy model: it works on one or several tasks, at once or one after the other, and then answers."""

import asyncio
import json
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from gofer.models.language_model import Answer
from gofer.values.errors import TemporaryError
from gofer.values.messages import ToolAsk, Usage
from support.health.tasks import TASKS, Turns
from support.models.deciding_provider import Call, Sent
from support.models.strict_provider import complaints

_OF_A_SUBAGENT = re.compile(r"^Of (file_\w+): ", re.MULTILINE)
"""The beginning of each question to a subagent."""


@dataclass
class Clerk:
    """The model of one run and of its subagents. A second of virtual time or three pass with each answer."""

    chance: random.Random
    tasks: Sequence[str]
    at_once: bool = False
    """Whether the run works on all tasks in each turn, instead of one task after the other."""
    absent: int = 0
    """The number of requests that get no answer at first."""
    open: list[Turns] = field(default_factory=list[Turns])
    said: list[str] = field(default_factory=list[str])
    asked: int = 0

    async def ask(self, body: bytes, timeout: float) -> Answer:
        assert not complaints(body)
        if self.absent:
            self.absent -= 1
            raise TemporaryError("the provider is away", retry_after=20)
        await asyncio.sleep(self.chance.uniform(0.5, 2.5))
        sent = Sent(body)
        self.asked += 1
        usage = Usage(input_tokens=int(len(body) / self.chance.uniform(3.8, 4.4)), output_tokens=30)
        if sent.sums_up:
            return Answer("The pages so far were read; go on after them.", (), "stop", "m", usage)
        if file := _OF_A_SUBAGENT.search(sent.first):
            return self._answer(_read_for_a_run(file[1], sent), usage)
        return self._answer(self._turn(sent), usage)

    def _answer(self, said: str | Sequence[Call], usage: Usage) -> Answer:
        if isinstance(said, str):
            return Answer(said, (), "stop", "m", usage)
        asks = tuple(
            ToolAsk(f"call_{self.asked}_{at}", tool, json.dumps(arguments)) for at, (tool, arguments) in enumerate(said)
        )
        return Answer("", asks, "tool_calls", "m", usage)

    def _turn(self, sent: Sent) -> str | Sequence[Call]:
        if not self.open and not self.said:
            self.open = [TASKS[name].work(self.chance) for name in self.tasks]
            for turns in self.open:
                next(turns)
        calls: list[Call] = []
        while self.open and not calls:
            working = self.open if self.at_once else self.open[:1]
            for turns in list(working):
                calls += self._advance(turns, sent)
        return calls or " ".join(self.said)

    def _advance(self, turns: Turns, sent: Sent) -> Sequence[Call]:
        try:
            return turns.send(sent)
        except StopIteration as end:
            self.open.remove(turns)
            self.said.append(end.value)
            return ()


def _read_for_a_run(file: str, sent: Sent) -> str | Sequence[Call]:
    """Return what a subagent does with the file that its run asks about."""
    if not sent.turns:
        return [("file_read", {"file": file, "start_line": 1, "end_line": 12})]
    return f"An amount, said in {file}, line 3."
