"""The notation of extracted text: Markdown tables, raised and struck words; and the numbers that documents write."""

from collections.abc import Iterable, Sequence

_RAISED = str.maketrans("0123456789+-−()=n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁽⁾⁼ⁿ")
_RAISABLE = frozenset("0123456789+-−()=n ")


def markdown(rows: Sequence[Sequence[str]]) -> str:
    """Return the rows as a Markdown table, the first as its head; empty rows and columns are left out."""
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
    """Return one row."""
    return f"| {' | '.join(cells)} |"


def rule(columns: int) -> str:
    """Return what stands below the head."""
    return f"|{' --- |' * columns}"


def cell(text: str) -> str:
    """Return a text so that it stays within its cell."""
    if "|" not in text and "\n" not in text:
        return text.strip()
    return "<br>".join(part.strip() for part in text.strip().splitlines() if part.strip()).replace("|", "\\|")


def raised(text: str) -> str:
    """Raise powers and the marks of notes as they are seen: 10⁵, not 105; letters stay on their line."""
    if _RAISABLE.issuperset(text):
        return text.translate(_RAISED)
    return text


def struck(text: str) -> str:
    """Mark a text as crossed out."""
    if text.strip():
        return f"~~{text}~~"
    return text


def joined(text: str) -> str:
    """Cross out as a whole what is crossed out piece by piece."""
    if "~~~~" in text:
        return text.replace("~~~~", "")
    return text


def whole(said: str, otherwise: int) -> int:
    """Return the number that a document writes in up to nine digits; `otherwise` for anything else it may say."""
    # Python calls a raised two a digit, and refuses to read it.
    if said.isdecimal() and len(said) < 10:
        return int(said)
    return otherwise


def signed(author: str, text: str) -> str:
    """Return what a person wrote beside a text, behind the name of the person where it is known."""
    if author:
        return f"{author}: {text}"
    return text


def linked(text: str, target: str) -> str:
    """Return a text with the address that it leads to; the text alone where it is the address, or leads nowhere."""
    if "://" in target and target != text:
        return f"[{text}]({target})"
    return text
