"""The text of a report for the owner of some workflows, in Markdown."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from gofer.runtime.statistics import Tally, percentile
from gofer.runtime.weekly.figures import UNUSED_DAYS, Figures
from gofer.runtime.weekly.unused import Unused
from gofer.values.amounts import counted

MOST_ROWS = 20
"""The most workflows that one report describes, those with the most runs first."""
MOST_NAMES = 10
"""The most skills or tools of one workflow that a report names as unused."""
_MS = 1_000


def report(figures: Mapping[str, Figures], unused: Sequence[Unused], days: int, *, reviews_count: bool) -> str:
    """Return the report about some workflows, by name. Without `reviews_count`, no verdict of a review is in it."""
    ranked = sorted(figures, key=lambda name: (-figures[name].now.runs, name))
    parts = [
        _title(figures.values(), days),
        _block("", _workflow_rows(ranked, figures, reviews_count=reviews_count)),
        _block("**Failures**", _failure_rows(ranked, figures)),
        _waiting(ranked, figures),
        _block(f"**Not used for {UNUSED_DAYS} days**", _unused_rows(unused)),
        _proposals(ranked, figures, reviews_count=reviews_count),
    ]
    return "\n\n".join(filter(None, parts))


def _title(figures: Iterable[Figures], days: int) -> str:
    tallies = [(one.now, one.before) for one in figures]
    now = _sum(tally for tally, _ in tallies)
    before = _sum(tally for _, tally in tallies)
    return f"**Gofer, the last {counted(days, 'day')}:** {now}. The {counted(days, 'day')} before: {before}."


def _sum(tallies: Iterable[Tally]) -> str:
    found = list(tallies)
    runs = sum(tally.runs for tally in found)
    usd = sum(tally.usd for tally in found)
    failed = sum(tally.failed for tally in found)
    return f"{counted(runs, 'run')}, {usd:.2f} USD, {failed} without their work done"


def _workflow_rows(names: Sequence[str], figures: Mapping[str, Figures], *, reviews_count: bool) -> Iterator[str]:
    active = [name for name in names if figures[name].now.runs]
    for name in active[:MOST_ROWS]:
        yield f"`{name}`: {', '.join(_facts(figures[name], reviews_count=reviews_count))}"
    if len(active) > MOST_ROWS:
        yield f"and {len(active) - MOST_ROWS} more: `gofer stats --by workflow`"


def _facts(figures: Figures, *, reviews_count: bool) -> Iterator[str]:
    now = figures.now
    yield f"{counted(now.runs, 'run')} ({now.runs - figures.before.runs:+d})"
    yield f"{now.usd:.2f} USD ({now.usd - figures.before.usd:+.2f})"
    if now.unpriced:
        yield f"{counted(now.unpriced, 'run')} of unknown cost"
    half = percentile(now.answer_ms, 0.5)
    most = percentile(now.answer_ms, 0.95)
    if half is not None and most is not None:
        yield f"half of the answers within {_seconds(half)}, 95 % within {_seconds(most)}"
    if now.good or now.bad:
        yield f"feedback {now.good} good and {now.bad} bad"
    if reviews_count and now.reviewed:
        yield f"{now.effective} of {now.reviewed} reviewed runs effective"


def _failure_rows(names: Sequence[str], figures: Mapping[str, Figures]) -> Iterator[str]:
    for name in [name for name in names if figures[name].now.causes][:MOST_ROWS]:
        causes = figures[name].now.causes.most_common(MOST_NAMES)
        told = [f"{runs} × {cause.replace('_', ' ')}{_of(system)}" for (cause, system), runs in causes]
        yield f"`{name}`: {', '.join(told)}"


def _of(system: str) -> str:
    if system:
        return f" ({system})"
    return ""


def _waiting(names: Sequence[str], figures: Mapping[str, Figures]) -> str:
    waiting = [f"{figures[name].unseen} of `{name}`" for name in names if figures[name].unseen]
    if not waiting:
        return ""
    more = waiting[MOST_ROWS:] and [f"and {len(waiting) - MOST_ROWS} more workflows"]
    told = ", ".join([*waiting[:MOST_ROWS], *more])
    return f"**Runs with bad feedback that wait for you:** {told}. `gofer feedback` lists them."


def _unused_rows(unused: Sequence[Unused]) -> Iterator[str]:
    if idle := [one.workflow for one in unused if one.is_idle]:
        yield f"no run, except in private places: {_names(idle, MOST_ROWS)}"
    for one in [one for one in unused if not one.is_idle][:MOST_ROWS]:
        kinds = [("skills", one.skills), ("tools", one.tools)]
        told = [f"the {kind} {_names(names, MOST_NAMES)}" for kind, names in kinds if names]
        yield f"`{one.workflow}`: {' and '.join(told)}"


def _names(names: Sequence[str], most: int) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:most])
    if len(names) > most:
        return f"{shown} and {len(names) - most} more"
    return shown


def _proposals(names: Sequence[str], figures: Mapping[str, Figures], *, reviews_count: bool) -> str:
    worth = [name for name in names if _is_worth_an_edit(figures[name].now, reviews_count=reviews_count)]
    if not worth:
        return ""
    commands = ", ".join(f"`gofer suggest {name}`" for name in worth[:MOST_ROWS])
    return f"Look for an edit: {commands}."


def _is_worth_an_edit(tally: Tally, *, reviews_count: bool) -> bool:
    return bool(tally.bad) or (reviews_count and tally.effective < tally.reviewed)


def _block(title: str, rows: Iterable[str]) -> str:
    listed = "\n".join(f"- {row}" for row in rows)
    if not listed:
        return ""
    return f"{title}\n\n{listed}".strip()


def _seconds(milliseconds: int) -> str:
    return f"{milliseconds / _MS:.0f} s"
