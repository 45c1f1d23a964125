"""Lines for a terminal, without the characters that a terminal would obey, and without log lines between them."""

import contextlib
import logging
import re
import shutil
import sys
from collections.abc import Generator, Iterable
from pathlib import Path

from gofer.projections.words.transcript import harmless


def print_lines(lines: Iterable[str]) -> None:
    """Print each text as one line, because names and texts of models and outsiders may contain escape sequences."""
    for line in lines:
        print(harmless(line).replace("\n", " "))


def as_typed(command: str) -> str:
    """Return a command as it works here: with the path by which `gofer` was called, if the shell finds no `gofer`."""
    called = Path(sys.argv[0])
    if called.name != "gofer" or shutil.which("gofer"):
        return command
    return re.sub(r"(?<![\w./])gofer(?= [a-z])", str(called), command)


@contextlib.contextmanager
def only_errors_logged() -> Generator[None]:
    """Log errors only: the report says how runs ended, and their log lines would come between."""
    log = logging.getLogger("gofer")
    before = log.level
    log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.setLevel(before)
