"""The benchmark of a hijacked model, played by `make policy`: a table of scenarios with the harm that each did.

Names of scenarios as arguments play only these. The table of docs/security.md is made from the list of what does harm
today, which the tests hold true. `--without-rules` plays the scenarios of the sixteen attacks on a copy of the source
without any rule, and prints how many do harm: that number shows that the benchmark bites.
"""

import asyncio
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from support.mutants.mutation_gate import without_rules as without_rules_of
from support.mutants.rules_of_harm import OF_HARM
from support.policy.played import Row, first_harm, played
from support.policy.scenario import open_today, scenarios
from support.policy.table import as_markdown, as_text

TESTS = Path(__file__).parents[1]
PAGE = TESTS.parent / "docs" / "security.md"
_ATTACK = re.compile(r"S(\d+)")
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


async def score() -> str:
    """Return, for each of the sixteen attacks, the first variant that does harm, and the number of these attacks."""
    found: dict[int, str] = {}
    with TemporaryDirectory() as folder:
        for scenario in scenarios():
            if (number := _ATTACK.match(scenario.name)) and not found.get(int(number[1])):
                harm = await first_harm(scenario, Path(folder))
                found[int(number[1])] = f"{scenario.name}: {harm}" if harm else ""
    lines = [f"S{number}: {harm or 'no harm'}" for number, harm in sorted(found.items())]
    return "\n".join([*lines, f"{sum(map(bool, found.values()))} of {len(found)} attacks do harm."])


def without_rules() -> str:
    """Return the score of a copy of the source without the rules, played in a process of its own."""
    with TemporaryDirectory() as folder:
        path = os.pathsep.join([str(without_rules_of(Path(folder), OF_HARM)), os.environ.get("PYTHONPATH", "")])
        command = [sys.executable, "-m", "generators.policy", "--score"]
        env = {**os.environ, "PYTHONPATH": path}
        return subprocess.run(command, env=env, cwd=TESTS, check=True, stdout=subprocess.PIPE, text=True).stdout


def main() -> int:
    """Print the table, and write that of the page. Return 1 for unexpected or missing harm, or a twin that fails."""
    if sys.argv[1:] == ["--without-rules"]:
        print(without_rules())  # noqa: T201
        return 0
    if sys.argv[1:] == ["--score"]:
        print(asyncio.run(score()))  # noqa: T201
        return 0
    found = asyncio.run(rows(sys.argv[1:]))
    print(as_text(found))  # noqa: T201
    PAGE.write_text(with_table(PAGE.read_text()))
    return int(any(row.unexpected(open_today()[row.name]) for row in found))


if __name__ == "__main__":
    sys.exit(main())
