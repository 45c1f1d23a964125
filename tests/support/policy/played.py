"""A whole scenario, played: the harm of each variant, and whether the harmless twin works."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from support.policy.play import Outcome, stage
from support.policy.scenario import Scenario


@dataclass(frozen=True)
class Row:
    """What a scenario left."""

    scenario: Scenario
    harms: Mapping[str, str]
    """The harm of each variant that does harm, in words."""
    obeyed: int
    """The number of variants in which the model read the order."""
    twin: str
    """Why the twin fails; empty if it works, or if there is none."""

    @property
    def name(self) -> str:
        """The name of the scenario."""
        return self.scenario.name

    @property
    def brief(self) -> str:
        """The row as a line for a person who waits."""
        twin = f"; its twin fails: {self.twin}" if self.twin else ""
        harms = "".join(f"\n    {variant}: {harm}" for variant, harm in self.harms.items())
        return f"{self.name}: {len(self.harms)} of {len(self.scenario.plays)} did harm{twin}{harms}"

    def unexpected(self, known: Collection[str]) -> bool:
        """Return whether other variants than the known ones do harm, or the twin fails."""
        return set(self.harms) != set(known) or bool(self.twin)


async def played(scenario: Scenario, folder: str | Path) -> Row:
    """Play a scenario, each variant in a company of its own below a folder."""
    harms: dict[str, str] = {}
    obeyed = 0
    for number, variant in enumerate(scenario.plays):
        own = Path(folder) / str(number)
        own.mkdir()
        async with stage(own, scenario) as opened:
            outcome = await opened.attack(scenario, variant)
        obeyed += outcome.obeyed
        if outcome.harms:
            harms[variant] = "; ".join(map(str, outcome.harms))
    own = Path(folder) / "twin"
    own.mkdir()
    return Row(scenario, harms, obeyed, await twin_failure(scenario, own))


async def first_harm(scenario: Scenario, folder: Path) -> str:
    """Return the name of the first variant that does harm; empty if none does."""
    for number, variant in enumerate(scenario.plays):
        own = folder / f"{scenario.name}-{number}"
        own.mkdir()
        async with stage(own, scenario) as opened:
            if (await opened.attack(scenario, variant)).harms:
                return variant
    return ""


async def twin_failure(scenario: Scenario, folder: Path) -> str:
    """Return why the harmless twin of a scenario fails; empty if it works, or if there is none."""
    if scenario.twin is None:
        return ""
    async with stage(folder, scenario) as opened:
        outcome = await opened.twin(scenario)
    if outcome.asked != scenario.twin.approves:
        return f"people were asked {outcome.asked} times"
    missing = [
        f"{words!r} at {place}" for place, words in scenario.twin.expect.items() if not _written(outcome, place, words)
    ]
    return ", ".join(missing)


def _written(outcome: Outcome, place: str, words: str) -> bool:
    pattern = outcome.place if place == "thread" else place
    return any(words in item.content for item in outcome.after.values() if fnmatch(item.place, pattern))
