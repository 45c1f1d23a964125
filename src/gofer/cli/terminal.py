"""Lines for a terminal, without the characters that a terminal would obey."""

from collections.abc import Iterable

from gofer.projections.words.transcript import harmless


def print_lines(lines: Iterable[str]) -> None:
    """Print each text as one line, because names and texts of models and outsiders may contain escape sequences."""
    for line in lines:
        print(harmless(line).replace("\n", " "))
