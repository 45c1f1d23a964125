"""Python of a model in the sandbox: the usual results, deterministic, and one sentence for every failure."""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.files.child import Children
from gofer.files.sandbox.python import MEMORY, Program, run, sandbox
from gofer.values.errors import ToolError
from support.property_examples import examples

pytestmark = pytest.mark.anyio

FILES = {"file_a": "name,amount\nÅsa,12.50\n李,7.25\n", "result_b": '{"items": [{"id": 1}, {"id": 9007199254740993}]}'}


@pytest.fixture(scope="module")
def children() -> Iterator[Children]:
    made = sandbox()
    yield made
    made.close()


async def refusal(children: Children, code: str, **program: str) -> str:
    with pytest.raises(ToolError) as caught:
        await run(children, Program(code, files=FILES, **program))
    said = caught.value.message_to_model
    assert said.count("\n") == 0
    assert len(said) < 600
    return said


@pytest.mark.parametrize(
    ("code", "given"),
    [
        ("1 + 1", "2"),
        ("x = 0.1 + 0.2\nround(x, 2)", "0.3"),
        ("'text'", "text"),
        ("print('a')\nprint('b', end='')\n[1, None, True]", "a\nb\n[1, None, True]"),
        ("print('a')", "a\n"),
        ("x = 1", ""),
        ("", ""),
        ("# nothing", ""),
        ("{'b': (1,), 'a': ('x', 2.5)}", "{'b': (1,), 'a': ('x', 2.5)}"),
        ("{'pear', 'fig', 'apple'}", "{'apple', 'fig', 'pear'}"),
        ("[set(), frozenset(), frozenset({2, 1})]", "[set(), frozenset(), frozenset({1, 2})]"),
        ("class P:\n    def __init__(self):\n        self.x = 1\nP()", "P(x=1)"),
        ("[len, P] if False else len", "<len>"),
        ("import csv\nsum(float(r['amount']) for r in csv.DictReader(files['file_a'].splitlines()))", "19.75"),
        ("import json\njson.loads(files['result_b'])['items'][1]['id']", "9007199254740993"),
        ("import json\njson.dumps({'a': [1, 2.50]})", '{"a": [1, 2.5]}'),
        ("from datetime import date\nstr(date(2026, 3, 1) - date(2026, 2, 1))", "28 days, 0:00:00"),
        ("from decimal import Decimal\nDecimal('1.10') + 1", "Decimal('2.10')"),
        ("import random\nrandom.seed(7)\nrandom.randint(1, 10**6) == random.Random(7).randint(1, 10**6)", "True"),
        ("import time\ntime.sleep(3600)\n'at once'", "at once"),
        ("'\\ud800'", "\ufffd"),
        ("sorted(files)", "['file_a', 'result_b']"),
    ],
)
async def test_sandbox_returns_the_printed_output_and_the_last_value(children: Children, code: str, given: str) -> None:
    assert await run(children, Program(code, files=FILES)) == given


async def test_sandbox_code_calls_the_functions_of_a_script(children: Children) -> None:
    script = "def total(text):\n    return sum(map(int, text.split()))\n\nprint('ready')\n5"
    program = Program("total(files['f'])", script, "scripts/sum.py", {"f": "1 2 39"})
    assert await run(children, program) == "ready\n42"
    assert await run(children, Program("", script, "scripts/sum.py")) == "ready\n5"


