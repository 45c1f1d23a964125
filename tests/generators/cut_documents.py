"""The table of documents that are cut in each way, with the missing parts that a model reads of each.

The result of `extract_file`, the file's line in each request and the answer of a search name the same missing parts.
`PYTHONPATH=tests python -m generators.cut_documents` writes the table into docs/files.md, and a test compares the two.
Ids are shortened, because they are hashes of bytes that a library for compression makes.
"""

import asyncio
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from gofer.engine.tail import tail
from gofer.files.child import Children
from gofer.tools.definition import Call, NewFile
from gofer.tools.definition import ToolResult as Result
from gofer.workflows.schema import Limits
from support.documents.made_by_hand import lines, pdf, pptx, row, shape, xlsx
from support.engine.memory_run import Said
from support.engine.run_files import ask, memory_run

PAGE = Path(__file__).parents[2] / "docs" / "files.md"
BEGINS = "<!-- Written by tests/generators/cut_documents.py -->\n"
ENDS = "<!-- End of what tests/generators/cut_documents.py writes -->\n"
_ID = re.compile(r"\b(file|text)_[0-9a-f]{12}")
SCAN = b"q 612 0 0 792 0 0 cm BI /W 1 /H 1 /CS /G /BPC 8 ID \x00 EI Q"
"""A page that is one image."""


@dataclass(frozen=True)
class Cut:
    """One document, and the words searched for in its text."""

    title: str
    name: str
    make: Callable[[], bytes]
    pattern: str
    asked: dict[str, object]
    """Arguments of `extract_file` beside the file."""


def many_rows() -> bytes:
    cells = "".join(
        f"<row>{''.join(f'<c><v>{number}</v></c>' for _ in range(5))}</row>" for number in range(1, 300_002)
    )
    return xlsx({"Sales": cells, "Notes": row(1, "Checked")})


def two_sheets() -> bytes:
    return xlsx({"Sales": row(1, "Month", "Sum"), "Costs": row(1, "Month", "Sum")})


def many_fields() -> bytes:
    return "\n".join(["id,name", *(f"{number},{'x' * 190}" for number in range(2, 110_001))]).encode()


def long_text() -> bytes:
    return b"one more line of a log\n" * 900_000


def pages(count: int) -> Sequence[bytes]:
    return [
        lines([f"Page {number} says in plain words what it has to say, at length."]) for number in range(1, count + 1)
    ]


def some_scans() -> bytes:
    made = [*pages(40)]
    for number in (4, 17, 30):
        made[number - 1] = SCAN
    return pdf(made)


CUTS = (
    Cut("a workbook of 300,001 rows and a second sheet", "sales.xlsx", many_rows, r"\b250000\b", {}),
    Cut("one sheet of a workbook", "sales.xlsx", two_sheets, "Costs", {"sheet": "Sales"}),
    Cut("a CSV of 21 MB", "list.csv", many_fields, r"\b109999\b", {}),
    Cut("a text of 21 MB", "app.log", long_text, "refused", {}),
    Cut("a PDF of 2,300 pages", "book.pdf", lambda: pdf(pages(2_300)), "Page 2150", {}),
    Cut("pages 3 to 5 of a PDF", "book.pdf", lambda: pdf(pages(9)), "Page 7", {"first_page": 3, "last_page": 5}),
    Cut("three scans among forty pages", "contract.pdf", some_scans, "Page 17", {}),
    Cut("a scan of 34 pages", "scan.pdf", lambda: pdf([SCAN] * 34), "Total", {}),
    Cut("a PDF with a damaged page", "a.pdf", lambda: pdf(pages(3)).replace(b" 11 0 R ", b" 99 0 R "), "Page 2", {}),
    Cut("a PDF that is cut off", "a.pdf", lambda: pdf(pages(3)).removesuffix(b"%%EOF\n"), "Page 4", {}),
    Cut("a slide that is a picture", "a.pptx", lambda: pptx([shape("Plan"), "<p:pic/>"]), "Costs", {}),
    Cut("a PDF that is complete", "a.pdf", lambda: pdf(pages(3)), "Page 4", {}),
)


async def row_of(children: Children, cut: Cut) -> str:
    """Return the row of one document. Raises ValueError when result, line and search name different missing parts."""
    document = NewFile(cut.name, "", cut.make(), "Slack")

    async def find(call: Call, said: Said) -> Result:
        return Result("found", "found", files=(document,))

    made = memory_run(children)
    made.tool("find", "read", find)
    step = await made.step()
    await ask(step, "1.0", "find")
    result = await ask(step, "1.1", "extract_file", file=document.id, **cut.asked)
    text = next(file for file in step.workspace.files if file.startswith("text_"))
    found = await ask(step, "1.2", "file_regex", file=text, pattern=cut.pattern)
    end = json.loads(tail(step.progress, step.workspace, Limits())[1:-2])["content"]
    (line,) = re.findall(rf"- {text} (.*)", end)
    missing = {_missing(text) for text in (result.text.partition("\n")[0], line, found.text)}
    if len(missing) != 1:
        raise ValueError(f"{cut.title}: {sorted(missing)} differ")
    return f"| {cut.title} | {missing.pop() or 'nothing'} |"


def _missing(text: str) -> str:
    """Return the missing parts that a text names, as one cell; empty for none."""
    _, mark, parts = text.partition("Missing: ")
    return _ID.sub(r"\1_…", f"{mark}{parts}".removesuffix("]")).replace("|", "\\|")


async def _rows() -> Sequence[str]:
    children = Children()
    try:
        return [await row_of(children, cut) for cut in CUTS]
    finally:
        children.close()


def table() -> str:
    """Return the table as Markdown."""
    head = ["| document | a model reads |"]
    return "\n".join([*head, "|---|---|", *asyncio.run(_rows()), ""])


def written() -> str:
    """Return the table as docs/files.md has it."""
    return PAGE.read_text().partition(BEGINS)[2].partition(ENDS)[0]


if __name__ == "__main__":
    before, _, rest = PAGE.read_text().partition(BEGINS)
    PAGE.write_text(f"{before}{BEGINS}{table()}{ENDS}{rest.partition(ENDS)[2]}")
