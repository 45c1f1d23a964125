"""The line that says on a terminal that a command still works, from its second second on."""

import sys
import threading
from types import TracebackType
from typing import Self, TextIO

_CLEAR = "\r\x1b[K"
SECOND = 1.0


class Working:
    """A line on stderr such as `Reads the runs, 12 s …` while a block runs, removed at its end.

    Without a terminal it writes nothing. A thread writes the line, because the block may compute without a pause.
    """

    def __init__(self, work: str, stream: TextIO | None = None, second: float = SECOND) -> None:
        """Say `work`, a verb with its object; `second` is the number of seconds until the line changes."""
        self._work = work
        self._stream = stream or sys.stderr
        self._second = second
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._show, name="gofer-working", daemon=True)

    def __enter__(self) -> Self:
        """Begin to wait for the first second."""
        if self._stream.isatty():
            self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Remove the line."""
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join()

    def _show(self) -> None:
        seconds = 0
        while not self._ended.wait(self._second):
            seconds += 1
            self._write(f"{_CLEAR}{self._work}, {seconds} s …")
        if seconds:
            self._write(_CLEAR)

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()
