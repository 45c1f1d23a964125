"""The tables of outages, made by `make outages`: the short one in `docs/reliability.md`, the whole one printed."""

from pathlib import Path

from support.simulation.outage_table import SOURCES, short_table, whole_table

PAGE = Path(__file__).parents[2] / "docs" / "reliability.md"
BEGIN, END = "<!-- outages, made by `make outages` -->\n", "<!-- end of outages -->\n"


def write(table: str, begin: str, end: str) -> None:
    """Put a table between two markers of the page."""
    before, rest = PAGE.read_text().split(begin)
    after = rest.split(end)[1]
    PAGE.write_text(f"{before}{begin}{table}\n{end}{after}")


def main() -> None:
    """Write the short table of Slack mentions into the page, and print the whole table."""
    write(short_table(SOURCES[0]), BEGIN, END)
    print(whole_table())  # noqa: T201


if __name__ == "__main__":
    main()
