"""The likely cost of a recording, for the person who starts it, before a model is asked.

A play of a case is taken to cost as much as its earlier live runs, with their judges, or else as its recorded answers.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean

from gofer.app.evals.player import Player
from gofer.evals.history import read
from gofer.evals.plan import PlannedCase
from gofer.evals.results import SuiteResult
from gofer.models.served_model import Price
from gofer.values.amounts import counted, money

_MOST_NAMES = 5
"""The most cases without a known cost that are named."""
_NEWEST = 20
"""The newest live runs of a case that count."""


def likely_cost(planned: Sequence[PlannedCase], player: Player, state: Path, baseline: SuiteResult | None) -> str:
    """Return what the plays are likely to cost, in a few sentences; `state` is the folder of the state of evals.

    Raises OSError and ConfigError.
    """
    costs = {case.name: _of_one_play(case, player, state, baseline) for case in planned}
    unknown = [name for name, cost in costs.items() if not cost]
    total = sum((costs[case.name] or 0.0) * case.planned for case in planned)
    plays = counted(sum(case.planned for case in planned), "play")
    sentences = [f"Recording asks models in {plays} of {counted(len(planned), 'case')}."]
    if len(unknown) == len(planned):
        sentences.append("The cost is unknown, because no earlier answer of these cases has a price.")
    else:
        sentences.append(f"That is likely to cost {money(total)}{_without(unknown)}.")
    return " ".join([*sentences, *_budgets(planned)])


def _without(unknown: Sequence[str]) -> str:
    if not unknown:
        return ""
    names = ", ".join(unknown[:_MOST_NAMES])
    if len(unknown) > _MOST_NAMES:
        names = f"{names} and {len(unknown) - _MOST_NAMES} more"
    return f", and what is unknown for {counted(len(unknown), 'case')} ({names})"


def _budgets(planned: Sequence[PlannedCase]) -> Iterator[str]:
    """Yield a sentence about each limit, and one about files without a limit."""
    budgets = {case.path: case.eval.budget_usd for case in planned}
    for path, budget in budgets.items():
        if budget is not None:
            yield f"The `budget_usd` of {path.name} ends its plays at {money(budget)}."
    if None in budgets.values():
        yield "Files without `budget_usd` have no limit."


def _of_one_play(case: PlannedCase, player: Player, state: Path, baseline: SuiteResult | None) -> float | None:
    """Return the likely US dollars of one play; None if nothing is known."""
    past = [run.cost_usd for run in read(state, case.name) if run.evidence == "live"]
    if baseline is not None and not past:
        past = [
            run.cost_usd
            for one in baseline.cases
            for run in one.runs
            if one.case == case.name and run.evidence == "live"
        ]
    known = [cost for cost in past[-_NEWEST:] if cost is not None]
    if known:
        return fmean(known)
    return _of_recorded_answers(case, player)


def _of_recorded_answers(case: PlannedCase, player: Player) -> float | None:
    """Return the mean cost of the recorded plays of a case by today's prices; None without one or the other."""
    loaded = player.catalog.workflows.get(case.eval.workflow)
    plays = player.book.plays(case.loaded.name, case.case.name)
    if loaded is None or not plays:
        return None
    prices = {model.name: model.price for model in loaded.models if model.price is not None}
    if not prices:
        return None
    # A provider may answer under a longer name, so that another model's answer counts as one of the first.
    first: Price = next(iter(prices.values()))
    costs = [prices.get(answer.source.model, first).cost(answer.usage) for play in plays for answer in play]
    return sum(costs) / len(plays)
