"""The cost table of docs/scale.md, as `make cost` writes it."""

from cost_table import page, shipped_loads


def test_costs_by_runs_a_day_on_aws() -> None:
    print(f"\n{page(shipped_loads())}")
