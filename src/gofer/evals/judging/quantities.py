"""The quantities in a text: numbers with their units, and dates, however they are written."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Literal

Sameness = Literal["same", "different", "unclear"]

LEAST_SHARE_KEPT = Fraction(95, 100)
"""A rounded quantity may differ from the other one by 5 % at most."""
LONGEST = 40
"""The most characters of one number."""

_TIME = {"ms": "1/1000", "s": "1", "sec": "1", "min": "60", "h": "3600", "day": "86400"}
_DATA = {"b": "1", "kb": "1000", "mb": "1000000", "gb": "1000000000", "tb": "1000000000000"}
_BINARY_DATA = {"kib": str(2**10), "mib": str(2**20), "gib": str(2**30), "tib": str(2**40)}
_SCALES = {"": "1", "%": "1/100", "k": "1000", "million": "1000000", "billion": "1000000000"}
_MASSES = {"g": "1", "kg": "1000"}
_LENGTHS = {"mm": "1/1000", "cm": "1/100", "km": "1000"}
_MONEY = {"usd": "1", "eur": "1", "gbp": "1"}
_SPELLINGS = {
    "seconds": "s",
    "second": "s",
    "secs": "s",
    "milliseconds": "ms",
    "millisecond": "ms",
    "minutes": "min",
    "minute": "min",
    "mins": "min",
    "hours": "h",
    "hour": "h",
    "days": "day",
    "bytes": "b",
    "byte": "b",
    "percent": "%",
    "$": "usd",
    "€": "eur",
    "£": "gbp",
}
_DIMENSIONS = {"time": _TIME, "data": _DATA | _BINARY_DATA, "number": _SCALES, "mass": _MASSES, "length": _LENGTHS}
_UNITS: Mapping[str, tuple[str, Fraction]] = {
    **{unit: (name, Fraction(factor)) for name, units in _DIMENSIONS.items() for unit, factor in units.items()},
    **{unit: (unit, Fraction(1)) for unit in _MONEY},
}
"""Each unit with its dimension and its factor."""

_WORDS = sorted((word for word in {*_UNITS, *_SPELLINGS} if word.isalpha()), key=len, reverse=True)
_NUMBER = re.compile(
    r"(?P<about>(?:\b(?:about|around|roughly|approximately|nearly|ca\.)\s+|[~≈]\s?)?)"
    r"(?<![\w.,:/#])(?<!\w-)"
    r"(?P<sign>[-−]?)(?P<before>[$€£]?)(?P<digits>\d+(?:[.,'\u2019\u00a0\u202f]\d+)*)"
    rf"(?:\s?(?P<after>[%$€£]|(?:{'|'.join(_WORDS)})\b))?"
    r"(?!\w|[:/-]\w|[.,]\d)",
    re.IGNORECASE,
)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = r"(?P<month>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_DATES = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"(?<![\w-])(?P<year>\d{4})-(?P<month>\d{2})-(?P<day>\d{2})(?![\w-])",
        r"(?<![\w.])(?P<day>\d{1,2})\.\s?(?P<month>\d{1,2})\.\s?(?P<year>\d{4})(?!\w)",
        rf"(?<!\w)(?P<day>\d{{1,2}})(?:st|nd|rd|th|\.)?\s+{_MONTH}\s+(?P<year>\d{{4}})(?!\w)",
        rf"(?<!\w){_MONTH}\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<year>\d{{4}})(?!\w)",
    )
]
_LIST_MARK = re.compile(r"^\s*\d{1,3}[.)]\s", re.MULTILINE)
PLACE = "\ufffc"
"""The character in the place of a quantity in the rest of a text."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with its unit, or a date as its number of days."""

    value: Fraction
    """The value in the base unit of the dimension."""
    dimension: str
    unit: str
    step: Fraction = Fraction(0)
    """The last digit that is written, in the base unit; 0 for a date."""
    other: Fraction | None = None
    """The value if the separator means the opposite, as for `1.500`; None if there is one reading."""


@dataclass(frozen=True, slots=True)
class Measured:
    """The quantities of a text in their order, and the text with `PLACE` in place of each."""

    quantities: tuple[Quantity, ...]
    rest: str


