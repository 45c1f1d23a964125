"""The patterns of a search, compiled by the library RE2. `search.py` loads this module with the first search."""

import re

import re2

from gofer.files.search import Search
from gofer.values.errors import ToolError

_LONGEST_PATTERN = 1_000
_LARGEST_PROGRAM = 10_000


def compiled(request: Search, *, utf8: bool) -> "re2.Pattern":
    """Return the compiled pattern for lines in UTF-8 or in a single-byte encoding.

    Raises ToolError for an invalid pattern.
    """
    if len(request.pattern) > _LONGEST_PATTERN:
        raise ToolError(f"The pattern is longer than {_LONGEST_PATTERN:,} characters; look for a part of it.")
    if anchor := re.search(r"(?<!\\)(?:\\\\)*(\\[AzZ])", request.pattern):
        raise ToolError(f"{anchor[1]} is not supported, as each line is searched by itself; use ^ or $.")
    options = re2.Options()
    options.never_nl = True
    options.log_errors = False
    options.case_sensitive = not request.ignore_case
    pattern = f"(?m:{request.pattern})"
    try:
        # Compile the bare pattern first, so that its brackets cannot close the wrapper's group.
        re2.compile(request.pattern.encode(), options)
        if not utf8:
            options.encoding = re2.Options.Encoding.LATIN1
        expression = re2.compile(pattern.encode(), options)
    except (re2.error, UnicodeEncodeError) as error:
        raise ToolError(_refusal(request.pattern, error)) from error
    if expression.programsize > _LARGEST_PROGRAM:
        raise ToolError("The pattern is too large once its repetitions are written out; use smaller counts.")
    return expression


def _refusal(pattern: str, error: Exception) -> str:
    reason = error.args[0] if error.args else ""
    if isinstance(reason, bytes):
        message = reason.decode(errors="replace")
    else:
        message = str(reason)
    for construct, name in _UNSUPPORTED.items():
        if re.search(construct, pattern):
            return f"{name} not supported here: {message}. Use a plain pattern, then read the lines it finds."
    return f"The pattern is not valid: {message}. The syntax is that of RE2."


_UNSUPPORTED = {
    r"\(\?<?[=!]": "Look-around is",
    r"\(\?P=|\\[1-9]|\\g[<{]|\\k[<{']": "Back-references are",
    r"\(\?>": "Atomic groups are",
    r"[*+?}]\+": "Possessive repetition is",
    r"\(\?\(": "Conditions are",
    r"\{\d{4,}": "Repetition above 1,000 is",
}
