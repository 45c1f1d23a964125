"""The model of the runs of each kind: what it asks for and answers, decided by the kind of the run and its requests."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from gofer.models.language_model import Answer
from gofer.values.messages import ToolAsk, Usage
from support.models.deciding_provider import Call, Said, Sent
from support.models.strict_provider import complaints

Kind = Literal[
    "answered", "refused", "waited", "approved", "delegated", "scripted", "compacted", "damaged", "private", "waiting"
]
"""The `waited` run was parked while Slack was away.

`private` ended in a private channel, and `waiting` still waits for a person in one.
"""
MODEL = "gpt-5.4-mini"
CANARY = "canary-4e1b"
"""A text that only the two private runs have."""
ANSWERS: Mapping[Kind, str] = {
    "answered": "Not today: checkout is frozen until the retry fix has run one hour on staging.",
    "refused": "I may not archive a channel, and the rota belongs elsewhere.",
    "waited": "Checkout stays on 4.17, as I read once Slack was back.",
    "approved": "Lunch is announced.",
    "delegated": "North has 30 days, South 90 and East 14.",
    "compacted": "All ledgers come to 1234 EUR.",
    "damaged": "Nothing is missing yet.",
    "private": f"The leads have {CANARY}.",
    "waiting": "I told the readers of #notes.",
}
CONTRACTS: Mapping[str, int] = {"North": 30, "South": 90, "East": 14}
"""The notice periods in days of the contracts that the delegating run compares."""
LEDGERS = (400, 300, 200, 100, 134, 100)
"""The amounts in EUR of the threads that the compacted run reads."""
REFUSED: Sequence[Call] = (
    ("slack_archive_channel", {"channel": "#refused"}),
    ("slack_post_message", {"text": "The rota is out.", "channel": "#elsewhere"}),
    ("slack_post_message", {"words": "no text"}),
)
"""A tool that does not exist, a channel that does not exist, and arguments that do not fit."""
POSTED: Mapping[Kind, str] = {"approved": "Lunch is ready.", "waiting": f"The back room has {CANARY}."}
SUMMARY = "The ledgers that were read so far are noted: heron-sum."


@dataclass
class ModelOfEachKind:
    """A model that plays the run of one kind after another, and keeps each request under the kind of its run."""

    kind: Kind = "answered"
    links: Sequence[str] = ()
    """The threads that the run is asked to read."""
    sent: dict[Kind, list[bytes]] = field(default_factory=dict[Kind, list[bytes]])
    read: int = 0
    """The number of links that the run has asked for."""

    def begin(self, kind: Kind, links: Sequence[str] = ()) -> None:
        """Play this kind from now on."""
        self.kind = kind
        self.links = links
        self.read = 0

    async def ask(self, body: bytes, timeout: float) -> Answer:
        assert not complaints(body)
        sent = self.sent.setdefault(self.kind, [])
        sent.append(body)
        said = self._decide(Sent(body))
        usage = Usage(input_tokens=len(body) // 4, output_tokens=20, cached_tokens=0)
        if isinstance(said, str):
            return Answer(said, (), "stop", MODEL, usage)
        asks = tuple(
            ToolAsk(f"call_{len(sent)}_{at}", tool, json.dumps(arguments)) for at, (tool, arguments) in enumerate(said)
        )
        return Answer(f"Thought {len(sent)} of {self.kind}.", asks, "tool_calls", MODEL, usage)

    def _decide(self, sent: Sent) -> Said:
        if sent.sums_up:
            return SUMMARY
        return DECISIONS.get(self.kind, _read_the_thread)(self, sent)


def _read_the_thread(model: ModelOfEachKind, sent: Sent) -> Said:
    if not sent.turns:
        return [("slack_read_thread", {})]
    return ANSWERS[model.kind]


def _ask_for_refusals(model: ModelOfEachKind, sent: Sent) -> Said:
    if not sent.turns:
        return REFUSED
    return ANSWERS["refused"]


def _post(model: ModelOfEachKind, sent: Sent) -> Said:
    if not sent.turns:
        return [("slack_post_message", {"text": POSTED[model.kind], "channel": "#notes"})]
    return ANSWERS[model.kind]


def _delegate(model: ModelOfEachKind, sent: Sent) -> Said:
    if "Of result_" in sent.first:
        return _read_a_contract(sent)
    if not sent.turns:
        return [("slack_read_thread", {"link": link}) for link in model.links]
    if sent.turns == 1:
        return [_question(_file_in(result)) for result in sent.results]
    return ANSWERS["delegated"]


def _read_a_contract(sent: Sent) -> Said:
    file = _file_in(sent.first)
    if not sent.turns:
        return [("file_read", {"file": file})]
    (name,) = re.findall(r"Contract (\w+)\.", sent.results[0])
    return f"{name}: {CONTRACTS[name]} days, said in {file}."


def _question(file: str) -> Call:
    return "subagent", {"agent_name": "read-file", "prompt": f"Of {file}: which notice period?", "files": [file]}


def _file_in(text: str) -> str:
    return re.findall(r"result_\w+", text)[0]


def _read_each_ledger(model: ModelOfEachKind, sent: Sent) -> Said:
    if model.read == len(model.links):
        return ANSWERS["compacted"]
    model.read += 1
    return [("slack_read_thread", {"link": model.links[model.read - 1]})]


DECISIONS: Mapping[Kind, Callable[[ModelOfEachKind, Sent], Said]] = {
    "refused": _ask_for_refusals,
    "approved": _post,
    "waiting": _post,
    "delegated": _delegate,
    "compacted": _read_each_ledger,
}
"""What the model does in the runs of these kinds. In the others it reads the thread and answers."""
