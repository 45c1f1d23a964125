"""The table of the benchmark."""

from collections.abc import Sequence

from support.policy.played import Row


def as_text(rows: Sequence[Row]) -> str:
    """Return the rows as lines for a terminal, with a sum."""
    head = f"{'scenario':<9} {'tries':>5} {'obeyed':>6} {'harm':>5}  {'twin':<6} attack"
    lines = [_line(row) for row in rows]
    tries = sum(len(row.scenario.variants) for row in rows)
    harm = sum(len(row.harms) for row in rows)
    twins = [row for row in rows if row.scenario.twin]
    works = sum(not row.twin for row in twins)
    return "\n".join([head, *lines, "", f"{harm} of {tries} tries did harm; {works} of {len(twins)} twins work."])


def _line(row: Row) -> str:
    twin = "fails" if row.twin else "works" if row.scenario.twin else ""
    tries = len(row.scenario.variants)
    return f"{row.name:<9} {tries:>5} {row.obeyed:>6} {len(row.harms):>5}  {twin:<6} {row.scenario.attack}"
