"""The fields of cron expressions: their names, bounds and the names of their values."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

LONGEST_SHOWN = 80
"""The longest expression in characters that a message quotes. A longer one is left out, because a part of it would be
another expression."""


class NoSchedule(ValueError):
    """An invalid schedule. `message` says what is wrong and `hint` what to write instead, a sentence each."""

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
    """The signs that the field accepts, as people read them."""
    names: Sequence[str] = ()
    """The names of the values, from the lowest on."""
    counting: str = ""
    """A sentence that says which day or unit the numbers begin with."""

    def numbered(self, word: str) -> str:
        """Return a field's text with numbers in place of names."""
        if not self.names:
            return word
        numbers: Mapping[str, str] = {name: str(self.low + at) for at, name in enumerate(self.names)}
        # An `L` may follow, as in FRIL. Any other letter or digit makes it another word.
        pattern = rf"(?<![A-Z0-9])(?:{'|'.join(self.names)})(?![A-KM-Z0-9])"
        return re.sub(pattern, lambda found: numbers[found[0]], word)

    def refused(self, word: str) -> NoSchedule:
        """Return the error for a text that the field does not accept."""
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
