"""The five fields of crontab, translated into the six fields of EventBridge Scheduler.

The fields are minutes, hours, day of the month, month and day of the week. 0 and 7 are Sunday, 1 is Monday. If both
days are restricted, crontab fires on either of them. EventBridge cannot express that, so such a cron is refused.
"""

import re
from collections.abc import Iterable, Mapping

from gofer.values.schedules.fields import LONGEST_SHOWN, MONTHS, WEEK, Field, NoSchedule

_DAYS_OF_WEEK = 7
FIELDS = (
    Field("minutes", 0, 59, ", - * /"),
    Field("hours", 0, 23, ", - * /"),
    Field("day of the month", 1, 31, ", - * /"),
    Field("month", 1, 12, ", - * /", MONTHS),
    Field("day of the week", 0, 7, ", - * /", WEEK, "Five fields count as crontab does: 0 and 7 are Sunday."),
)
_MINUTES, _HOURS, _MONTH_DAY, _MONTH, _WEEK_DAY = FIELDS
_ITEM = re.compile(r"(?:\*|(?P<first>[0-9]{1,2})(?:-(?P<last>[0-9]{1,2}))?)(?:/(?P<step>[0-9]{1,2}))?", re.ASCII)
_SIX_FIELD_SIGNS = re.compile(r"[?#]|[0-9*]L|[0-9]W|^L$")
_NICKNAMES: Mapping[str, str] = {
    "@YEARLY": "0 0 1 1 *",
    "@ANNUALLY": "0 0 1 1 *",
    "@MONTHLY": "0 0 1 * *",
    "@WEEKLY": "0 0 * * 0",
    "@DAILY": "0 0 * * *",
    "@MIDNIGHT": "0 0 * * *",
    "@HOURLY": "0 * * * *",
}


def six_fields(text: str) -> str:
    """Return the six fields with the same times as five fields. Raises NoSchedule that names the wrong field."""
    minutes, hours, month_day, month, week_day = (_checked(word) for word in text.upper().split())
    month_days = _values(month_day, _MONTH_DAY)
    week_days = {day % _DAYS_OF_WEEK for day in _values(week_day, _WEEK_DAY)}
    any_month_day = month_day.startswith("*") and month_days == set(range(1, 32))
    any_week_day = week_day.startswith("*") and week_days == set(range(_DAYS_OF_WEEK))
    times = f"{_ranges(_values(minutes, _MINUTES), _MINUTES)} {_ranges(_values(hours, _HOURS), _HOURS)}"
    months = _ranges(_values(month, _MONTH), _MONTH)
    if not any_month_day and not any_week_day:
        nth = _nth_weekday(month_days, week_days)
        raise _both_days(text.split(), nth and f"{times} ? {months} {nth} *")
    if any_week_day:
        return f"{times} {_ranges(month_days, _MONTH_DAY)} {months} ? *"
    return f"{times} ? {months} {','.join(WEEK[day] for day in sorted(week_days))} *"


def without_nickname(text: str) -> str:
    """Return the text. Raises NoSchedule, with the fields to write instead, for a nickname such as `@daily`."""
    name = text.strip().upper()
    if not name.startswith("@"):
        return text
    fields = _NICKNAMES.get(name, "0 9 * * 1-5")
    raise NoSchedule(f"`{text.strip()[:40]}` is not supported.", f"Write fields, such as `{fields}`.")


def _checked(word: str) -> str:
    if _SIX_FIELD_SIGNS.search(word):
        message = f"`{word[:40]}` belongs to the six fields of EventBridge, and this cron has five fields."
        raise NoSchedule(message, "Write `*` for a day that does not matter, or add the year as a sixth field.")
    return word


def _nth_weekday(month_days: set[int], week_days: set[int]) -> str:
    """Return the weekday of one week of the month, such as `MON#1`; empty if the days are not exactly that."""
    first = min(month_days)
    if len(week_days) == 1 and first % 7 == 1 and month_days == set(range(first, first + 7)):
        return f"{WEEK[min(week_days)]}#{first // 7 + 1}"
    return ""


def _both_days(words: list[str], instead: str) -> NoSchedule:
    """Return the error for two restricted days. `instead` is the cron of one week of the month, or empty."""
    minutes, hours, month_day, month, week_day = words
    message = "The day of the month and the day of the week are both restricted."
    if len(" ".join(words)) > LONGEST_SHOWN:
        return NoSchedule(message, "Write `*` for one of them, or two schedules for either day.")
    if instead:
        return NoSchedule(message, f"For one week of the month write `{instead}`.")
    by_month = f"{minutes} {hours} {month_day} {month} *"
    by_week = f"{minutes} {hours} * {month} {week_day}"
    return NoSchedule(message, f"Write `*` for one of them; for either day write two, `{by_month}` and `{by_week}`.")


def _ranges(values: Iterable[int], field: Field) -> str:
    """Return values in EventBridge's notation: all as `*`, neighbours as a range, the others one by one."""
    ordered = sorted(values)
    if ordered == list(range(field.low, field.high + 1)):
        return "*"
    ranges: list[list[int]] = []
    for value in ordered:
        if ranges and value == ranges[-1][-1] + 1:
            ranges[-1].append(value)
        else:
            ranges.append([value])
    # A range of a single value is written as that value.
    return ",".join("-".join(str(end) for end in dict.fromkeys((span[0], span[-1]))) for span in ranges)


def _values(word: str, field: Field) -> set[int]:
    """Return the values that a field selects. Raises NoSchedule."""
    return {value for item in field.numbered(word).split(",") for value in _item(item, word, field)}


def _item(item: str, word: str, field: Field) -> range:
    found = _ITEM.fullmatch(item)
    if found is None:
        raise field.refused(word)
    first = int(found["first"] or field.low)
    last = int(found["last"] or found["first"] or field.high)
    step = int(found["step"] or 1)
    if not (field.low <= first <= field.high and field.low <= last <= field.high and 1 <= step <= field.high):
        raise field.refused(word)
    if found["step"] and found["first"] and not found["last"]:
        message = f"The {field.name} cannot be `{word[:40]}`, because a step must follow `*` or a range."
        raise NoSchedule(message, f"Write `{first}-{field.high}/{step}`.")
    if last < first and field is _WEEK_DAY:
        # FRI-MON and 6-1 extend past the end of the week.
        last += _DAYS_OF_WEEK
    if last < first:
        raise field.refused(word)
    return range(first, last + 1, step)
