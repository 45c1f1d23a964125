"""Regular expressions of eval files. RE2 searches in linear time, because a model's text may be long."""

from functools import lru_cache

import re2

from gofer.values.canonical_json import clean

LONGEST_PATTERN = 1_000
LONGEST_TEXT = 1_000_000
"""The most characters of a text that a pattern searches."""
_LARGEST_PROGRAM = 10_000


class PatternError(ValueError):
    """A pattern that cannot be used. Its text is one sentence with the reason."""


def is_found(pattern: str, text: str) -> bool:
    """Return whether the pattern matches anywhere in the first `LONGEST_TEXT` characters. Raises PatternError."""
    data = clean(text[:LONGEST_TEXT]).encode()
    return compiled(pattern).search(data, 0, len(data)) is not None


@lru_cache(maxsize=256)
def compiled(pattern: str) -> "re2.Pattern":
    """Return the compiled pattern, in the syntax of RE2. Raises PatternError."""
    if len(pattern) > LONGEST_PATTERN:
        raise PatternError(f"The pattern is longer than {LONGEST_PATTERN:,} characters.")
    options = re2.Options()
    options.log_errors = False
    try:
        expression = re2.compile(pattern.encode(), options)
    except (re2.error, UnicodeEncodeError) as error:
        raise PatternError(f"The pattern is not valid: {_reason(error)}.") from error
    if expression.programsize > _LARGEST_PROGRAM:
        raise PatternError("The pattern is too large once its repetitions are written out.")
    return expression


def _reason(error: Exception) -> str:
    reason = error.args[0] if error.args else ""
    if isinstance(reason, bytes):
        return reason.decode(errors="replace")
    return str(reason)
