"""Reports of ended runs: messages, counts, a log line, and spans for a collector.

The messages are for the people who look after runs: a summary in the channel for logs, or, in the channel of the
workflow's owner, a failure that no other person was notified of. Private runs post neither. Both messages are steps of
the run like its answer, and its last ones; the run ends as its answer did, with or without them. The worker makes the
counts, the log line and the spans after the end is durable.
"""

import contextlib
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from gofer.engine.checked_end import present_verdicts
from gofer.engine.own_step import OwnStep, PurposeCall
from gofer.engine.permitted_call import OUTAGE
from gofer.engine.services import ignore_text
from gofer.journal.check_entries import Verdict
from gofer.journal.coordination import DAY_MS, HOUR_MS, Head, HeadStatus
from gofer.journal.entries import RunFinished, Status, ToolResult
from gofer.journal.purposes import OWNER_NOTICE, SUMMARY
from gofer.journal.store import Store
from gofer.journal.unlisted_ends import Ends, Stage, count
from gofer.projections.checks.check_settings import Check
from gofer.projections.progress import Progress
from gofer.projections.requests.context import Utilisation
from gofer.projections.tracing.span_ids import trace_id
from gofer.runtime.telemetry.exporter import Exporter
from gofer.sources.part_values import OwnCall
from gofer.sources.registry import WORKPLACE, source_of
from gofer.stores.one_place import Stores
from gofer.tools.definition import Provenance
from gofer.values.amounts import counted, money
from gofer.values.canonical_json import as_object, as_text
from gofer.values.errors import Cause, ToolError
from gofer.values.outside import Clock
from gofer.workflows.load import Loaded
from gofer.workflows.schema import Defaults

_FAILURES = frozenset({"failed", "limited", "needs_attention"})
UNSUPPORTED: Check = "no-empty-evidence"
"""The warning that people read: nothing supports an answer that looks like any other."""
_QUOTED = 300
"""The most characters of a quoted reason."""
Trouble = Literal["", "poison", "corrupt"]
"""Why a run cannot be continued: its owners crashed again and again, or its journal or a body is damaged."""

_ONCE_A_DAY = (
    "Look at run `{run}`: `gofer trace {run}`. I say this once a day; "
    "`gofer runs --workflow {workflow} --status needs_attention` lists every such run."
)
FAILURE = "failure:"
"""The beginning of the memo about a failure that the owner of a workflow was notified of."""
_log = logging.getLogger(__name__)


async def summarise(
    step: OwnStep, finished: RunFinished, defaults: Defaults, loaded: Loaded | None, provenance: Provenance
) -> None:
    """Post the summary if a channel for logs is set up. Raises the errors of a step when the worker must stop."""
    # A run whose place is unknown counts as private. An ignored run did nothing that is worth a summary.
    if not defaults.ai_logs or step.is_private or finished.status == "ignored":
        return
    failed = failed_checks(await present_verdicts(step))
    text = summary(step.progress, finished, loaded, _logs(defaults, step.run), failed)
    # longest=0: the run does not wait for an outside system to post its summary.
    posted = WORKPLACE.channels.post(defaults.ai_logs, text)
    await _post(step, SUMMARY, posted, provenance, longest=0.0)


async def notify_owner(
    step: OwnStep, finished: RunFinished, defaults: Defaults, loaded: Loaded | None, provenance: Provenance
) -> None:
    """Post a failure that was not reported elsewhere to the channel of the owner, once an hour for each reason.

    An answer that rests on empty results only counts as one. A channel for logs already has it in the summary. A run
    without the effect that its workflow requires is posted in any case, once a day. The operator gets the notice if
    the owner has no channel. Raises the errors of a step when the worker must stop.
    """
    if loaded is None:
        return
    channel = WORKPLACE.channels.of(loaded.workflow.owner)
    if not channel and step.services.tell_operator is ignore_text:
        return
    is_unmet = finished.cause == "unmet"
    if step.is_private or (defaults.ai_logs and not is_unmet):
        return
    reason = finished.reason
    if finished.status == "done":
        reason = await _unsupported(step)
    if not reason and finished.status not in _FAILURES:
        return
    if step.progress.event is not None and source_of(step.progress.event).returns_to_caller:
        return
    period_ms = DAY_MS if is_unmet else HOUR_MS
    if OWNER_NOTICE not in step.progress.in_doubt and not await _first_within(period_ms, step, finished.status, reason):
        return
    text = f"{_quoted(step.progress.workflow)}: {finished.status.replace('_', ' ')}: {_quoted(reason)}"
    if is_unmet:
        text = f"{text}. {_ONCE_A_DAY.format(run=step.run[:8], workflow=step.progress.workflow)}"
    if channel:
        await _post(step, OWNER_NOTICE, WORKPLACE.channels.post(channel, text), provenance, longest=OUTAGE)
    else:
        # No words of the run, because a webhook may lead anywhere.
        ended = f"{step.progress.workflow}: {finished.status.replace('_', ' ')}. Look at it: gofer trace {step.run}"
        step.services.tell_operator(f"For {loaded.workflow.owner}: {ended}")


