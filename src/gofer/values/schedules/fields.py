"""The fields of cron expressions: their names, bounds and the names of their values."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

LONGEST_SHOWN = 80
"""Characters of an expression that a sentence repeats; a part of one would be another expression."""


class NoSchedule(ValueError):
    """Text that is no schedule: what is wrong with it, and what to write instead, in a sentence each."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(f"{message} {hint}")
        self.message = message
        self.hint = hint


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a cron expression."""

    name: str
    low: int
    high: int
    signs: str
    """The signs that may stand in it, as people read them."""
    names: Sequence[str] = ()
    """Names of its values, beginning with that of the lowest."""
    counting: str = ""
    """A sentence that says which day its numbers count from."""

    def numbered(self, word: str) -> str:
        """Return a field's text with the names in it as numbers."""
        if not self.names:
            return word
        numbers: Mapping[str, str] = {name: str(self.low + at) for at, name in enumerate(self.names)}
        # An `L` may follow, as in FRIL; any other letter or digit makes another word of it.
        pattern = rf"(?<![A-Z0-9])(?:{'|'.join(self.names)})(?![A-KM-Z0-9])"
        return re.sub(pattern, lambda found: numbers[found[0]], word)

    def refused(self, word: str) -> NoSchedule:
        """Return the error for a text that the field does not take."""
        values = f"{self.low}-{self.high}"
        if self.names:
            values += f" or {self.names[0]}-{self.names[-1]}"
        kind = "a value"
        if "," in word:
            kind = "a list"
        hint = f"Write {kind} of {values}, with {self.signs}. {self.counting}".rstrip()
        return NoSchedule(f"The {self.name} cannot be `{word[:40]}`.", hint)


MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
WEEK = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
