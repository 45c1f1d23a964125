"""The health of a run as lines for a terminal, and as JSON: names and counts only, so that a ticket may quote it."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict

from gofer.journal.check_entries import Verdict
from gofer.projections.comparison.run_diff import Summary
from gofer.projections.examination.anomalies import LEAST_RUNS, SEARCHED, Anomalies, Anomaly, Traits
from gofer.projections.examination.health import Health, RunHealth
from gofer.projections.examination.waste import REASONS, Waste, Wasted
from gofer.projections.open_work import WORDS, State
from gofer.projections.requests.context import FULL, HIGH, Snapshot
from gofer.values.amounts import counted, money
from gofer.values.messages import Usage

MOST_REQUESTS = 40
"""The most requests in the table of the context; of more, the fullest are shown."""
MOST_VIOLATIONS = 10
MOST_SUBAGENTS = 20
NAMED = 3
"""The most names of one kind in a row of the table."""
_BAR = 20


def health_lines(found: Health) -> Iterator[str]:
    """Yield the health of a run as lines."""
    root = found.runs[0]
    yield _summary(found.summary)
    if root.damage:
        yield f"✗ {root.damage}"
    yield ""
    yield from _check_lines(root)
    yield ""
    yield from _state_lines(root)
    yield ""
    yield from _context_lines(root.context)
    yield f"Cache: {_cache(root.usage, root.misses)}"
    if len(found.of_workflow) > 1:
        runs = counted(len(found.of_workflow), "run")
        yield f"Cache of the last {runs} of {found.summary.workflow}: {_cache(*_sums(found.of_workflow))}"
    yield ""
    if len(found.runs) > 1:
        yield f"Subagent runs: {len(found.runs) - 1}"
        for below in _worst(found.runs[1:]):
            yield from _subagent_lines(below)
        yield ""
    yield from _waste_lines(found.waste)
    yield ""
    yield from _anomaly_lines(found.anomalies, found.summary.workflow)
    yield ""
    yield f"No contents are shown here. The words of the run: gofer trace {found.summary.run} --full"


def _summary(run: Summary) -> str:
    calls = f"{counted(run.llm_calls, 'model call')}, {counted(run.tool_calls, 'tool call')} toward the limit"
    counts = f"{calls}, {run.input_tokens + run.output_tokens:,} tokens, {money(run.cost_usd)}"
    return f"Run {run.run} of {run.workflow}: {run.status} after {_seconds(run.duration_ms)}, {counts}"


def _check_lines(run: RunHealth) -> Iterator[str]:
    failed = f"{counted(len(run.errors), 'error')} and {counted(len(run.warnings), 'warning')}"
    counts = f"{failed} of {counted(len(run.verdicts), 'check')}"
    yield f"Checks: {counts}, {run.made}"
    for verdict in (*run.errors, *run.warnings):
        yield f"  {_verdict(verdict)}"
    passed = [verdict.check for verdict in run.verdicts if verdict.passed]
    if passed:
        yield f"  ✓ {', '.join(passed)}"


def _verdict(verdict: Verdict) -> str:
    mark = "✗"
    if verdict.severity == "warning":
        mark = "!"
    implied = ""
    if verdict.implies:
        implied = f" Implies {verdict.implies.replace('_', ' ')}."
    entries = ""
    if verdict.entries:
        entries = f" Entries: {', '.join(verdict.entries)}."
    return f"{mark} {verdict.check}: {verdict.summary}{implied}{entries}"


def _state_lines(run: RunHealth) -> Iterator[str]:
    transitions = counted(sum(run.entered.values()), "transition")
    yield f"States: {transitions}, {counted(len(run.violations), 'violation')}"
    if run.durations:
        yield f"  {', '.join(_state(run, state) for state in run.durations)}"
    for violation in run.violations[:MOST_VIOLATIONS]:
        yield f"  ✗ {violation.address}: {violation.violation}"
    if len(run.violations) > MOST_VIOLATIONS:
        yield f"  … {counted(len(run.violations) - MOST_VIOLATIONS, 'more violation')}"


def _state(run: RunHealth, state: State) -> str:
    return f"{WORDS[state]} ×{run.entered.get(state, 0)} {_seconds(run.durations[state])}"


def _context_lines(context: Sequence[Snapshot]) -> Iterator[str]:
    if not context:
        yield "Context: no model was asked"
        return
    peak = max(context, key=lambda one: one.share)
    most = f"at most {peak.share:.0%} of {peak.window:,} tokens, in request {peak.number}"
    yield f"Context: {counted(len(context), 'request')}, {most}"
    for one in _fullest(context):
        yield f"  {_row(one)}".rstrip()
        if one.problem:
            yield f"       ✗ {one.problem}"
    if len(context) > MOST_REQUESTS:
        yield f"  … {counted(len(context) - MOST_REQUESTS, 'emptier request')}"


def _sums(runs: Sequence[Traits]) -> tuple[Usage, Mapping[str, int]]:
    """Return the tokens of runs, and their cache misses by reason."""
    usage = Usage()
    misses = Counter[str]()
    for run in runs:
        usage = usage.plus(run.usage)
        misses.update(run.misses)
    return usage, misses


def _cache(usage: Usage, misses: Mapping[str, int]) -> str:
    """Return what the providers' caches did, and the reasons that they gave for misses, the most frequent one first."""
    read = f"{usage.cached_tokens:,} of {usage.input_tokens:,} input tokens read, {usage.written_tokens:,} written"
    named = sorted(misses.items(), key=lambda item: (-item[1], item[0]))
    told = ", ".join(f"{reason} ×{times}" for reason, times in named)
    return f"{read}; misses: {told or 'none told'}"