def measured(text: str) -> Measured:
    """Return the quantities of a text. Names with digits, such as OPS-12, times of day and list marks are none."""
    found: list[tuple[int, int, Quantity]] = []
    taken = [(mark.start(), mark.end()) for mark in _LIST_MARK.finditer(text)]
    for start, end, quantity in [*_dates(text), *_numbers(text)]:
        if not any(start < until and since < end for since, until in taken):
            taken.append((start, end))
            found.append((start, end, quantity))
    found.sort(key=lambda one: one[0])
    rest: list[str] = []
    at = 0
    for start, end, _ in found:
        rest.append(text[at:start])
        at = end
    rest.append(text[at:])
    return Measured(tuple(quantity for _, _, quantity in found), PLACE.join(rest))


def same_quantity(one: Quantity, two: Quantity, *, rounded: bool) -> Sameness:
    """Return whether two quantities are the same. `rounded` allows other units and rounding."""
    if one.dimension != two.dimension or (not rounded and one.unit != two.unit):
        return "different"
    if _same_value(one, two, one.value, two.value, rounded=rounded):
        return "same"
    readings = [(first, second) for first in (one.value, one.other) for second in (two.value, two.other)]
    for first, second in readings:
        if first is not None and second is not None and _same_value(one, two, first, second, rounded=rounded):
            return "unclear"
    return "different"


def _same_value(one: Quantity, two: Quantity, first: Fraction, second: Fraction, *, rounded: bool) -> bool:
    if first == second:
        return True
    difference = abs(first - second)
    near = difference <= (1 - LEAST_SHARE_KEPT) * min(abs(first), abs(second))
    return rounded and near and difference * 2 <= max(one.step, two.step)


def _dates(text: str) -> Iterator[tuple[int, int, Quantity]]:
    for pattern in _DATES:
        for found in pattern.finditer(text):
            month = found["month"].lower()
            if month.isdigit():
                number = int(month)
            else:
                number = _MONTHS.index(month) + 1
            try:
                day = date(int(found["year"]), number, int(found["day"]))
            except ValueError:
                continue
            yield found.start(), found.end(), Quantity(Fraction(day.toordinal()), "date", "date")


def _numbers(text: str) -> Iterator[tuple[int, int, Quantity]]:
    for found in _NUMBER.finditer(text):
        if len(found["digits"]) > LONGEST:
            continue
        written = (found["after"] or found["before"] or "").lower()
        unit = _SPELLINGS.get(written, written)
        dimension, factor = _UNITS[unit]
        if found["sign"]:
            factor = -factor
        value, other, decimals = _readings(found["digits"])
        step = abs(factor) / 10**decimals
        if found["about"] and not decimals:
            step = abs(factor) * 10 ** _trailing_zeros(value)
        if other is not None:
            other *= factor
        yield found.start(), found.end(), Quantity(value * factor, dimension, unit, step, other)


def _readings(digits: str) -> tuple[Fraction, Fraction | None, int]:
    """Return the value of a number, its other reading or None, and the number of its decimals."""
    plain = re.sub("['\u2019\u00a0\u202f]", "", digits)
    separators = re.sub(r"\d", "", plain)
    if not separators:
        return Fraction(plain), None, 0
    last = separators[-1]
    if separators.count(last) > 1:
        # A separator that is repeated separates thousands.
        return Fraction(re.sub("[.,]", "", plain)), None, 0
    whole, decimals = re.sub(f"[^\\d{last}]", "", plain).split(last)
    decimal = Fraction(f"{whole}.{decimals}")
    if len(separators) > 1 or len(decimals) != 3 or len(whole) > 3 or whole.startswith("0"):
        return decimal, None, len(decimals)
    thousands = Fraction(whole + decimals)
    if last == ",":
        return thousands, decimal, 0
    return decimal, thousands, len(decimals)


def _trailing_zeros(value: Fraction) -> int:
    digits = str(value)
    if not value:
        return 0
    return len(digits) - len(digits.rstrip("0"))
