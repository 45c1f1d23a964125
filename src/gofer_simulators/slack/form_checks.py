"""Checks of JSON values, from which the form of each block and element is put together.

A check takes a value and its place, a JSON pointer. It raises SlackRefusal for the first mistake.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from gofer_simulators.json_values import is_array, is_object, objects, text_of
from gofer_simulators.slack.workspace import SlackRefusal

Check: TypeAlias = Callable[[object, str], None]
MAX_ID = 255


def invalid(problem: str, place: str = "") -> SlackRefusal:
    """Return the refusal of blocks with a mistake; `place` is the JSON pointer of the mistake."""
    if place:
        problem = f"{problem} [json-pointer:{place}]"
    return SlackRefusal("invalid_blocks", f"[ERROR] {problem}")


def anything(_value: object, _place: str) -> None:
    """Accept every value: Slack documents no limit for it."""


def flag(value: object, place: str) -> None:
    """Check a boolean."""
    if not isinstance(value, bool):
        raise invalid("must provide a boolean", place)


def number(least: float | None = None, most: float | None = None) -> Check:
    """Return the check of a number within limits."""

    def check(value: object, place: str) -> None:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise invalid("must provide a number", place)
        if (least is not None and value < least) or (most is not None and value > most):
            raise invalid(f"must be from {least} to {most}", place)

    return check


def string(most: int | None = None, *, least: int = 1) -> Check:
    """Return the check of a string within limits."""

    def check(value: object, place: str) -> None:
        if not isinstance(value, str):
            raise invalid("must provide a string", place)
        if len(value) < least:
            raise invalid(f"must be more than {least - 1} characters", place)
        if most is not None and len(value) > most:
            raise invalid(f"must be less than {most + 1} characters", place)

    return check


IDENTITY = string(MAX_ID, least=0)


def one_of(*words: str) -> Check:
    """Return the check of a word from a list."""

    def check(value: object, place: str) -> None:
        if value not in words:
            raise invalid(f"must be one of: {', '.join(words)}", place)

    return check


def https(value: object, place: str) -> None:
    """Check an https URL."""
    string(3_000)(value, place)
    if not str(value).startswith("https://"):
        raise invalid("must be an https URL", place)


def array(item: Check, most: int | None = None, least: int = 1) -> Check:
    """Return the check of an array and of its items."""

    def check(value: object, place: str) -> None:
        if not is_array(value) or len(value) < least:
            raise invalid(f"no less than {least} items allowed", place)
        if most is not None and len(value) > most:
            raise invalid(f"no more than {most} items allowed", place)
        for index, inner in enumerate(value):
            item(inner, f"{place}/{index}")

    return check


def record(required: Mapping[str, Check], optional: Mapping[str, Check]) -> Check:
    """Return the check of an object with these keys and no others."""
    known = {**required, **optional}

    def check(value: object, place: str) -> None:
        if not is_object(value):
            raise invalid("must provide an object", place)
        if unknown := sorted(set(value) - set(known)):
            raise invalid(f"invalid additional property: {unknown[0]}", place)
        for key in required:
            if key not in value:
                raise invalid(f"missing required field: {key}", place)
        for key, inner in value.items():
            known[key](inner, f"{place}/{key}")

    return check


def tagged(kinds: Mapping[str, Check], mistake: str = "") -> Check:
    """Return the check of an object with one of these types; `mistake` is Slack's sentence for another type."""

    def check(value: object, place: str) -> None:
        if not is_object(value):
            raise invalid("must provide an object", place)
        kind = text_of(value, "type")
        if kind in kinds:
            kinds[kind](value, place)
        elif mistake:
            raise invalid(mistake, place)
        elif "type" not in value:
            raise invalid("missing required field: type", place)
        else:
            raise invalid(f"unsupported type: {kind or 'none'}", f"{place}/type")

    return check


def some(names: Sequence[str], check: Check) -> Check:
    """Return a check that also wants one of these keys."""

    def with_names(value: object, place: str) -> None:
        if is_object(value) and not set(names) & value.keys():
            raise invalid(f"missing required field: {' or '.join(names)}", place)
        check(value, place)

    return with_names


def unique(name: str, key: str, check: Check) -> Check:
    """Return a check that also wants another `key` in each item of the array `name`."""

    def with_keys(value: object, place: str) -> None:
        check(value, place)
        if is_object(value):
            check_unique([text_of(item, key) for item in objects(value.get(name))], key, f"{place}/{name}")

    return with_keys


def check_unique(given: Sequence[str], name: str, place: str) -> None:
    """Raise SlackRefusal for a value that appears twice; empty ones do not count."""
    for index, one in enumerate(given):
        if one and one in given[:index]:
            raise invalid(f"`{name}` {one!r} already exists", place)


def plain(most: int) -> Check:
    """Return the check of a text object of the type plain_text."""
    return tagged({"plain_text": record({"type": anything, "text": string(most)}, {"emoji": flag})})


def text(most: int) -> Check:
    """Return the check of a text object of either type."""
    marked = record({"type": anything, "text": string(most)}, {"verbatim": flag})
    return tagged({"plain_text": plain(most), "mrkdwn": marked})


def length(value: object) -> int:
    """Return the number of characters of all texts in a value."""
    if isinstance(value, str):
        return len(value)
    if is_array(value):
        return sum(map(length, value))
    if is_object(value):
        return length(value.get("text")) + length(value.get("elements"))
    return 0
