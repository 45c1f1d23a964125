"""What a command asks and shows only where a person sits at a terminal."""

import getpass
import sys
from collections.abc import Callable


def asking() -> Callable[[str], str] | None:
    """Return what asks for a secret without showing it, or None where there is no terminal."""
    if not sys.stdin.isatty():
        return None
    return getpass.getpass


def progress(done: str) -> Callable[[int, int], None]:
    """Return what shows on one line how many files were dealt with; nothing where there is no terminal."""
    shown = sys.stderr.isatty()

    def tell(count: int, total: int) -> None:
        if shown and (count % 100 == 0 or count == total):
            print(f"\r{done} {count} of {total} files", end="", file=sys.stderr, flush=True)
        if shown and count == total:
            print(file=sys.stderr)

    return tell
