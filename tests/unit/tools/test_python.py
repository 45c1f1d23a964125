"""The tool python: code computes over the files of its run, and its output may become one of them."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from gofer.engine.own_step import OwnStep
from gofer.engine.permitted_call import Permitted
from gofer.files.child import Children
from gofer.files.sandbox.python import sandbox
from gofer.journal.entries import ToolResult
from gofer.tools.declare import bind_all
from gofer.tools.definition import Call, NewFile
from gofer.tools.definition import ToolResult as Result
from gofer.tools.files.read import file_read, peek_file
from gofer.tools.python import TOOLS as PYTHON_TOOLS
from gofer.tools.python import PythonClient
from gofer.values.errors import ToolError
from support.engine.memory_run import PROVENANCE, Said, at_work, says
from support.engine.memory_run import MemoryRun as Room
from support.engine.memory_run import memory_run as empty_room
from support.stand_ins import NOON

pytestmark = pytest.mark.anyio

TABLE = NewFile("costs.csv", "text/csv", b"team,usd\npay,12.50\nops,7.25\n", "a test")
PICTURE = NewFile("logo.png", "image/png", b"\x89PNG\r\n\0\0", "a test")
SUM = f"import csv\nsum(float(row['usd']) for row in csv.DictReader(files['{TABLE.id}'].splitlines()))"


@pytest.fixture(scope="module")
def children() -> Iterator[Children]:
    made = sandbox()
    yield made
    made.close()


def scripts(call: Call, skill: str, script: str) -> str:
    if (skill, script) != ("tables", "scripts/total.py"):
        raise ToolError(f"The skill {skill!r} has no {script!r}.")
    return "def total(text):\n    return sum(int(line) for line in text.split())\n"


@pytest.fixture
def room(children: Children) -> Room:
    """A run with a tool `find` that adds two files."""
    made = empty_room(says("done"))

    async def find(call: Call, said: Said) -> Result:
        return Result(f"Found {TABLE.id} and {PICTURE.id}.", "a table", files=(TABLE, PICTURE))

    made.tool("find", "read", find)
    made.tools |= {
        tool.name: tool
        for tool in (*bind_all(PYTHON_TOOLS, PythonClient(children, scripts)), *bind_all((file_read, peek_file), None))
    }
    return made


async def ask(step: OwnStep, call: str, tool: str, **arguments: object) -> ToolResult:
    declared = step.services.tools[tool]
    outcome = await at_work(step).call(Permitted(call, declared, declared.parse(arguments)), PROVENANCE)
    assert isinstance(outcome, ToolResult)
    return outcome


async def test_python_reads_the_files_named_in_the_call(room: Room) -> None:
    step = await room.step()
    await ask(step, "1.0", "find")
    given = await ask(step, "2.0", "python", code=SUM, files=[TABLE.id])
    assert (given.status, given.text, given.summary) == ("ok", "19.75", "1 line, 5 bytes")


async def test_python_sees_no_file_missing_from_the_call(room: Room) -> None:
    step = await room.step()
    await ask(step, "1.0", "find")
    given = await ask(step, "2.0", "python", code=SUM)
    assert given.status == "error"
    assert f"there is no {TABLE.id} in `files`; name it in the argument `files`, which has none" in given.text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"code": "1", "files": ["file_x"]}, "There is no file 'file_x'"),
        ({"code": "1", "files": [PICTURE.id]}, "is not text; use extract_file to get its text"),
        ({}, "There is nothing to run; write Python as `code`"),
        ({"code": " \n"}, "There is nothing to run"),
        ({"code": "1", "skill": "tables"}, "A script needs both `skill` and `script`"),
        ({"script": "scripts/total.py"}, "A script needs both `skill` and `script`"),
        ({"skill": "tables", "script": "x.py"}, "The skill 'tables' has no 'x.py'."),
        ({"code": "1 / 0"}, "Line 1: ZeroDivisionError: division by zero."),
    ],
)
async def test_python_refuses_a_call_that_cannot_run_and_the_next_call_works(
    room: Room, arguments: dict[str, object], said: str
) -> None:
    step = await room.step()
    await ask(step, "1.0", "find")
    given = await ask(step, "2.0", "python", **arguments)
    assert given.status == "error"
    assert said in given.text
    assert (await ask(step, "3.0", "python", code="1 + 1")).text == "2"


async def test_python_output_becomes_a_file_that_later_code_reads(room: Room) -> None:
    step = await room.step()
    code = "for n in range(1, 201):\n    print(n, n * n, sep=',')"
    given = await ask(step, "1.0", "python", code=code, output_file="out/squares.csv")
    ((file, held),) = step.workspace.files.items()
    assert given.text.startswith(f"{file} 'squares.csv' is written: 200 lines, 1750 bytes. It begins with:\n1,1\n2,4\n")
    assert len(given.text) < 600
    assert (held.added.media_type, held.added.origin) == ("text/csv", "python")
    total = f"sum(int(line.split(',')[1]) for line in files['{file}'].splitlines())"
    assert (await ask(step, "2.0", "python", code=total, files=[file])).text == "2686700"
    assert "200,40000" in (await ask(step, "3.0", "file_read", file=file, start_line=200)).text


async def test_python_shows_a_small_output_file_whole(room: Room) -> None:
    step = await room.step()
    given = await ask(step, "1.0", "python", code="'# Report'", output_file="report")
    assert given.text.endswith("'report' is written: 1 line, 8 bytes. It contains:\n# Report")


async def test_python_stores_a_long_output_as_a_file_unasked(room: Room) -> None:
    step = await room.step()
    given = await ask(step, "1.0", "python", code="for n in range(20_000):\n    print('row', n)")
    ((file, held),) = step.workspace.files.items()
    assert file in given.text
    assert len(given.text) < 10_000
    assert held.added.origin == "python"


async def test_python_code_without_output_is_answered_with_a_hint(room: Room) -> None:
    step = await room.step()
    told = await ask(step, "1.0", "python", code="x = 1", output_file="x.txt")
    assert told.text == "The code ran without output, and its last line has no value; print the values that you need."
    assert step.workspace.files == {}


async def test_python_runs_the_script_of_a_skill_before_the_code(room: Room) -> None:
    step = await room.step()
    given = await ask(step, "1.0", "python", code="total('1 2 39')", skill="tables", script="scripts/total.py")
    assert given.text == "42"


async def test_python_refuses_a_skill_script_in_a_run_without_skills(children: Children, room: Room) -> None:
    room.tools |= {tool.name: tool for tool in bind_all(PYTHON_TOOLS, PythonClient(children))}
    step = await room.step()
    given = await ask(step, "1.0", "python", skill="tables", script="scripts/total.py")
    assert given.text == "This run has no skill 'tables'; write the code of the script in `code`."


async def test_python_sees_the_recorded_time_of_the_call_after_a_take_over(room: Room) -> None:
    step = await room.step()
    now = "from datetime import datetime\nprint(datetime.now())"
    declared = step.services.tools["python"]
    item = Permitted("1.0", declared, declared.parse({"code": now}), {"code": now})
    step.note(item.intent)
    await step.commit()
    room.clock.advance(3_600)
    resumed = await room.step("another owner")
    assert (await ask(resumed, "1.0", "python", code=now)).text.strip() == str(
        datetime.fromtimestamp(NOON, UTC).replace(tzinfo=None)
    )
    assert (await ask(resumed, "1.1", "python", code=now)).text.strip() == str(
        datetime.fromtimestamp(NOON + 3_600, UTC).replace(tzinfo=None)
    )
