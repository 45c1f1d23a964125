"""Reports of runs that ended: messages, counts, a log line, and spans for a collector.

The messages are for the people who look after runs: a summary in the channel for logs, or, in the channel of the
workflow's owner, a failure that no other person was told of. Of a private run neither is posted. Both are steps of the
run like its answer, and its last ones: the run ends as its answer did, with or without them. Counts, line and spans are
made by the worker, after the end is durable.
"""

import contextlib
import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from gofer.engine.own_step import OwnStep, PurposeCall
from gofer.engine.permitted_call import OUTAGE
from gofer.journal.coordination import HOUR_MS, Head, HeadStatus
from gofer.journal.entries import RunFinished, ToolResult
from gofer.journal.purposes import OWNER_NOTICE, SUMMARY
from gofer.journal.store import Store
from gofer.journal.unlisted_ends import Ends, Stage, count
from gofer.projections.progress import Progress
from gofer.runtime.telemetry.exporter import Exporter
from gofer.runtime.telemetry.spans import trace_id
from gofer.sources.part_values import OwnCall
from gofer.sources.registry import WORKPLACE, source_of
from gofer.stores.one_place import Stores
from gofer.tools.definition import Provenance
from gofer.values.canonical_json import as_object, as_text
from gofer.values.errors import Cause, ToolError
from gofer.values.outside import Clock
from gofer.workflows.load import Loaded
from gofer.workflows.schema import Defaults

_FAILURES = frozenset({"failed", "limited", "needs_attention"})
_QUOTED = 300
"""Characters of a reason that are quoted."""
Trouble = Literal["", "poison", "corrupt"]
"""That a run's owners crashed again and again, or that its journal or a body is not what was written."""

_log = logging.getLogger(__name__)


async def summarise(
    step: OwnStep, finished: RunFinished, defaults: Defaults, loaded: Loaded | None, provenance: Provenance
) -> None:
    """Posts the summary, where a channel is set up. Raises what a step raises when its worker has to stop."""
    # Unknown counts as private, and what was not begun is nothing to tell of.
    if not defaults.ai_logs or step.progress.private or finished.status == "ignored":
        return
    text = summary(step.progress, finished, loaded, step.now_ms(), _logs(defaults, step.run))
    # The run waits for no system over its summary.
    posted = WORKPLACE.channels.post(defaults.ai_logs, text)
    await _post(step, SUMMARY, posted, provenance, longest=0.0)


async def notify_owner(
    step: OwnStep, finished: RunFinished, defaults: Defaults, loaded: Loaded | None, provenance: Provenance
) -> None:
    """Post a failure that was told nowhere to the channel of the workflow's owner, once an hour for each reason.

    The channel for logs, where there is one, has it already. Raises what a step raises when its worker has to stop.
    """
    channel = WORKPLACE.channels.of(loaded.workflow.owner) if loaded else ""
    if defaults.ai_logs or step.progress.private or not channel or finished.status not in _FAILURES:
        return
    if step.progress.event is not None and source_of(step.progress.event).returns_to_caller:
        return
    if OWNER_NOTICE not in step.progress.in_doubt and not await _first_of_the_hour(step, finished):
        return
    said = f"{_quoted(step.progress.workflow)}: {finished.status.replace('_', ' ')}: {_quoted(finished.reason)}"
    await _post(step, OWNER_NOTICE, WORKPLACE.channels.post(channel, said), provenance, longest=OUTAGE)


async def _post(step: OwnStep, call: str, asked: OwnCall, provenance: Provenance, *, longest: float) -> None:
    """Post a message once; one in doubt stays what it was, because the clock and the channel may have changed."""
    if (standing := step.progress.in_doubt.get(call)) and standing.arguments:
        asked = OwnCall(asked.tool, standing.arguments)
    # Another version of the tool may have recorded arguments that this one does not take.
    with contextlib.suppress(ToolError):
        await step.call(PurposeCall(call, asked, longest_wait=longest), provenance)


async def _first_of_the_hour(step: OwnStep, finished: RunFinished) -> bool:
    """Return whether this run is the first of its workflow in this hour to end for this reason."""
    token = step.services.tokens.failure(step.progress.workflow, finished.status, finished.reason)
    key = f"failure:{step.now_ms() // HOUR_MS}:{token}"
    return await step.services.store.exchange_memo(key, None, step.run, step.now_ms()) == step.run


