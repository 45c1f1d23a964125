"""The printed map of names, and the findings that are not compared."""

import json
import re
from collections.abc import Mapping

NAMES: Mapping[str, str] = {}
"""Words that changed since the corpus was frozen: the old word, and its replacement."""

EXCEPTED = frozenset(
    (
        "missing-file",
        "missing-skill",
        "tool-not-granted",
        "unknown-argument",
        "unknown-subagent",
        "unknown-tool",
        "unmentioned-tool",
    )
)
"""Rules of `gofer check` about names in Markdown; both sides leave their findings out."""

SEPARATORS = ((", ", ": "), (",", ":"))
"""How lines of JSON are written in the corpus: with spaces, and in canonical form without."""


def renamed(text: str, names: Mapping[str, str] = NAMES) -> str:
    """Return a frozen text with each old word replaced, whole words only; objects with sorted keys stay sorted."""
    if not names:
        return text
    longest_first = sorted(names, key=len, reverse=True)
    either = "|".join(map(re.escape, longest_first))
    pattern = re.compile(rf"(?<!\w)(?:{either})(?!\w)")
    rows = text.split("\n")
    return "\n".join(_sorted_as_before(row, pattern.sub(lambda found: names[found[0]], row)) for row in rows)


def _sorted_as_before(before: str, after: str) -> str:
    """Sort the keys of a line of JSON anew where they were sorted before a word in them was replaced."""
    if before == after or not before.startswith("{"):
        return after
    for separators in SEPARATORS:
        if before == _sorted(before, separators):
            return _sorted(after, separators)
    return after


def _sorted(text: str, separators: tuple[str, str]) -> str:
    try:
        value: object = json.loads(text)
    except ValueError:
        return text
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=separators)
