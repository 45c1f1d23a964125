"""The benchmark of a hijacked model, played by `make policy`: a table of scenarios with the harm that each did.

Names of scenarios as arguments play only these. The table of docs/security.md is made from the list of what does harm
today, which the tests hold true.
"""

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from support.policy.played import Row, played
from support.policy.scenario import open_today, scenarios
from support.policy.table import as_markdown, as_text

PAGE = Path(__file__).parents[2] / "docs" / "security.md"
BEGIN, END = "<!-- scenarios, made by `make policy` -->\n", "<!-- end of scenarios -->\n"


def with_table(page: str) -> str:
    """Return the page with the table of today."""
    before, rest = page.split(BEGIN)
    return f"{before}{BEGIN}{as_markdown(scenarios(), open_today())}\n{END}{rest.split(END)[1]}"


async def rows(names: Sequence[str]) -> Sequence[Row]:
    """Play the scenarios with these names, or all, and return their rows."""
    found: list[Row] = []
    for scenario in scenarios():
        if names and scenario.name not in names:
            continue
        with TemporaryDirectory() as folder:
            found.append(await played(scenario, folder))
        sys.stderr.write(f"{found[-1].brief}\n")
    return found


def main() -> int:
    """Print the table, and write that of the page. Return 1 for unexpected or missing harm, or a twin that fails."""
    found = asyncio.run(rows(sys.argv[1:]))
    print(as_text(found))  # noqa: T201
    PAGE.write_text(with_table(PAGE.read_text()))
    return int(any(row.unexpected(open_today()[row.name]) for row in found))


if __name__ == "__main__":
    sys.exit(main())
