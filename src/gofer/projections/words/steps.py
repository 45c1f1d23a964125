"""The steps of a run in order: what it was told, what it said, what it did, and how it ended.

`step_writer.py` writes them from the journals of a run and its subagent runs. The steps of a subagent run come right
after the step that started it. A step of an entry has the name of the entry as its kind, with these exceptions:

- `agent.start` is `run.started` with the prompt and the tools, and `agent.end` is `run.finished` with its checks.
- `thought` is the reasoning of a model before its answer.
- `context.snapshot` says what a request held, and `state.transition` that the run changed its state.
- `damage` is the place from which a journal cannot be read.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, cast

from gofer.journal.entries import Recorded
from gofer.projections.requests.sent_requests import SentRequest
from gofer.projections.tracing.trace import timestamp
from gofer.values.canonical_json import as_object

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
    "run.graded",
    "feedback.given",
    "run.reviewed",
    "damage",
]
SUMMARY = 300
"""The most characters of a text in a summary, without the note about the rest."""
LONGEST_NAME = 100
"""The most characters of the name of a tool, without the note about the rest."""
_LISTED = 100
"""The most items of a list or an object in a summary."""
_LEVELS = 4
"""The most levels of details in a summary."""
_ONLY_FULL = frozenset({"tool_schemas", "tool_calls", "extra", "system", "value", "event"})
"""The details that repeat long texts, and that only the full form of a step has."""


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

    @property
    def tool_names(self) -> Sequence[str]:
        """The names of the tools that requests list."""
        return [str(as_object(schema.get("function")).get("name", "")) for schema in self.tools]


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
    call: str = ""
    """The id of the call in the run; empty for other steps."""
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
    """For `llm.request`, the number of messages after the system prompt that the request before contained."""

    @property
    def own_status(self) -> str:
        """The status for people; empty if a later step shows the same status as the outcome of this one."""
        is_made = self.kind in ("tool.call", "approval.requested") and self.details.get("made") is not False
        if is_made and self.status != "open":
            return ""
        return self.status

    def to_json(self, *, full: bool = False) -> dict[str, object]:
        """Return the step with summaries of its texts; with `full`, also the texts and all details."""
        shown: dict[str, object] = {
            "step": self.step,
            "run": self.run,
            "depth": self.depth,
            "at": timestamp(self.at),
            "kind": self.kind,
            "entry": self.entry,
            "tool": self.tool,
            "call": self.call,
            "input_summary": summary(self.input),
            "output_summary": summary(self.output),
            "duration_ms": self.duration_ms,
            "status": self.status,
            "retries": self.retries,
        }
        if full:
            return {**shown, "details": dict(self.details), "input": self.input, "output": self.output}
        brief = {name: value for name, value in self.details.items() if name not in _ONLY_FULL}
        return {**shown, "details": _bounded(brief, _LEVELS)}


def summary(text: str, limit: int = SUMMARY) -> str:
    """Return a text as one line of at most `limit` characters, with a note about how many characters are left out."""
    # A margin for white space, so that a text of megabytes is not split into words.
    line = " ".join(text[: 4 * limit].split())
    if len(text) <= 4 * limit and len(line) <= limit:
        return line
    kept = line[:limit]
    return f"{kept}… ({len(text):,} characters in all)"


def cut(text: str, limit: int) -> str:
    """Return at most `limit` characters of a text, with a note about how many characters are left out."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]}… ({len(text):,} characters in all)"


def _bounded(value: object, levels: int) -> object:
    """Return JSON with short texts, short lists and few levels."""
    match value:
        case str():
            return summary(value)
        case dict() | list() | tuple() if levels == 0:
            return "…"
        case dict():
            fields = list(as_object(cast(object, value)).items())
            return {summary(name): _bounded(item, levels - 1) for name, item in fields[:_LISTED]}
        case list() | tuple():
            return [_bounded(item, levels - 1) for item in cast(Sequence[object], value)[:_LISTED]]
        case _:
            return value
