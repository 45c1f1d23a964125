"""The notation of extracted text: Markdown tables, superscripts, strikethrough and links."""

from collections.abc import Iterable, Sequence

_RAISED = str.maketrans("0123456789+-−()=n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁽⁾⁼ⁿ")
_RAISABLE = frozenset("0123456789+-−()=n ")


def markdown(rows: Sequence[Sequence[str]]) -> str:
    """Return rows as a Markdown table without empty rows and columns. The first row is the head."""
    kept = [[cell(text) for text in row] for row in rows]
    kept = [row for row in kept if any(row)]
    width = max((len(row) for row in kept), default=0)
    padded = [row + [""] * (width - len(row)) for row in kept]
    columns = [at for at in range(width) if any(row[at] for row in padded)]
    if not columns:
        return ""
    lines = [line([row[at] for at in columns]) for row in padded]
    return "\n".join([lines[0], rule(len(columns)), *lines[1:]])


def line(cells: Iterable[str]) -> str:
    """Return one row of a Markdown table."""
    return f"| {' | '.join(cells)} |"


def rule(columns: int) -> str:
    """Return the line below the head of a Markdown table."""
    return f"|{' --- |' * columns}"


def cell(text: str) -> str:
    """Return a text for a table cell, with bars escaped and line breaks as `<br>`."""
    if "|" not in text and "\n" not in text:
        return text.strip()
    return "<br>".join(part.strip() for part in text.strip().splitlines() if part.strip()).replace("|", "\\|")


def superscript(text: str) -> str:
    """Return digits and signs as superscripts, 10⁵ and not 105. Text with letters remains unchanged."""
    if _RAISABLE.issuperset(text):
        return text.translate(_RAISED)
    return text


def struck_through(text: str) -> str:
    """Return a text with strikethrough."""
    if text.strip():
        return f"~~{text}~~"
    return text


def hidden(text: str) -> str:
    """Return a text that the document has and people do not see, marked as such."""
    if text.strip():
        return f"[hidden: {text.strip()}]"
    return text


def merged_strikethrough(text: str) -> str:
    """Merge adjacent pieces of strikethrough into one."""
    if "~~~~" in text:
        return text.replace("~~~~", "")
    return text


def integer(text: str, default: int) -> int:
    """Return the number in a text of up to nine decimal digits, else `otherwise`."""
    # `isdigit` would also accept superscripts, which `int` refuses.
    if text.isdecimal() and len(text) < 10:
        return int(text)
    return default


def with_author(author: str, text: str) -> str:
    """Return a person's comment after the name of its author, if the author is known."""
    if author:
        return f"{author}: {text}"
    return text


def markdown_link(text: str, target: str) -> str:
    """Return a Markdown link; only the text if the target is no URL or equals the text."""
    if "://" in target and target != text:
        return f"[{text}]({target})"
    return text
