"""The limits of one child."""

from dataclasses import dataclass

MEMORY = 372 << 20
"""Bytes a child may take beyond what its helper has: helper and child stay under 512 MB, pages that both hold counted
twice. `PYTHONPATH=tests python -m generators.tree_memory` measures it."""

SECONDS = 20.0
"""Seconds of a processor that a child may take: what else the machine does changes nothing about it."""

WALL = 60.0
"""Seconds after which a child is ended that got no processor, or waits for something."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one child may take."""

    memory: int
    """Bytes beyond what its helper has."""
    seconds: float
    """Seconds of a processor."""
    wall: float
    """Seconds between its beginning and its end."""
