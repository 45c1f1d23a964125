"""Statistics of runs as lines for a terminal and as JSON."""

from collections.abc import Mapping, Sequence

from gofer.journal.head_facts import NO_TOOL, ToolCount
from gofer.projections.tracing.trace import timestamp
from gofer.runtime.cost_forecast import FEWEST_DAYS, Forecast, Range, forecast, seen_days
from gofer.runtime.reviews.agreement import agreement_of, not_counting
from gofer.runtime.run_origins import Origin
from gofer.runtime.statistics import Measure, Statistics, Tally, percentile
from gofer.values.amounts import counted
from gofer.values.rater_agreement import RaterAgreement

_CALLS = "  Calls by tool, with refused ones and those about the plan, without those of subagent runs"
_MEASURED = "  What one run needed, by the check that limits it; measured_p95 in a workflow file is the p95"
MOST_ROWS = 50
"""The most rows of a table at a terminal. JSON has all of them."""
_NO_TOOL = "(no such tool)"
_DAY = len("2026-11-23")
CHECKS: Mapping[Measure, str] = {
    "llm_calls": "llm-call-budget",
    "owned_ms": "execution-time",
    "plan_calls": "plan-call-budget",
    "equal_calls": "no-tool-loops",
}
"""The check that limits each measured fact, in its unit."""


def to_json(found: Statistics, skipped: int, people: Mapping[str, Origin]) -> dict[str, object]:
    """Return the statistics as one JSON object. Times are milliseconds, money is US dollars."""
    groups = [{**_group_json(found, group, people), **_tally_json(tally)} for group, tally in _ranked(found)]
    return {
        "since": timestamp(found.since),
        "until": timestamp(found.until),
        "total": _tally_json(found.total),
        "by": found.by,
        "groups": groups,
        "reviews_stopped": list(found.reviews_stopped),
        "not_read": skipped,
        "forecast": _forecast_json(forecast(found)),
        "days_seen": len(seen_days(found)),
    }


def lines(found: Statistics, skipped: int, people: Mapping[str, Origin]) -> Sequence[str]:
    """Return the statistics as lines."""
    total = found.total
    if not total.statuses:
        return [f"There are no runs since {timestamp(found.since)} that may be counted."]
    return [
        f"Runs accepted from {timestamp(found.since)} to {timestamp(found.until)}",
        *_total_lines(total, skipped),
        *_stopped_lines(found),
        *_group_lines(found, people),
        *_measured_lines(found),
        *_tool_lines(total),
        *_counter_lines("skill", total.skills),
        *_cause_lines(total),
        *_counter_lines("failed check", total.checks),
        "",
        _forecast_line(found),
    ]


def _tally_json(tally: Tally) -> dict[str, object]:
    return {
        "runs": tally.runs,
        "errors": tally.failed,
        "statuses": dict(tally.statuses.most_common()),
        "causes": [{"cause": cause, "system": system, "runs": n} for (cause, system), n in tally.causes.most_common()],
        "failed_checks": dict(tally.checks.most_common()),
        "tools": {_tool_name(name): {"calls": one.calls, "errors": one.errors} for name, one in _ranked_tools(tally)},
        "skills": dict(tally.skills.most_common()),
        "subagents": tally.subagents,
        "llm_calls": tally.llm_calls,
        "tool_calls": tally.tool_calls,
        "tokens": {
            "input": tally.input_tokens,
            "cached": tally.cached_tokens,
            "written": tally.written_tokens,
            "output": tally.output_tokens,
        },
        "cost_usd": round(tally.usd, 6),
        "runs_of_unknown_cost": tally.unpriced,
        "runs_without_facts": tally.unmeasured,
        "feedback": {"good": tally.good, "bad": tally.bad},
        "reviews": {
            "runs": tally.reviewed,
            "effective": tally.effective,
            "share": _share(tally),
            "cost_usd": round(tally.review_usd, 6),
            "agreement": _agreement_json(agreement_of(tally.pairs)),
        },
        "owned_seconds": round(tally.owned_ms / 1000, 3),
        "per_run": {CHECKS[name]: _measured_json(name, values) for name, values in tally.measured.items()},
        "sign_ms": _times_json(tally.sign_ms),
        "answer_ms": _times_json(tally.answer_ms),
    }


def _share(tally: Tally) -> float | None:
    """Return the share of effective runs among the reviewed ones; None without reviews."""
    if not tally.reviewed:
        return None
    return round(tally.effective / tally.reviewed, 4)


def _agreement_json(agreement: RaterAgreement) -> dict[str, object]:
    reason = not_counting(agreement)
    kappa = agreement.kappa
    return {
        "runs": agreement.examples,
        "share": round(agreement.share, 4) if agreement.examples else None,
        "kappa": kappa if kappa is None else round(kappa, 4),
        "counts": not reason,
        "reason": reason,
    }


