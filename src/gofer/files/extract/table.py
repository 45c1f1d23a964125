"""How is a table written so that a model reads its rows and columns? As Markdown."""

from collections.abc import Iterable, Sequence


def markdown(rows: Sequence[Sequence[str]]) -> str:
    """The rows as a Markdown table, the first as its head; empty rows and columns are left out."""
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
    """One row."""
    return f"| {' | '.join(cells)} |"


def rule(columns: int) -> str:
    """What stands below the head."""
    return f"|{' --- |' * columns}"


def cell(text: str) -> str:
    """A text so that it stays within its cell."""
    if "|" not in text and "\n" not in text:
        return text.strip()
    return "<br>".join(part.strip() for part in text.strip().splitlines() if part.strip()).replace("|", "\\|")
