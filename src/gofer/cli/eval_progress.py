"""The progress of a suite on one line of a terminal, from its second second on, and the likely cost of a recording."""

import sys
from collections.abc import Sequence
from types import TracebackType
from typing import Self, TextIO

from typing_extensions import override

from gofer.app.evals.suite_session import Watcher
from gofer.evals.plan import PlannedCase
from gofer.evals.results import CaseRun
from gofer.projections.words.transcript import harmless
from gofer.values.outside import Clock, SystemClock

_QUIET_SECONDS = 1.0
_WIDTH = 100
_CLEAR = "\r\x1b[K"


class Progress(Watcher):
    """A line such as `12 of at most 40 runs, 1 failed · file-ticket/no-project`, and nothing without a terminal."""

    def __init__(self, stream: TextIO | None = None, clock: Clock | None = None) -> None:
        self._stream = stream or sys.stderr
        self._clock = clock or SystemClock()
        self._began = self._clock.monotonic()
        self._most = 0
        self._done = 0
        self._failed = 0
        self._is_shown = False

    def __enter__(self) -> Self:
        """Return this progress."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Remove the line."""
        if self._is_shown:
            self._stream.write(_CLEAR)
            self._stream.flush()

    @override
    def begin(self, planned: Sequence[PlannedCase], cost: str) -> None:
        if cost:
            print(cost, file=self._stream, flush=True)
        self._most = sum(case.planned for case in planned)

    @override
    def finished(self, planned: PlannedCase, run: CaseRun) -> None:
        self._done += 1
        self._failed += run.outcome == "failed"
        if not self._stream.isatty() or self._clock.monotonic() - self._began < _QUIET_SECONDS:
            return
        line = f"{self._done} of at most {self._most} runs, {self._failed} failed · {harmless(planned.name)}"
        self._stream.write(f"{_CLEAR}{line[:_WIDTH]}")
        self._stream.flush()
        self._is_shown = True
