"""Limits of a run's files: many files, long lines, a full store and an unavailable store."""

import asyncio
from collections.abc import Iterator, Sequence

import pytest

from gofer.engine.own_step import OwnStep
from gofer.engine.permitted_call import Permitted
from gofer.engine.results import DisplayLimits
from gofer.engine.run_files import FETCHES, FILES, RunFiles
from gofer.files.child import Children
from gofer.journal.workspace_entries import FileAdded
from gofer.tools.definition import Call, NewFile
from gofer.tools.definition import ToolResult as Result
from gofer.values.errors import TemporaryError
from support.engine import run_files
from support.engine.memory_run import PROVENANCE, MemoryRun, Said, at_work
from support.engine.run_files import LINES, ask

pytestmark = pytest.mark.anyio
CHILDREN = Children()


@pytest.fixture(scope="module", autouse=True)
def ended() -> Iterator[None]:
    yield
    CHILDREN.close()


def memory_run(text: str = LINES) -> MemoryRun:
    return run_files.memory_run(CHILDREN, text)


@pytest.mark.parametrize("trouble", ["full", "away"])
async def test_effect_is_recorded_although_the_result_cannot_be_stored(trouble: str) -> None:
    made = memory_run()

    async def find(call: Call, said: Said) -> Result:
        files = [NewFile(f"{n}", "text/plain", None, "here", source={"n": n}) for n in range(FILES)]
        return Result("", "", files=files)

    async def post(call: Call, said: Said) -> Result:
        return Result(LINES, "posted", {"ts": "1"})

    made.tool("find", "read", find)
    made.tool("post", "blind", post)
    step = await made.step()
    if trouble == "full":
        await ask(step, "1.0", "find")
    else:
        step.files = Away(step)
    posted = await ask(step, "1.1", "post")
    assert (posted.status, posted.details) == ("ok", {"ts": "1"})
    assert posted.text.startswith("line 1 of a long report")
    assert posted.text.endswith("could not be kept.]")
    assert len(posted.text) < 10_000


class Away(RunFiles):
    """Files of a run whose store is unavailable."""

    def __init__(self, step: OwnStep) -> None:
        super().__init__(step._journal, step.services, step.workspace)

    async def add(self, files: Sequence[NewFile], *, always: bool = False) -> Sequence[FileAdded]:
        if files:
            raise TemporaryError("the store did not answer")
        return ()


async def test_text_of_few_tokens_and_many_characters_becomes_a_file() -> None:
    made = memory_run("x" + " " * 200_000 + "y")
    step = await made.step()
    shown = await ask(step, "1.0", "flood")
    (file,) = step.workspace.files
    assert file in shown.text
    assert "were cut" not in shown.text


@pytest.mark.parametrize("line", ["漢" * 3_000, "word " * 700, "𝄞" * 3_900])
async def test_long_lines_shown_by_file_read_create_no_file(line: str) -> None:
    made = memory_run("\n".join([line] * 30))
    step = await made.step()
    working = at_work(step, shown=DisplayLimits(whole=500, preview=100))
    await ask(working, "1.0", "flood")
    (file,) = step.workspace.files
    read = await ask(working, "1.1", "file_read", file=file, start_line=3)
    assert read.text.splitlines()[1].startswith(line[:50])
    assert "more characters of line 3; go on with peek_file" in read.text
    assert "[Go on with start_line=4.]" in read.text
    assert list(step.workspace.files) == [file]


async def test_concurrent_attachment_fetches_are_bounded() -> None:
    made, under_way, most = memory_run(), 0, 0
    files = [
        NewFile(f"{n}", "text/plain", None, "Slack", 5, {"tool": "fetch", "arguments": {"text": f"{n}"}})
        for n in range(40)
    ]

    async def find(call: Call, said: Said) -> Result:
        return Result("found", "found", files=files)

    async def fetch(call: Call, said: Said) -> Result:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0.001)
        under_way -= 1
        return Result("", "", files=(NewFile("x", "text/plain", said.text.encode(), "Slack"),))

    made.tool("find", "read", find)
    made.tool("fetch", "read", fetch)
    step = await made.step()
    await ask(step, "1.0", "find")
    read = step.services.tools["file_read"]
    calls = [Permitted(f"2.{n}", read, read.parse({"file": file.id})) for n, file in enumerate(files)]
    outcomes = await at_work(step).call_together(calls, PROVENANCE)
    assert [outcome.text.splitlines()[-1] for outcome in outcomes] == [f"{n}" for n in range(40)]
    assert most <= FETCHES