async def _post(step: OwnStep, call: str, tool_call: OwnCall, provenance: Provenance, *, longest: float) -> None:
    """Post a message once; a repeated call keeps its arguments, because the clock and the channel may have changed."""
    if (recorded := step.progress.in_doubt.get(call)) and recorded.arguments:
        tool_call = OwnCall(tool_call.tool, recorded.arguments)
    # Another version of the tool may have recorded arguments that this one does not take.
    with contextlib.suppress(ToolError):
        await step.call(PurposeCall(call, tool_call, longest_wait=longest), provenance)


async def _unsupported(step: OwnStep) -> str:
    """Return why nothing supports the answer of a run; empty if a result does, or if the run looked for none."""
    failed = failed_checks(await present_verdicts(step))
    return next((one.summary for one in failed if one.check == UNSUPPORTED), "")


async def _first_within(period_ms: int, step: OwnStep, status: Status, reason: str) -> bool:
    """Return whether this run is the first of its workflow in this hour or day to end for this reason."""
    token = step.services.tokens.failure(step.progress.workflow, status, reason)
    key = f"{FAILURE}{step.now_ms() // period_ms}:{token}"
    return await step.services.store.exchange_memo(key, None, step.run, step.now_ms()) == step.run


def failed_checks(verdicts: Iterable[Verdict]) -> tuple[Verdict, ...]:
    """Return the verdicts of checks that failed."""
    return tuple(verdict for verdict in verdicts if not verdict.passed)


def checks_to_report(progress: Progress) -> tuple[Verdict, ...]:
    """Return the failed checks of an ended run that is not private for logs and metrics; none of an ignored run."""
    checked = progress.checked
    if checked is None or (progress.finished and progress.finished.status == "ignored"):
        return ()
    return failed_checks(checked.verdicts)


def summary(
    progress: Progress,
    finished: RunFinished,
    loaded: Loaded | None,
    logs: str,
    failed: Sequence[Verdict] = (),
) -> str:
    """Return the summary in Markdown: names, numbers, the reason and failed checks. `logs` is a URL or empty.

    Its duration ends with the last entry. A clock would say something else when the run is replayed.
    """
    tools = ", ".join(f"{_quoted(name)} ×{count}" for name, count in sorted(progress.called.items()))
    lines = [
        f"{_quoted(progress.workflow)}: {finished.status.replace('_', ' ')} after {_spent(progress)}",
        f"Configuration: {', '.join(_configuration(progress, loaded))}",
        f"Tools: {tools or 'none'}",
    ]
    if finished.reason:
        lines.append(f"Reason: {_quoted(finished.reason)}")
    if failed:
        lines.append(f"Checks: {_told(failed)}")
    if logs:
        lines.append(f"[Logs]({logs})")
    # Two spaces break a line within a paragraph.
    return "  \n".join(lines)


def _told(failed: Sequence[Verdict]) -> str:
    """Return the failed checks in one line: errors and an answer without evidence with summaries, others as a count."""
    named = [one for one in failed if one.severity == "error" or one.check == UNSUPPORTED]
    errors = [f"{_quoted(one.check)} failed: {_quoted(one.summary)}" for one in named]
    warnings = len(failed) - len(errors)
    if warnings == 1:
        errors.append("1 warning")
    elif warnings:
        errors.append(counted(warnings, "warning"))
    return "; ".join(errors)


def _spent(progress: Progress) -> str:
    seconds = max(0, progress.last_at - progress.accepted_at) / 1000
    usage = progress.usage
    tokens = f"{usage.input_tokens:,} tokens in and {usage.output_tokens:,} out"
    return f"{seconds:,.1f} s, {tokens}, {money(progress.cost_usd)}"


def _configuration(progress: Progress, loaded: Loaded | None) -> Iterator[str]:
    models = progress.models
    if not models and loaded and loaded.workflow.coordinator == "llm":
        models = [loaded.models[0].name]
    yield f"model {' and '.join(map(_quoted, models)) or 'none'}"
    if loaded:
        yield f"coordinator {loaded.workflow.coordinator}"
    if progress.started:
        yield f"bundle {progress.started.bundle[:12]}"


