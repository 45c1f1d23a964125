"""The reason column of the run list for runs of unknown cost."""

import pytest

from gofer.projections.listing import UNPRICED, with_cost
from gofer.projections.progress import Progress


@pytest.mark.parametrize(
    ("reason", "cost", "listed"),
    [
        ("", 0.01, ""),
        ("stopped at 10 tokens", 0.0, "stopped at 10 tokens"),
        ("", None, UNPRICED),
        ("stopped at 10 tokens.", None, f"stopped at 10 tokens; {UNPRICED}"),
    ],
)
def test_run_list_marks_a_run_of_unknown_cost(reason: str, cost: float | None, listed: str) -> None:
    assert with_cost(reason, Progress(cost_usd=cost)) == listed