async def test_sandbox_error_in_a_script_names_path_and_line(children: Children) -> None:
    script = "def total(x):\n    return x.nothing\n"
    said = await refusal(children, "total(1)", script=script, script_name="scripts/sum.py")
    assert said == "In scripts/sum.py, line 2: AttributeError: 'int' object has no attribute 'nothing'."


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("hello world", "Line 1, column 7: this is not valid Python: Simple statements must be separated by newlines"),
        ("SELECT 1;", "Line 1, column 8: this is not valid Python"),
        ("x = (1,\n", "this is not valid Python"),
        ("(" * 5_000 + ")" * 5_000, "Line 1, column 201: this is not valid Python: Source is too deeply nested."),
        ("x = 1\n\0", "Line 2, column 1: this is not valid Python"),
        ("def f():\n    yield 1", "Line 2: this Python has no yield expressions; build a list and return it."),
        ("x = 1\ndel x", "Line 2: this Python has no 'del' statement; make a new value without it"),
        ("class E(Exception):\n    pass", "write functions, or a class without a base; raise ValueError"),
        ("async def f():\n    async with a:\n        pass", "write it without `async`."),
        (
            "from json import *",
            "Wildcard imports (`from ... import *`) are not supported; name what you import.",
        ),
        ("type X = int", "this Python has no type aliases; leave it out."),
        ("1 / 0", "Line 1: ZeroDivisionError: division by zero."),
        ("exec('1 / 0')", "Line 1: ZeroDivisionError: division by zero."),
        ("x = {}\nx['a']", "Line 2: KeyError: a."),
        (
            "files['file_zzz']",
            "there is no file_zzz in `files`; name it in the argument `files`, which has file_a, ",
        ),
        ("raise ValueError('a' * 10_000)", "…"),
        ("raise SystemExit", "Line 1: SystemExit."),
        ("raise ValueError('a', 'b')", "exceptions can only be called with zero or one string argument."),
        (
            "input('name?')",
            "Line 1: there is no 'input'; the code cannot ask for input; write the value into the code.",
        ),
        ("nothing_here", "Line 1: NameError: name 'nothing_here' is not defined."),
        ("print(10 ** 5_000)", "Line 1: a number has more than 4,300 digits and is not written out"),
        ("10 ** 5_000", "The last value cannot be shown: a number has more than 4,300 digits"),
    ],
)
async def test_sandbox_error_in_code_is_one_sentence_with_the_line(children: Children, code: str, said: str) -> None:
    assert said in await refusal(children, code)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("open('/etc/passwd').read()", "Line 1: there are no folders; name the ids of files in the argument `files`"),
        ("open('out.txt', 'w')", "there are no folders"),
        ("import os\nos.listdir('/')", "Line 2: there are no folders"),
        ("from pathlib import Path\nPath('/proc/self/environ').read_text()", "there are no folders"),
        ("import os\nos.environ['PATH']", "Line 2: there is no environment to read"),
        ("import os\nos.getenv('PATH')", "Line 2: there is no environment to read"),
        ("import os\nos.system('id')", "Line 2: AttributeError"),
        ("import socket", "Line 1: there is no module 'socket'; there is no network; use the tools of this run"),
        ("import urllib.request", "there is no network"),
        ("import subprocess", "no programs can be started"),
        ("import ctypes", "no programs can be started"),
        ("import numpy as np", "use lists, sum, min, max and sorted."),
        ("import io", "`text.splitlines()` gives lines"),
        ("import gofer", "there is no module 'gofer'; there are asyncio, base64,"),
        ("__import__('os')", "write `import`."),
        ("import random\nrandom.random()", "Line 2: random numbers need a seed"),
        ("import random\nrandom.Random().random()", "random numbers need a seed"),
        ("import uuid", "random numbers need a seed"),
    ],
)
async def test_sandbox_code_has_no_files_environment_network_programs_or_chance(
    children: Children, code: str, said: str
) -> None:
    assert said in await refusal(children, code)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("from datetime import datetime\nprint(datetime.now())", "2026-11-22 22:05:00"),
        ("from datetime import datetime, timezone\nprint(datetime.now(timezone.utc))", "2026-11-22 22:05:00+00:00"),
        ("from datetime import date\nprint(date.today())", "2026-11-22"),
        ("import time\nprint(time.time())", "1795385100.0"),
        ("import time\ntime.sleep(60)\nprint(time.time())", "1795385100.0"),
    ],
)
async def test_sandbox_clock_shows_the_time_of_the_call(children: Children, code: str, said: str) -> None:
    assert (await run(children, Program(code, at=1_795_385_100))).strip() == said


ENDLESS = [
    "while True:\n    pass",
    "while True:\n    try:\n        while True:\n            pass\n    except:\n        pass",
    "sum(range(10 ** 12))",
    # The interpreter checks its clock between steps, and one of these steps takes minutes.
    "x = 3\nfor i in range(40):\n    x = x * x",
]


@pytest.fixture(scope="module")
def hurried() -> Iterator[Children]:
    made = Children(at_once=2, memory=MEMORY, helper="support.processes.short_sandbox_helper")
    yield made
    made.close()


@pytest.mark.parametrize("code", ENDLESS)
async def test_sandbox_stops_endless_code_and_the_next_code_runs(hurried: Children, code: str) -> None:
    said = "The code runs longer than 0.5 seconds and was stopped; do less at once."
    assert await refusal(hurried, code) == said
    assert await run(hurried, Program("'next'")) == "next"


