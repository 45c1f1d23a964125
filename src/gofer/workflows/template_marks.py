"""Marks of template languages, which nothing replaces in the files of a repository."""

import re
from collections.abc import Iterator

_MARKS = re.compile(r"\$?\{\{[^{}\n]{1,200}\}\}|\{%[^{}\n]{1,200}%\}|<%[^%\n]{1,200}%>|\$\{[A-Za-z_][^{}\n]{0,200}\}")
_SECRET = re.compile(r"secret|token|password|api_?key|\benv\b|\bvars\b|\$\{[A-Z0-9_]+\}", re.IGNORECASE)


def templates(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield each mark of a template: where it begins in the text, what is wrong, and what to do instead."""
    for found in _MARKS.finditer(text):
        mark = found[0]
        message = f"`{mark[:80]}` stays as it is, because prompts and workflow files are not templates."
        if _SECRET.search(mark):
            yield found.start(), message, "Remove it; a secret is a setting of the process, and no text holds one."
        else:
            yield found.start(), message, "Say in words what is meant, or put it in backticks if it is an example."
