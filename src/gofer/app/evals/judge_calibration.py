"""The measurement of the judge on the labelled examples of the chosen criteria."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from gofer.app.catalog import checked_catalog, model_roles
from gofer.app.evals.suite_parts import judge_with
from gofer.app.evals.suite_session import Choices, select
from gofer.app.http import http_client
from gofer.app.model_endpoints import models_of
from gofer.app.settings import Settings
from gofer.evals.eval_file import Criterion
from gofer.evals.judging.agreement import Agreement
from gofer.evals.judging.calibration import calibrate
from gofer.evals.judging.judge_role import judge_of
from gofer.evals.judging.judged import NO_JUDGE
from gofer.evals.plan import PlannedCase
from gofer.values.errors import ConfigError
from gofer.values.outside import SystemClock


async def calibrated(settings: Settings, root: Path, choices: Choices) -> AsyncGenerator[tuple[Agreement, str]]:
    """Measure the judge on each criterion of the chosen cases that has labels; yield what `calibrate` returns.

    Raises ConfigError without a judge, without such a criterion and for wrong labels.
    """
    catalog = checked_catalog(root / "agents")
    criteria = _labelled(select(catalog, root, choices))
    if not criteria:
        raise ConfigError("No criterion of these cases has `labels`; docs/judge.md says how to label examples.")
    served = judge_of(model_roles(catalog))
    if served is None:
        raise ConfigError(NO_JUDGE)
    today = datetime.fromtimestamp(SystemClock().now(), UTC).date()
    async with http_client(settings.proxies) as http:
        access = models_of(settings, http)
        for labels, criterion in criteria.items():
            yield await calibrate(criterion, labels, judge_with(served, access), today)


def _labelled(cases: Sequence[PlannedCase]) -> Mapping[Path, Criterion]:
    """Return the criteria with labels by the file of their labels. Cases that share a criterion are measured once."""
    found: dict[Path, Criterion] = {}
    for case in cases:
        for criterion in case.case.judge:
            if criterion.labels:
                _add(found, case.path.parent / criterion.labels, criterion)
    return found


def _add(found: dict[Path, Criterion], labels: Path, criterion: Criterion) -> None:
    """Add a criterion. Raises ConfigError if another one has the same labels, which hold one measurement."""
    if found.setdefault(labels, criterion) != criterion:
        raise ConfigError(
            f"The labels {labels} are of two different criteria, `{found[labels].id}` and `{criterion.id}`; give each "
            "a file of its own."
        )
