"""File tools on files of another type: the answer names the type and the tool that reads it."""

from collections.abc import Iterator

import pytest

from gofer.engine.own_step import OwnStep
from gofer.files.child import Children
from support.engine import run_files
from support.engine.memory_run import MemoryRun
from support.engine.run_files import ask

pytestmark = pytest.mark.anyio
CHILDREN = Children()


@pytest.fixture(scope="module", autouse=True)
def ended() -> Iterator[None]:
    yield
    CHILDREN.close()


async def holding(text: str) -> tuple[OwnStep, str]:
    """A step of a run with one file."""
    made: MemoryRun = run_files.memory_run(CHILDREN, text)
    step = await made.step()
    await ask(step, "1.0", "flood")
    (file,) = step.workspace.files
    return step, file


@pytest.mark.parametrize(("tool", "asked"), [("jq", {"program": "."}), ("grep_json", {"pattern": "x"})])
async def test_json_tools_on_a_text_file_name_the_tools_that_read_text(tool: str, asked: dict[str, object]) -> None:
    step, file = await holding("a word and a line\n" * 20_000)
    refused = await ask(step, "1.1", tool, file=file, **asked)
    assert refused.status == "error"
    assert f"{file} 'flood.txt' is not JSON" in refused.text
    assert refused.text.endswith("use file_regex to find words in it, or file_read to read its lines.")


async def test_jq_answers_null_for_a_missing_key_and_names_the_existing_keys() -> None:
    step, file = await holding('{"orders": [' + ", ".join('{"id": 1, "note": "long"}' for _ in range(9_000)) + "]}")
    answer = await ask(step, "1.1", "jq", file=file, program=".orders[0].ident")
    assert answer.text == "null\n[The object at `.orders[0]` has no key `ident`; the keys there: id, note.]"


async def test_file_read_of_a_long_line_names_the_characters_shown_and_the_next_offset() -> None:
    step, file = await holding("word " * 360_000)
    read = await ask(step, "1.1", "file_read", file=file)
    head, _, rest = read.text.partition("\n")
    assert head == f"{file} 'flood.txt', characters 1 to 4,000 of the 1,800,000 of line 1 of 1:"
    assert rest.endswith("\n[1,796,000 more characters of line 1; go on with peek_file, start=4000.]")
    assert step.workspace.files[file].lines == ()
    assert step.workspace.files[file].bytes == ((0, 4_000),)
    again = await ask(step, "1.2", "peek_file", file=file, start=4_000, stop=8_000)
    assert "bytes 4000 to 8000 of 1800000" in again.text


async def test_file_read_names_where_the_rest_of_each_long_line_begins() -> None:
    step, file = await holding("first\n" + "ä" * 9_000 + "\nlast\n" + "word " * 12_000)
    read = await ask(step, "1.1", "file_read", file=file, start_line=1, end_line=3)
    assert "lines 1 to 3 of 4:" in read.text
    assert "\n[5,000 more characters of line 2; go on with peek_file, start=8006.]\nlast" in read.text
    assert step.workspace.files[file].lines == ((1, 1), (3, 3))
    assert step.workspace.files[file].bytes == ((6, 8_006),)


async def test_load_file_names_the_limit_that_applies_now() -> None:
    step, file = await holding("word " * 12_000)
    refused = await ask(step, "1.1", "load_file", file=file)
    assert "at most 9,000 tokens" in refused.text
    dots, blank = await holding(" " * 110_000)
    refused = await ask(dots, "1.1", "load_file", file=blank)
    assert "at most 99,000 characters" in refused.text
