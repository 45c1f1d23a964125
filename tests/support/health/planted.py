"""Planted faults: runs with one fault each, and the check that has to find it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from gofer.journal import entries as e
from gofer.journal.check_entries import Verdict
from gofer.models.language_model import Answer
from gofer.projections.checks.check_settings import Check, Settings
from gofer.projections.checks.run_checks import project, verdicts
from gofer.values.messages import Usage
from support.engine.memory_run import says
from support.health.plays import Journal, play_asked
from support.models.deciding_provider import Call


@dataclass(frozen=True)
class Fault:
    """A fault, the check that must find it, and the verdicts of a run with it."""

    check: Check
    plant: Callable[[], Sequence[Verdict]]


@dataclass
class Parrot:
    """A model that makes the same number of turns with given calls, and then answers."""

    turns: Sequence[Sequence[Call]]
    input_tokens: int = 100

    def __post_init__(self) -> None:
        self._asked = 0

    async def ask(self, body: bytes, timeout: float) -> Answer:
        self._asked += 1
        answer = says("That is all.")
        if self._asked <= len(self.turns):
            answer = says("", *self.turns[self._asked - 1])
        return replace(answer, usage=Usage(self.input_tokens, 1, 0))


def _found(model: Parrot, variant: int = 0) -> Sequence[Verdict]:
    """Return the verdicts in the journal of a run of a model."""
    return recorded(_journal(model, variant))


def recorded(journal: Journal) -> Sequence[Verdict]:
    """Return the verdicts in a journal; none if the run was not checked."""
    return [verdict for item in journal if isinstance(item.entry, e.RunChecked) for verdict in item.entry.verdicts]


def _journal(model: Parrot, variant: int = 0) -> Journal:
    (run,) = play_asked(model, ["jira"], variant)
    return run.journal


def _loop() -> Sequence[Verdict]:
    """Call the same tool three times with the same arguments; the third call is refused."""
    return _found(Parrot([[("jira_search", {"text": "checkout"})]] * 3))


def _orphan() -> Sequence[Verdict]:
    """Take the outcome of a call out of a journal."""
    journal = _journal(Parrot([[("jira_search", {"text": "checkout"})]]))
    return _checked([item for item in journal if not _is_result(item, "1.0")])


def _state_violation() -> Sequence[Verdict]:
    """Put an answer of the model after the conclusion."""
    journal = _journal(Parrot([[("jira_search", {"text": "checkout"})]]))
    (answer, *_) = [item for item in journal if isinstance(item.entry, e.LlmResponse)]
    (concluded,) = [at for at, item in enumerate(journal) if isinstance(item.entry, e.RunConcluded)]
    return _checked([*journal[: concluded + 1], answer, *journal[concluded + 1 :]])


def _full_window() -> Sequence[Verdict]:
    """Let the provider count 95 % of the window, although the estimate stayed below."""
    return _found(Parrot([[("jira_search", {"text": "checkout"})]], input_tokens=int(0.95 * 48_000)))


def _lost_schema() -> Sequence[Verdict]:
    """Send the second request with the schemas of fewer tools than the first."""
    journal = _journal(Parrot([[("jira_search", {"text": "checkout"})]]))
    requests = [at for at, item in enumerate(journal) if isinstance(item.entry, e.LlmRequest)]
    changed = list(journal)
    changed[requests[1]] = _with_fewer_tools(journal[requests[1]])
    return _checked(changed)


def _with_fewer_tools(item: e.Recorded) -> e.Recorded:
    assert isinstance(item.entry, e.LlmRequest)
    weights = item.entry.weights
    assert weights is not None
    fewer = replace(weights, roles={**weights.roles, "tools": weights.roles["tools"] - 100})
    return replace(item, entry=replace(item.entry, weights=fewer))


def _invented_channel() -> Sequence[Verdict]:
    return _found(Parrot([[("slack_post_message", {"channel": "#paymnets", "text": "hello"})]]))


def _empty_evidence() -> Sequence[Verdict]:
    return _found(Parrot([[("jira_search", {"text": "zebra"})], [("jira_search", {"text": "quagga"})]]))


def _plan_calls() -> Sequence[Verdict]:
    """Write the plan 27 times, with other words each time."""
    items = [{"id": "1", "description": f"Think {number}", "status": "completed"} for number in range(27)]
    plans: Sequence[Sequence[Call]] = [[("todo_write", {"todos": [item]})] for item in items]
    return _found(Parrot(plans), variant=1)


def _model_calls() -> Sequence[Verdict]:
    """Ask the model 15 times, with a new search each time."""
    return _found(Parrot([[("jira_search", {"text": f"checkout {n}"})] for n in range(14)]), variant=1)


def _is_result(item: e.Recorded, call: str) -> bool:
    return isinstance(item.entry, e.ToolResult) and item.entry.call == call


def _checked(journal: Sequence[e.Recorded]) -> Sequence[Verdict]:
    """Return the verdicts of a changed journal, without those in it."""
    return verdicts(project([item for item in journal if not isinstance(item.entry, e.RunChecked)]), Settings())


PLANTED: Mapping[str, Fault] = {
    "a loop": Fault("no-tool-loops", _loop),
    "an orphaned call": Fault("no-orphaned-tools", _orphan),
    "a state violation": Fault("no-state-violations", _state_violation),
    "a full window": Fault("context-window-headroom", _full_window),
    "a lost tool schema": Fault("context-window-headroom", _lost_schema),
    "an invented channel": Fault("no-invented-names", _invented_channel),
    "empty evidence": Fault("no-empty-evidence", _empty_evidence),
    "27 plan calls": Fault("plan-call-budget", _plan_calls),
    "15 model calls": Fault("llm-call-budget", _model_calls),
}
"""The planted faults by their names in the table."""
