"""A mutant: the source without one rule."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Mutant:
    """The source without one rule."""

    rule: str
    """The rule in plain words."""
    file: str
    """Below src/gofer."""
    source: str
    """The text that keeps the rule, which the file has exactly once."""
    instead: str
    test: str
    """The node below tests/ that misses it."""