def summary(progress: Progress, finished: RunFinished, loaded: Loaded | None, now_ms: int, logs: str) -> str:
    """The message, in Markdown: names and numbers, and the reason where there is one. `logs` is a URL or empty."""
    lines = [
        f"{_quoted(progress.workflow)}: {finished.status.replace('_', ' ')} after {_spent(progress, now_ms)}",
        f"Configuration: {', '.join(_configuration(progress, loaded))}",
        f"Tools: {', '.join(f'{_quoted(name)} ×{count}' for name, count in sorted(progress.called.items())) or 'none'}",
        *([f"Reason: {_quoted(finished.reason)}"] if finished.reason else []),
        *([f"[Logs]({logs})"] if logs else []),
    ]
    # Two spaces break a line within a paragraph.
    return "  \n".join(lines)


def _spent(progress: Progress, now_ms: int) -> str:
    seconds = max(0, now_ms - progress.accepted_at) / 1000
    usage = progress.usage
    cost = progress.cost_usd
    tokens = f"{usage.input_tokens:,} tokens in and {usage.output_tokens:,} out"
    return f"{seconds:,.1f} s, {tokens}, {'cost unknown' if cost is None else f'{cost:.4f} USD'}"


def _configuration(progress: Progress, loaded: Loaded | None) -> Iterator[str]:
    models = progress.models or ([loaded.models[0].name] if loaded and loaded.workflow.coordinator == "llm" else [])
    yield f"model {' and '.join(map(_quoted, models)) or 'none'}"
    if loaded:
        yield f"coordinator {loaded.workflow.coordinator}"
    if progress.started:
        yield f"bundle {progress.started.bundle[:12]}"


def _logs(defaults: Defaults, run: str) -> str:
    return defaults.log_links.replace("{run}", run).replace("{trace}", trace_id(run).hex())


def _quoted(text: str) -> str:
    """Return one line that is read as it is written, also where a vendor put markup into it."""
    line = " ".join(text.replace("`", "'").split())
    return f"`{line if len(line) <= _QUOTED else line[:_QUOTED] + '…'}`"


@dataclass(frozen=True, slots=True)
class Ended:
    """A run that just ended, or that cannot go on by itself, in numbers and without a name."""

    status: HeadStatus
    seconds: float
    """Since it was accepted."""
    progress: Progress | None = None
    """None when its journal was not read to the end."""
    trouble: Trouble = ""
    unlisted: Ends | None = None
    """The count of its hour, for one that ended without an answer and that no list shows."""
    windows: Mapping[str, int] = field(default_factory=dict[str, int])
    """Tokens that models take at most, by name, where that is known."""


def ignore_end(ended: Ended) -> None:
    """Do nothing: the end of a run is not measured in this process."""


@dataclass(frozen=True, slots=True)
class Observers:
    """The observers of runs that ended."""

    notify: Callable[[Ended], None] = ignore_end
    """Notified of each end, that of private runs too."""
    exporter: Exporter | None = None
    """Sends the spans of runs that are not private; None where no collector is set up."""

    async def export(self, run: str, progress: Progress, stores: Stores, patience: float) -> None:
        """Send the spans of a run that ended, within so many seconds. Raises nothing."""
        if self.exporter is None or progress.finished is None or progress.private:
            return
        # A run that did not match has nothing that an operator looks for.
        if progress.finished.status != "ignored":
            await self.exporter.at_the_end(run, stores, patience)


async def count_private_end(finished: RunFinished, progress: Progress, store: Store, clock: Clock) -> Ends | None:
    """Count a private run that ended without an answer: no list shows it. Raises TemporaryError."""
    if not progress.private or not finished.cause:
        return None
    stage: Stage = "begin"
    if progress.started:
        stage = "answer"
    return await count_end(stage, finished.cause, store, clock, system=finished.system, code=_failed_code(progress))


async def count_end(
    stage: Stage, cause: Cause, store: Store, clock: Clock, *, system: str = "", code: str = ""
) -> Ends:
    """Count an end that no list shows. Raises TemporaryError; the end is then met again."""
    ends = await count(store, stage, cause, system, int(clock.now() * 1000))
    _log.warning("%s", ends.sentence(), extra={"fields": {"cause": cause, "system": system, "code": code}})
    return ends


def log_end(head: Head, finished: RunFinished, seconds: float) -> None:
    """Write the log line of a run that ended and is not private."""
    level = logging.INFO
    if finished.status in ("failed", "limited", "needs_attention"):
        level = logging.WARNING
    fields: dict[str, object] = {
        "run": head.run,
        "status": finished.status,
        "seconds": seconds,
        "workflow": head.workflow,
    }
    if finished.cause:
        fields["cause"] = finished.cause
    if finished.system:
        fields["system"] = finished.system
    _log.log(level, "a run ended", extra={"fields": fields})


def _failed_code(progress: Progress) -> str:
    """Return the vendor's code of the first call that failed; empty where there is none."""
    for outcome in progress.outcomes.values():
        if isinstance(outcome, ToolResult) and outcome.status == "error":
            return as_text(as_object(outcome.details).get("code"))[:64]
    return ""
