"""What is one rule less?"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Mutant:
    """One rule less."""

    rule: str
    """What it is that must not be taken away, as a reader of docs/reliability.md knows it."""
    file: str
    """Below src/gofer."""
    source: str
    """The text that keeps the rule; it stands in the file exactly once."""
    instead: str
    test: str
    """The node below tests/ that misses it."""
