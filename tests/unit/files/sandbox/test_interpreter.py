"""The sandbox job that runs Python: its output, its error sentences, and a missing interpreter."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from gofer.files import child
from gofer.files.child_wire import Packet
from gofer.files.sandbox.interpreter import PLACES, SECONDS, run
from gofer.values.errors import ToolError


def packet(*parts: tuple[str, str], files: Mapping[str, str] | None = None) -> Packet:
    texts = {file: text.encode() for file, text in (files or {}).items()}
    fields = {
        "job": "python",
        "parts": [{"name": name, "code": code} for name, code in parts],
        "files": [{"id": file, "size": len(text)} for file, text in texts.items()],
    }
    return Packet(fields, b"".join(texts.values()))


def refusal(
    code: str, *, places: Sequence[Path] = PLACES, seconds: tuple[float, float] = SECONDS, script: str = ""
) -> str:
    parts = [("scripts/s.py", script), ("", code)] if script else [("", code)]
    with pytest.raises(ToolError) as caught:
        run(packet(*parts), places, seconds)
    return caught.value.message_to_model


def test_sandbox_runs_script_and_code_in_order_over_the_same_files() -> None:
    given = run(packet(("s.py", "def f(x):\n    return x * 2"), ("", "print(f(files['é']))\nf('z')"), files={"é": "ü"}))
    assert given.data.decode() == "üü\nzz"


@pytest.mark.parametrize(
    ("code", "given"),
    [
        (
            "[(1,), (1, 2), set(), {2, 1}, frozenset({1}), {'a': {'b'}}]",
            "[(1,), (1, 2), set(), {1, 2}, frozenset({1}), ",
        ),
        ("class P:\n    def __init__(self):\n        self.x = {'b', 'a'}\nP()", "P(x={'a', 'b'})"),
        ("from collections import namedtuple\nnamedtuple('P', 'a b')(1, 2)", "P(a=1, b=2)"),
        ("print", "<print>"),
    ],
)
def test_sandbox_writes_the_last_value_as_python_does(code: str, given: str) -> None:
    assert run(packet(("", code))).data.decode().startswith(given)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("x = (", "this is not valid Python"),
        ("10 ** 5_000", "The last value cannot be shown: a number has more than 4,300 digits"),
        ("[0] * 10 ** 10", "The code needs more memory than it may have, 192 MB; work on a part at a time."),
        ("for n in range(600):\n    print('x' * 10_000)", "The code prints more than 5,000,000 bytes; print less."),
        ("'a' * 6_000_000", "The last value has 6,000,000 characters; give a part of it."),
        ("def f():\n    f()\nf()", "calls are nested more than 200 deep"),
        ("def f():\n    yield", "this Python has no yield expressions"),
        ("from json import *", "name what you import"),
        ("raise NotImplementedError('later')", "Line 1: NotImplementedError: later."),
        ("raise TimeoutError('mine')", "Line 1: TimeoutError: mine."),
        ("raise MemoryError", "The code needs more memory"),
        ("import pandas", "read tables with csv.DictReader"),
        ("import nothing", "there are asyncio, base64"),
        ("open('x')", "there are no folders"),
        ("exit()", "let the code end by itself."),
        ("print(10 ** 5_000)", "Line 1: a number has more than"),
        ("files['file_x']", "there is no file_x in `files`; name it in the argument `files`, which has none."),
        ("raise ValueError('a', 'b')", "the interpreter does not do this"),
        ("import os\nos.getenv('A')", "there is no environment"),
        ("import random\nrandom.random()", "random numbers need a seed"),
        ("raise ValueError('x' * 1_000)", "…"),
        ("exec('1 / 0')", "Line 1: ZeroDivisionError"),
    ],
)
def test_sandbox_answers_each_failure_with_a_sentence(code: str, said: str) -> None:
    assert said.lower() in refusal(code).lower()


def test_sandbox_kills_code_that_hangs_within_a_single_step() -> None:
    said = refusal("x = 3\nfor i in range(40):\n    x = x * x", seconds=(0.5, 0.1))
    assert said == "The code runs longer than 0.5 seconds and was stopped; do less at once."


def test_sandbox_limits_the_time_of_script_and_code_separately() -> None:
    said = refusal("while True:\n    pass", script="x = 1", seconds=(60, 0.2))
    assert said == "The code runs longer than 0.2 seconds and was stopped; do less at once."


def test_sandbox_time_limits_end_before_the_limit_of_the_child() -> None:
    alone, in_two_parts = SECONDS
    assert (alone, in_two_parts) == (5, 3.5)
    # Half a second each, to kill code that does not check the clock, and the time to start.
    assert max(alone + 0.5, 2 * (in_two_parts + 0.5)) < child.SECONDS


def test_sandbox_without_an_interpreter_tells_the_model_to_continue_without_python() -> None:
    said = "Python cannot run here, because its interpreter is not installed; continue without it."
    assert refusal("1", places=()) == said
