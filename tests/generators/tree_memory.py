"""The memory of a helper and its children, while they read documents made to exhaust it.

`PYTHONPATH=tests python -m generators.tree_memory` prints the most that each takes: the resident bytes of the helper
and all that it began, as /proc says them, added up a hundred times a second. Pages that two processes share count
twice. A process that this one began and that runs no program of its own yet still has the memory of this one, and does
not count.
"""

import asyncio
import contextlib
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

from gofer.files.child import Children
from gofer.files.document import extract
from gofer.files.json_query import jq
from gofer.files.sandbox.python import Program, run, sandbox
from gofer.values.errors import ToolError
from support.documents.made_by_hand import pdf, xlsx

PROC = Path("/proc")
MOST = 512
"""Megabytes that the processes of one job may have together."""
_EVERY = 0.01
_PARENT = 1
"""The field of /proc/*/stat behind the name that holds the parent."""


def workbook() -> bytes:
    """Return a workbook with a hundred thousand cells of one long text."""
    text = f"<si><t>{'long ' * 6000}</t></si>"
    cells = "".join(f'<row r="{n}"><c r="A{n}" t="s"><v>0</v></c></row>' for n in range(1, 100_001))
    return xlsx({"A": cells}, shared=text)


def page() -> bytes:
    """Return a PDF with 60 million characters on its page."""
    shown = b"(aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa) Tj " * 1_500_000
    return pdf([b"BT /F1 9 Tf 72 720 Td " + shown + b"ET"], compress=True)


def objects() -> bytes:
    """Return JSON that takes far more memory in jq than on disk."""
    return b"[" + b",".join(b'{"a": %d}' % n for n in range(4_000_000)) + b"]"


async def _read(children: Children, data: bytes) -> object:
    return await extract(children, data)


async def _asked(children: Children, data: bytes) -> object:
    return await jq(children, "length", data)


async def _computed(children: Children, data: bytes) -> object:
    return await run(children, Program("[i for i in range(3_000_000)]", files={"f": data.decode()}))


def text() -> bytes:
    """Return a text that Python stores with four bytes per character."""
    return b"x" * 23_000_000 + "😀".encode()


JOBS: dict[str, tuple[Callable[[], Children], Callable[[Children, bytes], Awaitable[object]], Callable[[], bytes]]] = {
    "a workbook": (Children, _read, workbook),
    "a page of a PDF": (Children, _read, page),
    "jq": (Children, _asked, objects),
    "code": (sandbox, _computed, text),
}


async def peak(name: str) -> int:
    """Return the peak memory of all processes of a job together, in megabytes."""
    make, work, data = JOBS[name]
    children = make()
    earlier = descendants()
    most = 0
    try:
        job = asyncio.ensure_future(work(children, data()))
        while not job.done():
            await asyncio.wait([job], timeout=_EVERY)
            begun = descendants() - earlier
            most = max(most, sum(resident(one) for one in begun if has_program(one)))
        # Most are stopped, and none exceeds its limits before.
        with contextlib.suppress(ToolError):
            await job
    finally:
        children.close()
    return most >> 20


def descendants() -> set[int]:
    """Return the processes that this one began, and those that they began."""
    parents = {int(one.name): parent(one.name) for one in PROC.iterdir() if one.name.isdigit()}
    found: set[int] = set()
    newest = {os.getpid()}
    while newest:
        newest = {process for process, above in parents.items() if above in newest} - found
        found |= newest
    return found


def has_program(process: int) -> bool:
    """Return whether a process runs a program of its own, and is not this one between fork and exec."""
    with contextlib.suppress(OSError):
        return (PROC / str(process) / "cmdline").read_bytes() != (PROC / "self" / "cmdline").read_bytes()
    return False


def parent(process: str) -> int:
    """Return the parent of a process; 0 for one that has ended."""
    try:
        return int((PROC / process / "stat").read_text().rpartition(")")[2].split()[_PARENT])
    except OSError:
        return 0


def resident(process: int) -> int:
    """Return the resident bytes of a process; 0 for one that has ended."""
    try:
        lines = (PROC / str(process) / "status").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) << 10 for line in lines if line.startswith("VmRSS:"))


if __name__ == "__main__":
    for known in JOBS:
        sys.stdout.write(f"| {known} | {asyncio.run(peak(known))} MB |\n")
