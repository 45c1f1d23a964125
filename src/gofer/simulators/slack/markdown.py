"""What does Slack make of Markdown: which of its own blocks, and may they stand in one message?"""

from collections.abc import Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token

PARSER = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
MAX_ROWS = 100
MAX_COLUMNS = 20
MAX_CELLS = 10_000
_OWN = frozenset({"heading_open", "table_open", "hr", "fence"})


def units(text: str) -> int:
    """The length of a text as JavaScript counts it; Slack does not say how it counts, and this is the stricter way."""
    return len(text.encode("utf-16-le", "replace")) // 2


def expanded(tokens: Sequence[Token]) -> int:
    """How many blocks Slack makes of one markdown block: each heading, table, rule and fence is one of its own."""
    count, flowing = 0, False
    for token in tokens:
        if token.type in _OWN:
            count, flowing = count + 1, False
        elif token.level == 0 and token.nesting >= 0 and not flowing:
            count, flowing = count + 1, True
    return count


def table_problem(tokens: Sequence[Token]) -> str:
    """What is wrong with the tables of a message, in the vendor's manner; empty when nothing is."""
    rows = columns = cells = 0
    for place, token in enumerate(tokens):
        match token.type:
            case "table_open":
                rows = 0
            case "tr_open":
                rows, columns = rows + 1, 0
            case "th_open" | "td_open":
                columns += 1
                cells += units(tokens[place + 1].content)
            case _:
                pass
        if rows > MAX_ROWS or columns > MAX_COLUMNS:
            return f"a table takes {MAX_ROWS} rows and {MAX_COLUMNS} columns"
    return f"the cells of all tables take {MAX_CELLS} characters" if cells > MAX_CELLS else ""