def _measured_json(name: Measure, values: Sequence[int]) -> dict[str, object]:
    return {"runs": len(values), "p50": _measured(name, values, 0.5), "p95": _measured(name, values, 0.95)}


def _measured(name: Measure, values: Sequence[int], share: float) -> float | None:
    """Return a percentile in the unit of its check."""
    found = percentile(values, share)
    if found is None or name != "owned_ms":
        return found
    return round(found / 1000, 3)


def _times_json(times: Sequence[int]) -> dict[str, object]:
    return {"runs": len(times), "p50": percentile(times, 0.5), "p95": percentile(times, 0.95)}


def _group_json(found: Statistics, group: str, people: Mapping[str, Origin]) -> dict[str, object]:
    if found.by == "prompt":
        first, last = _days(found, group)
        return {"prompt": group, "first_day": first, "last_day": last}
    if found.by != "person":
        return {found.by: _tool_name(group)}
    origin = people.get(group, Origin())
    return {"person": {"source": origin.source, "id": origin.person, "name": origin.name}}


def _forecast_json(expected: Forecast | None) -> dict[str, object] | None:
    if expected is None:
        return None
    return {"days": expected.days, "runs": _range_json(expected.runs), "cost_usd": _range_json(expected.usd)}


def _range_json(one: Range) -> dict[str, object]:
    return {"expected": round(one.expected, 2), "low": round(one.low, 2), "high": round(one.high, 2)}


def _total_lines(total: Tally, skipped: int) -> Sequence[str]:
    counts = ", ".join(f"{count:,} {status}" for status, count in total.statuses.most_common() if status != "ignored")
    cost = f"{_usd(total.usd)} USD"
    if total.unpriced:
        cost = f"{cost}, without the runs of unknown cost: {total.unpriced:,}"
    calls = f"{counted(total.llm_calls, 'model call')}, {counted(total.tool_calls, 'tool call')} toward the limits"
    cache = f"{total.cached_tokens:,} cached and {total.written_tokens:,} written to caches"
    found = [
        f"  runs {total.runs:,}: {counts or 'none'}",
        f"  cost {cost}",
        f"  {calls}, {counted(total.subagents, 'subagent')}; those of subagent runs are included",
        f"  tokens {total.input_tokens:,} in, of which {cache}, and {total.output_tokens:,} out",
        f"  first sign {_times(total.sign_ms)}; answer {_times(total.answer_ms)}",
    ]
    if total.good or total.bad:
        found.append(f"  feedback of persons: {total.good:,} good, {total.bad:,} bad")
    if total.reviewed or total.review_usd:
        reviews = f"{counted(total.reviewed, 'reviewed run')}, effective {_effective(total)}"
        found.append(f"  {reviews}; the reviews cost {_usd(total.review_usd)} USD, which is not in the cost above")
        found.append(f"  {_agreement_line(agreement_of(total.pairs))}")
    if ignored := total.statuses["ignored"]:
        found.append(f"  events that matched no workflow, which are no runs: {ignored:,}")
    if skipped or total.unmeasured:
        found.append(f"  runs that count by status only, because their facts are not known: {total.unmeasured:,}")
    return found


def _stopped_lines(found: Statistics) -> Sequence[str]:
    if not found.reviews_stopped:
        return []
    days = ", ".join(found.reviews_stopped)
    return [f"  reviews stopped at their limit (`review: {{usd_per_day}}` in agents/defaults.yaml) on {days}"]


def _agreement_line(agreement: RaterAgreement) -> str:
    """Return how far the reviews may be relied on."""
    if reason := not_counting(agreement):
        return f"the reviews are an opinion only. {reason}"
    shown = f"the reviewer agrees with people about {agreement.agreed:,} of {agreement.examples:,} runs"
    return f"{shown}, kappa {agreement.kappa:.2f}"


def _group_lines(found: Statistics, people: Mapping[str, Origin]) -> Sequence[str]:
    ranked = _ranked(found)
    if not ranked:
        return []
    header = [found.by, "runs", "errors", "answer p50", "p95", "tokens in", "USD", "good/bad", "effective"]
    rows = [[_group_name(found, group, people), *_cells(tally)] for group, tally in ranked[:MOST_ROWS]]
    if found.by == "prompt":
        header.append("days")
        rows = [
            [*row, " to ".join(dict.fromkeys(_days(found, group)))]
            for row, (group, _) in zip(rows, ranked[:MOST_ROWS], strict=True)
        ]
    left_out = len(ranked) - len(rows)
    if left_out:
        rows.append([f"and {left_out:,} more; --json has all", *[""] * (len(header) - 1)])
    return ["", *table([header, *rows])]


