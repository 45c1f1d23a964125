"""A golden with its recorded runs, read from the file that people edit and from the recording beside it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gofer.evals.goldens.golden_file import Golden, read_golden_file, recording_of, recording_path
from gofer.evals.goldens.run_file import GoldenRun, recorded_runs
from gofer.values.errors import ConfigError


@dataclass(frozen=True, slots=True)
class ReadGolden:
    """A golden with its recorded runs."""

    path: Path
    golden: Golden
    turns: Sequence[GoldenRun]
    """The recorded runs, in the order of the turns."""


def read_golden(path: Path) -> ReadGolden:
    """Return a golden with its recording. Raises ConfigError with file, line and what to do for every mistake."""
    golden = read_golden_file(path)
    recording = recording_path(path)
    turns = recorded_runs(recording, recording_of(path, golden))
    if [turn.run for turn in turns] != [turn.run for turn in golden.turns]:
        raise ConfigError(f"{path}: the turns are not the runs of {recording.name}; write the golden again.")
    return ReadGolden(path, golden, turns)