def _fullest(context: Sequence[Snapshot]) -> Sequence[Snapshot]:
    """Return the fullest requests and those with a problem, in their order."""
    chosen = sorted(context, key=lambda one: (not one.problem, -one.share))[:MOST_REQUESTS]
    return sorted(chosen, key=lambda one: one.number)


def _row(one: Snapshot) -> str:
    mark = " "
    if one.share >= FULL:
        mark = "✗"
    elif one.share >= HIGH:
        mark = "!"
    filled = min(_BAR, round(one.share * _BAR))
    bar = "█" * filled + "░" * (_BAR - filled)
    changes = [*_signed("+", one.entered), *_signed("-", one.left)]
    return f"{one.number:>3} {mark} {bar} {one.share:>4.0%} {one.tokens:>9,}  {', '.join(changes)}"


def _signed(sign: str, names: Sequence[str]) -> Iterator[str]:
    for name in names[:NAMED]:
        yield f"{sign}{name}"
    if len(names) > NAMED:
        yield f"{sign}{len(names) - NAMED} more"


def _worst(runs: Sequence[RunHealth]) -> Sequence[RunHealth]:
    """Return at most MOST_SUBAGENTS runs, those with the most problems first."""

    def order(run: RunHealth) -> tuple[bool, int, int]:
        return not run.damage, -len(run.errors) - len(run.violations), -len(run.warnings)

    return sorted(runs, key=order)[:MOST_SUBAGENTS]


def _subagent_lines(run: RunHealth) -> Iterator[str]:
    peak = max((one.share for one in run.context), default=0.0)
    failed = f"{counted(len(run.errors), 'error')}, {counted(len(run.warnings), 'warning')}"
    requests = f"{counted(len(run.context), 'request')}, at most {peak:.0%} of the window"
    yield f"  {run.run}: {failed}, {counted(len(run.violations), 'violation')}; {requests}"
    if run.damage:
        yield f"    ✗ {run.damage}"
    for verdict in (*run.errors, *run.warnings):
        yield f"    {_verdict(verdict)}"
    for violation in run.violations[:MOST_VIOLATIONS]:
        yield f"    ✗ {violation.address}: {violation.violation}"
    for one in run.context:
        if one.problem:
            yield f"    ✗ request {one.number}: {one.problem}"


