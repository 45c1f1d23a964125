"""The statistics of the runs in a store, as `run_statistics` returns them. Only heads are read."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from typing_extensions import override

from gofer.journal.store import Store
from gofer.runtime.reviews.agreement import is_measured, not_counting
from gofer.runtime.statistics import percentile
from gofer.runtime.weekly.figures import Figures, Period, agreement, count_all
from gofer.runtime.weekly.report import report
from gofer.runtime.weekly.unused import unused
from gofer.sources.registry import WORKPLACE
from gofer.sources.runs.run_statistics import ReadStatistics, RunStatistics
from gofer.values.amounts import counted
from gofer.values.rater_agreement import RaterAgreement
from gofer.workflows.load import Catalog, Loaded


@dataclass(frozen=True, slots=True)
class StoredStatistics(RunStatistics):
    """The statistics of a store and of the current workflows."""

    store: Store
    holding: Callable[[str], Awaitable[Catalog]]
    """Returns the current workflows; see `worker.LiveCatalog`."""

    @override
    async def read(self, until: float, arguments: ReadStatistics) -> Mapping[str, object]:
        catalog = await self.holding(arguments.workflow)
        period = Period(int(until * 1000), arguments.days)
        figures = {name: Figures() for name in sorted(catalog.workflows)}
        async for page in self.store.listed(period.earliest):
            count_all(page, period, figures)
        agreed = agreement(figures.values())
        shown = [name for name in figures if arguments.workflow in ("", name)]
        return {
            "days": arguments.days,
            "reviewer": _reviewer(agreed),
            "workflows": [_row(catalog.workflows[name], figures[name]) for name in shown],
            "reports": _reports(catalog, figures, period, agreed) if arguments.reports else [],
        }


def _reviewer(agreed: RaterAgreement) -> Mapping[str, object]:
    """Return whether the verdicts of reviews count, and their agreement with people, in words."""
    if not is_measured(agreed):
        return {"counts": False, "agreement": "agreement with feedback not measured"}
    told = f"agreement with feedback {agreed.share:.2f} of {counted(agreed.examples, 'run')}"
    if not_counting(agreed):
        return {"counts": False, "agreement": f"{told}, too low to count"}
    return {"counts": True, "agreement": told}


def _row(loaded: Loaded, figures: Figures) -> Mapping[str, object]:
    now = figures.now
    return {
        "workflow": loaded.name,
        "owner": loaded.workflow.owner,
        "runs": now.runs,
        "runs_before": figures.before.runs,
        "without_their_work_done": now.failed,
        "cost_usd": round(now.usd, 6),
        "answer_ms_p50": percentile(now.answer_ms, 0.5),
        "answer_ms_p95": percentile(now.answer_ms, 0.95),
        "causes": [{"cause": cause, "system": system, "runs": n} for (cause, system), n in now.causes.most_common()],
        "good_feedback": now.good,
        "bad_feedback": now.bad,
        "reviewed": now.reviewed,
        "effective": now.effective,
        "waiting_for_the_owner": figures.unseen,
    }


def _reports(
    catalog: Catalog, figures: Mapping[str, Figures], period: Period, agreed: RaterAgreement
) -> list[Mapping[str, object]]:
    """Return a report for each channel of an owner, in the order of the channels."""
    by_channel: dict[str, dict[str, Figures]] = {}
    for name, each in figures.items():
        if channel := WORKPLACE.channels.of(catalog.workflows[name].workflow.owner):
            by_channel.setdefault(channel, {})[name] = each
    reviews_count = not not_counting(agreed)
    return [
        {
            "channel": channel,
            "text": report(own, unused(catalog.workflows, own), period.days, reviews_count=reviews_count),
        }
        for channel, own in sorted(by_channel.items())
    ]
