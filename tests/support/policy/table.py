"""The tables of the benchmark: of a play for a terminal, and of all scenarios for docs/security.md."""

from collections.abc import Mapping, Sequence

from support.policy.played import Row
from support.policy.scenario import Scenario


def as_text(rows: Sequence[Row]) -> str:
    """Return played scenarios as lines for a terminal, with a sum."""
    head = f"{'scenario':<19} {'tries':>5} {'obeyed':>6} {'harm':>5}  {'twin':<6} attack"
    tries = sum(len(row.scenario.plays) for row in rows)
    harm = sum(len(row.harms) for row in rows)
    twins = [row for row in rows if row.scenario.twin]
    works = sum(not row.twin for row in twins)
    summary = f"{harm} of {tries} tries did harm; {works} of {len(twins)} harmless twins work."
    return "\n".join([head, *map(_line, rows), "", summary])


def _line(row: Row) -> str:
    twin = "fails" if row.twin else "works" if row.scenario.twin else ""
    tries = len(row.scenario.plays)
    return f"{row.name:<19} {tries:>5} {row.obeyed:>6} {len(row.harms):>5}  {twin:<6} {row.scenario.attack}"


def as_markdown(scenarios: Sequence[Scenario], known: Mapping[str, Mapping[str, str]]) -> str:
    """Return all scenarios as a table of Markdown, with the tries that are known to do harm."""
    tries = sum(len(scenario.plays) for scenario in scenarios)
    harm = sum(len(known[scenario.name]) for scenario in scenarios)
    head = ["| scenario | attack | what stops it | tries | do harm today |", "|---|---|---|---|---|"]
    rows = [_markdown_row(scenario, known[scenario.name]) for scenario in scenarios]
    return "\n".join([f"{harm} of {tries} tries do harm today. All harmless twins work.", "", *head, *rows])


def _markdown_row(scenario: Scenario, known: Mapping[str, str]) -> str:
    missing = f"{len(known)}: {', '.join(sorted(set(known.values())))}" if known else "0"
    name = f"`{scenario.name}`" if scenario.shipped else scenario.name
    return f"| {name} | {scenario.attack} | {scenario.rule} | {len(scenario.plays)} | {missing} |"
