"""The list of functions in docs/architecture.md, compared with the calls of a real mention."""

import importlib
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from operator import attrgetter
from pathlib import Path
from types import CodeType, FrameType

import pytest

from support.app.company import ROOT, ask_about_the_decision, company

pytestmark = pytest.mark.anyio
HEADING = "## A mention, from request to answer\n"
ROW = re.compile(r"^\| `([\w/]+)\.py` \| `([\w.]+)` \|", re.MULTILINE)


def listed() -> dict[CodeType, str]:
    """Return the code of each documented function with its name."""
    section = (ROOT / "docs" / "architecture.md").read_text().partition(HEADING)[2].partition("\n## ")[0]
    found: dict[CodeType, str] = {}
    for path, name in ROW.findall(section):
        function: Callable[..., object] = attrgetter(name)(importlib.import_module(f"gofer.{path.replace('/', '.')}"))
        found[function.__code__] = f"{path} {name}"
    return found


@contextmanager
def noting(wanted: dict[CodeType, str]) -> Iterator[list[str]]:
    """Note which of the wanted functions are called, each once, in the order of the first calls."""
    passed: dict[str, None] = {}

    def look(frame: FrameType, event: str, arg: object) -> None:
        if event == "call" and frame.f_code in wanted:
            passed.setdefault(wanted[frame.f_code])

    noted: list[str] = []
    before = sys.getprofile()
    sys.setprofile(look)
    try:
        yield noted
    finally:
        sys.setprofile(before)
        noted += passed


async def test_mention_calls_the_documented_functions_in_order(tmp_path: Path) -> None:
    wanted = listed()
    async with company(tmp_path) as made:
        with noting(wanted) as passed:
            await ask_about_the_decision(made)
            await made.ended()
    assert passed == [*wanted.values()]
    assert passed
