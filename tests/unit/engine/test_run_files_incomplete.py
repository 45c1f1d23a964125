"""Incomplete files of a run: files made from them are incomplete too."""

import json
import zipfile
from collections.abc import Iterator
from io import BytesIO

import pytest

from gofer.engine.own_step import OwnStep
from gofer.engine.results import DisplayLimits
from gofer.files.child import Children
from gofer.files.completeness import incomplete
from gofer.files.sandbox.python import sandbox
from gofer.tools.declare import bind_all
from gofer.tools.definition import Call, NewFile
from gofer.tools.definition import ToolResult as Result
from gofer.tools.files.tools import TOOLS as FILE_TOOLS
from gofer.tools.python import TOOLS as PYTHON_TOOLS
from gofer.tools.python import PythonClient
from gofer.values.missing import Missing
from support.documents.made_by_hand import lines, pdf
from support.engine.memory_run import MemoryRun, Said, at_work
from support.engine.memory_run import memory_run as empty_run
from support.engine.run_files import ask

pytestmark = pytest.mark.anyio
CHILDREN = Children()
SANDBOX = sandbox()
REPORT = NewFile("report.pdf", "application/pdf", pdf([lines([f"Page {n}"]) for n in range(1, 13)]), "Slack")
LAST = Missing("pages", "pages 4 to 12", "only a part was asked for", document="file_1")


@pytest.fixture(scope="module", autouse=True)
def ended() -> Iterator[None]:
    yield
    CHILDREN.close()
    SANDBOX.close()


async def with_files(*files: NewFile) -> OwnStep:
    """Return a step of a run that has these files."""
    made: MemoryRun = empty_run()
    made.tools |= {
        tool.name: tool for tool in (*bind_all(FILE_TOOLS, CHILDREN), *bind_all(PYTHON_TOOLS, PythonClient(SANDBOX)))
    }

    async def find(call: Call, said: Said) -> Result:
        return Result("found them", "files", files=files)

    made.tool("find", "read", find)
    step = await made.step()
    await ask(step, "1.0", "find")
    return step


async def beginning(step: OwnStep) -> str:
    """Return the id of a text that holds 3 of the 12 pages of the report."""
    await ask(step, "1.1", "extract_file", file=REPORT.id, last_page=3)
    return newest(step)


def newest(step: OwnStep) -> str:
    return list(step.workspace.files)[-1]


def said(step: OwnStep, file: str) -> str:
    """Return the sentence about the missing parts of a file, which every answer about it contains."""
    return incomplete(step.workspace.files[file].added.missing, file)


def test_file_id_depends_on_content_and_missing_parts() -> None:
    whole = NewFile("a.txt", "text/plain", b"3", "python")
    part = NewFile("a.txt", "text/plain", b"3", "python", missing=(LAST,))
    other = NewFile(
        "a.txt", "text/plain", b"3", "python", missing=(Missing("pages", LAST.part, LAST.reason, document="x"),)
    )
    again = NewFile("b.txt", "text/plain", b"3", "python", missing=(LAST,))
    assert len({whole.id, part.id, other.id}) == 3
    assert again.id == part.id


def test_file_id_of_an_attachment_is_unchanged_when_fetched_partly() -> None:
    source = {"tool": "slack_get_file", "arguments": {"file": "F1"}}
    known = NewFile("a.log", "text/plain", None, "Slack", source=source)
    fetched = NewFile("a.log", "text/plain", b"a\n", "Slack", source=source, missing=(LAST,))
    assert known.id == fetched.id


async def test_equal_content_of_complete_files_does_not_complete_an_incomplete_file() -> None:
    step = await with_files(REPORT)
    text = await beginning(step)
    await ask(step, "2.0", "python", code="3", files=[text], output_file="n.txt")
    part = newest(step)
    await ask(step, "2.1", "python", code="3", output_file="n.txt")
    assert newest(step) != part
    found = await ask(step, "2.2", "file_regex", file=part, pattern="3")
    assert said(step, part)
    assert said(step, part) in found.text


async def test_text_made_from_an_incomplete_text_is_incomplete() -> None:
    step = await with_files(REPORT)
    text = await beginning(step)
    await ask(step, "2.0", "python", code=f"files['{text}']*2", files=[text], output_file="twice.txt")
    twice = newest(step)
    given = await ask(step, "2.1", "extract_file", file=twice)
    again = newest(step)
    assert again not in {text, twice}
    lacks = said(step, again)
    assert f'pages 4 to 12, because only a part was asked for; get it with extract_file(file="{REPORT.id}", ' in lacks
    assert lacks in given.text
    assert lacks in (await ask(step, "2.2", "file_regex", file=again, pattern="Page 9")).text


async def test_member_of_an_incomplete_archive_is_incomplete() -> None:
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w") as target:
        target.writestr("a.txt", "some text")
    archive = NewFile("all.zip", "application/zip", packed.getvalue(), "Slack", missing=(LAST,))
    step = await with_files(archive)
    given = await ask(step, "2.0", "extract_file", file=archive.id, member="a.txt")
    assert said(step, newest(step))
    assert said(step, newest(step)) in given.text


LONG = "\n".join(f"line {n} of a text that only a preview is shown of" for n in range(6_000))
ROWS = json.dumps([{"name": f"row {n} of a long list"} for n in range(6_000)])


@pytest.mark.parametrize(
    ("content", "tool", "arguments"),
    [
        (LONG, "python", {"code": "'\\n'.join(files['{file}'] for n in range(2))", "files": ["{file}"]}),
        (ROWS, "jq", {"file": "{file}", "program": "limit(200; .[]) | .name"}),
    ],
)
async def test_long_answer_about_an_incomplete_file_becomes_an_incomplete_file(
    content: str, tool: str, arguments: dict[str, object]
) -> None:
    source = NewFile("a.txt", "text/plain", content.encode(), "Slack", missing=(LAST,))
    step = await with_files(source)
    filled = json.loads(json.dumps(arguments).replace("{file}", source.id))
    working = at_work(step, shown=DisplayLimits(whole=300))
    given = await ask(working, "2.0", tool, **filled)
    result = newest(step)
    assert result.startswith("result_")
    assert f'"{result}"' in given.text
    assert given.text.endswith(said(step, result))
    assert said(step, result).startswith(f"{result} is incomplete.")
    found = await ask(working, "2.1", "file_regex", file=result, pattern="nowhere")
    assert said(step, result) in found.text


async def test_empty_text_of_an_incomplete_file_is_reported_as_incomplete() -> None:
    empty = NewFile("a.txt", "text/plain", b"\n", "Slack", missing=(LAST,))
    step = await with_files(empty)
    assert said(step, empty.id) in (await ask(step, "2.0", "file_read", file=empty.id)).text
