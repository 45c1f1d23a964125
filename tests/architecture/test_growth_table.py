"""The table of growth in docs/scale.md equals what readings of the made table ask."""

from cost_table import PAGE
from growth_table import BEGIN, END, OF_ALL, PLAYED, WORKS, counted


def test_page_has_the_requests_and_units_of_each_reading() -> None:
    listed = PAGE.read_text().split(BEGIN)[1].split(END)[0].splitlines()
    shown = {line.split(" | ")[0].removeprefix("| "): line.split(" | ")[1] for line in listed[2:]}
    asked = {work: counted(work, PLAYED) for work in WORKS}
    computed = {work: f"{one.requests:,}; {one.units:,.0f}; " for work, one in asked.items()}
    assert shown.keys() == computed.keys()
    assert {work for work in WORKS if not shown[work].startswith(computed[work])} == set(), "make growth writes it anew"


def test_eight_times_the_costs_of_one_shard_are_the_costs_of_all_shards() -> None:
    more = 3 * PLAYED
    for work in OF_ALL:
        part, whole = counted(work, more), counted(work, PLAYED)
        assert 2.9 * whole.units < part.units < 3.1 * whole.units
        assert part.steps < 3.1 * whole.steps


def test_few_runs_among_many_are_read_without_the_others() -> None:
    for work in set(WORKS) - set(OF_ALL):
        few, many = counted(work, PLAYED), counted(work, 10 * PLAYED)
        assert many.units - few.units < PLAYED / 50