def _logs(defaults: Defaults, run: str) -> str:
    return defaults.log_links.replace("{run}", run).replace("{trace}", trace_id(run).hex())


def _quoted(text: str) -> str:
    """Return one line that is shown literally, even if it contains markup."""
    line = " ".join(text.replace("`", "'").split())
    if len(line) > _QUOTED:
        line = f"{line[:_QUOTED]}…"
    return f"`{line}`"


@dataclass(frozen=True, slots=True)
class Ended:
    """A run that ended or cannot be continued, in numbers and without a name."""

    status: HeadStatus
    seconds: float
    """Seconds since it was accepted."""
    progress: Progress | None = None
    """None if its journal could not be read to the end."""
    trouble: Trouble = ""
    unlisted: Ends | None = None
    """The count of the hour for a run that ended without an answer and is not listed."""
    utilisation: Utilisation | None = None
    """How much of its context window the run filled; None if its journal could not be read to the end."""
    is_private: bool = True
    """Whether only some people can see the place of the run now; checks and contexts of such a run are not measured."""


def ignore_end(ended: Ended) -> None:
    """Do nothing: the end of a run is not measured in this process."""


def ignore_start(seconds: float) -> None:
    """Do nothing: the start of a run is not measured in this process."""


def ignore_outage() -> None:
    """Leave outages of stores unmeasured in this process."""


@dataclass(frozen=True, slots=True)
class Observers:
    """The observers of runs that begin and end."""

    notify: Callable[[Ended], None] = ignore_end
    """Called with each end, including private runs."""
    notify_start: Callable[[float], None] = ignore_start
    """Called when the first owner of a run begins, with the seconds since it was accepted; including private runs."""
    notify_outage: Callable[[], None] = ignore_outage
    """Called for each queue message that comes back because a store did not answer or refused the worker."""
    exporter: Exporter | None = None
    """Sends the spans of runs that are not private; None without a collector."""

    def note_owner(self, head: Head, *, frames: int, seconds: float) -> None:
        """Report the start of a run if its owner is the first: then its journal is frame 1, the claim."""
        if head.status == "queued" and frames == 1:
            self.notify_start(max(0.0, seconds))

    async def export(self, run: str, progress: Progress, stores: Stores, patience: float) -> None:
        """Send the spans of an ended run within `patience` seconds. Raises nothing."""
        if self.exporter is None or progress.finished is None or progress.private:
            return
        # Spans of a run that did not match are of no use to the operator.
        if progress.finished.status != "ignored":
            await self.exporter.export(run, stores, patience)


async def count_private_end(finished: RunFinished, step: OwnStep, clock: Clock) -> Ends | None:
    """Count a private run that ended without an answer, because no list shows it. Raises TemporaryError."""
    if not step.is_private or not finished.cause:
        return None
    stage: Stage = "begin"
    if step.progress.started:
        stage = "answer"
    code = _failed_code(step.progress)
    return await count_end(stage, finished.cause, step.services.store, clock, system=finished.system, code=code)


async def count_end(
    stage: Stage, cause: Cause, store: Store, clock: Clock, *, system: str = "", code: str = ""
) -> Ends:
    """Count an end that no list shows. After a TemporaryError the next owner counts it again."""
    ends = await count(store, stage, cause, system, int(clock.now() * 1000))
    _log.warning("%s", ends.sentence(), extra={"fields": {"cause": cause, "system": system, "code": code}})
    return ends


def log_end(head: Head, finished: RunFinished, seconds: float) -> None:
    """Log the end of a run that is not private."""
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


def log_failed_checks(head: Head, progress: Progress) -> None:
    """Log the failed checks of a run that is neither private nor ignored, if one of them is an error."""
    failed = checks_to_report(progress)
    errors = [one for one in failed if one.severity == "error"]
    if not errors:
        return
    fields: dict[str, object] = {
        "run": head.run,
        "workflow": head.workflow,
        "checks": [one.check for one in errors],
        "warnings": len(failed) - len(errors),
        "implies": sorted({one.implies for one in failed if one.implies}),
    }
    _log.error("a run failed its checks: %s", " ".join(one.summary for one in errors), extra={"fields": fields})


def _failed_code(progress: Progress) -> str:
    """Return the vendor's code of the first failed call, or an empty text."""
    for outcome in progress.outcomes.values():
        if isinstance(outcome, ToolResult) and outcome.status == "error":
            return as_text(as_object(outcome.details).get("code"))[:64]
    return ""