def _waste_lines(found: Waste) -> Iterator[str]:
    cost = ""
    wasted = [part.usd for part in found.parts if part.usd is not None]
    if found.run_usd is not None:
        cost = f", {sum(wasted):.4f} of {found.run_usd:.4f} USD"
    yield f"Waste: {found.tokens:,} of {found.run_tokens:,} tokens ({found.share:.1%}){cost}"
    for part in found.parts:
        yield f"  {_wasted(part)}"
    if found.model_attempts:
        yield f"  {counted(found.model_attempts, 'request')} to a model without an answer, which cost time only"
    if found.tool_attempts:
        yield f"  {counted(found.tool_attempts, 'attempt')} of a tool made again later, which cost time only"


def _wasted(part: Wasted) -> str:
    tools = ", ".join(f"{tool} ×{count}" for tool, count in sorted(part.tools.items()))
    kinds = f"{part.input_tokens:,} in, {part.cached_tokens:,} cached, {part.output_tokens:,} out"
    return f"{part.reason}, {REASONS[part.reason]}: {tools}; {part.tokens:,} tokens ({kinds}), {money(part.usd)}"


def _anomaly_lines(found: Anomalies, workflow: str) -> Iterator[str]:
    if not found.has_baseline:
        others = f"{counted(found.runs, 'other ended run')} among the newest {SEARCHED[-1]:,} runs"
        yield f"Unusual: no baseline yet; {workflow} has {others}, and {LEAST_RUNS} are needed"
        return
    rate = _rate(found.flagged_runs, found.runs)
    unusual = counted(len(found.found), "trait")
    yield f"Unusual against {counted(found.runs, 'other run')} of {workflow}: {unusual}. This is advice, no error"
    for one in found.found:
        yield f"  {one.rule}: {one.finding}. This rule flags {_rate(one.false_alarms, found.runs)}"
    yield f"  All rules together flag {rate}"


def _rate(flagged: int, runs: int) -> str:
    return f"{flagged} of {counted(runs, 'other run')}, {flagged / runs:.1%}"


def _seconds(milliseconds: int) -> str:
    if milliseconds < 1_000:
        return f"{milliseconds} ms"
    return f"{milliseconds / 1000:,.1f} s"


def health_json(found: Health) -> dict[str, object]:
    """Return the health of a run as JSON."""
    return {
        "healthy": found.is_healthy,
        "run": asdict(found.summary),
        "runs": [_run_json(one) for one in found.runs],
        "workflow": {"runs": len(found.of_workflow), "cache": _cache_json(*_sums(found.of_workflow))},
        "waste": _waste_json(found.waste),
        "anomalies": _anomalies_json(found.anomalies),
    }


def _run_json(run: RunHealth) -> dict[str, object]:
    return {
        "run": run.run,
        "damage": run.damage,
        "verdicts_made": run.made,
        "verdicts": [_verdict_json(verdict) for verdict in run.verdicts],
        "states": {"entered": dict(run.entered), "duration_ms": dict(run.durations)},
        "violations": [{"address": one.address, "violation": one.violation} for one in run.violations],
        "cache": _cache_json(run.usage, run.misses),
        "context": [_snapshot_json(one) for one in run.context],
    }


def _cache_json(usage: Usage, misses: Mapping[str, int]) -> dict[str, object]:
    return {"read_tokens": usage.cached_tokens, "written_tokens": usage.written_tokens, "misses": dict(misses)}


def _verdict_json(verdict: Verdict) -> dict[str, object]:
    """Return a verdict without its detail, which may quote the run."""
    return {name: value for name, value in asdict(verdict).items() if name != "detail"}


def _snapshot_json(one: Snapshot) -> dict[str, object]:
    return {**asdict(one), "tokens": one.tokens, "share": round(one.share, 4)}


def _waste_json(found: Waste) -> dict[str, object]:
    parts = [{**asdict(part), "tokens": part.tokens} for part in found.parts]
    return {**asdict(found), "parts": parts, "tokens": found.tokens, "share": round(found.share, 4)}


def _anomalies_json(found: Anomalies) -> dict[str, object]:
    return {
        "baseline": found.has_baseline,
        **asdict(found),
        "found": [_anomaly_json(one, found) for one in found.found],
    }


def _anomaly_json(one: Anomaly, found: Anomalies) -> dict[str, object]:
    return {**asdict(one), "false_alarm_rate": round(one.false_alarms / found.runs, 4)}
