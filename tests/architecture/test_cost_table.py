"""The cost table of docs/scale.md equals what the model prints."""

from cost_table import BEGIN, END, PAGE, TYPICAL, Load, assumptions, costs, parts, placements, table
from serverless_run import count

QUICK = (1_000, TYPICAL, 100_000)
"""The loads of the table that take little time."""


def test_costs_on_the_page_equal_the_costs_of_the_model() -> None:
    counted = count()
    typical = Load(TYPICAL)
    listed = PAGE.read_text().split(BEGIN)[1].split(END)[0].splitlines()
    computed = [
        *table([Load(runs) for runs in QUICK], counted),
        *parts(typical, counted),
        *placements(typical),
        *(f"- {line}" for line in assumptions(typical, counted)),
    ]
    assert [line for line in computed if line not in listed] == [], "make cost writes the table anew"


def test_receiving_workers_cost_less_than_batches_at_every_load() -> None:

    for runs in QUICK:
        batches, receiving = costs(Load(runs), count())
        assert receiving.million < batches.million
