"""The places at which tests inject a crash or damage: a sample of them, or with `--everywhere` all."""

from collections.abc import Sequence
from typing import Literal, TypeVar

T = TypeVar("T")
Side = Literal["before", "after"]


def spread(everywhere: bool, places: Sequence[T], one_of: int, first: int = 0) -> Sequence[T]:
    """Return one of so many places, from the first or a later one on, and always the last; or all of them."""
    if everywhere:
        return places
    chosen = places[first::one_of]
    return chosen if chosen[-1] == places[-1] else [*chosen, places[-1]]


def sides(everywhere: bool, n: int) -> Sequence[Side]:
    """Return the sides of its n-th write on which a process is killed: both, or one of them in turns.

    Before an outcome is written its effect has happened, and after an intent it has not.
    """
    return ("before", "after") if everywhere else (("before", "after")[n % 2],)
