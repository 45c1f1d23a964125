"""The line that says that a command still works: on terminals only, and gone at the end."""

import io
import threading

from typing_extensions import override

from gofer.cli.working import Working

SOON = 0.001


class Terminal(io.StringIO):
    """A stream that people see, which tells when the third text was written."""

    def __init__(self) -> None:
        super().__init__()
        self.written = 0
        self.third = threading.Event()

    @override
    def isatty(self) -> bool:
        return True

    @override
    def write(self, text: str) -> int:
        self.written += 1
        if self.written == 3:
            self.third.set()
        return super().write(text)


def test_line_counts_the_seconds_on_a_terminal_and_is_removed() -> None:
    stream = Terminal()
    with Working("Reads the runs", stream, SOON):
        assert stream.third.wait(30)
    assert (
        "\r\x1b[KReads the runs, 1 s …\r\x1b[KReads the runs, 2 s …\r\x1b[KReads the runs, 3 s …" in stream.getvalue()
    )
    assert stream.getvalue().endswith("\r\x1b[K")


def test_short_work_shows_no_line() -> None:
    stream = Terminal()
    with Working("Reads the runs", stream):
        pass
    assert stream.getvalue() == ""


def test_line_is_not_shown_without_a_terminal() -> None:
    stream = io.StringIO()
    with Working("Reads the runs", stream, SOON):
        threading.Event().wait(SOON * 20)
    assert stream.getvalue() == ""
