"""The benchmark of a hijacked model, played by `make policy`: a table of scenarios with the harm that each did.

Names of scenarios as arguments play only these.
"""

import asyncio
import sys
from collections.abc import Sequence
from tempfile import TemporaryDirectory

from support.policy.played import Row, played
from support.policy.scenario import open_today, scenarios
from support.policy.table import as_text


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
    """Print the table. Return 1 if a variant did harm that no open rule explains, or if a twin failed."""
    found = asyncio.run(rows(sys.argv[1:]))
    print(as_text(found))  # noqa: T201
    return int(any(row.unexpected(open_today().get(row.name, {})) for row in found))


if __name__ == "__main__":
    sys.exit(main())
