"""The recorded runs of goldens, as a change is compared with them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gofer.evals.goldens.golden_reader import read_golden
from gofer.journal.entries import Recorded
from gofer.replay.recorded_run import RecordedRun
from gofer.workflows.bundle import Bundle


@dataclass(frozen=True, slots=True)
class GoldenWork:
    """The recorded run of one turn of a golden."""

    run: str
    """The name of the golden; for a later turn also its number."""
    journals: Mapping[str, Sequence[Recorded]]
    """The journals of the run and of its subagent runs; that of the run under `run`."""
    bundles: Mapping[str, Bundle]
    recorded: RecordedRun
    """The run as a replay reads it."""

    @property
    def entries(self) -> Sequence[Recorded]:
        """The journal of the run itself."""
        return self.journals[self.run]


def golden_works(folder: Path) -> Sequence[GoldenWork]:
    """Return the recorded runs of every golden in a folder, sorted by name.

    Raises ConfigError for a golden that cannot be read, and OtherVersion for one that another Gofer wrote.
    """
    works: list[GoldenWork] = []
    for path in sorted(folder.glob("*.yaml")):
        for number, turn in enumerate(read_golden(path).turns, start=1):
            name = path.stem
            if number > 1:
                name = f"{name} (turn {number})"
            recorded = turn.recorded()
            if turn.run in recorded.bundles:
                journals = {**recorded.journals, name: recorded.entries}
                bundles = {**recorded.bundles, name: recorded.bundles[turn.run]}
                works.append(GoldenWork(name, journals, bundles, recorded))
    return works
