"""The steps of a run in order: what it was told, what it said, what it did, and how it ended.

`steps` reads the journal of a run with those of its subagent runs. The steps of a subagent run come right after the
step that started it. A step of an entry has the name of the entry as its kind, with six exceptions:

- `agent.start` is `run.started` with the prompt and the tools, and `agent.end` is `run.finished` with its checks.
- `thought` is the reasoning of a model before its answer.
- `context.snapshot` says what a request held, and `state.transition` that the run changed its state.
- `damage` is the place from which a journal cannot be read.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from gofer.journal.entries import Recorded
from gofer.projections.sent_requests import SentRequest

StepKind = Literal[
    "run.accepted",
    "run.owned",
    "agent.start",
    "message.received",
    "llm.request",
    "context.snapshot",
    "thought",
    "llm.response",
    "tool.call",
    "tool.result",
    "tool.unknown",
    "permit.renewed",
    "call.deferred",
    "subagent.started",
    "subagent.finished",
    "value.recorded",
    "file.added",
    "file.read",
    "skill.loaded",
    "plan.updated",
    "context.compacted",
    "approval.requested",
    "approval.clicked",
    "approval.decided",
    "state.transition",
    "run.parked",
    "run.handed_over",
    "run.cancelled",
    "run.retried",
    "run.concluded",
    "agent.end",
    "damage",
]


@dataclass(frozen=True, slots=True)
class AgentSetup:
    """The prompt, the tools and the models of a run, from its bundle."""

    workflow: str
    prompt_file: str
    system: str
    """The system prompt; empty for a script."""
    tools: Sequence[Mapping[str, object]]
    """The tool schemas as requests contain them."""
    models: Sequence[str] = ()
    """The models in the order in which the run asks them."""
    subagents: Mapping[str, str] = field(default_factory=dict[str, str])
    """The system prompts of the subagents, by name."""


@dataclass(frozen=True, slots=True)
class ReadJournal:
    """The journal of one run as far as it can be read."""

    run: str
    entries: Sequence[Recorded]
    setup: AgentSetup | None = None
    """None before the run started, and if its bundle is missing."""
    damage: str = ""
    """Why the rest of the journal cannot be read; empty for a complete journal."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a run. `input` and `output` are complete texts; `details` has names, ids and numbers."""

    step: int
    """The number of the step, counted from 1 over the run and its subagent runs."""
    run: str
    depth: int
    """0 for the run itself, 1 for a subagent run that it asked, and so on."""
    at: int
    """Unix milliseconds."""
    kind: StepKind
    entry: str = ""
    """The address of the entry; empty for damage."""
    tool: str = ""
    """The tool of a call; empty for other steps."""
    input: str = ""
    output: str = ""
    status: str = ""
    duration_ms: int | None = None
    """None for a step without a duration."""
    retries: int = 0
    """The number of attempts after the first."""
    details: Mapping[str, object] = field(default_factory=dict[str, object])
    sent: SentRequest | None = None
    """For `llm.request`, the request as it was sent; None if the bundle of the run is missing."""
    since: int = 0
    """For `llm.request`, the number of its messages that the request before contained."""


def steps(root: ReadJournal, subagents: Mapping[str, ReadJournal]) -> Sequence[Step]:
    """Return the steps of a run and of its subagent runs; `subagents` are all their journals, by run."""
    written: list[Step] = []
    for recorded in root.entries:
        written.append(Step(len(written) + 1, root.run, 0, recorded.at, "run.owned", recorded.address))
    return written