async def test_sandbox_stops_endless_output(hurried: Children) -> None:
    assert await refusal(hurried, "while True:\n    print('x' * 200_000)") == (
        "The code prints more than 5,000,000 bytes; print less."
    )


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("[0] * 10 ** 10", "needs more memory than it may have, 192 MB"),
        ("'a' * 10 ** 12", "needs more memory than it may have, 192 MB"),
        ("10 ** 10 ** 10", "needs more memory than it may have, 192 MB"),
        ("x = []\nwhile True:\n    x.append('a' * 100)", "needs more memory than it may have, 192 MB"),
        ("x = 'a'\nwhile True:\n    try:\n        x += x\n    except:\n        pass", "needs more memory"),
        ("['a' * 1000] * 10 ** 6", "took more memory or time than it may have and was stopped"),
        ("'é' * 60_000_000", "memory"),
        ("'a' * 6_000_000", "The last value has 6,000,000 characters; give a part of it."),
        ("def f(n):\n    return f(n + 1)\nf(0)", "Line 2: calls are nested more than 200 deep; use a loop"),
        (
            "import json\na = []\nfor i in range(10_000):\n    a = [a]\njson.dumps(a)",
            "Line 5: calls are nested more than",
        ),
    ],
)
async def test_sandbox_refuses_results_that_are_too_large_or_too_deep(children: Children, code: str, said: str) -> None:
    assert said in await refusal(children, code)
    assert await run(children, Program("'next'")) == "next"


async def test_sandbox_refuses_too_large_files_and_code_with_advice(children: Children) -> None:
    with pytest.raises(ToolError, match=r"These files have 26 MB, and code can read 24 MB at once; name fewer, or"):
        await run(children, Program("1", files={"a": "x" * 13_000_000, "b": "x" * 13_000_000}))
    with pytest.raises(ToolError, match="longer than 100,000 characters"):
        await run(children, Program("#" * 100_001))


async def test_sandbox_reads_ten_files_of_two_megabytes_at_once(children: Children) -> None:
    text = "[" + ",".join('{"id": 1, "scores": [0.25, 0.5]}' for _ in range(62_000)) + "]"
    files = {f"file_{number}": text for number in range(10)}
    code = "import json\n[sum(sum(row['scores']) for row in json.loads(files[f])) for f in files][:2]"
    assert len(text) > 2_000_000
    assert await run(children, Program(code, files=files)) == "[46500.0, 46500.0]"


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="counts pages as Linux tells them")
@pytest.mark.parametrize(
    "code", ["x = []\nwhile True: x.append('a' * 100)", "['a' * 1000] * 10 ** 6", "'漢' * 10 ** 8"]
)
async def test_sandbox_processes_of_hostile_code_together_stay_below_512_megabytes(
    children: Children, code: str
) -> None:
    most = 0
    running = asyncio.ensure_future(refusal(children, code))
    while not running.done():
        most = max(most, _below(os.getpid()))
        await asyncio.sleep(0.005)
    assert "memory" in await running
    assert most < 512 << 20


def _below(process: int) -> int:
    """Return the bytes that all descendants of a process have in memory."""
    parents: dict[int, tuple[int, int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        parents[int(folder.name)] = (int(fields[1]), int(fields[21]) * os.sysconf("SC_PAGESIZE"))
    found, size = {process}, 0
    for one in sorted(parents):
        if parents[one][0] in found:
            found.add(one)
            size += parents[one][1]
    return size


async def test_sandbox_gives_the_same_output_in_another_process(children: Children) -> None:
    code = "import random\nrandom.seed('x')\nprint({'b', 'a', 'c'}, hash('a'), id([]))\n[random.random(), {'b', 'a'}]"
    other = sandbox()
    try:
        assert await run(children, Program(code)) == await run(other, Program(code))
    finally:
        other.close()


@examples(0.7)
@given(code=st.text(max_size=60) | st.text("()[]{}:=\n \"'x1+*,.def lambda for in", max_size=60))
def test_sandbox_answers_any_code_with_text_or_a_sentence(children: Children, code: str) -> None:
    said = asyncio.run(output_or_refusal(children, code))
    assert isinstance(said, str)
    assert len(said) < 6_000_000


async def output_or_refusal(children: Children, code: str) -> str:
    try:
        return await run(children, Program(code))
    except ToolError as error:
        return error.message_to_model