def _cells(tally: Tally) -> list[str]:
    usd = _usd(tally.usd)
    if tally.unpriced:
        usd = f"{usd} + ?"
    p50 = _seconds(percentile(tally.answer_ms, 0.5))
    p95 = _seconds(percentile(tally.answer_ms, 0.95))
    rated = f"{tally.good:,}/{tally.bad:,}"
    return [f"{tally.runs:,}", f"{tally.failed:,}", p50, p95, f"{tally.input_tokens:,}", usd, rated, _effective(tally)]


def _effective(tally: Tally) -> str:
    """Return the share of effective runs among the reviewed ones, with their number; `?` if reviews do not count."""
    share = _share(tally)
    if share is None:
        return "-"
    mark = " ?" if not_counting(agreement_of(tally.pairs)) else ""
    return f"{100 * share:.0f} % of {tally.reviewed:,}{mark}"


def _days(found: Statistics, group: str) -> tuple[str, str]:
    """Return the first and the last day in UTC on which a run of a group was accepted."""
    first = timestamp(found.oldest[group].accepted_at)
    last = timestamp(found.newest[group].accepted_at)
    return first[:_DAY], last[:_DAY]


def _group_name(found: Statistics, group: str, people: Mapping[str, Origin]) -> str:
    if found.by != "person":
        return _tool_name(group)
    if group in people:
        return people[group].person_shown
    # The token tells two people apart whose runs cannot be read any more.
    return f"unknown {group[:6]}"


def _tool_lines(total: Tally) -> Sequence[str]:
    rows = [[_tool_name(name), f"{one.calls:,}", f"{one.errors:,}"] for name, one in _ranked_tools(total)[:MOST_ROWS]]
    if not rows:
        return []
    return ["", _CALLS, *table([["tool", "calls", "errors"], *rows])]


def _measured_lines(found: Statistics) -> Sequence[str]:
    """Return what the runs of each workflow needed, in the units of the checks that limit it."""
    if found.by != "workflow":
        return []
    rows: list[list[str]] = []
    for group, tally in _ranked(found)[:MOST_ROWS]:
        cells = [
            _number(_measured(name, values, share)) for name, values in tally.measured.items() for share in (0.5, 0.95)
        ]
        if any(tally.measured.values()):
            rows.append([group, *cells])
    if not rows:
        return []
    header = [cell for name in CHECKS.values() for cell in (f"{name} p50", "p95")]
    return ["", _MEASURED, *table([["workflow", *header], *rows])]


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.1f}"


def _counter_lines(name: str, counted: Mapping[str, int]) -> Sequence[str]:
    ranked = sorted(counted.items(), key=lambda item: (-item[1], item[0]))[:MOST_ROWS]
    if not ranked:
        return []
    return ["", *table([[name, "runs"], *([one, f"{count:,}"] for one, count in ranked)])]


def _cause_lines(total: Tally) -> Sequence[str]:
    return _counter_lines("cause of an error", {f"{c} {system}".strip(): n for (c, system), n in total.causes.items()})


def _forecast_line(found: Statistics) -> str:
    expected = forecast(found)
    if expected is None:
        return f"No forecast of a month: it needs {FEWEST_DAYS} complete days, and there are {len(seen_days(found))}."
    usd = expected.usd
    known = f"Forecast of 30 days from {expected.days} complete days: {expected.runs.expected:,.0f} runs"
    return f"{known} and {_usd(usd.expected)} USD, with 95 % between {_usd(usd.low)} and {_usd(usd.high)} USD"


def table(rows: Sequence[Sequence[str]]) -> Sequence[str]:
    """Return rows as lines with aligned columns: the first to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    found: list[str] = []
    for first, *others in rows:
        cells = [f"{cell:>{width}}" for cell, width in zip(others, widths[1:], strict=True)]
        found.append(f"  {first:<{widths[0]}}  {'  '.join(cells)}".rstrip())
    return found


def _ranked(found: Statistics) -> Sequence[tuple[str, Tally]]:
    """Return the groups: weeks by time, all others by their number of runs."""
    if found.by == "week":
        return sorted(found.groups.items())
    return sorted(found.groups.items(), key=lambda item: (-item[1].runs, item[0]))


def _ranked_tools(tally: Tally) -> Sequence[tuple[str, ToolCount]]:
    return sorted(tally.tools.items(), key=lambda item: (-item[1].calls, item[0]))


def _tool_name(name: str) -> str:
    if name == NO_TOOL:
        return _NO_TOOL
    return name


def _times(times: Sequence[int]) -> str:
    if not times:
        return "not measured"
    return f"p50 {_seconds(percentile(times, 0.5))}, p95 {_seconds(percentile(times, 0.95))}"


def _seconds(ms: int | None) -> str:
    if ms is None:
        return "-"
    return f"{ms / 1000:,.1f} s"


def _usd(usd: float) -> str:
    if usd < 1:
        return f"{usd:.4f}"
    return f"{usd:,.2f}"
