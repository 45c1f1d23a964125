"""Messages about runs that ended, for the people who look after them: one in the channel for logs, or a failure that
nobody else was told of in the channel of the workflow's owner. Of a private run neither is posted.

They are steps of the run like its answer, and its last ones: the run ends as its answer did, with or without them.
"""

from collections.abc import Iterator

from gofer.engine.own_calls import permitted
from gofer.engine.permitted_call import OUTAGE
from gofer.engine.step import Step
from gofer.journal.coordination import HOUR_MS
from gofer.journal.entries import RunFinished
from gofer.journal.purposes import OWNER_NOTICE, SUMMARY
from gofer.projections.progress import Progress
from gofer.runtime.telemetry.trace_ids import trace_id
from gofer.sources.part_values import OwnCall
from gofer.sources.registry import WORKPLACE, source_of
from gofer.tools.definition import Provenance
from gofer.values.errors import ToolError
from gofer.workflows.load import Loaded
from gofer.workflows.schema import Defaults

_FAILURES = frozenset({"failed", "limited", "needs_attention"})
_QUOTED = 300
"""Characters of a reason that are quoted."""


async def summarise(
    step: Step, finished: RunFinished, defaults: Defaults, loaded: Loaded | None, provenance: Provenance
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
    step: Step, finished: RunFinished, defaults: Defaults, loaded: Loaded | None, provenance: Provenance
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


async def _post(step: Step, call: str, asked: OwnCall, provenance: Provenance, *, longest: float) -> None:
    """Post a message once; one in doubt stays what it was, because the clock and the channel may have changed."""
    if (standing := step.progress.in_doubt.get(call)) and standing.arguments:
        asked = OwnCall(asked.tool, standing.arguments)
    try:
        item = permitted(step, call, asked, longest=longest)
    except ToolError:
        # Recorded by another version of the tool.
        return
    await step.call(item, provenance)


async def _first_of_the_hour(step: Step, finished: RunFinished) -> bool:
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
    usage, cost = progress.usage, progress.cost_usd
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
    """One line that is read as it is written, whatever a vendor put into it."""
    line = " ".join(text.replace("`", "'").split())
    return f"`{line if len(line) <= _QUOTED else line[:_QUOTED] + '…'}`"
