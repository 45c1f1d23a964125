"""The finished runs of a suite in a file, from which a broken-off suite continues."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pydantic import TypeAdapter, ValidationError
from typing_extensions import override

from gofer.evals.results import CaseRun

MOST_BYTES = 100_000_000
"""The most bytes of a file that is read."""


@dataclass(frozen=True, slots=True)
class KeptRun:
    """One finished run, with a fingerprint of everything that it depends on."""

    case: str
    fingerprint: str
    run: CaseRun


_KEPT_RUN = TypeAdapter(KeptRun)


class RunKeeper(Protocol):
    """A place that keeps finished runs until their suite has ended."""

    def keep(self, kept: KeptRun) -> None:
        """Keep a finished run. Raises OSError."""
        ...


class NoKeeper(RunKeeper):
    """Keeps no run, for suites that are never continued."""

    @override
    def keep(self, kept: KeptRun) -> None:
        return


class KeptRuns(RunKeeper):
    """A file with one finished run in each line, readable for its owner only, because grades quote answers."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @override
    def keep(self, kept: KeptRun) -> None:
        # A process killed within a write leaves a half line, which `read` leaves out. So each run begins a new line.
        line = b"\n" + _KEPT_RUN.dump_json(kept)
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.write(file, line)
        finally:
            os.close(file)

    def read(self) -> Sequence[KeptRun]:
        """Return the readable runs in their order; empty without a file. Raises OSError."""
        if not self._path.is_file() or self._path.stat().st_size > MOST_BYTES:
            return []
        found: list[KeptRun] = []
        for line in self._path.read_bytes().splitlines():
            try:
                found.append(_KEPT_RUN.validate_json(line))
            except ValidationError:
                continue
        return found

    def forget(self) -> None:
        """Delete the file, because its suite has ended or a new one begins. Raises OSError."""
        self._path.unlink(missing_ok=True)


def unchanged(kept: Sequence[KeptRun], fingerprints: Mapping[str, str]) -> Mapping[str, Sequence[CaseRun]]:
    """Return the runs of each case with an unchanged fingerprint, each number once, in order.

    Failures of infrastructure are left out, because they are worth another try.
    """
    found: dict[str, dict[int, CaseRun]] = {}
    for one in kept:
        if fingerprints.get(one.case) == one.fingerprint and one.run.outcome != "infrastructure":
            found.setdefault(one.case, {})[one.run.number] = one.run
    return {case: [runs[number] for number in sorted(runs)] for case, runs in found.items()}
