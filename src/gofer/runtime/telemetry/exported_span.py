"""A span in the form of OpenTelemetry, and what is left of it at the level `minimal`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

Value = str | bool | int | float | Sequence[str]

_NAMES = frozenset(
    {
        *("gen_ai.agent.name", "gen_ai.tool.name", "gen_ai.workflow.name", "gofer.approval.tool", "gofer.event.kind"),
        *("gofer.file.type", "gofer.eval.case", "gofer.wait.reason"),
    }
)
"""The attributes that name workflows, tools, kinds of events and files, and cases of evals."""


@dataclass(frozen=True, slots=True)
class ExportedEvent:
    """One event on a span in the form of OpenTelemetry. `at` is in unix milliseconds."""

    name: str
    at: int
    attributes: Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Exported:
    """One span in the form of OpenTelemetry. Times are unix milliseconds."""

    trace: bytes
    id: bytes
    parent: bytes
    """Empty for the root."""
    name: str
    start: int
    end: int
    client: bool
    """Whether the span is a request to an outside system: kind CLIENT, else INTERNAL."""
    attributes: Mapping[str, Value]
    error: str = ""
    """The type or text of the error; empty if the span succeeded."""
    linked: Sequence[tuple[bytes, bytes]] = field(default_factory=tuple[tuple[bytes, bytes], ...])
    """The trace and span ids of the run that this run continues, and of the caller of its webhook."""
    events: Sequence[ExportedEvent] = ()


def without_names(span: Exported) -> Exported:
    """Return a span with ids, status, times and counts only, for `AGENT_LOG_LEVEL=minimal`; models keep their names."""
    kept = {name: value for name, value in span.attributes.items() if name not in _NAMES}
    return replace(span, name=span.name.partition(" ")[0], attributes=kept)
